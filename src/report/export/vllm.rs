//! Runs in the shape of `vllm bench serve --save-result`.

use serde_json::{Map, Value, json};

use super::load::{Exported, Load, export};
use crate::metric::{Metric, Quantile};
use crate::summary::{Run, Side};

/// Their words for distributions.
const METRICS: [(&str, Metric); 4] = [
    ("ttft", Metric::Ttft),
    ("tpot", Metric::Tpot),
    ("itl", Metric::Itl),
    ("e2el", Metric::E2e),
];

/// An object on a line of its own for each stage of each run, with the keys of vLLM's result files: times in milliseconds, of
/// completed requests only, as vLLM's are. A key whose figure nobody could tell is left out; `std_*` comes
/// from a histogram (within 0.4 % of each value). Keys that begin with `infergate_` tell what vLLM has no
/// word for, and let `infergate import` read the file as what it is.
///
/// A TTFT of 0.0415 s is `"mean_ttft_ms": 41.5`.
pub fn vllm(runs: &[Run]) -> Exported {
    export(runs, |load| format!("{}\n", Value::Object(object(load))))
}

fn object(load: Load<'_>) -> Map<String, Value> {
    let Load { run, stage, .. } = load;
    let all = load.all();
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("date", json!(date(&run.started)));
    let backend = match load.pin("request.api") {
        Some("completions") => "openai",
        _ => "openai-chat",
    };
    put("endpoint_type", json!(backend));
    put("backend", json!(backend));
    put("label", json!(run.spec.name));
    for (key, pin) in [
        ("model_id", "model.name"),
        ("tokenizer_id", "model.tokenizer"),
        ("quantization", "precision.method"),
        ("engine_version", "engine.version"),
    ] {
        put(key, json!(load.pin(pin)));
    }
    put("num_prompts", json!(load.completed() + load.failed()));
    let rate = stage
        .rate_rps
        .map_or_else(|| json!("inf"), |rate| json!(rate));
    put("request_rate", rate);
    put("max_concurrency", json!(stage.users));
    put("duration", json!(stage.window_s));
    put("completed", json!(load.completed()));
    put("failed", json!(load.failed()));
    if load.rate(Metric::InputThroughput).is_some() {
        put("total_input_tokens", json!(all.tokens.input_observed));
    }
    if load.rate(Metric::OutputThroughput).is_some() {
        put("total_output_tokens", json!(all.tokens.output_observed));
    }
    for (key, metric) in [
        ("request_throughput", Metric::RequestThroughput),
        ("request_goodput", Metric::Goodput),
        ("output_throughput", Metric::OutputThroughput),
        ("input_throughput", Metric::InputThroughput),
        ("total_token_throughput", Metric::TotalThroughput),
    ] {
        if let Some(value) = load.rate(metric) {
            put(key, json!(value));
        }
    }
    if let Some(health) = &stage.health {
        put("max_concurrent_requests", json!(health.in_flight_max));
    }
    for (key, metric) in METRICS {
        let Some(distribution) = load.distribution(metric) else {
            continue;
        };
        let mut figure = |name: String, seconds: Option<f64>| {
            if let Some(seconds) = seconds {
                put(&format!("{name}_{key}_ms"), json!(seconds * 1e3));
            }
        };
        let quantiles = Load::quantiles(distribution);
        figure("mean".to_owned(), distribution.mean_s);
        figure("median".to_owned(), quantiles.get(&Quantile::P50).copied());
        figure("std".to_owned(), load.std_dev(metric));
        for (quantile, seconds) in quantiles {
            figure(quantile.to_string(), Some(seconds));
        }
    }
    put("infergate_version", json!(run.client.version));
    put("infergate_definition", json!(run.definition));
    put("infergate_latency_from", json!(load.latency_from()));
    put("infergate_run", json!(run.id));
    put("infergate_session", json!(run.session));
    put("infergate_stage", json!(stage.name));
    put("infergate_pins", json!(load.pins()));
    put(
        "infergate_workload",
        json!(run.spec.workload_digest.to_string()),
    );
    if let Some(side) = run.side {
        let side = match side {
            Side::Baseline => "baseline",
            Side::Candidate => "candidate",
        };
        put("infergate_side", json!(side));
    }
    out
}

/// `20260812-101500` of RFC 3339; what is no instant stays as it is.
fn date(started: &str) -> String {
    started.parse::<jiff::Timestamp>().map_or_else(
        |_| started.to_owned(),
        |at| at.strftime("%Y%m%d-%H%M%S").to_string(),
    )
}
