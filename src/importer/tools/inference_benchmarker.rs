//! Hugging Face's `inference-benchmarker`: a step a result, in milliseconds.
//!
//! TTFT ends at the first content. Its inter-token latency is a mean a request, which is TPOT elsewhere. A request
//! that ends after the deadline is in no count, and where nothing can be sent for lack of users, nothing says so.

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::field::{at, count, num, setting, text};
use crate::importer::found::{Found, FoundStage, Names, Reduced};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::metric::Metric;
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "inference-benchmarker",
    tag: "inference-benchmarker/1",
    by: "`results[].executor_type` beside `config`",
    is_own: |document| {
        document.one().is_some_and(|file| {
            let first = at(file, "results").and_then(|results| results.get(0));
            first.is_some_and(|first| first.get("executor_type").is_some())
                && file.get("config").is_some()
        })
    },
    read: Read::One(|file| {
        let results = at(file, "results").and_then(Value::as_array);
        read(file, results.ok_or("`results` is no list")?)
    }),
};

const NAMES: Names = Names {
    mean: "avg",
    min: "min",
    max: "max",
    quantiles: ["p50", "p90", "p95", "p99"],
};

fn read(file: &Value, results: &[Value]) -> Result<Found, String> {
    let mut found = Found {
        shape: "json",
        started: text(file, "start_time").and_then(instant::of_text),
        ..Found::default()
    };
    let is_warm_up = |result: &&Value| text(result, "id") == Some("warmup");
    if results.iter().any(|result| is_warm_up(&result)) {
        found
            .notes
            .doubt(Code::WarmUpLeftOut, "the result `warmup` is left out");
    }
    found.stages = results
        .iter()
        .filter(|result| !is_warm_up(result))
        .map(stage)
        .collect();
    if found.stages.is_empty() {
        return Err("it has no result but its warm-up's; was the run cut off?".to_owned());
    }
    found.notes.doubt(
        Code::FailedNotCounted,
        "requests that ended after the deadline are in no count, so the slowest are missing",
    );
    found.notes.doubt(
        Code::ErrorsCountedAsGood,
        "only an error event that begins with `{\"error\":` fails a request",
    );
    found.pin("model.name", setting(file, "config.model_name"));
    found.pin("model.tokenizer", setting(file, "config.tokenizer"));
    for (name, path) in [
        ("random_input_len", "config.prompt_options.num_tokens"),
        ("random_output_len", "config.decode_options.num_tokens"),
        ("max_concurrency", "config.max_vus"),
        ("benchmark_kind", "config.benchmark_kind"),
    ] {
        found.setting(name, setting(file, path));
    }
    found.notes.lossy("requests", "the tool writes summaries");
    found.notes.lossy(
        "engine and hardware",
        "the file describes the client's machine, not the server's",
    );
    Ok(found)
}

fn stage(result: &Value) -> FoundStage {
    let mut stage = FoundStage {
        name: text(result, "id").unwrap_or("result").to_owned(),
        duration_s: num(result, "duration_ms").map(|ms| ms / 1e3),
        users: count(result, "config.max_vus").and_then(|n| u32::try_from(n).ok()),
        rate_rps: num(result, "config.rate").filter(|rate| *rate > 0.0),
        requests: count(result, "total_requests"),
        completed: count(result, "successful_requests"),
        failed: count(result, "failed_requests"),
        input_tokens: count(result, "total_tokens_sent"),
        output_tokens: count(result, "total_tokens"),
        completed_rps: num(result, "request_rate"),
        output_tps: num(result, "token_throughput_secs"),
        method: Some(PercentileMethod::Linear),
        ..FoundStage::default()
    };
    if stage.rate_rps.is_some() {
        stage.users = None;
    }
    for (name, metric) in [
        ("time_to_first_token_ms", Metric::Ttft),
        ("inter_token_latency_ms", Metric::Tpot),
        ("e2e_latency_ms", Metric::E2e),
    ] {
        if let Some(reduced) = at(result, name).and_then(|block| Reduced::read(block, NAMES, 1e-3))
        {
            stage.reduced.insert(metric, reduced);
        }
    }
    stage
}
