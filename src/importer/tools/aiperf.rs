//! NVIDIA's `aiperf` and, of the same blocks, `genai-perf`: the summary, and the requests a line each.
//!
//! TTFT ends at the first non-empty content, reasoning too. Its inter-token latency is (E2E − TTFT) / (n − 1),
//! which is TPOT elsewhere; its inter-chunk latency is the raw gap. Tokens are the client's tokenizer's. Each
//! block says its unit; a block that is absent has no data.

use serde_json::Value;

use super::Tool;
use crate::importer::document::Document;
use crate::importer::field::{as_num, at, count, num, setting, text};
use crate::importer::found::{Found, FoundRequest, FoundStage, Reduced, api_of, outcome_of};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::metric::{Metric, Quantile};
use crate::sample::Outcome;
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "aiperf",
    tag: "aiperf/1",
    by: "`request_latency.unit` beside `input_config`, or a `metadata` and `metrics` a line",
    is_own: |document| is_summary(document) || is_lines(document),
    read: |document: &Document<'_>| {
        if is_lines(document) {
            return Ok(vec![lines(document)?]);
        }
        let file = document.one().ok_or("it is not one object")?;
        Ok(vec![summary(file)])
    },
};

pub(super) const GENAI_PERF: Tool = Tool {
    name: "genai-perf",
    tag: "genai-perf/1",
    by: "the blocks of `aiperf` without `aiperf_version`, with `request_latency.std` and `input_config.perf_analyzer`",
    is_own: |document| {
        document
            .one()
            .is_some_and(|file| is_blocks(file) && is_genai_perf(file))
    },
    read: |document: &Document<'_>| {
        let file = document.one().ok_or("it is not one object")?;
        Ok(vec![summary(file)])
    },
};

fn is_blocks(file: &Value) -> bool {
    text(at(file, "records").unwrap_or(file), "request_latency.unit").is_some()
}

/// Its predecessor writes the same blocks, and the options of its own load generator.
fn is_genai_perf(file: &Value) -> bool {
    file.get("aiperf_version").is_none()
        && file.get("records").is_none()
        && (at(file, "input_config.perf_analyzer").is_some()
            || at(file, "input_config.profile_export_file").is_some())
}

fn is_summary(document: &Document<'_>) -> bool {
    document.one().is_some_and(|file| {
        let own = text(file, "aiperf_version").is_some() && file.get("input_config").is_some();
        (is_blocks(file) || own) && !is_genai_perf(file)
    })
}

fn is_lines(document: &Document<'_>) -> bool {
    let rows = document.rows();
    !rows.is_empty()
        && rows.iter().all(|row| {
            let has = |path: &str| row.pointer(path).is_some();
            has("/metadata/worker_id") && has("/metrics")
        })
}

/// What makes seconds of a unit.
fn seconds_in(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" | "seconds" => 1.0,
        _ => return None,
    })
}

/// Its blocks, by their names now and in its first versions, and ours.
const METRICS: [(&[&str], Metric); 4] = [
    (&["time_to_first_token", "ttft"], Metric::Ttft),
    (
        &["inter_token_latency", "inter_token_latency_ms"],
        Metric::Tpot,
    ),
    (&["inter_chunk_latency"], Metric::ChunkGap),
    (&["request_latency"], Metric::E2e),
];

fn summary(file: &Value) -> Found {
    let blocks = at(file, "records").unwrap_or(file);
    let mut found = Found {
        version: setting(file, "aiperf_version"),
        shape: match text(file, "schema_version") {
            Some("1.0") => "json, schema 1.0",
            Some("1.1") => "json, schema 1.1",
            Some("1.2") => "json, schema 1.2",
            Some("1.3") => "json, schema 1.3",
            Some("1.4") => "json, schema 1.4",
            Some("1.5") => "json, schema 1.5",
            Some(_) => "json, another schema",
            None if file.get("records").is_some() => "json of October 2025",
            None => "json without a schema version",
        },
        started: text(file, "start_time").and_then(instant::of_text),
        ..Found::default()
    };
    let is_genai = is_genai_perf(file);
    let avg = |name: &str| num(blocks, &format!("{name}.avg"));
    let total = |name: &str| avg(name).and_then(crate::importer::field::as_count);
    let completed = total("request_count");
    let failed = total("error_request_count");
    if failed.is_none() && is_genai {
        found.notes.doubt(
            Code::FailedNotCounted,
            "the file has no count of failed requests",
        );
        found.notes.doubt(
            Code::FailedInThroughput,
            "GenAI-Perf's request throughput counts failed requests too",
        );
    }
    let streaming = at(blocks, "time_to_first_token")
        .or_else(|| at(blocks, "ttft"))
        .is_some();
    let mut stage = FoundStage {
        duration_s: block_seconds(blocks, "benchmark_duration"),
        completed,
        // A block that is absent counted nothing.
        failed: failed.or_else(|| completed.filter(|_| !is_genai).map(|_| 0)),
        input_tokens: total("total_isl").or_else(|| count(blocks, "input_sequence_length.sum")),
        output_tokens: total("total_osl").or_else(|| count(blocks, "output_sequence_length.sum")),
        completed_rps: avg("request_throughput"),
        output_tps: avg("output_token_throughput"),
        input_tps: avg("input_token_throughput"),
        goodput_rps: avg("goodput").or_else(|| avg("request_goodput")),
        method: Some(PercentileMethod::Linear),
        ..FoundStage::default()
    };
    for (names, metric) in METRICS {
        let Some((block, scale)) = names.iter().find_map(|name| {
            let block = at(blocks, name)?;
            Some((block, seconds_in(text(block, "unit")?)?))
        }) else {
            continue;
        };
        if metric == Metric::Ttft && !streaming {
            continue;
        }
        let figure = |name: &str| num(block, name).map(|value| value * scale);
        let mut reduced = Reduced {
            mean: figure("avg"),
            min: figure("min"),
            max: figure("max"),
            n: count(block, "count"),
            ..Reduced::default()
        };
        for (name, quantile) in [
            ("p50", Quantile::P50),
            ("p90", Quantile::P90),
            ("p95", Quantile::P95),
            ("p99", Quantile::P99),
        ] {
            if let Some(seconds) = figure(name) {
                reduced.quantiles.insert(quantile, seconds);
            }
        }
        stage.reduced.insert(metric, reduced);
    }
    load(file, &mut stage, &mut found);
    for kind in at(file, "error_summary")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let words = text(kind, "error_details.message").unwrap_or("unknown");
        *stage.errors.entry(words.to_owned()).or_insert(0) += count(kind, "count").unwrap_or(1);
    }
    if at(file, "was_cancelled").and_then(Value::as_bool) == Some(true) {
        found
            .notes
            .doubt(Code::NotWhole, "the file says that its run was cancelled");
    }
    found.notes.doubt(
        Code::ErrorsCountedAsGood,
        "a stream that ends in an error event without a type that the client knows counts as good, and without its requests that does not show",
    );
    found.notes.lossy(
        "requests",
        "this is the summary: `profile_export.jsonl` beside it has the requests",
    );
    found.notes.lossy(
        "itl",
        "the summary has gaps between chunks, not between tokens",
    );
    found.stages = vec![stage];
    found
}

fn block_seconds(blocks: &Value, name: &str) -> Option<f64> {
    let scale = seconds_in(text(blocks, &format!("{name}.unit"))?)?;
    num(blocks, &format!("{name}.avg")).map(|value| value * scale)
}

/// What the configuration says of the load.
fn load(file: &Value, stage: &mut FoundStage, found: &mut Found) {
    let config = at(file, "input_config").unwrap_or(&Value::Null);
    let first = |paths: &[&str]| paths.iter().find_map(|path| pointed(config, path));
    stage.users = first(&[
        "/loadgen/concurrency",
        "/phases/0/concurrency",
        "/perf_analyzer/stimulus/concurrency",
    ])
    .and_then(|text| text.parse().ok());
    stage.rate_rps = first(&[
        "/loadgen/request_rate",
        "/phases/0/rate",
        "/phases/0/request_rate",
        "/perf_analyzer/stimulus/request_rate",
    ])
    .and_then(|text| text.parse().ok())
    .filter(|rate: &f64| *rate > 0.0);
    found.target = first(&["/endpoint/urls/0", "/endpoint/url"]);
    found.pin(
        "model.name",
        first(&[
            "/endpoint/model_names/0",
            "/models/items/0/name",
            "/model_names/0",
        ]),
    );
    found.pin("model.tokenizer", first(&["/tokenizer/name"]));
    found.pin(
        "request.api",
        first(&["/endpoint/type"]).as_deref().map(api_of),
    );
    found.pin("request.streaming", first(&["/endpoint/streaming"]));
    for (name, paths) in [
        (
            "num_prompts",
            &["/loadgen/request_count", "/phases/0/requests"][..],
        ),
        (
            "max_concurrency",
            &["/loadgen/concurrency", "/phases/0/concurrency"],
        ),
        ("request_rate", &["/loadgen/request_rate", "/phases/0/rate"]),
        (
            "random_input_len",
            &[
                "/input/prompt/input_tokens/mean",
                "/datasets/0/prompts/isl/mean",
            ],
        ),
        (
            "random_output_len",
            &[
                "/input/prompt/output_tokens/mean",
                "/datasets/0/prompts/osl/mean",
            ],
        ),
    ] {
        found.setting(name, first(paths).map(|value| whole(&value)));
    }
    found.notes.lossy(
        "engine and hardware",
        "the tool does not record the server's: give `--pin engine.version=…`",
    );
}

/// `32` of `32.0`.
fn whole(value: &str) -> String {
    value.strip_suffix(".0").unwrap_or(value).to_owned()
}

fn pointed(value: &Value, pointer: &str) -> Option<String> {
    match value.pointer(pointer)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(switch) => Some(switch.to_string()),
        _ => None,
    }
}

fn lines(document: &Document<'_>) -> Result<Found, String> {
    let mut found = Found {
        shape: "json lines, per request",
        ..Found::default()
    };
    let (mut warm_up, mut each) = (0_u64, Vec::new());
    for row in document.rows() {
        let phase =
            text(row, "metadata.benchmark_phase").or_else(|| text(row, "metadata.credit_phase"));
        if phase.is_some_and(|phase| phase != "profiling") {
            warm_up += 1;
            continue;
        }
        each.push(request(row));
    }
    if each.is_empty() {
        return Err("every one of its requests is of a warm-up; was the run cut off?".to_owned());
    }
    if warm_up > 0 {
        found.notes.doubt(
            Code::WarmUpLeftOut,
            format!("{warm_up} requests of the warm-up are left out"),
        );
    }
    found.started = each
        .iter()
        .filter_map(|request| request.start_s)
        .reduce(f64::min)
        .and_then(instant::of_seconds);
    found.notes.lossy(
        "workload and model",
        "they stand in the summary beside it: give `--pin model.name=…`",
    );
    found.stages = vec![FoundStage {
        completed: Some(
            each.iter()
                .filter(|request| request.outcome.ended_well())
                .count() as u64,
        ),
        output_tokens: Some(
            each.iter()
                .filter_map(|request| request.output)
                .map(u64::from)
                .sum(),
        ),
        input_tokens: Some(
            each.iter()
                .filter_map(|request| request.input)
                .map(u64::from)
                .sum(),
        ),
        each,
        ..FoundStage::default()
    }];
    Ok(found)
}

fn request(row: &Value) -> FoundRequest {
    let value = |name: &str| num(row, &format!("metrics.{name}.value"));
    let scale = |name: &str| text(row, &format!("metrics.{name}.unit")).and_then(seconds_in);
    let seconds = |name: &str| Some(value(name)? * scale(name)?);
    let start = num(row, "metadata.request_start_ns").or_else(|| num(row, "metadata.timestamp_ns"));
    let tokens = |names: [&str; 2]| {
        let found = names
            .iter()
            .find_map(|name| value(name).filter(|n| (0.0..1e9).contains(n)));
        found.map(|n| n as u32)
    };
    let cancelled = at(row, "metadata.was_cancelled").and_then(Value::as_bool) == Some(true);
    let error = at(row, "error");
    let message = error.and_then(|error| text(error, "message")).unwrap_or("");
    let kind = error.and_then(|error| text(error, "type")).unwrap_or("");
    let outcome = match error {
        _ if cancelled || kind == "RequestCancellationError" => Outcome::Cancelled,
        None if seconds("request_latency").is_some() => Outcome::Completed,
        None => Outcome::Empty,
        Some(error) => {
            let status = count(error, "code").and_then(|code| u16::try_from(code).ok());
            outcome_of(status, &format!("{kind} {message}"))
        }
    };
    let gaps = at(row, "metrics.inter_chunk_latency.value").and_then(Value::as_array);
    let gaps = gaps.zip(scale("inter_chunk_latency"));
    // Of a failed request, so that the time that it took counts; it is in no latency.
    let end = num(row, "metadata.request_end_ns");
    let took = end.zip(start).map(|(end, start)| (end - start) / 1e9);
    FoundRequest {
        start_s: start.map(|ns| ns / 1e9),
        ttft_s: seconds("time_to_first_token").or_else(|| seconds("ttft")),
        e2e_s: seconds("request_latency").or(took.filter(|_| !outcome.ended_well())),
        gaps_s: gaps.map(|(gaps, scale)| {
            gaps.iter()
                .filter_map(as_num)
                .map(|gap| gap * scale)
                .collect()
        }),
        input: tokens(["input_sequence_length", "usage_prompt_tokens"]),
        output: tokens(["output_sequence_length", "output_token_count"]),
        error: (!message.is_empty() || !kind.is_empty()).then(|| {
            if message.is_empty() {
                kind.to_owned()
            } else {
                message.to_owned()
            }
        }),
        ..FoundRequest::new(outcome)
    }
}
