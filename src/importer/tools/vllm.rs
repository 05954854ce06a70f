//! `vllm bench serve`, its predecessor `benchmark_serving.py`, and the Rust client that writes the same.
//!
//! TTFT ends at the first chunk with `choices`, whatever is in it; TPOT is (E2E − TTFT) / (n − 1); ITL are raw
//! gaps between chunks, pooled. Only requests that it counts as good are in any figure. Without one it writes
//! zeros. A stream that ends in an error event counts as good. Summaries are in milliseconds, details in seconds.

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::field::{at, count, num, setting, text};
use crate::importer::found::{Found, FoundRequest, FoundStage, Reduced, api_of};
use crate::importer::instant;
use crate::importer::notes::{Code, Notes};
use crate::importer::own;
use crate::importer::packed::{Lists, Tokens};
use crate::metric::{Metric, Quantile};
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "vllm bench serve",
    tag: "vllm/1",
    by: "`endpoint_type` or `backend`, with `completed` and `mean_ttft_ms`",
    is_own: |document| {
        let rows = document.first_rows();
        !rows.is_empty() && rows.iter().all(is_own)
    },
    read: Read::Rows(|row| read(&row.value, row.lists)),
};

/// SGLang's rows have these keys too, and others of their own.
fn is_own(row: &Value) -> bool {
    let has = |key: &str| row.get(key).is_some();
    (has("endpoint_type") || has("backend"))
        && (has("completed") || has("num_prompts"))
        && has("mean_ttft_ms")
        && !has("mean_e2e_latency_ms")
}

/// Its keys of a metric, and ours.
const METRICS: [(&str, Metric); 4] = [
    ("ttft", Metric::Ttft),
    ("tpot", Metric::Tpot),
    ("itl", Metric::Itl),
    ("e2el", Metric::E2e),
];

fn read(row: &Value, lists: Lists) -> Result<Found, String> {
    let is_rust = row.get("steady_state").is_some() || row.get("failed_requests").is_some();
    let mut found = Found {
        shape: if is_rust {
            "json of the Rust client"
        } else {
            "json"
        },
        started: text(row, "date").and_then(instant::of_text),
        version: None,
        ..Found::default()
    };
    let completed =
        count(row, "completed").ok_or(
        "it has no count `completed`: whether one of its requests succeeded is not known; import the file as vLLM wrote it",
    )?;
    let prompts = count(row, "num_prompts");
    let failed = count(row, "failed");
    let mut stage = FoundStage {
        duration_s: num(row, "duration"),
        users: count(row, "max_concurrency").and_then(|users| u32::try_from(users).ok()),
        rate_rps: num(row, "request_rate").filter(|rate| *rate > 0.0),
        requests: prompts,
        completed: Some(completed),
        failed,
        input_tokens: count(row, "total_input_tokens"),
        output_tokens: count(row, "total_output_tokens"),
        completed_rps: num(row, "request_throughput"),
        output_tps: num(row, "output_throughput"),
        goodput_rps: goodput(row, &mut found.notes),
        method: Some(PercentileMethod::Linear),
        ..FoundStage::default()
    };
    let is_ours = own::read(row, &mut found, &mut stage);
    if failed.is_none() {
        let why = match prompts {
            Some(_) => {
                "the file is of a version that does not count failed requests: those that are missing from `num_prompts` count as failed"
            }
            None => "the file has neither `failed` nor `num_prompts`",
        };
        found.notes.doubt(Code::FailedNotCounted, why);
    }
    for (key, metric) in METRICS {
        let reduced = reduced(row, key, &mut found.notes);
        if reduced.mean.is_some() || !reduced.quantiles.is_empty() {
            stage.reduced.insert(metric, reduced);
        } else if metric == Metric::E2e {
            found.notes.lossy(
                "e2e",
                "the file was written without `--percentile-metrics …,e2el`",
            );
        }
    }
    stage.each = lists.requests(Tokens::Told);
    if is_ours {
        found.notes.lossy(
            "requests",
            "exported as summaries: percentiles under failed requests are not known",
        );
    } else if stage.each.is_empty() {
        found.notes.lossy(
            "requests",
            "written without `--save-detailed`: percentiles are vLLM's own, and objectives can't be judged",
        );
        found.notes.doubt(
            Code::ErrorsCountedAsGood,
            "vLLM counts a stream that ends in an error event as good, and without its requests that does not show",
        );
    } else {
        found.shape = if is_rust {
            "json of the Rust client, per request"
        } else {
            "json, per request"
        };
        let kept = |each: &&FoundRequest| each.outcome.ended_well();
        let good = stage.each.iter().filter(kept).count() as u64;
        if good != completed {
            found.notes.doubt(
                Code::CountsDisagree,
                format!("it counts {completed} requests as completed, and {good} of those that it lists have a token and no error"),
            );
        }
        if stage.each.iter().any(|each| each.start_s.is_none()) {
            found.notes.doubt(
                Code::NoStartTimes,
                "the file is of a version that keeps no start times: whether latencies had settled is not known",
            );
        }
    }
    found.pin("model.name", text(row, "model_id").map(str::to_owned));
    found.pin(
        "model.tokenizer",
        text(row, "tokenizer_id").map(str::to_owned),
    );
    found.pin(
        "precision.method",
        text(row, "quantization").map(str::to_owned),
    );
    found.pin(
        "engine.version",
        text(row, "engine_version").map(str::to_owned),
    );
    found.pin(
        "request.api",
        text(row, "endpoint_type")
            .or_else(|| text(row, "backend"))
            .map(api_of),
    );
    found.pin("request.streaming", Some("true".to_owned()));
    for key in [
        "num_prompts",
        "request_rate",
        "burstiness",
        "max_concurrency",
        "random_input_len",
        "random_output_len",
    ] {
        found.setting(key, setting(row, key));
    }
    if !is_ours {
        found.notes.lossy(
            "engine and hardware",
            "the tool does not record them: give `--pin engine.version=…`",
        );
    }
    found.stages = vec![stage];
    Ok(found)
}

/// Good requests a second; older versions write the key with a colon.
fn goodput(row: &Value, notes: &mut Notes) -> Option<f64> {
    if let Some(rate) = num(row, "request_goodput") {
        return Some(rate);
    }
    let rate = num(row, "request_goodput:")?;
    notes.doubt(
        Code::KeyWithColon,
        "it is of a version that calls goodput `request_goodput:`, which is read as `request_goodput`",
    );
    Some(rate)
}

fn reduced(row: &Value, key: &str, notes: &mut Notes) -> Reduced {
    let mut figure = |name: &str| -> Option<f64> {
        let value = at(row, name)?;
        let number = num(row, name);
        if number.is_none() {
            notes.doubt(
                Code::NotANumber,
                format!("`{name}` is {value}, which is no number: it is left out"),
            );
        }
        number.map(|ms| ms / 1e3)
    };
    let mut out = Reduced {
        mean: figure(&format!("mean_{key}_ms")),
        ..Reduced::default()
    };
    if let Some(median) = figure(&format!("median_{key}_ms")) {
        out.quantiles.insert(Quantile::P50, median);
    }
    let own = format!("_{key}_ms");
    for name in row.as_object().into_iter().flat_map(|map| map.keys()) {
        if let Some(quantile) = name
            .strip_suffix(&own)
            .and_then(|start| start.parse::<Quantile>().ok())
            && let Some(value) = figure(name)
        {
            out.quantiles.insert(quantile, value);
        }
    }
    out
}
