//! Ray's `llmperf`: the summary, with figures in one flat object, and the list of its requests.
//!
//! Its inter-token latency is the sum of all gaps, the time to the first token among them, by the tokens, which is
//! nobody else's figure. Whole numbers come in quotes, and `NaN` where all requests failed. A request that fails
//! may be in no count at all.

mod requests;

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::field::{at, count, num, setting, text};
use crate::importer::found::{Found, FoundStage, Names, Reduced};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::metric::Metric;
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "llmperf",
    tag: "llmperf/1",
    by: "`results_ttft_s_quantiles_p50` and `results_num_requests_started`, or a list with `end_to_end_latency_s`",
    is_own: |document| {
        document.one().is_some_and(|file| {
            let has = |key: &str| file.get(key).is_some();
            has("results_ttft_s_quantiles_p50")
                || (has("results_num_requests_started") && has("results_error_rate"))
        }) || requests::is_own(document)
    },
    read: Read::Whole(|document, _| {
        if requests::is_own(document) {
            return requests::read(document);
        }
        Ok(read(document.one().ok_or("it is not one object")?))
    }),
};

const TTFT: Names = Names {
    mean: "results_ttft_s_mean",
    min: "results_ttft_s_min",
    max: "results_ttft_s_max",
    quantiles: [
        "results_ttft_s_quantiles_p50",
        "results_ttft_s_quantiles_p90",
        "results_ttft_s_quantiles_p95",
        "results_ttft_s_quantiles_p99",
    ],
};
const E2E: Names = Names {
    mean: "results_end_to_end_latency_s_mean",
    min: "results_end_to_end_latency_s_min",
    max: "results_end_to_end_latency_s_max",
    quantiles: [
        "results_end_to_end_latency_s_quantiles_p50",
        "results_end_to_end_latency_s_quantiles_p90",
        "results_end_to_end_latency_s_quantiles_p95",
        "results_end_to_end_latency_s_quantiles_p99",
    ],
};

fn read(file: &Value) -> Found {
    let mut found = Found {
        shape: "json",
        started: num(file, "timestamp").and_then(instant::of_seconds),
        ..Found::default()
    };
    let completed = count(file, "results_num_completed_requests");
    let failed = count(file, "results_number_errors");
    let per_minute = num(file, "results_num_completed_requests_per_min").filter(|rate| *rate > 0.0);
    // Without entries of failed requests what is missing has none.
    let requests = count(file, "results_num_requests_started");
    let mut stage = FoundStage {
        duration_s: completed
            .zip(per_minute)
            .map(|(n, rate)| n as f64 * 60.0 / rate),
        users: count(file, "num_concurrent_requests").and_then(|n| u32::try_from(n).ok()),
        requests,
        completed: completed.or_else(|| Some(requests?.saturating_sub(failed?))),
        failed,
        completed_rps: per_minute.map(|rate| rate / 60.0),
        output_tps: num(file, "results_mean_output_throughput_token_per_s"),
        input_tokens: tokens(file, "results_number_input_tokens_mean", completed),
        output_tokens: tokens(file, "results_number_output_tokens_mean", completed),
        method: Some(PercentileMethod::Linear),
        ..FoundStage::default()
    };
    for (names, metric) in [(TTFT, Metric::Ttft), (E2E, Metric::E2e)] {
        if let Some(reduced) = Reduced::read(file, names, 1.0) {
            stage.reduced.insert(metric, reduced);
        }
        if let Some(text) = text(file, names.mean) {
            found.notes.doubt(
                Code::NotANumber,
                format!(
                    "`{}` is `{text}`, which is no number: it is left out",
                    names.mean
                ),
            );
        }
    }
    if at(file, "results_inter_token_latency_s_mean").is_some() {
        found.notes.doubt(
            Code::OtherMeaning,
            "llmperf's inter-token latency has the time to the first token in it and is not taken",
        );
    }
    found.notes.doubt(
        Code::FailedNotCounted,
        "llmperf loses requests that fail in its client: those are in none of its counts",
    );
    found.pin("model.name", setting(file, "model"));
    for (name, key) in [
        ("random_input_len", "mean_input_tokens"),
        ("random_output_len", "mean_output_tokens"),
        ("max_concurrency", "num_concurrent_requests"),
    ] {
        found.setting(name, setting(file, key));
    }
    found.notes.lossy("requests", "this is the summary");
    found.notes.lossy(
        "tpot and itl",
        "the tool has no such figure without the time to the first token in it",
    );
    found
        .notes
        .lossy("engine and hardware", "the tool does not record them");
    found.stages = vec![stage];
    found
}

fn tokens(file: &Value, mean: &str, requests: Option<u64>) -> Option<u64> {
    Some(
        (num(file, mean).filter(|mean| (0.0..1e9).contains(mean))? * requests? as f64).round()
            as u64,
    )
}
