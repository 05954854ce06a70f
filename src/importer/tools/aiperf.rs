//! NVIDIA's `aiperf` and, of the same blocks, `genai-perf`: the summary, and the requests a line each.
//!
//! TTFT ends at the first non-empty content, reasoning too. Its inter-token latency is (E2E − TTFT) / (n − 1),
//! which is TPOT elsewhere; its inter-chunk latency is the raw gap. Tokens are the client's tokenizer's. Each
//! block says its unit; a block that is absent has no data.

mod lines;
mod table;

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::document::Document;
use crate::importer::field::{at, count, num, setting, text};
use crate::importer::found::{Found, FoundStage, Reduced, api_of};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::metric::{Metric, Quantile};
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "aiperf",
    tag: "aiperf/1",
    by: "`request_latency.unit` beside `input_config`, a `metadata` and `metrics` a line, or a table that begins with `Metric,avg,min,max`",
    is_own: |document| {
        is_summary(document) || lines::is_own(document) || table::is_own(&document.text)
    },
    read: Read::Whole(|document, _| {
        if lines::is_own(document) {
            return lines::read(document);
        }
        if table::is_own(&document.text) {
            return table::read(&document.text);
        }
        let file = document.one().ok_or("it is not one object")?;
        Ok(summary(file))
    }),
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
    read: Read::One(|file| Ok(summary(file))),
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
        let counted = stage.errors.entry(words.to_owned()).or_insert(0);
        *counted = counted.saturating_add(count(kind, "count").unwrap_or(1));
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
