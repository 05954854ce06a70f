//! Runs as benchmark reports of llm-d, version 0.2.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::load::{Exported, Load, export};
use crate::ident::Digest;
use crate::metric::{Metric, Quantile};
use crate::summary::Run;

/// The version of the report; 0.2.1 adds what is not measured here, and reads this one too.
const VERSION: &str = "0.2";
/// Percentiles that the report has a key for.
const QUANTILES: [(&str, &str); 5] = [
    ("p50", "p50"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p99.9", "p99p9"),
];

/// A report for each stage of each run: times in seconds, of completed requests only; what nobody could tell
/// is left out. `failures` counts requests that never left too.
pub fn llm_d(runs: &[Run]) -> Exported {
    export(runs, |load| {
        serde_yaml::to_string(&report(load)).expect("what is JSON can be written as YAML")
    })
}

fn report(load: Load<'_>) -> Value {
    let Load { run, stage, .. } = load;
    let mut about = Map::new();
    about.insert(
        "uid".to_owned(),
        json!(format!("{}-{}", run.id, stage.name)),
    );
    about.insert("eid".to_owned(), json!(run.session));
    about.insert("cid".to_owned(), json!(run.spec.workload_digest.short()));
    if let Some(time) = time(run) {
        about.insert("time".to_owned(), time);
    }
    let spec = &run.spec.name;
    about.insert(
        "description".to_owned(),
        json!(format!(
            "stage `{}` of spec `{spec}`, by infergate",
            stage.name
        )),
    );
    about.insert("keywords".to_owned(), json!([spec, stage.name]));
    json!({
        "version": VERSION,
        "run": about,
        "scenario": { "stack": [engine(load)], "load": workload(load) },
        "results": { "request_performance": { "aggregate": aggregate(load) } },
    })
}

/// From when to when the run was, all its stages; `None` where that is not known.
fn time(run: &Run) -> Option<Value> {
    let start: Timestamp = run.started.parse().ok()?;
    let elapsed = jiff::SignedDuration::try_from_secs_f64(run.elapsed_s).ok()?;
    let end = start.checked_add(elapsed).ok()?;
    Some(json!({
        "start": format!("{start:.3}"),
        "end": format!("{end:.3}"),
        "duration": format!("PT{:.3}S", run.elapsed_s),
    }))
}

/// What was measured. The shape for engines asks for an accelerator; without one it is of the general shape.
fn engine(load: Load<'_>) -> Value {
    let pin = |path: &str| load.pin(path).unwrap_or("unknown");
    let number = |path: &str| load.pin(path).and_then(|text| text.parse::<u32>().ok());
    let pins = json!(load.pins());
    let standardized = match (load.pin("hardware.gpu"), number("hardware.count")) {
        (Some(gpu), Some(count)) => json!({
            "kind": "inference_engine",
            "tool": pin("engine.name"),
            "tool_version": pin("engine.version"),
            "role": "replica",
            "replicas": 1,
            "model": { "name": pin("model.name") },
            "accelerator": {
                "model": gpu,
                "count": count,
                "parallelism": {
                    "tp": number("parallel.tp").unwrap_or(1),
                    "pp": number("parallel.pp").unwrap_or(1).max(1),
                    "dp": number("parallel.dp").unwrap_or(1),
                    "ep": number("parallel.ep").unwrap_or(1).max(1),
                },
            },
        }),
        _ => json!({
            "kind": "generic",
            "tool": pin("engine.name"),
            "tool_version": pin("engine.version"),
            "model": { "name": pin("model.name") },
        }),
    };
    json!({
        "metadata": {
            "label": pin("engine.name"),
            "cfg_id": Digest::of(pins.to_string().as_bytes()).short(),
        },
        "standardized": standardized,
        "native": { "config": { "infergate_pins": pins } },
    })
}

fn workload(load: Load<'_>) -> Value {
    let Load { run, stage, number } = load;
    let (input, output) = lengths(load);
    let length = |mean: f64| json!({ "distribution": "other", "value": mean });
    let mut standardized = Map::new();
    let mut put = |key: &str, value: Value| standardized.insert(key.to_owned(), value);
    put("tool", json!("infergate"));
    put("tool_version", json!(run.client.version));
    put("source", json!("unknown"));
    put("stage", json!(number));
    put("input_seq_len", length(input.unwrap_or(0.0)));
    if let Some(output) = output {
        put("output_seq_len", length(output));
    }
    if let Some(rate) = stage.rate_rps {
        put("rate_qps", json!(rate));
    }
    if let Some(users) = stage.users {
        put("concurrency", json!(users));
    }
    json!({
        "metadata": { "cfg_id": run.spec.workload_digest.short() },
        "standardized": standardized,
        "native": {
            "config": {
                "infergate_definition": run.definition,
                "infergate_latency_from": load.latency_from(),
                "infergate_spec": run.spec.text,
            },
        },
    })
}

/// Mean tokens of a request, in and out, of those that completed.
fn lengths(load: Load<'_>) -> (Option<f64>, Option<f64>) {
    let tokens = &load.all().tokens;
    let completed = load.completed();
    let mean =
        |sum: u64, told: bool| (told && completed > 0).then(|| sum as f64 / completed as f64);
    (
        mean(
            tokens.input_observed,
            load.rate(Metric::InputThroughput).is_some(),
        ),
        mean(
            tokens.output_observed,
            load.rate(Metric::OutputThroughput).is_some(),
        ),
    )
}

fn aggregate(load: Load<'_>) -> Value {
    let (input, output) = lengths(load);
    let mut requests = Map::new();
    requests.insert("total".to_owned(), json!(load.completed() + load.failed()));
    requests.insert("failures".to_owned(), json!(load.failed()));
    for (key, mean) in [("input_length", input), ("output_length", output)] {
        if let Some(mean) = mean {
            requests.insert(key.to_owned(), json!({ "units": "count", "mean": mean }));
        }
    }
    let mut latency = Map::new();
    for (key, metric, units) in [
        ("time_to_first_token", Metric::Ttft, "s"),
        ("time_per_output_token", Metric::Tpot, "s/token"),
        ("inter_token_latency", Metric::Itl, "s/token"),
        ("request_latency", Metric::E2e, "s"),
    ] {
        if let Some(statistics) = statistics(load, metric, units) {
            latency.insert(key.to_owned(), statistics);
        }
    }
    let mut throughput = Map::new();
    for (key, metric, units) in [
        ("input_token_rate", Metric::InputThroughput, "tokens/s"),
        ("output_token_rate", Metric::OutputThroughput, "tokens/s"),
        ("total_token_rate", Metric::TotalThroughput, "tokens/s"),
        ("request_rate", Metric::RequestThroughput, "queries/s"),
    ] {
        if let Some(rate) = load.rate(metric) {
            throughput.insert(key.to_owned(), json!({ "units": units, "mean": rate }));
        }
    }
    json!({ "requests": requests, "latency": latency, "throughput": throughput })
}

/// A distribution, where its mean is known: the report asks for it.
fn statistics(load: Load<'_>, metric: Metric, units: &str) -> Option<Value> {
    let distribution = load.distribution(metric)?;
    let mut out = Map::new();
    out.insert("units".to_owned(), json!(units));
    out.insert("mean".to_owned(), json!(distribution.mean_s?));
    let mut put = |key: &str, value: Option<f64>| {
        if let Some(seconds) = value {
            out.insert(key.to_owned(), json!(seconds));
        }
    };
    put("stddev", load.std_dev(metric));
    put("min", distribution.min_s);
    let quantiles = Load::quantiles(distribution);
    for (ours, theirs) in QUANTILES {
        let quantile: Option<Quantile> = ours.parse().ok();
        put(theirs, quantile.and_then(|q| quantiles.get(&q).copied()));
    }
    put("max", distribution.max_s);
    Some(Value::Object(out))
}
