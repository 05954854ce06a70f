//! Values of one metric to its distribution: exact quantiles, and a histogram to merge.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metric::{Metric, Quantile};
use crate::stats::histogram::{Histogram, Precision};
use crate::stats::select::Selection;
use crate::stats::sum::ExactSum;

/// One distribution metric of a class or stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(from = "Kept", into = "Kept")]
pub struct Distribution {
    /// Values: one a request, or one a token for ITL.
    pub n: u64,
    /// Requests that failed, each +∞ in the adjusted quantiles.
    pub failed: u64,
    /// Smallest value.
    pub min_s: f64,
    /// Arithmetic mean.
    pub mean_s: f64,
    /// Largest value.
    pub max_s: f64,
    /// Exact quantiles, type 7.
    pub quantiles: BTreeMap<Quantile, QuantileValue>,
    /// HDR histogram of nanoseconds, V2 deflate, base64; for TTFT, TPOT, E2E and ITL. None of a stage
    /// whose classes have their own.
    pub hdr: Option<String>,
}

/// A quantile over those that succeeded, and over all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct QuantileValue {
    /// Over successful requests.
    pub value_s: f64,
    /// With every failed request as +∞; `None` is +∞.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_s: Option<f64>,
}

/// A distribution in a run file. Where no request failed its quantiles have no adjusted value: it is the value
/// itself, and a tenth of the file.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Distribution")]
struct Kept {
    /// Values: one a request, or one a token for ITL.
    n: u64,
    /// Requests that failed, each +∞ in the adjusted quantiles.
    failed: u64,
    /// Smallest value.
    min_s: f64,
    /// Arithmetic mean.
    mean_s: f64,
    /// Largest value.
    max_s: f64,
    /// Exact quantiles, type 7. Where none failed `adjusted_s` is `value_s` and left out.
    quantiles: BTreeMap<Quantile, QuantileValue>,
    /// HDR histogram of nanoseconds, V2 deflate, base64; for TTFT, TPOT, E2E and ITL. None of a stage
    /// whose classes have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hdr: Option<String>,
}

impl From<Distribution> for Kept {
    fn from(mut distribution: Distribution) -> Self {
        if distribution.failed == 0 {
            let each = distribution.quantiles.values_mut();
            each.for_each(|quantile| quantile.adjusted_s = None);
        }
        let Distribution {
            n,
            failed,
            min_s,
            mean_s,
            max_s,
            quantiles,
            hdr,
        } = distribution;
        Self {
            n,
            failed,
            min_s,
            mean_s,
            max_s,
            quantiles,
            hdr,
        }
    }
}

impl From<Kept> for Distribution {
    fn from(kept: Kept) -> Self {
        let Kept {
            n,
            failed,
            min_s,
            mean_s,
            max_s,
            mut quantiles,
            hdr,
        } = kept;
        if failed == 0 {
            let each = quantiles.values_mut();
            each.for_each(|quantile| quantile.adjusted_s = Some(quantile.value_s));
        }
        Self {
            n,
            failed,
            min_s,
            mean_s,
            max_s,
            quantiles,
            hdr,
        }
    }
}

/// Values of one metric, as they come: the same ones in each pass.
#[derive(Debug, Clone)]
pub(super) struct Values {
    selection: Selection,
    sum: ExactSum,
    /// The smallest and the largest.
    ends: Option<(f64, f64)>,
    /// Weight of those that failed: +∞ in the adjusted quantiles.
    failed: u64,
    /// `None` for a metric without one, and where a value fits in none.
    histogram: Option<Histogram>,
}

impl Values {
    /// Without a value. `fineness` is that of the selection.
    pub(super) fn new(metric: Metric, fineness: u32) -> Self {
        Self {
            selection: Selection::new(fineness),
            sum: ExactSum::default(),
            ends: None,
            failed: 0,
            histogram: precision(metric).map(Histogram::new),
        }
    }

    /// One request's value.
    pub(super) fn push(&mut self, value: f64) {
        self.push_weighted(value, 1);
    }

    /// A value that counts for several tokens.
    pub(super) fn push_weighted(&mut self, value: f64, weight: u64) {
        if self.selection.is_counting() {
            self.sum.add(value, weight);
            let (min, max) = self.ends.unwrap_or((value, value));
            self.ends = Some((min.min(value), max.max(value)));
            if let Some(histogram) = &mut self.histogram
                && histogram.record(value, weight).is_err()
            {
                self.histogram = None;
            }
        }
        self.selection.add(value, weight);
    }

    /// A failed request, which stands for so many values.
    pub(super) fn fail(&mut self, weight: u64) {
        if self.selection.is_counting() {
            self.failed += weight;
        }
    }

    /// Weight of all values.
    pub(super) fn weight(&self) -> u64 {
        self.selection.total()
    }

    /// What the later passes are for.
    pub(super) const fn selection(&mut self) -> &mut Selection {
        &mut self.selection
    }

    /// Ends the first pass.
    pub(super) fn want(&mut self, wanted: &[Quantile]) {
        let failed = self.failed;
        let each = wanted.iter().map(|q| q.fraction());
        self.selection
            .want(each.flat_map(|q| [(q, 0), (q, failed)]));
    }

    /// The distribution; `None` without one value.
    pub(super) fn finish(self, wanted: &[Quantile]) -> Option<Distribution> {
        let (min_s, max_s) = self.ends?;
        let n = self.selection.total();
        let quantile = |q: f64, beyond| self.selection.quantile(q, beyond).map(picoseconds);
        let quantiles = wanted.iter().filter_map(|&q| {
            let value = QuantileValue {
                value_s: quantile(q.fraction(), 0)?,
                adjusted_s: quantile(q.fraction(), self.failed).filter(|s| s.is_finite()),
            };
            Some((q, value))
        });
        Some(Distribution {
            n,
            failed: self.failed,
            min_s: picoseconds(min_s),
            mean_s: picoseconds(self.sum.value() / n as f64),
            max_s: picoseconds(max_s),
            quantiles: quantiles.collect(),
            hdr: self.histogram.and_then(|histogram| histogram.encode().ok()),
        })
    }
}

/// Seconds to a thousandth of what clocks tell: digits beyond are those of a division, and would be a
/// tenth of a run file. 1 s in 3 tokens is 0.333333333333.
fn picoseconds(seconds: f64) -> f64 {
    let rounded = (seconds * 1e12).round() / 1e12;
    if rounded.is_finite() {
        rounded
    } else {
        seconds
    }
}

/// Histograms are kept of the four metrics whose shape is worth a look later, to 0.4 %: what gates are the
/// exact quantiles beside them, and a third digit would make the file of a run a third larger.
const fn precision(metric: Metric) -> Option<Precision> {
    match metric {
        Metric::Ttft | Metric::Tpot | Metric::E2e | Metric::Itl => Some(Precision::TwoDigits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One to so many seconds and so many failures, in all passes.
    fn distribution(count: u32, failures: u64) -> Option<Distribution> {
        let mut values = Values::new(Metric::Ttft, 4);
        let push = |values: &mut Values| (1..=count).for_each(|v| values.push(f64::from(v)));
        push(&mut values);
        values.fail(failures);
        values.want(&Quantile::STANDARD);
        while values.selection.open() > 0 {
            values.selection.start_pass(4);
            push(&mut values);
            values.fail(failures);
            values.selection.end_pass();
        }
        values.finish(&Quantile::STANDARD)
    }

    #[test]
    fn failures_move_the_adjusted_quantiles_only() {
        let distribution = distribution(98, 2).unwrap();
        assert_eq!((distribution.n, distribution.failed), (98, 2));
        let p50 = distribution.quantiles[&Quantile::P50];
        assert!((p50.value_s - 49.5).abs() < 1e-9);
        assert!((p50.adjusted_s.unwrap() - 50.5).abs() < 1e-9);
        assert_eq!(
            distribution.quantiles[&Quantile::P99].adjusted_s,
            None,
            "infinite"
        );
        assert!((distribution.mean_s - 49.5).abs() < 1e-12);
    }

    #[test]
    fn adjusted_quantiles_are_written_where_requests_failed() {
        let written = |failures| {
            let distribution = distribution(98, failures).unwrap();
            let json = serde_json::to_value(&distribution).unwrap();
            let read: Distribution = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(read, distribution);
            json["quantiles"]["p50"].clone()
        };
        assert_eq!(written(0), serde_json::json!({"value_s": 49.5}));
        assert_eq!(
            written(2),
            serde_json::json!({"value_s": 49.5, "adjusted_s": 50.5})
        );
    }

    #[test]
    fn digits_that_no_clock_tells_are_not_kept() {
        assert_eq!(picoseconds(1.0 / 3.0).to_string(), "0.333333333333");
        assert_eq!(
            picoseconds(0.052_034_738_999_999_997).to_string(),
            "0.052034739"
        );
        assert_eq!(picoseconds(f64::MAX).to_bits(), f64::MAX.to_bits());
    }

    #[test]
    fn nothing_has_no_distribution() {
        assert!(distribution(0, 3).is_none());
    }
}
