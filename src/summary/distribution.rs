//! Values of one metric to its distribution: exact quantiles, and a histogram to merge.

use std::collections::BTreeMap;

use super::model::{Distribution, QuantileValue};
use crate::metric::{Metric, Quantile};
use crate::stats::histogram::{Histogram, Precision};
use crate::stats::quantile::{Weighted, weighted_quantile};

/// Values of one metric, as they come.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    values: Vec<Weighted>,
    /// Weight of those that failed: +∞ in the adjusted quantiles.
    failed: u64,
}

impl Values {
    /// One request's value.
    pub(super) fn push(&mut self, value: f64) {
        self.push_weighted(value, 1);
    }

    /// A value that counts for several tokens.
    pub(super) fn push_weighted(&mut self, value: f64, weight: u64) {
        self.values.push(Weighted { value, weight });
    }

    /// A failed request, which stands for so many values.
    pub(super) fn fail(&mut self, weight: u64) {
        self.failed += weight;
    }

    /// Weight of what came so far.
    pub(super) fn weight(&self) -> u64 {
        self.values.iter().map(|entry| entry.weight).sum()
    }

    /// The distribution; `None` without one value.
    pub(super) fn finish(mut self, metric: Metric, wanted: &[Quantile]) -> Option<Distribution> {
        self.values
            .sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
        let n: u64 = self.values.iter().map(|entry| entry.weight).sum();
        let sum: f64 = self
            .values
            .iter()
            .map(|entry| entry.value * entry.weight as f64)
            .sum();
        let (min_s, max_s) = (self.values.first()?.value, self.values.last()?.value);
        let hdr = histogram(metric, &self.values);
        let successful: Vec<(Quantile, f64)> = wanted
            .iter()
            .filter_map(|&q| Some((q, weighted_quantile(&self.values, q.fraction())?)))
            .collect();
        self.values.push(Weighted {
            value: f64::INFINITY,
            weight: self.failed,
        });
        let quantiles: BTreeMap<Quantile, QuantileValue> = successful
            .into_iter()
            .map(|(q, value_s)| {
                let adjusted = weighted_quantile(&self.values, q.fraction());
                (
                    q,
                    QuantileValue {
                        value_s,
                        adjusted_s: adjusted.filter(|s| s.is_finite()),
                    },
                )
            })
            .collect();
        Some(Distribution {
            n,
            failed: self.failed,
            min_s,
            mean_s: sum / n as f64,
            max_s,
            quantiles,
            hdr,
        })
    }
}

/// Histograms are kept of the four metrics that history and merging need; of ITL, which has one
/// value a token, with two digits.
fn histogram(metric: Metric, values: &[Weighted]) -> Option<String> {
    let precision = match metric {
        Metric::Ttft | Metric::Tpot | Metric::E2e => Precision::ThreeDigits,
        Metric::Itl => Precision::TwoDigits,
        _ => return None,
    };
    let mut histogram = Histogram::new(precision);
    for entry in values {
        histogram.record(entry.value, entry.weight).ok()?;
    }
    histogram.encode().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_move_the_adjusted_quantiles_only() {
        let mut values = Values::default();
        for value in 1..=98 {
            values.push(f64::from(value));
        }
        values.fail(2);
        let distribution = values.finish(Metric::Ttft, &Quantile::STANDARD).unwrap();
        assert_eq!((distribution.n, distribution.failed), (98, 2));
        let p50 = distribution.quantiles[&Quantile::P50];
        assert!((p50.value_s - 49.5).abs() < 1e-9);
        assert!((p50.adjusted_s.unwrap() - 50.5).abs() < 1e-9);
        assert_eq!(
            distribution.quantiles[&Quantile::P99].adjusted_s,
            None,
            "infinite"
        );
    }

    #[test]
    fn nothing_has_no_distribution() {
        let mut values = Values::default();
        values.fail(3);
        assert!(values.finish(Metric::Ttft, &Quantile::STANDARD).is_none());
    }
}
