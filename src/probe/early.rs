//! The first requests to an engine that has just come up.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::client::ProbeClient;
use super::error::ProbeError;
use crate::sample::Outcome;
use crate::spec::{Answers, Api, Spec};
use crate::summary::EarlyAnswer;
use crate::unit::Nanos;
use crate::wire::request::PLANNED_FIELDS;
use crate::wire::{Answer, End};

/// Tokens that the answer may have: enough for a second one.
const TOKENS: u32 = 4;

/// How a target is asked for a few tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Asking {
    api: Api,
    model: Option<String>,
    extra: BTreeMap<String, Value>,
    streams: bool,
}

impl Asking {
    /// As the requests of this spec are.
    pub fn of(spec: &Spec) -> Self {
        Self {
            api: spec.target.api,
            model: spec.target.model.clone(),
            extra: spec.request.clone(),
            streams: spec.target.connection.answers == Answers::Streamed,
        }
    }

    fn body(&self, model: &str, text: &str) -> Value {
        let mut body = Map::new();
        for (name, value) in &self.extra {
            if !PLANNED_FIELDS.contains(&name.as_str()) && !value.is_null() {
                body.insert(name.clone(), value.clone());
            }
        }
        body.insert("model".to_owned(), json!(model));
        body.insert("stream".to_owned(), json!(self.streams));
        body.insert("max_tokens".to_owned(), json!(TOKENS));
        match self.api {
            Api::Chat => {
                let messages = json!([{"role": "user", "content": text}]);
                body.insert("messages".to_owned(), messages);
            }
            Api::Completions => {
                body.insert("prompt".to_owned(), json!(text));
            }
        }
        Value::Object(body)
    }
}

/// Sends one request of a few tokens and reads its answer, for at most so long. No measured prompt
/// begins like `text`.
pub async fn early_answer(
    client: &ProbeClient,
    asking: &Asking,
    text: &str,
    at_most: Duration,
) -> EarlyAnswer {
    let failed = |error: String| EarlyAnswer::Failed { error };
    let asked = async {
        match &asking.model {
            Some(model) => answer(client, asking, model, text).await,
            None => match first_model(client).await {
                Ok(model) => answer(client, asking, &model, text).await,
                Err(error) => failed(error.to_string()),
            },
        }
    };
    let late = || failed(format!("no answer within {}", Nanos::from(at_most)));
    tokio::time::timeout(at_most, asked)
        .await
        .unwrap_or_else(|_| late())
}

async fn first_model(client: &ProbeClient) -> Result<String, ProbeError> {
    let models = client.get("/v1/models").await?;
    let name = models.pointer("/data/0/id").and_then(Value::as_str);
    name.map(str::to_owned).ok_or_else(|| ProbeError::NoModel {
        base: client.base().to_owned(),
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock of requests before any load"
)]
async fn answer(client: &ProbeClient, asking: &Asking, model: &str, text: &str) -> EarlyAnswer {
    let mut answer = if asking.streams {
        Answer::streamed(TOKENS)
    } else {
        Answer::whole()
    };
    let body = asking.body(model, text);
    let sent = Instant::now();
    let read = client.feed(asking.api.path(), &body, |part| {
        answer.feed(sent.elapsed().into(), part);
    });
    if let Err(error) = read.await {
        return EarlyAnswer::Failed {
            error: error.to_string(),
        };
    }
    let observed = answer.end(sent.elapsed().into(), End::Eof, None);
    let done = observed.done.map(Nanos::as_secs_f64);
    match (observed.outcome, done) {
        (Outcome::Completed | Outcome::Truncated, Some(e2e_s)) => EarlyAnswer::Answered {
            ttft_s: observed.events.first().map(|at| at.as_secs_f64()),
            e2e_s,
        },
        (_, _) => EarlyAnswer::Failed {
            error: client.mask(
                &observed
                    .error
                    .unwrap_or_else(|| "the answer has no token".to_owned()),
            ),
        },
    }
}
