//! How far a sample supports a percentile: expected exceedances and the order-statistic interval.

use statrs::function::beta::beta_reg;

/// Whether a percentile of a sample may carry a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Support {
    /// It is essentially the sample's maximum: fewer than 3 values are expected beyond it.
    Maximum,
    /// It rests on 3 to 10 values: printed with that caveat, can't gate.
    Coarse,
    /// At least 10 values are expected beyond it (and 50 in all).
    Gates,
}

/// Expected number of values beyond quantile `q` in a sample of `n`, `n (1 − q)`.
///
/// For a quantile below the median the values under it count. p99 of 1,000 requests: 10.
pub fn expected_exceedances(n: u64, q: f64) -> f64 {
    n as f64 * (1.0 - q).min(q)
}

/// The rule of support: p50 gates from 50 requests, p90 from 100, p95 from 200, p99 from 1,000.
pub fn support(n: u64, q: f64) -> Support {
    // 1 − 0.9 is a little less than 0.1 in binary.
    let expected = expected_exceedances(n, q) + 1e-9;
    if expected >= 10.0 && n >= 50 {
        Support::Gates
    } else if expected >= 3.0 {
        Support::Coarse
    } else {
        Support::Maximum
    }
}

/// Smallest sample whose quantile `q` may gate: 200 for p95, 1,000 for p99.
pub fn smallest_gating_sample(q: f64) -> u64 {
    let tail = (1.0 - q).min(q);
    ((10.0 / tail - 1e-6).ceil() as u64).max(50)
}

/// Exact interval of a quantile between two order statistics, counted from 1.
///
/// For display only: it knows nothing of the variance between runs, and is too wide for the
/// difference of two runs of one trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderInterval {
    /// The lower order statistic; `None` where the sample is too small for one.
    pub lower: Option<u64>,
    /// The upper order statistic; `None` where the sample is too small for one.
    pub upper: Option<u64>,
    /// Coverage of the interval; `None` where an end is missing.
    pub coverage: Option<f64>,
}

/// The interval of quantile `q` in a sample of `n` values with at most `(1 − confidence) / 2` in
/// each tail.
///
/// p99 of 1,000 values at 95 %: the 983rd to the 997th, coverage 0.976095. p99 of 300: the 293rd,
/// no upper end.
pub fn interval(n: u64, q: f64, confidence: f64) -> OrderInterval {
    let tail = (1.0 - confidence) / 2.0;
    // Largest l with P(X ≤ l − 1) ≤ tail: the number of counts k from 0 with P(X ≤ k) ≤ tail.
    let lower = first(n + 1, |k| binomial_cdf(n, q, k) > tail);
    // Smallest u with P(X ≥ u) = 1 − P(X ≤ u − 1) ≤ tail.
    let upper = first(n, |k| 1.0 - binomial_cdf(n, q, k) <= tail) + 1;
    let lower = (lower > 0).then_some(lower);
    let upper = (upper <= n).then_some(upper);
    OrderInterval {
        lower,
        upper,
        coverage: lower
            .zip(upper)
            .map(|(l, u)| binomial_cdf(n, q, u - 1) - binomial_cdf(n, q, l - 1)),
    }
}

/// Smallest k in `0..end` for which a predicate holds that stays true once true; else `end`.
fn first(end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// P(X ≤ k) for X binomial with `n` trials of probability `p`: `I_{1−p}(n − k, k + 1)`.
fn binomial_cdf(n: u64, p: f64, k: u64) -> f64 {
    if k >= n {
        1.0
    } else {
        beta_reg((n - k) as f64, (k + 1) as f64, 1.0 - p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::tests::close;

    #[test]
    fn reference_intervals() {
        for (n, q, lower, upper, coverage) in [
            (100, 0.5, 40, 61, 0.964_800),
            (300, 0.5, 133, 168, 0.956_872),
            (1000, 0.5, 469, 532, 0.953_709),
            (300, 0.95, 277, 293, 0.967_188),
            (1000, 0.95, 936, 964, 0.958_095),
            (368, 0.99, 360, 368, 0.962_416),
            (400, 0.99, 392, 400, 0.961_281),
            (1000, 0.99, 983, 997, 0.976_095),
            (2000, 0.99, 1971, 1989, 0.957_831),
            (5000, 0.99, 4936, 4964, 0.953_740),
            (10_000, 0.99, 9880, 9920, 0.955_755),
        ] {
            let got = interval(n, q, 0.95);
            assert_eq!(
                (got.lower, got.upper),
                (Some(lower), Some(upper)),
                "{n} {q}"
            );
            assert!((got.coverage.unwrap() - coverage).abs() < 6e-7, "{n} {q}");
        }
        let small = interval(300, 0.99, 0.95);
        assert_eq!((small.lower, small.upper), (Some(293), None));
        assert_eq!(small.coverage, None);
    }

    #[test]
    fn smallest_sample_with_an_upper_limit() {
        for (q, one_sided, two_sided) in [
            (0.9, 29, 36),
            (0.95, 59, 72),
            (0.99, 299, 368),
            (0.999, 2995, 3688),
        ] {
            for (n, confidence) in [(one_sided, 0.9), (two_sided, 0.95)] {
                assert!(interval(n, q, confidence).upper.is_some(), "{n} {q}");
                assert!(interval(n - 1, q, confidence).upper.is_none(), "{n} {q}");
            }
        }
    }

    #[test]
    fn binomial_reference_values() {
        close(binomial_cdf(1000, 0.99, 983), 0.026_391_0);
        close(binomial_cdf(1000, 0.99, 996), 0.989_927_3);
        close(binomial_cdf(300, 0.99, 292), 0.011_474_1);
        assert!((binomial_cdf(10, 0.5, 10) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn support_follows_the_expected_exceedances() {
        for (q, n) in [
            (0.5, 50),
            (0.9, 100),
            (0.95, 200),
            (0.99, 1000),
            (0.999, 10_000),
        ] {
            assert_eq!(support(n, q), Support::Gates, "{q}");
            assert_eq!(support(n - 1, q), Support::Coarse, "{q}");
            assert_eq!(smallest_gating_sample(q), n, "{q}");
        }
        assert_eq!(support(300, 0.99), Support::Coarse);
        assert_eq!(support(299, 0.99), Support::Maximum);
    }
}
