//! `guidellm`: several benchmarks a file, each with its own strategy; four generations of the shape.
//!
//! TTFT ends at the first content, reasoning or tool call. Its TPOT counts from the send and so has TTFT in it;
//! its ITL is (last − first) / (n − 1) a request, which is TPOT elsewhere, weighted by tokens. Percentiles are
//! the value at a rank. Without a value it writes 0. Latency is in seconds, the rest in milliseconds.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::document::Document;
use crate::importer::field::{at, count, num, setting, text};
use crate::importer::found::{
    Found, FoundRequest, FoundStage, Reduced, api_of, last_line, outcome_of,
};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::importer::place::Step;
use crate::metric::{Metric, Quantile};
use crate::sample::Outcome;
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "guidellm",
    tag: "guidellm/1",
    by: "`benchmarks[].metrics.time_to_first_token_ms`, as JSON or YAML",
    is_own: |document| document.one().is_some_and(is_own),
    read: Read::Whole(|document, _| {
        let file = document.one().ok_or("it is not one object")?;
        let benchmarks = at(file, "benchmarks").and_then(Value::as_array);
        let benchmarks = benchmarks.ok_or("`benchmarks` is no list")?;
        let mut found = read(file, benchmarks, requests(document)?);
        if document.is_yaml() {
            found.shape = "yaml";
        }
        Ok(found)
    }),
};

fn is_own(value: &Value) -> bool {
    let first = at(value, "benchmarks").and_then(|benchmarks| benchmarks.get(0));
    first.is_some_and(|benchmark| {
        let metrics = benchmark.get("metrics");
        metrics.is_some_and(|metrics| metrics.get("request_latency").is_some())
    })
}

/// Its metrics of which ours are made, with what makes seconds of them.
const METRICS: [(&str, Metric, f64); 3] = [
    ("time_to_first_token_ms", Metric::Ttft, 1e-3),
    ("inter_token_latency_ms", Metric::Tpot, 1e-3),
    ("request_latency", Metric::E2e, 1.0),
];

fn read(
    file: &Value,
    benchmarks: &[Value],
    mut requests: BTreeMap<usize, Vec<FoundRequest>>,
) -> Found {
    let mut found = Found {
        version: text(file, "metadata.guidellm_version").map(str::to_owned),
        shape: match count(file, "metadata.version") {
            Some(2) => "json, version 2",
            Some(_) => "json, version 1",
            None if file.get("args").is_some() => "json of 0.4",
            None => "json up to 0.3",
        },
        started: benchmarks
            .iter()
            .filter_map(|benchmark| num(benchmark, "start_time"))
            .reduce(f64::min)
            .and_then(instant::of_seconds),
        ..Found::default()
    };
    found.notes.doubt(
        Code::OtherMeaning,
        "GuideLLM's `time_per_output_token_ms` has the time to the first token in it and is not taken; its \
         `inter_token_latency_ms` is what others call TPOT, and stands as that",
    );
    let mut whole = true;
    for (index, benchmark) in benchmarks.iter().enumerate() {
        let each = requests.remove(&index).unwrap_or_default();
        let stage = stage(benchmark, each, &mut found);
        whole &= !stage.each.is_empty();
        found.stages.push(stage);
    }
    if !whole {
        found.notes.lossy(
            "requests",
            "the file does not list all requests: percentiles are GuideLLM's own",
        );
    }
    found
        .notes
        .lossy("itl", "the file has no instant of each token");
    found
        .notes
        .lossy("engine and hardware", "the tool does not record them");
    let first = benchmarks.first().unwrap_or(&Value::Null);
    let of_first = |paths: &[&str]| {
        let each = paths.iter();
        let mut found =
            each.filter_map(|path| setting(file, path).or_else(|| setting(first, path)));
        found.next()
    };
    found.target = of_first(&[
        "config.spec.backend.target",
        "args.target",
        "config.backend.target",
        "worker.backend_target",
        "args.backend_kwargs.target",
    ]);
    found.pin(
        "model.name",
        of_first(&[
            "config.spec.backend.model",
            "config.backend.model",
            "args.model",
            "worker.backend_model",
        ]),
    );
    let api = of_first(&[
        "config.spec.backend.request_format",
        "config.backend.request_format",
    ]);
    found.pin("request.api", api.as_deref().map(api_of));
    found.pin(
        "request.streaming",
        of_first(&["config.spec.backend.stream", "config.backend.stream"]),
    );
    for (name, path) in [
        ("random_input_len", "prompt_tokens"),
        ("random_output_len", "output_tokens"),
    ] {
        let data = at(file, "config.spec.data.0").or_else(|| at(file, "config.spec.data")?.get(0));
        found.setting(name, data.and_then(|data| setting(data, path)));
    }
    found
}

fn stage(benchmark: &Value, each: Vec<FoundRequest>, found: &mut Found) -> FoundStage {
    let kind = [
        "config.strategy.type_",
        "scheduler.strategy.type_",
        "args.strategy.type_",
    ]
    .iter()
    .find_map(|path| text(benchmark, path))
    .unwrap_or("benchmark");
    let strategy = ["config.strategy", "scheduler.strategy", "args.strategy"]
        .iter()
        .find_map(|path| at(benchmark, path))
        .unwrap_or(&Value::Null);
    let rate = num(strategy, "rate").filter(|rate| *rate > 0.0);
    let users = match kind {
        "synchronous" => Some(1),
        "concurrent" => count(strategy, "streams").and_then(|n| u32::try_from(n).ok()),
        _ => None,
    };
    let of_kind = |name: &str| {
        let paths = [
            "metrics.request_totals",
            "request_totals",
            "scheduler_metrics.requests_made",
            "run_stats.requests_made",
        ];
        paths
            .iter()
            .find_map(|path| count(benchmark, &format!("{path}.{name}")))
    };
    let (completed, failed) = (of_kind("successful"), of_kind("errored"));
    let unfinished = of_kind("incomplete").unwrap_or(0);
    let mean = |metric: &str| num(benchmark, &format!("metrics.{metric}.successful.mean"));
    let sum = |metric: &str| count(benchmark, &format!("metrics.{metric}.successful.total_sum"));
    let mut stage = FoundStage {
        name: match (rate, users) {
            (Some(rate), _) => format!("{kind}-{rate:.2}"),
            (None, Some(users)) if kind == "concurrent" => format!("{kind}-{users}"),
            _ => kind.to_owned(),
        },
        duration_s: num(benchmark, "duration"),
        users,
        rate_rps: rate.filter(|_| matches!(kind, "constant" | "poisson")),
        requests: of_kind("total"),
        completed,
        failed,
        unfinished,
        input_tokens: sum("prompt_token_count"),
        output_tokens: sum("output_token_count"),
        completed_rps: mean("requests_per_second"),
        output_tps: mean("output_tokens_per_second"),
        method: Some(PercentileMethod::Rank),
        ..FoundStage::default()
    };
    for (key, metric, scale) in METRICS {
        let Some(values) = at(benchmark, &format!("metrics.{key}.successful")) else {
            continue;
        };
        let figure = |name: &str| num(values, name).map(|value| value * scale);
        let n = count(values, "count");
        let mut reduced = Reduced {
            mean: figure("mean"),
            min: figure("min"),
            max: figure("max"),
            n: n.map(|n| {
                if metric == Metric::Tpot {
                    n.min(completed.unwrap_or(n))
                } else {
                    n
                }
            }),
            ..Reduced::default()
        };
        if let Some(seconds) = figure("median") {
            reduced.quantiles.insert(Quantile::P50, seconds);
        }
        for (name, quantile) in [
            ("p50", Quantile::P50),
            ("p90", Quantile::P90),
            ("p95", Quantile::P95),
            ("p99", Quantile::P99),
        ] {
            if let Some(seconds) = figure(&format!("percentiles.{name}")) {
                reduced.quantiles.insert(quantile, seconds);
            }
        }
        stage.reduced.insert(metric, reduced);
    }
    let all = of_kind("total").or_else(|| {
        Some(
            completed?
                .saturating_add(failed?)
                .saturating_add(unfinished),
        )
    });
    if all.is_some_and(|all| all > 0 && all == each.len() as u64) {
        stage.each = each;
    } else if let Some(warnings) = at(benchmark, "warnings").and_then(Value::as_array)
        && !warnings.is_empty()
    {
        found
            .notes
            .lossy("requests", "only a sample of the requests is in the file");
    }
    for warning in at(benchmark, "warnings")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(message) = text(warning, "message") {
            found.notes.doubt(
                Code::NotWhole,
                format!("GuideLLM warns of its own run: {message}"),
            );
        }
    }
    stage
}

/// How requests ended, by the list that they stand in.
const KINDS: [&str; 3] = ["successful", "errored", "incomplete"];

/// The requests of each benchmark, in whichever generation.
fn requests(document: &Document<'_>) -> Result<BTreeMap<usize, Vec<FoundRequest>>, String> {
    let place = [
        Step::Of(&["benchmarks"]),
        Step::Each,
        Step::Of(&["requests"]),
        Step::Of(&KINDS),
        Step::Each,
    ];
    let mut found: BTreeMap<usize, Vec<FoundRequest>> = BTreeMap::new();
    document.each(&place, &mut |trail, value| {
        let (Some(&benchmark), Some(&kind)) = (trail.get(1), trail.get(3)) else {
            return;
        };
        let outcome = match kind {
            0 => Some(Outcome::Completed),
            1 => None,
            _ => Some(Outcome::Unfinished),
        };
        let each = found.entry(benchmark).or_default();
        each.push(request(value, outcome));
    })?;
    Ok(found)
}

fn request(value: &Value, outcome: Option<Outcome>) -> FoundRequest {
    let instant = |paths: [&str; 2]| paths.iter().find_map(|path| num(value, path));
    let start = instant(["info.timings.request_start", "start_time"]);
    let first = instant(["info.timings.first_token_iteration", "first_token_time"]);
    let last = instant(["info.timings.last_token_iteration", "last_token_time"]);
    let end = instant(["info.timings.request_end", "end_time"])
        .or_else(|| num(value, "info.timings.resolve_end"));
    let since = |instant: Option<f64>| Some(instant? - start?).filter(|seconds| *seconds > 0.0);
    let error = text(value, "info.error")
        .or_else(|| text(value, "error"))
        .unwrap_or("");
    let tokens = |paths: [&str; 3]| {
        let found = paths
            .iter()
            .find_map(|path| count(value, path).filter(|n| *n > 0));
        found.and_then(|n| u32::try_from(n).ok())
    };
    FoundRequest {
        start_s: start,
        ttft_s: since(first),
        e2e_s: since(last).or_else(|| since(end)),
        gaps_s: None,
        input: tokens([
            "input_metrics.total_tokens",
            "input_metrics.text_tokens",
            "prompt_tokens",
        ]),
        output: tokens([
            "output_metrics.total_tokens",
            "output_metrics.text_tokens",
            "output_tokens",
        ]),
        error: last_line(error),
        ..FoundRequest::new(outcome.unwrap_or_else(|| outcome_of(status_of(error), error)))
    }
}

/// `Server error '500 Internal Server Error' for url` has its status in quotes.
fn status_of(error: &str) -> Option<u16> {
    let quoted = error.split('\'').nth(1)?;
    quoted.split(' ').next()?.parse().ok()
}
