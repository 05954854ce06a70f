//! What others decide by. Each says whether the candidate is worse; all values are logarithms.

use infergate::stats::student::{normal_cdf, quantile, sf};
use infergate::stats::{mean, variance};

/// One-sided level of every test: half of the customary two-sided 5 %.
pub(crate) const LEVEL: f64 = 0.025;

/// The candidate's mean is over the baseline's by a share or more.
pub(crate) fn threshold(baseline: &[f64], candidate: &[f64], share: f64) -> bool {
    mean(candidate)
        .zip(mean(baseline))
        .is_some_and(|(head, base)| head - base >= share.ln_1p())
}

/// A t-test's outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TTest {
    /// Difference of the means in its standard errors, positive where the candidate is worse.
    pub(crate) t: f64,
    /// Degrees of freedom.
    pub(crate) df: f64,
    /// One-sided p-value against "not worse".
    pub(crate) p: f64,
}

/// Welch's t-test between runs; `None` of fewer than two on a side.
pub(crate) fn welch(baseline: &[f64], candidate: &[f64]) -> Option<TTest> {
    if baseline.len() < 2 || candidate.len() < 2 {
        return None;
    }
    let of_mean = |side: &[f64]| variance(side) / side.len() as f64;
    let share = |side: &[f64]| of_mean(side).powi(2) / (side.len() - 1) as f64;
    let error = of_mean(baseline) + of_mean(candidate);
    let t = (mean(candidate)? - mean(baseline)?) / error.sqrt();
    let df = error.powi(2) / (share(baseline) + share(candidate));
    (t.is_finite() && df.is_finite()).then(|| TTest {
        t,
        df,
        p: sf(t, df),
    })
}

/// Mann and Whitney's test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MannWhitney {
    /// Pairs in which the candidate's value is larger, equal ones by half.
    pub(crate) u: f64,
    /// One-sided p-value against "not worse", by the normal approximation with corrections for ties
    /// and continuity.
    pub(crate) p: f64,
}

/// Mann and Whitney's test between requests; `None` where a side is empty or all values are equal.
pub(crate) fn mann_whitney(baseline: &[f64], candidate: &[f64]) -> Option<MannWhitney> {
    let (m, n) = (baseline.len() as f64, candidate.len() as f64);
    let all = m + n;
    let mut values: Vec<(f64, bool)> = (baseline.iter().map(|&value| (value, false)))
        .chain(candidate.iter().map(|&value| (value, true)))
        .collect();
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut before, mut ranks, mut ties) = (0.0, 0.0, 0.0);
    for equal in values.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let count = equal.len() as f64;
        let rank = before + f64::midpoint(count, 1.0);
        ranks += rank * equal.iter().filter(|(_, candidate)| *candidate).count() as f64;
        ties += count.powi(3) - count;
        before += count;
    }
    let u = ranks - n * (n + 1.0) / 2.0;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    (variance > 0.0).then(|| MannWhitney {
        u,
        p: normal_cdf(-(u - m * n / 2.0 - 0.5) / variance.sqrt()),
    })
}

/// The limit over which one more run is worse than a history of single runs: the end of the prediction
/// interval, `mean + t s √(1 + 1/n)`; `None` of fewer than two runs.
pub(crate) fn prediction_limit(history: &[f64]) -> Option<f64> {
    if history.len() < 2 {
        return None;
    }
    let n = history.len() as f64;
    let spread = variance(history).sqrt() * (1.0 + 1.0 / n).sqrt();
    mean(history).map(|mean| mean + quantile(1.0 - LEVEL, n - 1.0) * spread)
}
