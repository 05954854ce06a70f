//! llm-d's benchmark reports 0.1, 0.2 and 0.2.1, as YAML or JSON: figures of other tools, each with its unit.

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::field::{at, count, num, setting, text};
use crate::importer::found::{Found, FoundStage, Reduced};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::metric::{Metric, Quantile};
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "llm-d benchmark report",
    tag: "llm-d/1",
    by: "`version` 0.1, 0.2 or 0.2.1 with `scenario` and `results`",
    is_own: |document| document.one().is_some_and(is_own),
    read: Read::One(read),
};

fn is_own(file: &Value) -> bool {
    at(file, "results.request_performance").is_some()
        || (setting(file, "version").is_some()
            && at(file, "metrics.requests").is_some()
            && at(file, "metrics.latency").is_some())
}

fn read(file: &Value) -> Result<Found, String> {
    let version = setting(file, "version");
    let (shape, root) = match version.as_deref() {
        Some("0.1") => ("report 0.1", "metrics"),
        Some("0.2") => ("report 0.2", "results.request_performance.aggregate"),
        Some("0.2.1") => ("report 0.2.1", "results.request_performance.aggregate"),
        other => {
            return Err(format!(
                "its version is {}, and 0.1, 0.2 and 0.2.1 are known",
                other.unwrap_or("not told")
            ));
        }
    };
    let mut found = Found {
        shape,
        ..Found::default()
    };
    let root = at(file, root).ok_or("it has no aggregate of requests")?;
    let total = count(root, "requests.total");
    let failed = count(root, "requests.failures");
    let rate = |name: &str| {
        num(root, &format!("throughput.{name}.mean"))
            .or_else(|| num(root, &format!("throughput.{name}")))
    };
    let mut stage = FoundStage {
        duration_s: num(root, "time.duration").or_else(|| {
            let at =
                |name: &str| text(file, &format!("run.time.{name}")).and_then(instant::of_text);
            Some((at("end")?.as_nanosecond() - at("start")?.as_nanosecond()) as f64 / 1e9)
        }),
        requests: total,
        failed,
        completed: total
            .zip(failed.or(Some(0)))
            .map(|(total, failed)| total.saturating_sub(failed)),
        users: None,
        rate_rps: num(file, "scenario.load.standardized.rate_qps").filter(|rate| *rate > 0.0),
        completed_rps: rate("request_rate").or_else(|| rate("requests_per_sec")),
        output_tps: rate("output_token_rate").or_else(|| rate("output_tokens_per_sec")),
        input_tps: rate("input_token_rate"),
        method: Some(PercentileMethod::Unknown),
        ..FoundStage::default()
    };
    if stage.users.is_none() {
        stage.users = count(file, "scenario.load.standardized.concurrency")
            .filter(|n| *n > 0)
            .and_then(|n| u32::try_from(n).ok());
    }
    for (name, metric) in [
        ("time_to_first_token", Metric::Ttft),
        ("time_per_output_token", Metric::Tpot),
        ("inter_token_latency", Metric::Itl),
        ("request_latency", Metric::E2e),
    ] {
        let Some(block) = at(root, &format!("latency.{name}")) else {
            continue;
        };
        let scale = match text(block, "units") {
            Some("s" | "s/token") => 1.0,
            Some("ms" | "ms/token") => 1e-3,
            other => {
                found.notes.doubt(
                    Code::NotANumber,
                    format!(
                        "`{name}` has units `{}`, which are no time: it is left out",
                        other.unwrap_or("none")
                    ),
                );
                continue;
            }
        };
        let figure = |key: &str| num(block, key).map(|value| value * scale);
        let mut reduced = Reduced {
            mean: figure("mean"),
            min: figure("min"),
            max: figure("max"),
            ..Reduced::default()
        };
        for (key, quantile) in [
            ("p50", Quantile::P50),
            ("p90", Quantile::P90),
            ("p95", Quantile::P95),
            ("p99", Quantile::P99),
        ] {
            // Some of its writers use a capital letter.
            if let Some(seconds) = figure(key).or_else(|| figure(&key.to_uppercase())) {
                reduced.quantiles.insert(quantile, seconds);
            }
        }
        stage.reduced.insert(metric, reduced);
    }
    found.started = text(file, "run.time.start")
        .and_then(instant::of_text)
        .or_else(|| num(root, "time.start").and_then(instant::of_seconds));
    pins(file, &mut found);
    let tool =
        text(file, "scenario.load.standardized.tool").or_else(|| text(file, "scenario.load.name"));
    found.notes.doubt(
        Code::SecondHand,
        format!(
            "its figures are {}'s, by definitions that the report does not hold",
            tool.unwrap_or("another tool")
        ),
    );
    if failed.is_none() {
        found.notes.doubt(
            Code::FailedNotCounted,
            "the report has no count of failures",
        );
        stage.completed = None;
        stage.requests = total;
    }
    found.setting("tool", tool.map(str::to_owned));
    found.notes.lossy("requests", "the report has aggregates");
    found.stages = vec![stage];
    Ok(found)
}

fn pins(file: &Value, found: &mut Found) {
    let stack = file.pointer("/scenario/stack/0/standardized");
    let first = |paths: &[&str]| {
        paths.iter().find_map(|path| {
            let value = file.pointer(path).or_else(|| stack?.pointer(path))?;
            match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            }
        })
    };
    for (pin, paths) in [
        ("model.name", &["/model/name", "/scenario/model/name"][..]),
        (
            "engine.name",
            &["/tool", "/scenario/platform/engine/0/name"],
        ),
        (
            "engine.version",
            &["/tool_version", "/scenario/platform/engine/0/version"],
        ),
        (
            "hardware.gpu",
            &["/accelerator/model", "/scenario/host/accelerator/0/model"],
        ),
        (
            "hardware.count",
            &["/accelerator/count", "/scenario/host/accelerator/0/count"],
        ),
        (
            "parallel.tp",
            &[
                "/accelerator/parallelism/tp",
                "/scenario/host/accelerator/0/parallelism/tp",
            ],
        ),
        (
            "parallel.dp",
            &[
                "/accelerator/parallelism/dp",
                "/scenario/host/accelerator/0/parallelism/dp",
            ],
        ),
        (
            "parallel.pp",
            &[
                "/accelerator/parallelism/pp",
                "/scenario/host/accelerator/0/parallelism/pp",
            ],
        ),
        (
            "parallel.ep",
            &[
                "/accelerator/parallelism/ep",
                "/scenario/host/accelerator/0/parallelism/ep",
            ],
        ),
    ] {
        found.pin(pin, first(paths));
    }
}
