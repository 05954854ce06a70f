//! Distributions that merge and fit in a file: HDR histograms of nanoseconds.
//!
//! The one file that names `hdrhistogram`. Exact quantiles come from the values; a histogram's are
//! within [`Precision::relative_error`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use super::quantile::Rank;

/// Longest encoded histogram that is read: real ones stay under a tenth of it.
const LONGEST_TEXT: usize = 1 << 20;

/// How finely values are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Three significant digits, for what gates.
    ThreeDigits,
    /// Two significant digits, for the many gaps between tokens.
    TwoDigits,
}

impl Precision {
    const fn digits(self) -> u8 {
        match self {
            Self::ThreeDigits => 3,
            Self::TwoDigits => 2,
        }
    }

    /// Largest relative error of a value read back: half a bucket.
    ///
    /// A bucket is at most 1/1024 (three digits) or 1/128 (two digits) of its values wide.
    pub const fn relative_error(self) -> f64 {
        match self {
            Self::ThreeDigits => 0.5 / 1024.0,
            Self::TwoDigits => 0.5 / 128.0,
        }
    }
}

/// Why a histogram cannot be read, written or merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// A value is negative, not finite, or beyond 584 years.
    #[error("{value} is no time that a histogram can hold")]
    Value {
        /// The value in seconds, as text.
        value: String,
    },
    /// The two sides differ in precision.
    #[error("histograms of different precision cannot be merged")]
    Precision,
    /// The text is not an encoded histogram.
    #[error("not an encoded histogram: {reason}")]
    Encoding {
        /// What the decoder said.
        reason: String,
    },
}

/// Counts of times by bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    precision: Precision,
    counts: hdrhistogram::Histogram<u64>,
}

impl Histogram {
    /// Without any value.
    pub fn new(precision: Precision) -> Self {
        Self {
            precision,
            counts: hdrhistogram::Histogram::new(precision.digits())
                .expect("two and three digits are within the library's 0 to 5"),
        }
    }

    /// Counts a time in seconds `times` times, rounded to the nanosecond.
    pub fn record(&mut self, seconds: f64, times: u64) -> Result<(), HistogramError> {
        let wrong = || HistogramError::Value {
            value: seconds.to_string(),
        };
        let nanos = (seconds * 1e9).round();
        // The library's own largest value is half of what 64 bits hold.
        if !(0.0..9.2e18).contains(&nanos) {
            return Err(wrong());
        }
        self.counts
            .record_n(nanos as u64, times)
            .map_err(|_| wrong())
    }

    /// Number of times counted.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// How finely values are told apart.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// Adds the counts of another histogram: the result is that of all values together.
    pub fn merge(&mut self, other: &Self) -> Result<(), HistogramError> {
        if self.precision != other.precision {
            return Err(HistogramError::Precision);
        }
        self.counts
            .add(&other.counts)
            .map_err(|_| HistogramError::Precision)
    }

    /// Quantile `q` in seconds (type 7 on the buckets' middles), within
    /// [`Precision::relative_error`]; `beyond` further values count as +∞, as failed requests do.
    ///
    /// `None` where there is no value at all, or `q` is not within \[0, 1\].
    pub fn quantile(&self, q: f64, beyond: u64) -> Option<f64> {
        let rank = Rank::of(self.count() + beyond, q)?;
        Some(rank.interpolate(self.at(rank.lower), self.at(rank.upper)))
    }

    /// Population standard deviation in seconds, on the buckets' middles; 0 without a value.
    ///
    /// Of 1 s and 3 s, each once, it is 1 s.
    pub fn std_dev(&self) -> f64 {
        self.counts.stdev() / 1e9
    }

    /// The order statistic of an index counted from 0, in seconds; +∞ past the last.
    fn at(&self, index: u64) -> f64 {
        let mut passed = 0;
        for step in self.counts.iter_recorded() {
            passed += step.count_since_last_iteration();
            if passed > index {
                let value = step.value_iterated_to();
                let low = self.counts.lowest_equivalent(value);
                let high = self.counts.highest_equivalent(value);
                return (low as f64 + (high - low) as f64 / 2.0) / 1e9;
            }
        }
        f64::INFINITY
    }

    /// As text: HDR's V2 format, deflated, in base64.
    pub fn encode(&self) -> Result<String, HistogramError> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.counts, &mut bytes)
            .map_err(|error| HistogramError::Encoding {
                reason: error.to_string(),
            })?;
        Ok(STANDARD.encode(bytes))
    }

    /// From text that [`Histogram::encode`] made.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        let wrong = |reason: String| HistogramError::Encoding { reason };
        if text.len() > LONGEST_TEXT {
            return Err(wrong("it is longer than 1 MiB".to_owned()));
        }
        let bytes = STANDARD
            .decode(text)
            .map_err(|error| wrong(error.to_string()))?;
        let mut counts: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| wrong(error.to_string()))?;
        let precision = match counts.sigfig() {
            3 => Precision::ThreeDigits,
            2 => Precision::TwoDigits,
            digits => {
                return Err(wrong(format!(
                    "it has {digits} significant digits, not 2 or 3"
                )));
            }
        };
        // A decoded one has a fixed range; ours grows as later values are merged in.
        counts.auto(true);
        Ok(Self { precision, counts })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::quantile::quantile;

    fn of(values: &[f64], precision: Precision) -> Histogram {
        let mut histogram = Histogram::new(precision);
        for value in values {
            histogram.record(*value, 1).unwrap();
        }
        histogram
    }

    #[test]
    fn ten_thousand_values_are_a_few_hundred_bytes_and_come_back() {
        let values: Vec<f64> = (1..=10_000).map(|i| f64::from(i) * 1e-6).collect();
        let histogram = of(&values, Precision::ThreeDigits);
        let text = histogram.encode().unwrap();
        assert!(text.len() < 800, "{}", text.len());
        let back = Histogram::decode(&text).unwrap();
        assert_eq!(back.count(), 10_000);
        assert_eq!(back.quantile(0.99, 0), histogram.quantile(0.99, 0));
        assert_eq!(back.encode().unwrap(), text);
    }

    #[test]
    fn failures_push_the_quantile_to_infinity() {
        let histogram = of(&[0.1; 98], Precision::TwoDigits);
        assert!((histogram.quantile(0.95, 2).unwrap() - 0.1).abs() < 0.001);
        assert_eq!(histogram.quantile(0.99, 2), Some(f64::INFINITY));
        assert_eq!(Histogram::new(Precision::TwoDigits).quantile(0.5, 0), None);
    }

    #[test]
    fn spread_is_that_of_the_values_but_for_their_buckets() {
        let spread = |values: &[f64]| of(values, Precision::TwoDigits).std_dev();
        assert!((spread(&[1.0, 3.0]) - 1.0).abs() < 0.01);
        assert!(spread(&[]).abs() < f64::EPSILON);
    }

    #[test]
    fn refuses_what_is_no_time_and_what_is_no_histogram() {
        let mut histogram = Histogram::new(Precision::ThreeDigits);
        for value in [-1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert!(histogram.record(value, 1).is_err(), "{value}");
        }
        assert!(
            histogram
                .merge(&Histogram::new(Precision::TwoDigits))
                .is_err()
        );
        for text in ["", "!", "AAAA", "HISTFAAAA"] {
            assert!(Histogram::decode(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn quantiles_are_within_the_stated_error(
            mut values in prop::collection::vec(1e-6..1e3_f64, 1..80), q in 0.0..=1.0,
        ) {
            for precision in [Precision::ThreeDigits, Precision::TwoDigits] {
                let got = of(&values, precision).quantile(q, 0).unwrap();
                values.sort_unstable_by(f64::total_cmp);
                let exact = quantile(&values, q).unwrap();
                let allowed = exact * precision.relative_error() + 1e-9;
                prop_assert!((got - exact).abs() <= allowed, "{got} {exact}");
            }
        }

        #[test]
        fn merging_is_concatenating(
            a in prop::collection::vec(1e-6..1e2_f64, 0..50),
            b in prop::collection::vec(1e-6..1e2_f64, 0..50),
        ) {
            let mut merged = of(&a, Precision::ThreeDigits);
            merged.merge(&of(&b, Precision::ThreeDigits)).unwrap();
            let both: Vec<f64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged.counts, of(&both, Precision::ThreeDigits).counts);
        }
    }
}
