//! `oha`: any answer is a response, so that error pages are among its latencies.

use serde_json::Value;

use super::text::of_answers;
use super::{Read, Tool};
use crate::importer::field::{at, num};
use crate::importer::found::{Found, FoundStage, Names, Reduced};
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "oha",
    tag: "oha/1",
    by: "`latencyPercentiles` beside `summary.successRate`",
    is_own: |document| {
        document.one().is_some_and(|file| {
            at(file, "summary.successRate").is_some() && file.get("latencyPercentiles").is_some()
        })
    },
    read: Read::One(|file| Ok(read(file))),
};

const PERCENTILES: Names = Names {
    mean: "mean",
    min: "min",
    max: "max",
    quantiles: ["p50", "p90", "p95", "p99"],
};

fn read(file: &Value) -> Found {
    let mut found = Found {
        shape: "json",
        ..Found::default()
    };
    let (mut good, mut failed) = (0_u64, 0_u64);
    let mut stage = FoundStage::default();
    let counts = |name: &str| {
        at(file, name)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    };
    for (status, n) in counts("statusCodeDistribution") {
        let n = n.as_u64().unwrap_or(0);
        if status.parse::<u16>().is_ok_and(|status| status < 400) {
            good = good.saturating_add(n);
        } else {
            failed = failed.saturating_add(n);
            stage.errors.insert(format!("status {status}"), n);
        }
    }
    let answered = failed;
    for (words, n) in counts("errorDistribution") {
        let n = n.as_u64().unwrap_or(0);
        failed = failed.saturating_add(n);
        stage.errors.insert(words.clone(), n);
    }
    stage.duration_s = num(file, "summary.total");
    stage.completed = Some(good);
    stage.failed = Some(failed);
    stage.method = Some(PercentileMethod::Rank);
    // Its rate counts all requests; ours is of good ones.
    stage.completed_rps = None;
    let block = at(file, "latencyPercentiles").unwrap_or(&Value::Null);
    let mut all = Reduced::default();
    if let Some(mut reduced) = Reduced::read(block, PERCENTILES, 1.0) {
        reduced.mean = num(file, "summary.average");
        reduced.min = num(file, "summary.fastest");
        reduced.max = num(file, "summary.slowest");
        all = reduced;
    }
    let unseen =
        "it does not look into answers: a stream that ends in an error event counts as good";
    of_answers(&mut found, stage, all, answered, unseen);
    found
        .notes
        .lossy("model, load and target", "the file does not tell them");
    found
}
