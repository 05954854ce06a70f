//! Aggregates of `inferencex`: an object a configuration, or a list of them, in seconds.
//!
//! What its fork of vLLM's client measured, without a count of requests; throughputs are for each GPU.

use serde_json::Value;

use super::{Read, Tool};
use crate::importer::field::{count, num, setting};
use crate::importer::found::{Found, FoundStage, Reduced};
use crate::importer::notes::Code;
use crate::metric::{Metric, Quantile};
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "inferencex",
    tag: "inferencex/1",
    by: "`infmax_model_prefix` or `tput_per_gpu`, an object or a list",
    is_own: |document| {
        let rows = document.first_rows();
        !rows.is_empty()
            && rows
                .iter()
                .all(|row| row.get("tput_per_gpu").is_some() && row.get("conc").is_some())
    },
    read: Read::Rows(|row| Ok(read(&row.value))),
};

fn read(row: &Value) -> Found {
    let mut found = Found {
        shape: "json",
        ..Found::default()
    };
    let gpus = gpus(row);
    let mut stage = FoundStage {
        users: count(row, "conc").and_then(|n| u32::try_from(n).ok()),
        // Nobody knows how many: one for each that was in flight is the least.
        completed: count(row, "conc"),
        output_tps: num(row, "output_tput_per_gpu")
            .zip(gpus)
            .map(|(rate, gpus)| rate * gpus),
        input_tps: num(row, "input_tput_per_gpu")
            .zip(gpus)
            .map(|(rate, gpus)| rate * gpus),
        method: Some(PercentileMethod::Linear),
        ..FoundStage::default()
    };
    for (key, metric) in [
        ("ttft", Metric::Ttft),
        ("tpot", Metric::Tpot),
        ("itl", Metric::Itl),
        ("e2el", Metric::E2e),
    ] {
        let mut reduced = Reduced {
            mean: num(row, &format!("mean_{key}")),
            ..Reduced::default()
        };
        for (name, quantile) in [
            ("median", Quantile::P50),
            ("p90", Quantile::P90),
            ("p95", Quantile::P95),
            ("p99", Quantile::P99),
        ] {
            if let Some(seconds) = num(row, &format!("{name}_{key}")) {
                reduced.quantiles.insert(quantile, seconds);
            }
        }
        if reduced.mean.is_some() || !reduced.quantiles.is_empty() {
            stage.reduced.insert(metric, reduced);
        }
    }
    found.pin("model.name", setting(row, "model"));
    found.pin("engine.name", setting(row, "framework"));
    found.pin("engine.build", setting(row, "image"));
    found.pin("precision.weights", setting(row, "precision"));
    found.pin("hardware.gpu", setting(row, "hw"));
    found.pin("hardware.count", gpus.map(|n| n.to_string()));
    found.pin("parallel.tp", setting(row, "tp"));
    found.pin("parallel.ep", setting(row, "ep"));
    found.pin("parallel.pp", setting(row, "pp"));
    found.pin("speculative.method", setting(row, "spec_decoding"));
    found.setting("max_concurrency", setting(row, "conc"));
    found.setting("random_input_len", setting(row, "isl"));
    found.setting("random_output_len", setting(row, "osl"));
    found.notes.doubt(
        Code::FailedNotCounted,
        "the aggregate has no count of requests, good or failed; up to 5 % may have failed",
    );
    found.notes.lossy(
        "requests",
        "the aggregate does not count them: the concurrency stands for their number",
    );
    found
        .notes
        .lossy("started", "the aggregate does not say when it ran");
    found.stages = vec![stage];
    found
}

/// GPUs of all nodes.
fn gpus(row: &Value) -> Option<f64> {
    let of = |name: &str| num(row, name).filter(|n| (1.0..1e6).contains(n));
    match (of("num_prefill_gpu"), of("num_decode_gpu")) {
        (Some(prefill), Some(decode)) => Some(prefill + decode),
        _ => of("tp").map(|tp| tp * of("pp").unwrap_or(1.0)),
    }
}
