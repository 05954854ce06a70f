//! `k6`'s summary in its three shapes: `--summary-export`, `handleSummary`, and the machine-readable one.
//!
//! `http_req_failed.passes` are requests that failed. A trend without samples is all zeros. In the shape of
//! `--summary-export` a threshold's `true` means that it failed. A script's own trends are taken where they are
//! called `ttft`, `tpot`, `itl` or `e2e`, with or without `llm_` before or `_ms` behind, or by a name that is given.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Read, Tool, own_names};
use crate::importer::field::{at, count, num, text};
use crate::importer::found::{Found, FoundStage, Names, Reduced};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::metric::Metric;
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "k6",
    tag: "k6/1",
    by: "`metrics.http_req_duration` or `metrics.iterations`, or `results.metrics[]` beside `metadata.k6Version`",
    is_own: |document| {
        document.one().is_some_and(|file| {
            let flat = at(file, "metrics").is_some_and(|metrics| {
                metrics.get("iterations").is_some() || metrics.get("http_req_duration").is_some()
            });
            flat || text(file, "metadata.k6Version").is_some()
        })
    },
    read: Read::Whole(|document, options| {
        let file = document.one().ok_or("it is not one object")?;
        own_names(&options.metrics, &trends(file), "metric")?;
        Ok(read(file, &options.metrics))
    }),
};

const NAMES: Names = Names {
    mean: "avg",
    min: "min",
    max: "max",
    quantiles: ["med", "p(90)", "p(95)", "p(99)"],
};

/// A metric's figures, in whichever shape.
fn figures<'a>(file: &'a Value, name: &str) -> Option<&'a Value> {
    if let Some(list) = at(file, "results.metrics").and_then(Value::as_array) {
        let metric = list
            .iter()
            .find(|metric| text(metric, "name") == Some(name))?;
        return metric.get("values");
    }
    let metric = file.get("metrics")?.get(name)?;
    Some(metric.get("values").unwrap_or(metric))
}

/// Names of its metrics.
fn trends(file: &Value) -> Vec<&str> {
    let list = at(file, "results.metrics").and_then(Value::as_array);
    let map = at(file, "metrics").and_then(Value::as_object);
    let named = list
        .into_iter()
        .flatten()
        .filter_map(|metric| text(metric, "name"));
    let keys = map
        .into_iter()
        .flat_map(|map| map.keys().map(String::as_str));
    named.chain(keys).collect()
}

fn read(file: &Value, names: &BTreeMap<String, Metric>) -> Found {
    let legacy = file.get("root_group").is_some()
        && at(file, "metrics").is_some_and(|metrics| {
            metrics
                .as_object()
                .is_some_and(|map| map.values().all(|metric| metric.get("values").is_none()))
        });
    let mut found = Found {
        version: text(file, "metadata.k6Version").map(str::to_owned),
        shape: match (legacy, file.get("results").is_some()) {
            (true, _) => "json of --summary-export",
            (false, true) => "machine-readable json",
            (false, false) => "json of handleSummary",
        },
        ..Found::default()
    };
    let value =
        |metric: &str, name: &str| figures(file, metric).and_then(|values| num(values, name));
    let whole =
        |metric: &str, name: &str| figures(file, metric).and_then(|values| count(values, name));
    // `passes` counts answers of "did it fail?" that are true.
    let failed = whole("http_req_failed", "passes").or_else(|| whole("http_req_failed", "matches"));
    let requests = whole("http_reqs", "count")
        .or_else(|| whole("http_req_failed", "total"))
        .or_else(|| Some(whole("http_req_failed", "passes")? + whole("http_req_failed", "fails")?))
        .or_else(|| whole("iterations", "count"));
    let rate = value("http_reqs", "rate")
        .or_else(|| value("iterations", "rate"))
        .filter(|rate| *rate > 0.0);
    let mut stage = FoundStage {
        duration_s: num(file, "state.testRunDurationMs")
            .map(|ms| ms / 1e3)
            .or_else(|| num(file, "config.duration"))
            .or_else(|| Some(requests? as f64 / rate?)),
        requests,
        failed,
        completed: failed
            .zip(requests)
            .map(|(failed, all)| all.saturating_sub(failed))
            .or(requests),
        method: Some(PercentileMethod::Linear),
        ..FoundStage::default()
    };
    // Its end is when the summary was written.
    let ended = text(file, "metadata.generatedAt").and_then(instant::of_text);
    if let (Some(ended), Some(took)) = (ended, stage.duration_s) {
        found.started = instant::of_seconds(ended.as_nanosecond() as f64 / 1e9 - took);
    }
    for (name, metric) in [
        ("ttft", Metric::Ttft),
        ("tpot", Metric::Tpot),
        ("itl", Metric::Itl),
        ("e2e", Metric::E2e),
    ] {
        let mapped = names.iter().find(|(_, mapped)| **mapped == metric);
        let mapped = mapped.map(|(name, _)| name.clone());
        let known = [
            name.to_owned(),
            format!("{name}_ms"),
            format!("llm_{name}"),
            format!("llm_{name}_ms"),
        ];
        let known = known.into_iter().filter(|name| !names.contains_key(name));
        let mut known = mapped.into_iter().chain(known);
        let block = known.find_map(|name| figures(file, &name));
        if let Some(reduced) = block.and_then(|block| Reduced::read(block, NAMES, 1e-3)) {
            stage.reduced.insert(metric, reduced);
        }
    }
    if !stage.reduced.contains_key(&Metric::E2e)
        && let Some(reduced) =
            figures(file, "http_req_duration").and_then(|block| Reduced::read(block, NAMES, 1e-3))
    {
        if failed == Some(0) {
            stage.reduced.insert(Metric::E2e, reduced);
        } else {
            found.notes.doubt(
                Code::FailedInLatencies,
                format!(
                    "`http_req_duration` has {} failed requests in it and is not taken",
                    failed.map_or("an unknown number of".to_owned(), |n| n.to_string())
                ),
            );
        }
    }
    if failed.is_none() {
        found.notes.doubt(
            Code::FailedNotCounted,
            "the summary has no `http_req_failed`",
        );
    }
    thresholds(file, legacy, &mut found);
    if let Some(dropped) = whole("dropped_iterations", "count").filter(|n| *n > 0) {
        found.notes.doubt(
            Code::NotWhole,
            format!("{dropped} iterations were not started for lack of users: the target saw less load than was asked for"),
        );
    }
    found.notes.lossy("tokens", "the summary has none");
    found
        .notes
        .lossy("model and target", "the summary does not tell them");
    found.notes.lossy("requests", "this is a summary");
    found.stages = vec![stage];
    found
}

/// Thresholds that were broken, as the shape means it.
fn thresholds(file: &Value, legacy: bool, found: &mut Found) {
    let mut broken = Vec::new();
    for (name, metric) in at(file, "metrics")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        for (rule, state) in at(metric, "thresholds")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let failed = if legacy {
                state.as_bool() == Some(true)
            } else {
                state.get("ok").and_then(Value::as_bool) == Some(false)
            };
            if failed {
                broken.push(format!("`{name}` {rule}"));
            }
            if legacy {
                found.notes.doubt(
                    Code::TrueMeansFailed,
                    "in the shape of `--summary-export` a threshold's `true` means that it was broken",
                );
            }
        }
    }
    if !broken.is_empty() {
        found.notes.doubt(
            Code::NotWhole,
            format!("k6's own thresholds were broken: {}", broken.join(", ")),
        );
    }
}
