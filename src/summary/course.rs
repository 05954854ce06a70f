//! A level over time, from looks at it.

use super::engine::Gauge;
use crate::unit::Nanos;

/// Looks at a level, in order of time. Between two looks it is taken to go straight from one to the
/// other, and beyond the outermost to stay.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Course(Vec<Look>);

/// What was seen at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    at: Nanos,
    value: f64,
}

impl Course {
    /// Of looks in order of time.
    pub(super) fn new(looks: impl IntoIterator<Item = (Nanos, f64)>) -> Self {
        let looks = looks.into_iter();
        Self(looks.map(|(at, value)| Look { at, value }).collect())
    }

    /// The value at an instant; `None` without a look.
    pub(super) fn at(&self, at: Nanos) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.value(at))
    }

    /// The same; 0 without a look.
    fn value(&self, at: Nanos) -> f64 {
        let after = self.0.partition_point(|look| look.at <= at);
        let before = after.checked_sub(1).map(|before| self.0[before]);
        match (before, self.0.get(after)) {
            (Some(before), Some(next)) => {
                let share =
                    at.since(before.at).as_secs_f64() / next.at.since(before.at).as_secs_f64();
                before.value + (next.value - before.value) * share
            }
            (Some(only), None) => only.value,
            (None, Some(only)) => only.value,
            (None, None) => 0.0,
        }
    }

    /// Both added up: exact at the looks of either.
    #[must_use]
    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut instants: Vec<Nanos> = self.0.iter().chain(&other.0).map(|look| look.at).collect();
        instants.sort_unstable();
        instants.dedup();
        Self::new(
            instants
                .into_iter()
                .map(|at| (at, self.value(at) + other.value(at))),
        )
    }

    /// Its mean over a span of time, and the largest value in it; `None` without a look.
    ///
    /// 2 at 0 s, 4 at 1 s and 4 at 3 s have a mean of (3 × 1 + 4 × 2) / 3 = 3.67 over the three seconds.
    pub(super) fn over(&self, from: Nanos, to: Nanos) -> Option<Gauge> {
        if self.0.is_empty() {
            return None;
        }
        let inside = self.0.iter().filter(|look| from < look.at && look.at < to);
        let edge = |at| Look {
            at,
            value: self.value(at),
        };
        let points: Vec<Look> = [edge(from)]
            .into_iter()
            .chain(inside.copied())
            .chain([edge(to)])
            .collect();
        let area: f64 = points
            .windows(2)
            .map(|pair| {
                let length = pair[1].at.since(pair[0].at).as_secs_f64();
                f64::midpoint(pair[0].value, pair[1].value) * length
            })
            .sum();
        let length = to.since(from).as_secs_f64();
        let values = points.iter().map(|point| point.value);
        let gauge = Gauge {
            mean: if length > 0.0 {
                area / length
            } else {
                self.value(from)
            },
            max: values.fold(f64::NEG_INFINITY, f64::max),
        };
        (gauge.mean.is_finite() && gauge.max.is_finite()).then_some(gauge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn course(looks: &[(u64, f64)]) -> Course {
        Course::new(
            looks
                .iter()
                .map(|&(at, value)| (Nanos::from_secs(at), value)),
        )
    }

    fn over(course: &Course, from: u64, to: u64) -> (f64, f64) {
        let gauge = course
            .over(Nanos::from_secs(from), Nanos::from_secs(to))
            .unwrap();
        (gauge.mean, gauge.max)
    }

    #[test]
    fn a_level_is_weighted_by_time() {
        let level = course(&[(0, 2.0), (1, 4.0), (3, 4.0)]);
        let (mean, max) = over(&level, 0, 3);
        assert!((mean - 11.0 / 3.0).abs() < 1e-12 && max >= 4.0, "{mean}");
        assert_eq!(over(&level, 1, 2), (4.0, 4.0));
        assert_eq!(over(&level, 3, 9), (4.0, 4.0), "it stays");
        assert_eq!(over(&level, 0, 0), (2.0, 2.0));
        assert_eq!(Course::default().over(Nanos::ZERO, Nanos::new(1)), None);
    }

    #[test]
    fn levels_of_unlike_instants_add_up() {
        let sum = course(&[(0, 0.0), (4, 4.0)]).plus(&course(&[(1, 10.0), (3, 10.0)]));
        assert_eq!(over(&sum, 0, 4), (12.0, 14.0));
    }

    proptest! {
        #[test]
        fn a_mean_lies_among_the_values(
            looks in prop::collection::btree_map(0_u64..99, 0.0..9.0_f64, 1..9),
            from in 0_u64..99,
            length in 0_u64..99,
        ) {
            let looks: Vec<(u64, f64)> = looks.into_iter().collect();
            let (mean, max) = over(&course(&looks), from, from + length);
            let least = looks.iter().map(|look| look.1).fold(9.0, f64::min);
            prop_assert!(least - 1e-9 <= mean && mean <= max + 1e-9);
        }
    }
}
