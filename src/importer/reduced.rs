//! A stage of which only another tool's summary is known.

use std::collections::BTreeMap;

use super::found::{FoundStage, Reduced};
use super::notes::{Code, Notes};
use crate::metric::Metric;
use crate::sample::{OutcomeKind, TokenSource};
use crate::summary::{
    Attainment, ClassSummary, Distribution, PercentileMethod, QuantileValue, Rates, StageSummary,
    TokenTotals,
};

/// Why a figure is not there.
const NOT_TOLD: &str = "the file does not tell";

/// The summary of a stage as its tool made it.
pub(super) fn summarise(found: &FoundStage, name: &str, notes: &mut Notes) -> StageSummary {
    let counts = Counts::of(found, notes);
    let window_s = found.duration_s.filter(|s| *s > 0.0).unwrap_or(0.0);
    let mut untold = BTreeMap::new();
    let mut leave_out = |metric: Metric, why: &str| {
        untold.insert(metric, why.to_owned());
    };
    if counts.failed.is_none() {
        let why = "the file has no count of failed requests";
        for metric in [Metric::ErrorRatio, Metric::Attainment, Metric::Goodput] {
            leave_out(metric, why);
        }
    }
    leave_out(
        Metric::TruncatedRatio,
        "the file does not say why answers ended",
    );
    let per_second = |n: u64| {
        if window_s > 0.0 {
            n as f64 / window_s
        } else {
            0.0
        }
    };
    let completed_rps = found
        .completed_rps
        .unwrap_or_else(|| per_second(counts.completed));
    if found.completed_rps.is_none() && window_s <= 0.0 {
        leave_out(Metric::RequestThroughput, NOT_TOLD);
        leave_out(Metric::Goodput, NOT_TOLD);
    }
    let of_tokens = |told: Option<f64>, tokens: Option<u64>| {
        told.or_else(|| tokens.filter(|_| window_s > 0.0).map(per_second))
    };
    let output_tps = of_tokens(found.output_tps, found.output_tokens);
    let input_tps = of_tokens(found.input_tps, found.input_tokens);
    if output_tps.is_none() {
        leave_out(Metric::OutputThroughput, NOT_TOLD);
    }
    if input_tps.is_none() {
        leave_out(Metric::InputThroughput, NOT_TOLD);
    }
    if output_tps.is_none() || input_tps.is_none() {
        leave_out(Metric::TotalThroughput, NOT_TOLD);
    }
    let good = found.goodput_rps.map(|rate| {
        let good = (rate * window_s).round().max(0.0) as u64;
        good.min(counts.completed)
    });
    if good.is_none() {
        let why = "the file says of no request whether it kept an objective";
        leave_out(Metric::Attainment, why);
        leave_out(Metric::Goodput, why);
    }
    let mut distributions = BTreeMap::new();
    for (metric, reduced) in &found.reduced {
        if let Some(distribution) = distribution(*metric, reduced, found.method, &counts, notes) {
            distributions.insert(*metric, distribution);
        }
    }
    let pooled = ClassSummary {
        scheduled: counts.requests,
        sent: counts.requests,
        outcomes: counts.outcomes(found.unfinished),
        finish: BTreeMap::new(),
        good: good.unwrap_or(counts.completed),
        attainment: good.map(|good| Attainment {
            good,
            of: counts.requests,
            clauses: BTreeMap::new(),
        }),
        tokens: TokenTotals {
            input_planned: 0,
            input_observed: found.input_tokens.unwrap_or(0),
            output_planned: 0,
            output_observed: found.output_tokens.unwrap_or(0),
            cached: 0,
            output_source: found.output_tokens.map(|_| TokenSource::Usage),
        },
        rates: Rates {
            offered_rps: per_second(counts.requests),
            sent_rps: per_second(counts.requests),
            completed_rps,
            goodput_rps: found.goodput_rps.unwrap_or(completed_rps),
            output_tps,
            input_tps,
        },
        distributions,
        untold,
        quality: None,
        errors: found.errors.clone(),
    };
    StageSummary {
        name: name.to_owned(),
        from_schedule: found.from_schedule,
        users: found.users,
        rate_rps: found.rate_rps,
        window_s,
        refined: false,
        invalid: Vec::new(),
        settling: None,
        load_state: None,
        stopped: None,
        engine_queue: None,
        prefix_cache: None,
        engine: None,
        gpus: None,
        health: None,
        pooled,
        classes: BTreeMap::new(),
        tenants: None,
        windows: Vec::new(),
        events: Vec::new(),
        bursts: None,
        soak: None,
    }
}

/// How many requests there were, as far as that adds up.
struct Counts {
    requests: u64,
    completed: u64,
    failed: Option<u64>,
}

impl Counts {
    fn of(found: &FoundStage, notes: &mut Notes) -> Self {
        let unfinished = found.unfinished;
        let rest = |all: Option<u64>, part: Option<u64>| Some(all?.saturating_sub(part?));
        let made = found.requests.map(|n| n.saturating_sub(unfinished));
        let completed = found.completed.or_else(|| rest(made, found.failed));
        let failed = found.failed.or_else(|| rest(made, completed));
        let completed = completed.unwrap_or(0);
        let sum = completed
            .saturating_add(failed.unwrap_or(0))
            .saturating_add(unfinished);
        if let Some(requests) = found.requests
            && failed.is_some()
            && requests != sum
        {
            notes.doubt(
                Code::CountsDisagree,
                format!(
                    "the file says that there were {requests} requests, and counts {completed} good, {} failed and \
                     {unfinished} cut off: the larger sum counts",
                    failed.unwrap_or(0)
                ),
            );
        }
        let requests = found.requests.unwrap_or(sum).max(sum);
        // What is in no count is no good request.
        let failed = failed.map(|_| {
            requests
                .saturating_sub(completed)
                .saturating_sub(unfinished)
        });
        Self {
            requests,
            completed,
            failed,
        }
    }

    fn outcomes(&self, unfinished: u64) -> BTreeMap<OutcomeKind, u64> {
        [
            (OutcomeKind::Completed, self.completed),
            (OutcomeKind::StreamError, self.failed.unwrap_or(0)),
            (OutcomeKind::Unfinished, unfinished),
        ]
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .collect()
    }
}

/// A distribution; `None` of zeros that mean "no data", and of what is no latency.
fn distribution(
    metric: Metric,
    reduced: &Reduced,
    method: Option<PercentileMethod>,
    counts: &Counts,
    notes: &mut Notes,
) -> Option<Distribution> {
    let valid = |value: Option<f64>| value.filter(|value| value.is_finite() && *value >= 0.0);
    let mut quantiles: BTreeMap<_, _> = reduced
        .quantiles
        .iter()
        .filter(|(_, value)| value.is_finite() && **value >= 0.0)
        .map(|(quantile, value)| (*quantile, *value))
        .collect();
    let (mean, min, max) = (valid(reduced.mean), valid(reduced.min), valid(reduced.max));
    let all_zero = quantiles.values().all(|value| *value == 0.0)
        && [mean, max].into_iter().flatten().all(|value| value == 0.0);
    if quantiles.is_empty() && mean.is_none() {
        return None;
    }
    if all_zero || counts.completed == 0 || reduced.n == Some(0) {
        notes.doubt(
            Code::ZeroIsNoData,
            format!("`{metric}` has figures without one value behind them: they stand for no data and are left out"),
        );
        return None;
    }
    if let Some(max) = max
        && let Some((quantile, value)) = quantiles
            .iter()
            .find(|(_, value)| **value > max * 1.000_001)
    {
        notes.doubt(
            Code::PercentileAboveMax,
            format!("{quantile} of `{metric}` ({value} s) is above its largest value ({max} s)"),
        );
    }
    // A percentile of 0 beside others that are none is the same zero.
    quantiles.retain(|_, value| *value > 0.0);
    let failed = counts.failed.unwrap_or(0);
    let quantiles = quantiles.into_iter().map(|(quantile, value_s)| {
        let adjusted_s = (failed == 0).then_some(value_s);
        (
            quantile,
            QuantileValue {
                value_s,
                adjusted_s,
            },
        )
    });
    Some(Distribution {
        n: reduced.n.unwrap_or(counts.completed),
        failed,
        min_s: min,
        mean_s: mean.filter(|mean| *mean > 0.0),
        max_s: max,
        quantiles: quantiles.collect(),
        hdr: None,
        summary: Some(method.unwrap_or(PercentileMethod::Unknown)),
    })
}
