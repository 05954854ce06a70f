//! How many tokens the target makes of our words.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::ProbeClient;
use crate::plan::{CalibrationSource, PromptCalibration, calibration_texts};
use crate::spec::Api;

/// Tries of a text whose answer failed or said nothing: a server under test may well fail now and
/// then, and prompts of the wrong length would be blamed on the client.
const TRIES: u32 = 6;

/// Texts that may go uncounted without spoiling the fit.
const SPARE: usize = 1;

/// When to give up and assume.
const LIMIT: Duration = Duration::from_mins(2);

/// Fits the calibration against `usage.prompt_tokens` of one-token answers, else against
/// `/tokenize`, else assumes it.
///
/// Sent before any load; no measured prompt begins like these texts, so none meets them in a cache.
pub async fn calibrate(client: &ProbeClient, api: Api, model: &str) -> PromptCalibration {
    let fit = async {
        let by_usage = points(async |text| usage(client, api, model, text).await).await;
        if let Some(fit) = PromptCalibration::fit(&by_usage, CalibrationSource::Usage) {
            return Some(fit);
        }
        let by_tokenize = points(async |text| tokenize(client, model, text).await).await;
        PromptCalibration::fit(&by_tokenize, CalibrationSource::Tokenize)
    };
    tokio::time::timeout(LIMIT, fit)
        .await
        .ok()
        .flatten()
        .unwrap_or(PromptCalibration::ASSUMED)
}

/// `(words, tokens)` of each text; none at all unless all but [`SPARE`] were counted.
async fn points(count: impl AsyncFn(&str) -> Option<u32>) -> Vec<(u32, u32)> {
    let (mut points, mut uncounted) = (Vec::new(), 0);
    for (words, text) in calibration_texts() {
        let mut tokens = None;
        for _ in 0..TRIES {
            tokens = count(&text).await;
            if tokens.is_some() {
                break;
            }
        }
        match tokens {
            Some(tokens) => points.push((words, tokens)),
            None if uncounted < SPARE => uncounted += 1,
            None => return Vec::new(),
        }
    }
    points
}

async fn usage(client: &ProbeClient, api: Api, model: &str, text: &str) -> Option<u32> {
    let body = match api {
        Api::Chat => json!({
            "model": model, "max_tokens": 1, "stream": false,
            "messages": [{"role": "user", "content": text}],
        }),
        Api::Completions => {
            json!({"model": model, "max_tokens": 1, "stream": false, "prompt": text})
        }
    };
    let answer = client.post(api.path(), &body).await.ok()?;
    positive(answer.pointer("/usage/prompt_tokens")?)
}

async fn tokenize(client: &ProbeClient, model: &str, text: &str) -> Option<u32> {
    // vLLM reads `prompt`, llama.cpp reads `content`.
    let body = json!({"model": model, "prompt": text, "content": text});
    let answer = client.post("/tokenize", &body).await.ok()?;
    match answer.get("count") {
        Some(count) => positive(count),
        None => u32::try_from(answer.get("tokens")?.as_array()?.len()).ok(),
    }
}

fn positive(value: &Value) -> Option<u32> {
    value
        .as_u64()
        .and_then(|n| u32::try_from(n).ok())
        .filter(|&n| n > 0)
}
