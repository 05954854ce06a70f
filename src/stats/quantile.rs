//! Quantiles by linear interpolation between order statistics (Hyndman and Fan's type 7).
//!
//! With `x` sorted ascending and `h = (n − 1) q`, the quantile is
//! `x[⌊h⌋] + (h − ⌊h⌋)(x[⌊h⌋ + 1] − x[⌊h⌋])`. It is numpy's default, so it is what vLLM, `SGLang`
//! and `AIPerf` print. Infinite values are allowed: a failed request counts as +∞.

/// Where a quantile lies in a sorted sample: between two neighbouring order statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rank {
    /// Index (from 0) of the lower order statistic.
    pub lower: u64,
    /// Index of the upper one: the same as `lower`, or the next.
    pub upper: u64,
    /// How far the quantile lies from the lower towards the upper, from 0 up to 1.
    pub fraction: f64,
}

impl Rank {
    /// Of quantile `q` in a sample of `n` values; `None` where `n` is 0 or `q` not within \[0, 1\].
    ///
    /// p90 of 10 values: `h = 8.1`, so lower 8, upper 9, fraction 0.1.
    pub fn of(n: u64, q: f64) -> Option<Self> {
        if n == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let h = (n - 1) as f64 * q;
        let lower = (h.floor() as u64).min(n - 1);
        let fraction = h - lower as f64;
        Some(Self {
            lower,
            upper: if fraction > 0.0 {
                (lower + 1).min(n - 1)
            } else {
                lower
            },
            fraction,
        })
    }

    /// The quantile from its two order statistics.
    pub fn interpolate(self, lower: f64, upper: f64) -> f64 {
        // Also keeps ∞ − ∞ out of the formula.
        if lower.total_cmp(&upper).is_eq() || self.fraction <= 0.0 {
            lower
        } else {
            lower + self.fraction * (upper - lower)
        }
    }
}

/// Quantile `q` of values sorted ascending; `None` of nothing, or where `q` is not within \[0, 1\].
///
/// `[12, 15, 11, 30, 22, 18, 14, 13, 90, 17]`, sorted, has p50 16, p90 36, p95 63, p99 84.6.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let rank = Rank::of(sorted.len() as u64, q)?;
    Some(rank.interpolate(sorted[rank.lower as usize], sorted[rank.upper as usize]))
}

/// A value that stands for several equal ones, as one gap does for the tokens that it brought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighted {
    /// The value.
    pub value: f64,
    /// How often it counts.
    pub weight: u64,
}

/// Quantile `q` of the sample in which each value is repeated as often as its weight says, without
/// making that sample; `None` where all weights are 0, or `q` is not within \[0, 1\].
///
/// `sorted` is ascending by value. Values 1 (twice) and 4 (once): p50 is 1, p75 is 2.5.
pub fn weighted_quantile(sorted: &[Weighted], q: f64) -> Option<f64> {
    let total = sorted.iter().map(|entry| entry.weight).sum();
    let rank = Rank::of(total, q)?;
    let at = |index: u64| {
        let mut passed = 0;
        sorted.iter().find_map(|entry| {
            passed += entry.weight;
            (passed > index).then_some(entry.value)
        })
    };
    Some(rank.interpolate(at(rank.lower)?, at(rank.upper)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::tests::close;

    #[test]
    fn reference_values() {
        let mut x = [12., 15., 11., 30., 22., 18., 14., 13., 90., 17.];
        x.sort_unstable_by(f64::total_cmp);
        for (q, expected) in [(0.5, 16.0), (0.9, 36.0), (0.95, 63.0), (0.99, 84.6)] {
            close(quantile(&x, q).unwrap(), expected);
        }
    }

    #[test]
    fn the_ends_and_the_smallest_samples() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.99), Some(7.0));
        assert_eq!(quantile(&[1.0, 2.0], 1.0), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.0), Some(1.0));
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }

    #[test]
    fn a_failed_request_counts_as_infinite() {
        let inf = f64::INFINITY;
        assert_eq!(quantile(&[1.0, 2.0, inf], 0.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, inf], 0.6), Some(inf));
        assert_eq!(quantile(&[1.0, inf, inf], 0.9), Some(inf));
    }

    proptest! {
        #[test]
        fn monotone_in_q_and_between_min_and_max(
            mut x in prop::collection::vec(-1e6..1e6_f64, 1..60), a in 0.0..=1.0, b in 0.0..=1.0,
        ) {
            x.sort_unstable_by(f64::total_cmp);
            let low = quantile(&x, f64::min(a, b)).unwrap();
            let high = quantile(&x, f64::max(a, b)).unwrap();
            prop_assert!(low <= high + 1e-9);
            prop_assert!(x[0] <= low && high <= x[x.len() - 1] + 1e-9);
        }

        #[test]
        fn weighted_is_the_expanded_sample(
            pairs in prop::collection::vec((0..50_i32, 0..5_u64), 1..30), q in 0.0..=1.0,
        ) {
            let mut weighted: Vec<Weighted> = pairs
                .iter()
                .map(|&(value, weight)| Weighted { value: f64::from(value), weight })
                .collect();
            weighted.sort_by(|a, b| a.value.total_cmp(&b.value));
            let expanded: Vec<f64> = weighted
                .iter()
                .flat_map(|entry| std::iter::repeat_n(entry.value, entry.weight as usize))
                .collect();
            prop_assert_eq!(weighted_quantile(&weighted, q), quantile(&expanded, q));
        }

        #[test]
        fn the_order_of_the_values_does_not_matter(
            x in prop::collection::vec(-1e3..1e3_f64, 1..40), turn in 0..40_usize,
        ) {
            let mut turned = x.clone();
            turned.rotate_left(turn % x.len());
            prop_assert_eq!(crate::stats::median(turned), crate::stats::median(x));
        }
    }
}
