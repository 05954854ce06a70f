//! `loadgen`'s `mlperf_log_summary.txt`, in nanoseconds. Latencies count from the scheduled instant.

use super::text::after;
use super::{Read, Tool};
use crate::importer::found::{Found, FoundStage, Reduced};
use crate::metric::{Metric, Quantile};
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "mlperf loadgen",
    tag: "mlperf/1",
    by: "text with `MLPerf Results Summary`",
    is_own: |document| document.is_text() && document.text.contains("MLPerf Results Summary"),
    read: Read::Text(read),
};

fn read(text: &str) -> Result<Found, String> {
    let of = |label: &str| -> Option<&str> {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == label).then(|| value.trim())
        })
    };
    let number = |label: &str| of(label)?.parse::<f64>().ok().filter(|n| n.is_finite());
    if of("Mode") == Some("AccuracyOnly") {
        return Err("it is of an accuracy run, which measures no performance".to_owned());
    }
    match of("Result is") {
        Some("VALID") => {}
        Some(other) => {
            let why: Vec<&str> = text
                .lines()
                .map(str::trim)
                .filter(|line| line.ends_with(": NO") || line.ends_with(": No"))
                .collect();
            return Err(format!(
                "LoadGen calls its own run {other} ({}): it is no measurement",
                why.join("; ")
            ));
        }
        None => return Err("it has no line `Result is`; was it cut off?".to_owned()),
    }
    let mut found = Found {
        shape: "text",
        ..Found::default()
    };
    let rate = number("Completed samples per second").or_else(|| number("Samples per second"));
    // LoadGen does not print how many samples there were; what it must have had at least.
    let duration = number("min_duration (ms)")
        .map(|ms| ms / 1e3)
        .filter(|s| *s > 0.0);
    let least = number("min_query_count").unwrap_or(0.0);
    let samples = rate
        .zip(duration)
        .map_or(least, |(rate, s)| (rate * s).max(least));
    let mut stage = FoundStage {
        duration_s: rate.filter(|rate| *rate > 0.0).map(|rate| samples / rate),
        rate_rps: number("Scheduled samples per second")
            .filter(|_| of("Scenario") == Some("Server")),
        completed: (1.0..1e12).contains(&samples).then_some(samples as u64),
        failed: Some(0),
        completed_rps: rate,
        output_tps: number("Completed tokens per second").or_else(|| number("Tokens per second")),
        method: Some(PercentileMethod::Rank),
        ..FoundStage::default()
    };
    for (metric, title, lower) in [
        (Metric::E2e, "latency", "latency"),
        (Metric::Ttft, "First Token latency", "first token latency"),
        (Metric::Tpot, "Time to Output Token", "time to output token"),
    ] {
        let ns = |label: String| number(&label).map(|ns| ns / 1e9);
        let mut reduced = Reduced {
            mean: ns(format!("Mean {title} (ns)")),
            min: ns(format!("Min {title} (ns)")),
            max: ns(format!("Max {title} (ns)")),
            ..Reduced::default()
        };
        for (percent, quantile) in [
            ("50.00", Quantile::P50),
            ("90.00", Quantile::P90),
            ("95.00", Quantile::P95),
            ("99.00", Quantile::P99),
        ] {
            if let Some(seconds) = ns(format!("{percent} percentile {lower} (ns)")) {
                reduced.quantiles.insert(quantile, seconds);
            }
        }
        if reduced.mean.is_some() || !reduced.quantiles.is_empty() {
            stage.reduced.insert(metric, reduced);
        }
    }
    for (name, label) in [("scenario", "Scenario"), ("target_qps", "target_qps")] {
        found.setting(name, of(label).map(str::to_owned));
    }
    found.notes.lossy("requests", "LoadGen prints no count of samples: what its rate and its shortest duration give stands for it");
    found.notes.lossy(
        "failed requests",
        "LoadGen counts none: a run with a query that did not complete is not valid",
    );
    found
        .notes
        .lossy("started", "it stands in the log beside it");
    found.notes.lossy(
        "model, engine and hardware",
        "they stand in the submission's description",
    );
    found.target = after(text, "SUT name :").map(str::to_owned);
    found.stages = vec![stage];
    Ok(found)
}
