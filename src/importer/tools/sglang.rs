//! SGLang's `bench_serving`, in Python and in Rust: a row a run, appended.
//!
//! TTFT ends at the first non-empty text, over a connection of its own for each request, whose set-up is in it;
//! a stream without text keeps a TTFT of 0. TPOT is (E2E − TTFT) / (n − 1) with the *requested* n where no usage
//! came. No count of failed requests. Summaries are in milliseconds, details in seconds.

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::field::{count, num, setting, text};
use crate::importer::found::{Found, FoundStage, Reduced, api_of};
use crate::importer::notes::Code;
use crate::importer::packed::{Lists, Tokens};
use crate::metric::{Metric, Quantile};
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "sglang bench_serving",
    tag: "sglang/1",
    by: "`mean_e2e_latency_ms` and `completed`, an object a line",
    is_own: |document| {
        let rows = document.first_rows();
        !rows.is_empty() && rows.iter().all(is_own)
    },
    read: Read::Rows(|row| read(&row.value, row.lists)),
};

fn is_own(row: &Value) -> bool {
    let has = |key: &str| row.get(key).is_some();
    has("mean_e2e_latency_ms") && has("completed") && has("backend")
}

/// Its keys of a metric, and ours.
const METRICS: [(&str, Metric); 4] = [
    ("ttft", Metric::Ttft),
    ("tpot", Metric::Tpot),
    ("itl", Metric::Itl),
    ("e2e_latency", Metric::E2e),
];

fn read(row: &Value, lists: Lists) -> Result<Found, String> {
    let completed =
        count(row, "completed").ok_or("its `completed` is no count; was it cut off?")?;
    let mut found = Found {
        shape: "json lines",
        version: text(row, "server_info.version").map(str::to_owned),
        ..Found::default()
    };
    let mut stage = FoundStage {
        duration_s: num(row, "duration"),
        users: count(row, "max_concurrency").and_then(|users| u32::try_from(users).ok()),
        rate_rps: num(row, "request_rate").filter(|rate| *rate > 0.0),
        asked_output: asked(row),
        completed: Some(completed),
        input_tokens: count(row, "total_input_tokens"),
        output_tokens: count(row, "total_output_tokens"),
        completed_rps: num(row, "request_throughput"),
        output_tps: num(row, "output_throughput"),
        input_tps: num(row, "input_throughput"),
        method: Some(PercentileMethod::Linear),
        ..FoundStage::default()
    };
    for (key, metric) in METRICS {
        let figure =
            |statistic: &str| num(row, &format!("{statistic}_{key}_ms")).map(|ms| ms / 1e3);
        let mut reduced = Reduced {
            mean: figure("mean"),
            max: figure("max"),
            ..Reduced::default()
        };
        let quantiles = [
            ("median", Quantile::P50),
            ("p90", Quantile::P90),
            ("p95", Quantile::P95),
            ("p99", Quantile::P99),
        ];
        for (statistic, quantile) in quantiles {
            if let Some(seconds) = figure(statistic) {
                reduced.quantiles.insert(quantile, seconds);
            }
        }
        if reduced.mean.is_some() || !reduced.quantiles.is_empty() {
            stage.reduced.insert(metric, reduced);
        }
    }
    let credited = credited(row);
    stage.each = lists.requests(if credited {
        Tokens::AtMostEvents
    } else {
        Tokens::Told
    });
    if stage.each.is_empty() {
        found.notes.doubt(
            Code::FailedNotCounted,
            "the tool counts no failed requests and the file does not list its requests: nobody knows how many there were",
        );
        found
            .notes
            .lossy("failed requests", "written without `--output-details`");
        found.notes.doubt(
            Code::ErrorsCountedAsGood,
            "SGLang counts a stream that ends in an error event as good, and without its requests that does not show",
        );
        if credited {
            stage.output_tokens = count(row, "total_output_tokens_retokenized");
            stage.output_tps = None;
            stage.reduced.remove(&Metric::Tpot);
        }
    } else {
        found.shape = "json lines, per request";
        found.notes.doubt(
            Code::NoStartTimes,
            "the file keeps no start times of requests: whether latencies had settled is not known",
        );
        let good = stage
            .each
            .iter()
            .filter(|each| each.outcome.ended_well())
            .count() as u64;
        if good != completed {
            found.notes.doubt(
                Code::CountsDisagree,
                format!("it counts {completed} requests as completed, and {good} of those that it lists have a token and no error"),
            );
        }
    }
    if credited {
        let told = count(row, "total_output_tokens").unwrap_or(0);
        let came = count(row, "total_output_tokens_retokenized").unwrap_or(0);
        found.notes.doubt(
            Code::RequestedLengthCredited,
            format!(
                "it counts {told} output tokens where the text that came has {came}: answers that were cut off are credited \
                 with the length that was asked for; tokens are counted by events here, and its TPOT is not taken"
            ),
        );
    }
    found
        .notes
        .lossy("started", "the tool does not write when it ran");
    let info = |key: &str| setting(row, &format!("server_info.{key}"));
    found.pin(
        "engine.name",
        row.get("server_info")
            .filter(|info| info.get("version").is_some())
            .map(|_| "sglang".to_owned()),
    );
    found.pin("engine.version", info("version"));
    found.pin("model.name", info("model_path"));
    found.pin("model.tokenizer", info("tokenizer_path"));
    found.pin("precision.method", info("quantization"));
    found.pin("precision.kv_cache", info("kv_cache_dtype"));
    found.pin("precision.weights", info("dtype"));
    found.pin("parallel.tp", info("tp_size"));
    found.pin("parallel.dp", info("dp_size"));
    found.pin("parallel.pp", info("pp_size"));
    found.pin("parallel.ep", info("ep_size"));
    found.pin("request.api", text(row, "backend").map(api_of));
    for key in [
        "dataset_name",
        "request_rate",
        "max_concurrency",
        "random_input_len",
        "random_output_len",
        "random_range_ratio",
        "sharegpt_output_len",
    ] {
        found.setting(key, setting(row, key));
    }
    found.stages = vec![stage];
    Ok(found)
}

/// The length that every answer was to have: random lengths without a range.
fn asked(row: &Value) -> Option<u32> {
    let is_random = text(row, "dataset_name").is_some_and(|name| name.starts_with("random"));
    let is_fixed = num(row, "random_range_ratio") == Some(1.0);
    let length = count(row, "random_output_len").filter(|_| is_random && is_fixed)?;
    u32::try_from(length).ok()
}

/// Whether more output tokens are counted than came, by more than tokenizers differ.
fn credited(row: &Value) -> bool {
    let told = num(row, "total_output_tokens");
    let came = num(row, "total_output_tokens_retokenized");
    told.zip(came)
        .is_some_and(|(told, came)| told > came * 1.02)
}
