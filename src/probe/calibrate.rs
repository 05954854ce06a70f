//! How many tokens the target makes of our words.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::ProbeClient;
use crate::plan::{
    CalibrationSource, Prompt, PromptCalibration, calibration_texts, prefix_calibration_texts,
};
use crate::spec::Api;

/// Tries of a text whose answer failed or said nothing: a server under test may well fail now and
/// then, and prompts of the wrong length would be blamed on the client.
const TRIES: u32 = 6;

/// Texts that may go uncounted without spoiling the fit.
const SPARE: usize = 1;

/// When to give up and assume.
const LIMIT: Duration = Duration::from_mins(2);

/// Fits the calibration against `usage.prompt_tokens` of one-token answers, else against
/// `/tokenize`, else assumes it; where prompts share prefixes, counts what those add.
///
/// Sent before any load; no measured prompt begins like these texts, so none meets them in a cache.
pub async fn calibrate(
    client: &ProbeClient,
    api: Api,
    model: &str,
    prefixes: bool,
) -> PromptCalibration {
    let plain = calibration_texts().into_iter();
    let plain: Vec<(u32, Prompt)> = plain
        .map(|(words, user)| (words, Prompt { system: None, user }))
        .collect();
    let prefixed = if prefixes {
        prefix_calibration_texts()
    } else {
        Vec::new()
    };
    let fit = async {
        for source in [CalibrationSource::Usage, CalibrationSource::Tokenize] {
            let count = async |prompt: &Prompt| match source {
                CalibrationSource::Usage => usage(client, api, model, prompt).await,
                CalibrationSource::Tokenize | CalibrationSource::Assumed => {
                    tokenize(client, model, prompt).await
                }
            };
            if let Some(fit) = PromptCalibration::fit(&points(&plain, &count).await, source) {
                return Some(fit.with_prefixes(&points(&prefixed, &count).await));
            }
        }
        None
    };
    tokio::time::timeout(LIMIT, fit)
        .await
        .ok()
        .flatten()
        .unwrap_or(PromptCalibration::ASSUMED)
}

/// `(words, tokens)` of each prompt; none at all unless all but [`SPARE`] were counted.
async fn points(
    prompts: &[(u32, Prompt)],
    count: &impl AsyncFn(&Prompt) -> Option<u32>,
) -> Vec<(u32, u32)> {
    let (mut points, mut uncounted) = (Vec::new(), 0);
    for (words, prompt) in prompts {
        let mut tokens = None;
        for _ in 0..TRIES {
            tokens = count(prompt).await;
            if tokens.is_some() {
                break;
            }
        }
        match tokens {
            Some(tokens) => points.push((*words, tokens)),
            None if uncounted < SPARE => uncounted += 1,
            None => return Vec::new(),
        }
    }
    points
}

async fn usage(client: &ProbeClient, api: Api, model: &str, prompt: &Prompt) -> Option<u32> {
    let body = match api {
        Api::Chat => {
            let message = |role: &str, text: &String| json!({"role": role, "content": text});
            let system = prompt.system.iter().map(|text| message("system", text));
            let messages: Vec<Value> = system.chain([message("user", &prompt.user)]).collect();
            json!({"model": model, "max_tokens": 1, "stream": false, "messages": messages})
        }
        Api::Completions => {
            json!({"model": model, "max_tokens": 1, "stream": false, "prompt": as_one(prompt)})
        }
    };
    let answer = client.post(api.path(), &body).await.ok()?;
    positive(answer.pointer("/usage/prompt_tokens")?)
}

async fn tokenize(client: &ProbeClient, model: &str, prompt: &Prompt) -> Option<u32> {
    let text = as_one(prompt);
    // vLLM reads `prompt`, llama.cpp reads `content`.
    let body = json!({"model": model, "prompt": &text, "content": &text});
    let answer = client.post("/tokenize", &body).await.ok()?;
    match answer.get("count") {
        Some(count) => positive(count),
        None => u32::try_from(answer.get("tokens")?.as_array()?.len()).ok(),
    }
}

/// A prompt as one text, as completions have it.
fn as_one(prompt: &Prompt) -> String {
    let parts = prompt.system.iter().chain([&prompt.user]);
    let parts: Vec<&str> = parts.map(String::as_str).collect();
    parts.join(" ")
}

fn positive(value: &Value) -> Option<u32> {
    value
        .as_u64()
        .and_then(|n| u32::try_from(n).ok())
        .filter(|&n| n > 0)
}
