//! `inference-perf`: the summary of a run or of one of its stages, in seconds.
//!
//! TTFT ends at the first content; a chunk is tokenized again, and all its tokens have its instant, so that gaps
//! within are 0. A status of 200 is good, whatever the stream says. Without a value it writes `null`.

mod requests;

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::field::{at, count, num};
use crate::importer::found::{Found, FoundStage, Names, Reduced};
use crate::importer::notes::Code;
use crate::metric::Metric;
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "inference-perf",
    tag: "inference-perf/1",
    by: "`load_summary` beside `successes.latency`, or a list with `info.request_metrics`",
    is_own: |document| {
        document.one().is_some_and(|file| {
            // What its Prometheus client gathers has the same two, and no `latency`.
            file.get("load_summary").is_some()
                && file
                    .get("successes")
                    .is_some_and(|good| good.get("latency").is_some())
        }) || requests::is_own(document)
    },
    read: Read::Whole(|document, _| {
        if requests::is_own(document) {
            return requests::read(document);
        }
        Ok(read(document.one().ok_or("it is not one object")?))
    }),
};

const NAMES: Names = Names {
    mean: "mean",
    min: "min",
    max: "max",
    quantiles: ["median", "p90", "p95", "p99"],
};
const METRICS: [(&str, Metric); 4] = [
    ("time_to_first_token", Metric::Ttft),
    ("time_per_output_token", Metric::Tpot),
    ("inter_token_latency", Metric::Itl),
    ("request_latency", Metric::E2e),
];

fn read(file: &Value) -> Found {
    let mut found = Found {
        shape: if at(file, "load_summary.requested_rate").is_some() {
            "json of a stage"
        } else {
            "json"
        },
        ..Found::default()
    };
    let throughput = |name: &str| num(file, &format!("successes.throughput.{name}"));
    let mut stage = FoundStage {
        duration_s: num(file, "benchmark_time_seconds")
            .or_else(|| num(file, "load_summary.send_duration"))
            .or_else(|| {
                let rate = throughput("requests_per_sec").filter(|rate| *rate > 0.0)?;
                Some(num(file, "successes.count")? / rate)
            }),
        rate_rps: num(file, "load_summary.requested_rate").filter(|rate| *rate > 0.0),
        requests: count(file, "load_summary.count"),
        completed: count(file, "successes.count"),
        failed: count(file, "failures.count"),
        input_tokens: count(file, "successes.prompt_tokens.total"),
        output_tokens: count(file, "successes.output_tokens.total"),
        completed_rps: throughput("requests_per_sec"),
        output_tps: throughput("output_tokens_per_sec"),
        input_tps: throughput("input_tokens_per_sec"),
        goodput_rps: num(file, "successes.goodput_metrics.request_goodput"),
        method: Some(PercentileMethod::Linear),
        ..FoundStage::default()
    };
    for (name, metric) in METRICS {
        let block = at(file, &format!("successes.latency.{name}"));
        if let Some(reduced) = block.and_then(|block| Reduced::read(block, NAMES, 1.0)) {
            stage.reduced.insert(metric, reduced);
        }
    }
    for (label, n) in at(file, "failures.by_label")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if let Some(n) = n.as_u64() {
            stage.errors.insert(label.clone(), n);
        }
    }
    if let Some(rate) = stage.rate_rps {
        found.setting("request_rate", Some(rate.to_string()));
    }
    found.setting("num_prompts", stage.requests.map(|n| n.to_string()));
    found.notes.doubt(
        Code::ErrorsCountedAsGood,
        "a status of 200 counts as good, an error event in its stream or not; \
         the shortest good answer is in `successes.output_len.min`",
    );
    if stage.reduced.contains_key(&Metric::Itl) {
        found.notes.doubt(
            Code::GapsNotPerToken,
            "gaps within a chunk of several tokens count as 0",
        );
    }
    found
        .notes
        .lossy("started", "the file does not say when it ran");
    found.notes.lossy(
        "model and target",
        "they stand in `config.yaml` beside it: give `--pin model.name=…`",
    );
    found.notes.lossy("requests", "this is a summary");
    found.stages = vec![stage];
    found
}
