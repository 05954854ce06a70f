//! How many tokens the target makes of our words.

use serde_json::{Value, json};

use super::client::ProbeClient;
use crate::plan::{CalibrationSource, PromptCalibration, calibration_texts};
use crate::spec::Api;

/// Fits the calibration against `usage.prompt_tokens` of one-token answers, else against
/// `/tokenize`, else assumes it.
///
/// Sent before any load; no measured prompt begins like these texts, so none meets them in a cache.
pub async fn calibrate(client: &ProbeClient, api: Api, model: &str) -> PromptCalibration {
    let by_usage = points(async |text| usage(client, api, model, text).await).await;
    if let Some(fit) = PromptCalibration::fit(&by_usage, CalibrationSource::Usage) {
        return fit;
    }
    let by_tokenize = points(async |text| tokenize(client, model, text).await).await;
    PromptCalibration::fit(&by_tokenize, CalibrationSource::Tokenize)
        .unwrap_or(PromptCalibration::ASSUMED)
}

/// `(words, tokens)` of each text; none at all unless every text was counted.
async fn points(count: impl AsyncFn(&str) -> Option<u32>) -> Vec<(u32, u32)> {
    let mut points = Vec::new();
    for (words, text) in calibration_texts() {
        match count(&text).await {
            Some(tokens) => points.push((words, tokens)),
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
