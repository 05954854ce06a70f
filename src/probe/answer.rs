//! Engines' answers to pins: pure functions on JSON, tested on captured answers.

use serde_json::Value;

use crate::provenance::PinPath;

/// A pin that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Which.
    pub pin: PinPath,
    /// Its value.
    pub value: String,
    /// Where it was seen.
    pub source: &'static str,
}

impl Seen {
    /// `None` where there is no such pin or the value is empty.
    pub fn new(path: &str, value: impl Into<String>, source: &'static str) -> Option<Self> {
        let value = value.into();
        let pin = path.parse().ok()?;
        (!value.is_empty()).then_some(Self { pin, value, source })
    }
}

/// What a target answered to the paths that engines are known by; `None` where it did not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EngineAnswers {
    /// `/v1/models`: every engine.
    pub models: Option<Value>,
    /// `/version`: vLLM, the embedded engine.
    pub version: Option<Value>,
    /// `/props`: llama.cpp.
    pub props: Option<Value>,
}

impl EngineAnswers {
    /// The id of the first model that the target offers.
    pub fn first_model(&self) -> Option<String> {
        let data = self.models.as_ref()?.get("data")?.as_array()?;
        data.iter()
            .filter_map(|model| model.get("id")?.as_str())
            .find(|id| !id.is_empty())
            .map(str::to_owned)
    }

    /// Every pin that the answers show.
    pub fn pins(&self, model: &str) -> Vec<Seen> {
        let entry = self.model_entry(model);
        let owner = entry.and_then(|entry| text(entry, "/owned_by"));
        let mut seen = vec![
            Seen::new("model.name", model, "/v1/models"),
            entry
                .and_then(|entry| text(entry, "/max_model_len"))
                .and_then(|value| Seen::new("limits.max_model_len", value, "/v1/models")),
            entry
                .and_then(|entry| text(entry, "/meta/ftype"))
                .and_then(|value| Seen::new("precision.weights", value, "/v1/models")),
        ];
        if let Some(version) = &self.version {
            let engine = text(version, "/engine").or_else(|| owner.clone());
            seen.push(engine.and_then(|name| Seen::new("engine.name", name, "/version")));
            seen.push(
                text(version, "/version")
                    .and_then(|value| Seen::new("engine.version", value, "/version")),
            );
            seen.push(
                text(version, "/args")
                    .and_then(|value| Seen::new("engine.args", value, "/version")),
            );
        }
        if let Some(props) = &self.props
            && let Some(build) = text(props, "/build_info")
        {
            seen.push(Seen::new("engine.name", "llama.cpp", "/props"));
            seen.push(Seen::new("engine.version", build, "/props"));
            for (path, pointer) in [
                ("limits.max_num_seqs", "/total_slots"),
                ("limits.max_model_len", "/default_generation_settings/n_ctx"),
                ("precision.weights", "/model_ftype"),
            ] {
                seen.push(text(props, pointer).and_then(|value| Seen::new(path, value, "/props")));
            }
            seen.push(text(props, "/chat_template").and_then(|template| {
                let digest = crate::ident::Digest::of(template.as_bytes());
                Seen::new(
                    "model.chat_template",
                    format!("sha256:{}", digest.short()),
                    "/props",
                )
            }));
        }
        seen.into_iter().flatten().collect()
    }

    fn model_entry(&self, model: &str) -> Option<&Value> {
        let data = self.models.as_ref()?.get("data")?.as_array()?;
        data.iter()
            .find(|entry| entry.get("id").and_then(Value::as_str) == Some(model))
            .or_else(|| data.first())
    }
}

/// A scalar as text; strings without their quotes.
fn text(value: &Value, pointer: &str) -> Option<String> {
    match value.pointer(pointer)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(answers: &EngineAnswers, model: &str) -> Vec<String> {
        let mut lines: Vec<String> = answers
            .pins(model)
            .iter()
            .map(|seen| format!("{} = {} ({})", seen.pin, seen.value, seen.source))
            .collect();
        lines.sort();
        lines.dedup();
        lines
    }

    #[test]
    fn llama_cpp_shows_its_build_slots_and_quantization() {
        // Captured from a llama.cpp server, shortened to the fields that are read.
        let answers = EngineAnswers {
            models: Some(json!({"object": "list", "data": [{
                "id": "tiny-q8", "object": "model", "owned_by": "llamacpp",
                "meta": {"n_ctx": 2048, "n_params": 1_410_304, "ftype": "Q8_0"}}]})),
            version: None,
            props: Some(
                json!({"default_generation_settings": {"n_ctx": 2048}, "total_slots": 4,
                "model_ftype": "Q8_0", "chat_template": "{% for m in messages %}",
                "build_info": "b0-unknown"}),
            ),
        };
        assert_eq!(answers.first_model().as_deref(), Some("tiny-q8"));
        insta::assert_snapshot!(shown(&answers, "tiny-q8").join("\n"));
    }

    #[test]
    fn vllm_shows_its_version_and_context() {
        // Shaped after vLLM 0.32's own answers.
        let answers = EngineAnswers {
            models: Some(json!({"object": "list", "data": [{
                "id": "tiny", "object": "model", "owned_by": "vllm", "root": "/models/tiny",
                "max_model_len": 2048}]})),
            version: Some(json!({"version": "0.32.0"})),
            props: None,
        };
        insta::assert_snapshot!(shown(&answers, "tiny").join("\n"));
    }

    #[test]
    fn strange_answers_are_no_pins() {
        let answers = EngineAnswers {
            models: Some(json!({"data": [{"id": 7}, {"name": "x"}, {"id": ""}], "error": []})),
            version: Some(json!("0.1")),
            props: Some(json!({"error": {"code": 501}})),
        };
        assert_eq!(answers.first_model(), None);
        assert_eq!(shown(&answers, "m"), ["model.name = m (/v1/models)"]);
    }
}
