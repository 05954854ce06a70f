//! Whether a stage has requests enough for a statistic, as far as the plan can tell.
//!
//! The rule is on expected exceedances, E = n·(1 − q): a quantile may gate from E = 10 on, and never
//! from fewer than 50 values.

use crate::metric::{CellMetric, Metric, Quantile, Source, Statistic};
use crate::spec::class::OutputLength;
use crate::spec::model::Workload;
use crate::spec::stage::{Arrival, Stage};

/// Exceedances that a gated quantile rests on at the least.
const LEAST_EXCEEDANCES: f64 = 10.0;
/// Values that a gated distribution has at the least.
pub(super) const LEAST_VALUES: f64 = 50.0;

/// Too few values for a statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TooFew {
    /// Requests that the plan gives the cell.
    pub(super) planned: f64,
    /// Requests that it would need.
    pub(super) needed: f64,
}

/// Values that a quantile needs: 1,000 for p99, 200 for p95, 100 for p90, 50 for p50.
pub(super) fn needed(quantile: Quantile) -> f64 {
    // Rounded, as 1 − 0.99 is a little below 0.01.
    let exact = LEAST_EXCEEDANCES / (1.0 - quantile.fraction());
    ((exact * 1e6).round() / 1e6).ceil().max(LEAST_VALUES)
}

/// Checks one cell; `None` where the sample supports it or the plan cannot tell.
pub(super) fn check(
    metric: CellMetric,
    stage: &Stage,
    class: Option<&str>,
    workload: &Workload,
) -> Option<TooFew> {
    let needed = match metric.statistic() {
        Statistic::Quantile(quantile) => needed(quantile),
        Statistic::Mean => LEAST_VALUES,
        Statistic::Value | Statistic::Task(_) => return None,
    };
    let planned = stage.expected_requests_of(class, workload)?;
    let values = planned * values_per_request(metric.metric(), stage, class, workload);
    (values < needed - 1e-6).then_some(TooFew {
        planned,
        needed: (needed * if values > 0.0 { planned / values } else { 1.0 }).ceil(),
    })
}

/// Gaps come many to a request; everything else is one value.
fn values_per_request(
    metric: Metric,
    stage: &Stage,
    class: Option<&str>,
    workload: &Workload,
) -> f64 {
    let replayed = match &stage.arrival {
        Arrival::Trace(replay) => replay.mean_output(class),
        Arrival::Closed { .. } | Arrival::Open { .. } => None,
    };
    match (metric.source(), replayed) {
        (Source::Gaps, Some(tokens)) => (tokens - 1.0).max(1.0),
        (Source::Gaps, None) => gaps_drawn(class, workload),
        (
            Source::Requests
            | Source::Rate(_)
            | Source::Bad(_)
            | Source::Sweep
            | Source::Energy
            | Source::ColdStart
            | Source::Aftermath
            | Source::Checks
            | Source::Agreement
            | Source::Import,
            _,
        ) => 1.0,
    }
}

/// Gaps of a request of the class with the fewest.
fn gaps_drawn(class: Option<&str>, workload: &Workload) -> f64 {
    workload
        .classes
        .iter()
        .filter(|candidate| class.is_none_or(|class| candidate.name.as_str() == class))
        .map(|class| match class.output_length {
            OutputLength::Pinned => (class.mean_output() - 1.0).max(1.0),
            // A natural answer may have one gap only.
            OutputLength::Natural => 1.0,
        })
        .fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_decides_how_many_are_needed() {
        let needed = |text: &str| needed(text.parse().unwrap());
        for (quantile, n) in [
            ("p50", 50.0),
            ("p75", 50.0),
            ("p90", 100.0),
            ("p95", 200.0),
            ("p99", 1000.0),
            ("p99.9", 10_000.0),
        ] {
            assert!((needed(quantile) - n).abs() < 1e-9, "{quantile}");
        }
    }
}
