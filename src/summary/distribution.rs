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
    /// Smallest value; `None` where a summary did not tell.
    pub min_s: Option<f64>,
    /// Arithmetic mean; `None` where a summary did not tell.
    pub mean_s: Option<f64>,
    /// Largest value; `None` where a summary did not tell.
    pub max_s: Option<f64>,
    /// Exact quantiles, type 7; of a summary, those that it holds.
    pub quantiles: BTreeMap<Quantile, QuantileValue>,
    /// HDR histogram of nanoseconds, V2 deflate, base64; for TTFT, TPOT, E2E and ITL. None of a stage
    /// whose classes have their own.
    pub hdr: Option<String>,
    /// How another tool reduced its values, where its summary is all there is; `None` of values that
    /// were reduced here. Then `n` is a lower bound for ITL, and with failed requests only those adjusted
    /// quantiles are known that are +∞.
    pub summary: Option<PercentileMethod>,
}

/// How another tool makes a percentile of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PercentileMethod {
    /// Between order statistics, type 7: as ours.
    Linear,
    /// The value at a rank, with nothing in between.
    Rank,
    /// From values that were rounded into buckets, up to 5 % off.
    Bucketed,
    /// Nobody says.
    Unknown,
}

impl PercentileMethod {
    /// In words, for reports.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Linear => "linear between order statistics",
            Self::Rank => "the value at a rank",
            Self::Bucketed => "of rounded values, up to 5 % off",
            Self::Unknown => "not told",
        }
    }
}

/// A quantile with every failed request as +∞.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Adjusted {
    /// In seconds.
    Finite(f64),
    /// So many failed that there is no finite one.
    Infinite,
    /// Requests failed, and the summary of the others does not tell where they would push it.
    Untold,
}

impl Distribution {
    /// A quantile with every failed request as +∞; `None` where it is not held.
    ///
    /// The p99 of a summary of 90 requests beside 10 that failed is +∞, its p50 untold.
    pub fn adjusted(&self, quantile: Quantile) -> Option<Adjusted> {
        let value = self.quantiles.get(&quantile)?;
        let all = self.n.saturating_add(self.failed).max(1);
        let beyond = self.failed as f64 / all as f64;
        Some(match value.adjusted_s {
            Some(seconds) => Adjusted::Finite(seconds),
            None if self.summary.is_some() && beyond < 1.0 - quantile.fraction() => {
                Adjusted::Untold
            }
            None => Adjusted::Infinite,
        })
    }
}

/// A quantile over those that succeeded, and over all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct QuantileValue {
    /// Over successful requests.
    pub value_s: f64,
    /// With every failed request as +∞; `None` is +∞, or of a summary untold
    /// ([`Distribution::adjusted`]).
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_s: Option<f64>,
    /// Arithmetic mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean_s: Option<f64>,
    /// Largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_s: Option<f64>,
    /// Exact quantiles, type 7. Where none failed `adjusted_s` is `value_s` and left out.
    quantiles: BTreeMap<Quantile, QuantileValue>,
    /// HDR histogram of nanoseconds, V2 deflate, base64; for TTFT, TPOT, E2E and ITL. None of a stage
    /// whose classes have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hdr: Option<String>,
    /// How another tool reduced its values, where its summary is all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<PercentileMethod>,
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
            summary,
        } = distribution;
        Self {
            n,
            failed,
            min_s,
            mean_s,
            max_s,
            quantiles,
            hdr,
            summary,
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
            summary,
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
            summary,
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
            min_s: Some(picoseconds(min_s)),
            mean_s: Some(picoseconds(self.sum.value() / n as f64)),
            max_s: Some(picoseconds(max_s)),
            quantiles: quantiles.collect(),
            hdr: self.histogram.and_then(|histogram| histogram.encode().ok()),
            summary: None,
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
        assert!((distribution.mean_s.unwrap() - 49.5).abs() < 1e-12);
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
