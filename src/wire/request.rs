//! Bodies of requests.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::transcript::Transcript;
use crate::spec::{Api, OutputLength};

/// What all requests of a run share, written once.
#[derive(Debug, Clone)]
pub struct RequestTemplate {
    api: Api,
    /// The body's constant fields without the closing brace.
    head: Vec<u8>,
    /// What pins the output length, beside its number.
    pin: &'static [u8],
    streams: bool,
}

/// Fields that the plan decides; an extra field of this name is passed over.
pub const PLANNED_FIELDS: [&str; 4] = ["model", "messages", "prompt", "max_tokens"];

impl RequestTemplate {
    /// Requests of one API for one model, with extra fields such as `temperature`.
    ///
    /// Every request streams with usage (per chunk where the engine can) and has its output length
    /// bounded by `max_tokens`; one whose length is pinned has `ignore_eos`. An extra field replaces a field of ours of the
    /// same name (`stream: false` asks for whole answers), except [`PLANNED_FIELDS`];
    /// `null` leaves ours out.
    pub fn new(api: Api, model: &str, extra: &BTreeMap<String, Value>) -> Self {
        let streams = extra.get("stream").is_none_or(|stream| *stream == true);
        let mut fields = Map::new();
        fields.insert("model".to_owned(), json!(model));
        fields.insert("stream".to_owned(), json!(streams));
        if streams {
            fields.insert(
                "stream_options".to_owned(),
                json!({"include_usage": true, "continuous_usage_stats": true}),
            );
        }
        let pin: &[u8] = if extra.contains_key("ignore_eos") {
            b""
        } else {
            b",\"ignore_eos\":true"
        };
        for (name, value) in extra {
            if PLANNED_FIELDS.contains(&name.as_str()) || name == "stream" {
            } else if value.is_null() {
                fields.remove(name);
            } else {
                fields.insert(name.clone(), value.clone());
            }
        }
        let mut head = Value::Object(fields).to_string().into_bytes();
        head.pop();
        Self {
            api,
            head,
            pin,
            streams,
        }
    }

    /// Which API the requests speak.
    pub const fn api(&self) -> Api {
        self.api
    }

    /// Whether answers are asked for as streams.
    pub const fn streams(&self) -> bool {
        self.streams
    }

    /// The body of one request.
    pub fn body(
        &self,
        transcript: &Transcript,
        max_tokens: u32,
        output_length: OutputLength,
    ) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.head.len() + transcript.len() + 96);
        body.extend_from_slice(&self.head);
        transcript.write(&mut body);
        body.extend_from_slice(b",\"max_tokens\":");
        body.extend_from_slice(max_tokens.to_string().as_bytes());
        if output_length == OutputLength::Pinned {
            body.extend_from_slice(self.pin);
        }
        body.push(b'}');
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Prompt;

    fn prompt(system: Option<&str>) -> Prompt {
        Prompt {
            system: system.map(str::to_owned),
            user: "say \"ü\"\n".to_owned(),
        }
    }

    fn first(template: &RequestTemplate, system: Option<&str>) -> Transcript {
        Transcript::new(template.api(), &prompt(system))
    }

    fn parsed(template: &RequestTemplate, system: Option<&str>) -> Value {
        let body = template.body(&first(template, system), 24, OutputLength::Pinned);
        serde_json::from_slice(&body).unwrap()
    }

    #[test]
    fn a_chat_request_pins_its_output_and_asks_for_usage() {
        let template = RequestTemplate::new(Api::Chat, "tiny", &BTreeMap::new());
        assert_eq!(
            parsed(&template, Some("be brief")),
            json!({
                "model": "tiny",
                "messages": [
                    {"role": "system", "content": "be brief"},
                    {"role": "user", "content": "say \"ü\"\n"},
                ],
                "stream": true,
                "stream_options": {"include_usage": true, "continuous_usage_stats": true},
                "max_tokens": 24,
                "ignore_eos": true,
            })
        );
    }

    #[test]
    fn a_natural_length_is_only_bounded() {
        let template = RequestTemplate::new(Api::Chat, "tiny", &BTreeMap::new());
        let body = template.body(&first(&template, None), 24, OutputLength::Natural);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (&body["max_tokens"], body.get("ignore_eos")),
            (&json!(24), None)
        );
    }

    #[test]
    fn a_completion_starts_with_its_prefix() {
        let template = RequestTemplate::new(Api::Completions, "tiny", &BTreeMap::new());
        assert_eq!(parsed(&template, Some("a"))["prompt"], "a say \"ü\"\n");
        assert_eq!(parsed(&template, None)["prompt"], "say \"ü\"\n");
        assert!(parsed(&template, None).get("messages").is_none());
    }

    #[test]
    fn a_later_turn_carries_what_was_said() {
        let template = RequestTemplate::new(Api::Chat, "tiny", &BTreeMap::new());
        let mut transcript = first(&template, Some("be brief"));
        transcript.follow("\"ü\"\t", "and now?");
        let body = template.body(&transcript, 24, OutputLength::Pinned);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            body["messages"],
            json!([
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "say \"ü\"\n"},
                {"role": "assistant", "content": "\"ü\"\t"},
                {"role": "user", "content": "and now?"},
            ])
        );
        let template = RequestTemplate::new(Api::Completions, "tiny", &BTreeMap::new());
        let mut transcript = first(&template, Some("be brief"));
        transcript.follow(" ü.", "and now?");
        let body = template.body(&transcript, 24, OutputLength::Pinned);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["prompt"], "be brief say \"ü\"\n ü.\nand now?");
    }

    #[test]
    fn extra_fields_replace_ours_but_not_the_plans() {
        let extra = [
            ("temperature", json!(0)),
            ("ignore_eos", json!(null)),
            ("stream", json!(false)),
            ("model", json!("other")),
            ("max_tokens", json!(1)),
        ];
        let extra = extra
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let template = RequestTemplate::new(Api::Chat, "tiny", &extra);
        assert!(!template.streams());
        assert_eq!(
            parsed(&template, None),
            json!({
                "model": "tiny",
                "messages": [{"role": "user", "content": "say \"ü\"\n"}],
                "stream": false,
                "temperature": 0,
                "max_tokens": 24,
            })
        );
    }
}
