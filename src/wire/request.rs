//! Bodies of requests.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::transcript::Transcript;
use crate::plan::PlannedRequest;
use crate::spec::{Api, OutputLength};

/// What all requests of a run share, written once.
#[derive(Debug, Clone)]
pub struct RequestTemplate {
    api: Api,
    fields: Map<String, Value>,
    /// Those constant fields without the closing brace.
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
        Self {
            api,
            head: Vec::new(),
            fields,
            pin: b",\"ignore_eos\":true",
            streams,
        }
        .with(extra)
    }

    /// The same with these extra fields, which replace those that are there already.
    #[must_use]
    pub fn with(&self, extra: &BTreeMap<String, Value>) -> Self {
        let mut fields = self.fields.clone();
        for (name, value) in extra {
            if PLANNED_FIELDS.contains(&name.as_str()) || name == "stream" {
            } else if value.is_null() {
                fields.remove(name);
            } else {
                fields.insert(name.clone(), value.clone());
            }
        }
        let mut head = Value::Object(fields.clone()).to_string().into_bytes();
        head.pop();
        let pin: &[u8] = if extra.contains_key("ignore_eos") {
            b""
        } else {
            self.pin
        };
        Self {
            api: self.api,
            fields,
            head,
            pin,
            streams: self.streams,
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

    /// The body of one request; a tenant is its `user`.
    pub fn body(&self, transcript: &Transcript, planned: &PlannedRequest) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.head.len() + transcript.len() + 96);
        body.extend_from_slice(&self.head);
        transcript.write(&mut body);
        body.extend_from_slice(b",\"max_tokens\":");
        body.extend_from_slice(planned.output_tokens.to_string().as_bytes());
        if planned.output_length == OutputLength::Pinned {
            body.extend_from_slice(self.pin);
        }
        if let Some(tenant) = planned.tenant {
            body.extend_from_slice(format!(",\"user\":\"tenant-{tenant}\"").as_bytes());
        }
        body.push(b'}');
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Phase, Prompt};

    fn prompt(system: Option<&str>) -> Prompt {
        Prompt {
            system: system.map(str::to_owned),
            user: "say \"ü\"\n".to_owned(),
        }
    }

    fn planned(output_length: OutputLength) -> PlannedRequest {
        PlannedRequest {
            phase: Phase::Measured,
            number: 0,
            class: 0,
            tenant: None,
            turn: None,
            input_tokens: 10,
            output_tokens: 24,
            output_length,
            prefix: None,
            cancel_after: None,
        }
    }

    fn first(template: &RequestTemplate, system: Option<&str>) -> Transcript {
        Transcript::new(template.api(), &prompt(system))
    }

    fn parsed(template: &RequestTemplate, system: Option<&str>) -> Value {
        let body = template.body(&first(template, system), &planned(OutputLength::Pinned));
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
        let body = template.body(&first(&template, None), &planned(OutputLength::Natural));
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
        let body = template.body(&transcript, &planned(OutputLength::Pinned));
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
        let body = template.body(&transcript, &planned(OutputLength::Pinned));
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

    #[test]
    fn a_class_has_fields_of_its_own_and_tenants_a_name() {
        let fields = |fields: &[(&str, Value)]| -> BTreeMap<String, Value> {
            let owned = fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()));
            owned.collect()
        };
        let all = fields(&[("temperature", json!(0)), ("top_p", json!(0.9))]);
        let own = fields(&[
            ("temperature", json!(0.7)),
            ("top_p", json!(null)),
            ("chat_template_kwargs", json!({"enable_thinking": false})),
        ]);
        let template = RequestTemplate::new(Api::Chat, "tiny", &all).with(&own);
        let tenant = PlannedRequest {
            tenant: Some(3),
            ..planned(OutputLength::Pinned)
        };
        let body = template.body(&first(&template, None), &tenant);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["temperature"], json!(0.7));
        assert_eq!(body.get("top_p"), None);
        assert_eq!(
            body["chat_template_kwargs"],
            json!({"enable_thinking": false})
        );
        assert_eq!(
            (&body["user"], &body["ignore_eos"]),
            (&json!("tenant-3"), &json!(true))
        );
    }
}
