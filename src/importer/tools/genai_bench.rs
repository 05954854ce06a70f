//! `genai-bench`: one level of concurrency a file, with its requests.
//!
//! TTFT ends at the first content or reasoning. Times are in seconds, or in milliseconds where `_time_unit` says
//! so. Its error rate is computed before its requests are counted, and so is always 0. Throughputs are of the
//! middle of the run over the duration of all of it.

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::field::{at, count, num, setting, text};
use crate::importer::found::{Found, FoundRequest, FoundStage, Names, Reduced, outcome_of};
use crate::importer::notes::Code;
use crate::importer::place::Step;
use crate::metric::Metric;
use crate::sample::Outcome;
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "genai-bench",
    tag: "genai-bench/1",
    by: "`aggregated_metrics.stats`",
    is_own: |document| {
        document
            .one()
            .is_some_and(|file| at(file, "aggregated_metrics.stats").is_some())
    },
    read: Read::Whole(|document, _| {
        let file = document.one().ok_or("it is not one object")?;
        let scale = scale(file);
        let mut each = Vec::new();
        let place = [Step::Of(&["individual_request_metrics"]), Step::Each];
        document.each(&place, &mut |_, value| each.push(request(value, scale)))?;
        Ok(read(file, each))
    }),
};

const NAMES: Names = Names {
    mean: "mean",
    min: "min",
    max: "max",
    quantiles: ["p50", "p90", "p95", "p99"],
};

/// What makes seconds of its times.
fn scale(file: &Value) -> f64 {
    let unit = text(file, "_time_unit").or_else(|| text(file, "aggregated_metrics._time_unit"));
    if unit == Some("ms") { 1e-3 } else { 1.0 }
}

fn read(file: &Value, each: Vec<FoundRequest>) -> Found {
    let mut found = Found {
        shape: "json, per request",
        ..Found::default()
    };
    let scale = scale(file);
    let of = |name: &str| format!("aggregated_metrics.{name}");
    let mut stage = FoundStage {
        duration_s: num(file, &of("run_duration")),
        users: count(file, &of("num_concurrency")).and_then(|n| u32::try_from(n).ok()),
        requests: count(file, &of("num_requests")),
        completed: count(file, &of("num_completed_requests")),
        failed: count(file, &of("num_error_requests")),
        input_tokens: count(file, &of("stats.num_input_tokens.sum")),
        output_tokens: count(file, &of("stats.num_output_tokens.sum")),
        completed_rps: num(file, &of("requests_per_second")),
        output_tps: num(file, &of("mean_output_throughput_tokens_per_s")),
        input_tps: num(file, &of("mean_input_throughput_tokens_per_s")),
        method: Some(PercentileMethod::Linear),
        ..FoundStage::default()
    };
    for (name, metric) in [
        ("ttft", Metric::Ttft),
        ("tpot", Metric::Tpot),
        ("e2e_latency", Metric::E2e),
    ] {
        let block = at(file, &of(&format!("stats.{name}")));
        if let Some(reduced) = block.and_then(|block| Reduced::read(block, NAMES, scale)) {
            stage.reduced.insert(metric, reduced);
        }
    }
    let rate = num(file, &of("error_rate"));
    if rate == Some(0.0) && stage.failed.is_some_and(|failed| failed > 0) {
        found.notes.doubt(
            Code::ErrorRateWrong,
            format!(
                "its `error_rate` is 0 beside {} requests that failed: the counts are taken",
                stage.failed.unwrap_or(0)
            ),
        );
    }
    stage.each = each;
    if stage.each.is_empty() {
        found.shape = "json";
        found.notes.lossy("requests", "the file does not list them");
    } else {
        found.notes.doubt(
            Code::NoStartTimes,
            "the file keeps no start times of requests: whether latencies had settled is not known",
        );
    }
    let lost = at(file, &of("error_codes_frequency")).and_then(Value::as_object);
    for (code, n) in lost.into_iter().flatten() {
        if let Some(n) = n.as_u64() {
            stage.errors.insert(format!("status {code}"), n);
        }
    }
    found.setting("scenario", setting(file, &of("scenario")));
    found.setting("max_concurrency", setting(file, &of("num_concurrency")));
    found
        .notes
        .lossy("started", "the file does not say when it ran");
    found
        .notes
        .lossy("itl", "the file has no instant of each token");
    found.notes.lossy(
        "model, engine and hardware",
        "they stand in `experiment_metadata.json` beside it: give `--pin model.name=…`",
    );
    found.stages = vec![stage];
    found
}

fn request(value: &Value, scale: f64) -> FoundRequest {
    let seconds = |name: &str| num(value, name).map(|value| value * scale);
    let tokens = |name: &str| count(value, name).and_then(|n| u32::try_from(n).ok());
    let status = count(value, "error_code").and_then(|code| u16::try_from(code).ok());
    let error = text(value, "error_message");
    let outcome = if at(value, "error_code").is_some() {
        outcome_of(status, error.unwrap_or(""))
    } else if seconds("e2e_latency").is_some() {
        Outcome::Completed
    } else {
        Outcome::Empty
    };
    FoundRequest {
        ttft_s: seconds("ttft").filter(|s| *s > 0.0),
        e2e_s: seconds("e2e_latency").filter(|s| *s > 0.0),
        input: tokens("num_input_tokens"),
        output: tokens("num_output_tokens"),
        error: error.map(str::to_owned),
        ..FoundRequest::new(outcome)
    }
}
