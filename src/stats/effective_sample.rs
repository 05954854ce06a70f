//! How many independent values is a series of neighbours worth? Geyer's initial monotone sequence.
//!
//! A diagnosis, never a test: a p99 that rests on ten requests of one stall rests on one episode.

use super::{mean, quantile::quantile};

/// Values below which nothing can be said.
const LEAST: usize = 4;

/// What a series is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveSample {
    /// Values that one independent value costs, at least 1.
    pub tau: f64,
    /// Independent values that the series is worth, `n / tau`.
    pub size: f64,
}

/// The effective size of a series in order of time, for its mean.
///
/// With autocorrelations `ρ_k` (autocovariances with 1/n) the pairs `Gⱼ = ρ₂ⱼ + ρ₂ⱼ₊₁` are taken up to
/// the first that isn't positive and made non-increasing; `tau = max(1, 2 ΣGⱼ − 1)` (Geyer 1992).
/// `[1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 3, 2, 4, 3, 1, 2, 3, 4, 2, 1]`: tau 2.432, 8.22 values of 20.
/// `None` of fewer than four values, where all are equal, or where one isn't finite.
pub fn effective_sample(series: &[f64]) -> Option<EffectiveSample> {
    if series.len() < LEAST || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let centre = mean(series)?;
    let off: Vec<f64> = series.iter().map(|value| value - centre).collect();
    let covariance = |lag: usize| -> f64 { off.iter().zip(&off[lag..]).map(|(a, b)| a * b).sum() };
    let variance = covariance(0);
    if !(variance.is_finite() && variance > 0.0) {
        return None;
    }
    let (mut sum, mut smallest) = (0.0, f64::INFINITY);
    for lag in (0..series.len() - 1).step_by(2) {
        let pair = (covariance(lag) + covariance(lag + 1)) / variance;
        if pair <= 0.0 {
            break;
        }
        smallest = pair.min(smallest);
        sum += smallest;
    }
    let tau = (2.0 * sum - 1.0).max(1.0);
    Some(EffectiveSample {
        tau,
        size: series.len() as f64 / tau,
    })
}

/// The effective size for quantile `q`: that of the indicator "lies beyond the quantile".
///
/// `size · (1 − q)` is then the number of independent episodes that the quantile rests on: a p90 of
/// 100 values whose ten largest came in a row rests on about one. `None` as above, and where nothing
/// lies beyond the quantile.
pub fn beyond_quantile(series: &[f64], q: f64) -> Option<EffectiveSample> {
    if series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = series.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let limit = quantile(&sorted, q)?;
    let beyond: Vec<f64> = series
        .iter()
        .map(|&x| f64::from(u8::from(x > limit)))
        .collect();
    effective_sample(&beyond)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::tests::close;

    const X: [f64; 20] = [
        1.0, 3.0, 2.0, 4.0, 3.0, 5.0, 4.0, 6.0, 5.0, 7.0, 3.0, 2.0, 4.0, 3.0, 1.0, 2.0, 3.0, 4.0,
        2.0, 1.0,
    ];

    #[test]
    fn reference_values() {
        let found = effective_sample(&X).unwrap();
        close(found.tau, 2.432_367);
        close(found.size, 8.222_443);
    }

    #[test]
    fn a_tail_in_one_piece_is_one_episode() {
        let spread: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i % 10 == 3))).collect();
        let episode: Vec<f64> = (0..100)
            .map(|i| f64::from(u8::from((40..50).contains(&i))) + f64::from(i) * 1e-6)
            .collect();
        let many = effective_sample(&spread).unwrap();
        let one = beyond_quantile(&episode, 0.9).unwrap();
        close(many.tau, 1.0);
        assert!(one.size * 0.1 < 2.0, "{one:?}");
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(effective_sample(&X[..3]), None);
        assert_eq!(effective_sample(&[2.0; 50]), None);
        assert_eq!(effective_sample(&[f64::NAN; 50]), None);
        assert_eq!(effective_sample(&[f64::MAX, f64::MIN, 0.0, 1.0]), None);
        assert_eq!(beyond_quantile(&[2.0; 50], 0.5), None);
        assert_eq!(beyond_quantile(&[], 0.5), None);
    }

    proptest! {
        #[test]
        fn a_series_is_worth_at_most_its_length_in_any_unit(
            x in prop::collection::vec(-9.0..9.0_f64, 4..200),
            factor in 0.1..10.0_f64,
        ) {
            if let Some(found) = effective_sample(&x) {
                prop_assert!(found.tau >= 1.0 && found.size <= x.len() as f64);
                let scaled: Vec<f64> = x.iter().map(|x| 5.0 + factor * x).collect();
                let scaled = effective_sample(&scaled).unwrap();
                prop_assert!((scaled.tau - found.tau).abs() < 1e-6);
            }
        }
    }
}
