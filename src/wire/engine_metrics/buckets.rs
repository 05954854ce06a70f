//! Cumulative buckets of a histogram.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::wire::prometheus::Sample;

/// How many values were at most so long, by finite bounds in rising order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Buckets(Vec<Bucket>);

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// The bound, in seconds.
    pub at_most_s: f64,
    /// Values up to it.
    pub count: f64,
}

impl Buckets {
    /// In rising order of their bounds.
    pub fn as_slice(&self) -> &[Bucket] {
        &self.0
    }

    /// Those of all label sets as one: the bounds that each has.
    pub(super) fn merged<'s, 't: 's>(
        samples: impl Iterator<Item = &'s Sample<'t>>,
        unit_s: f64,
    ) -> Self {
        type Set<'s, 't> = Vec<&'s (&'t str, Cow<'t, str>)>;
        let mut sets: BTreeMap<Set<'_, '_>, Vec<Bucket>> = BTreeMap::new();
        for sample in samples {
            let bound = sample.label("le").and_then(|le| le.parse::<f64>().ok());
            let Some(bound) = bound.filter(|bound| bound.is_finite()) else {
                continue;
            };
            let others = sample.labels.iter().filter(|(name, _)| *name != "le");
            sets.entry(others.collect()).or_default().push(Bucket {
                at_most_s: bound * unit_s,
                count: sample.value,
            });
        }
        let all = sets.into_values().map(|mut buckets| {
            buckets.sort_by(|one, other| one.at_most_s.total_cmp(&other.at_most_s));
            // A sample that stands twice is the same sample.
            buckets.dedup_by(|next, one| next.at_most_s <= one.at_most_s);
            Self(buckets)
        });
        all.reduce(|sum, one| sum.plus(&one)).unwrap_or_default()
    }

    /// Both added up, at the bounds that both have: at those each count is exact.
    ///
    /// 3 up to 0.1 and 5 up to 0.5, and 1 up to 0.2 and 4 up to 0.5, are 9 up to 0.5.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.joined(other, |one, other| one + other)
    }

    /// What was counted since they stood there.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        self.joined(before, |now, before| now - before)
    }

    fn joined(&self, other: &Self, join: impl Fn(f64, f64) -> f64) -> Self {
        let mut others = other.0.iter().peekable();
        let both = self.0.iter().filter_map(|bucket| {
            while others
                .next_if(|other| other.at_most_s < bucket.at_most_s)
                .is_some()
            {}
            let same = others.next_if(|other| other.at_most_s.total_cmp(&bucket.at_most_s).is_eq());
            Some(Bucket {
                count: join(bucket.count, same?.count),
                ..*bucket
            })
        });
        Self(both.collect())
    }

    /// The quantile `q` of so many values, interpolated within its bucket as if they were spread
    /// evenly in it, the first bucket beginning at 0; `None` where it lies above the last bound.
    ///
    /// Of 10 values, 4 up to 0.1 s and 8 up to 0.3 s, the median is the 5th: 0.1 + 0.2 × (5 − 4) / (8 − 4)
    /// = 0.15 s. This is what Prometheus' `histogram_quantile` does below its last bound.
    pub fn quantile(&self, q: f64, of: f64) -> Option<f64> {
        let rank = q * of;
        let at = self.0.iter().position(|bucket| bucket.count >= rank)?;
        let (bound, below) = match at.checked_sub(1).map(|before| self.0[before]) {
            Some(before) => (before.at_most_s, before.count),
            None => (0.0, 0.0),
        };
        let bucket = self.0[at];
        let share = (rank - below) / (bucket.count - below);
        let value = bound + (bucket.at_most_s - bound) * share;
        (of > 0.0 && value.is_finite()).then_some(value)
    }
}

impl From<Vec<Bucket>> for Buckets {
    /// Of buckets in rising order of their bounds.
    fn from(buckets: Vec<Bucket>) -> Self {
        Self(buckets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(counts: &[(f64, f64)]) -> Buckets {
        let bucket = |&(at_most_s, count)| Bucket { at_most_s, count };
        Buckets(counts.iter().map(bucket).collect())
    }

    #[test]
    fn a_quantile_is_interpolated_in_its_bucket() {
        let of = buckets(&[(0.1, 4.0), (0.3, 8.0)]);
        let near = |q, value: f64| {
            let got = of.quantile(q, 10.0).unwrap();
            assert!((got - value).abs() < 1e-12, "{q}: {got}");
        };
        near(0.5, 0.15);
        near(0.2, 0.05);
        near(0.8, 0.3);
        assert_eq!(of.quantile(0.81, 10.0), None, "somewhere above 0.3 s");
        assert_eq!(of.quantile(0.5, 0.0), None);
        assert_eq!(Buckets::default().quantile(0.5, 3.0), None);
    }

    #[test]
    fn a_sample_that_stands_twice_counts_once() {
        let line = "vllm:time_to_first_token_seconds_bucket{le=\"0.1\"} 1\n";
        let rest =
            "vllm:time_to_first_token_seconds_count 2\nvllm:time_to_first_token_seconds_sum 0.3\n";
        let reading = crate::wire::engine_metrics::read(&format!("{line}{line}{rest}")).unwrap();
        let span = reading.spans.values().next().unwrap();
        assert_eq!(span.buckets, buckets(&[(0.1, 1.0)]));
    }

    #[test]
    fn unlike_bounds_meet_where_both_have_them() {
        let one = buckets(&[(0.1, 3.0), (0.5, 5.0)]);
        let other = buckets(&[(0.2, 1.0), (0.5, 4.0)]);
        assert_eq!(one.plus(&other), buckets(&[(0.5, 9.0)]));
        assert_eq!(one.since(&other), buckets(&[(0.5, 1.0)]));
        assert_eq!(one.plus(&Buckets::default()), Buckets::default());
    }
}
