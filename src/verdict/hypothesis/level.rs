//! Since when the stored baseline has stood at its level.

use super::Hypothesis;
use crate::stats::change_point::{LOG_SMALLEST, change_points};
use crate::stats::student::quantile;
use crate::stats::{mean, variance};

/// Smallest change of a share that is one: the usual tolerance of an error ratio.
const SMALLEST_POINTS: f64 = 0.005;

/// The newest change of the stored baseline's level, on the scale of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::verdict) struct Level {
    /// Index of the last session before it that has the cell.
    pub(in crate::verdict) last: usize,
    /// Index of the first session after it.
    pub(in crate::verdict) first: usize,
    /// The mean after less the mean before; positive where worse.
    pub(in crate::verdict) change: f64,
    /// Its 95 % interval.
    pub(in crate::verdict) interval: [f64; 2],
}

impl Hypothesis<'_> {
    /// The newest change of level; `None` where there was none.
    ///
    /// One value a session, its mean; sessions without the cell are passed over.
    pub(super) fn last_change(&self) -> Option<Level> {
        let sessions = self.values(&self.cell.sessions);
        let (at, means): (Vec<usize>, Vec<f64>) = sessions
            .iter()
            .enumerate()
            .filter_map(|(i, session)| Some((i, mean(session)?)))
            .unzip();
        let smallest = if self.is_log() {
            LOG_SMALLEST
        } else {
            SMALLEST_POINTS
        };
        let mut points = change_points(&means, smallest);
        let last = points.pop()?.index;
        let start = points.last().map_or(0, |point| point.index);
        let (before, after) = (&means[start..last], &means[last..]);
        let change = mean(after)? - mean(before)?;
        let half = half_interval(before, after);
        Some(Level {
            last: at[last - 1],
            first: at[last],
            change,
            interval: [change - half, change + half],
        })
    }

    /// The newest change of the stored baseline's level.
    pub(in crate::verdict) const fn level(&self) -> Option<Level> {
        self.level
    }

    /// Whether the stored baseline's level has changed.
    pub(in crate::verdict) const fn level_changed(&self) -> bool {
        self.level.is_some()
    }

    /// Index of the first stored session since the last change of the baseline's level.
    pub(super) const fn level_since(&self) -> usize {
        match self.level {
            Some(level) => level.first,
            None => 0,
        }
    }

    /// Sessions that hold this cell, since the last change of level.
    pub(in crate::verdict) fn stored_sessions(&self) -> usize {
        self.values(&self.cell.sessions)
            .iter()
            .skip(self.level_since())
            .filter(|session| !session.is_empty())
            .count()
    }
}

/// Half of the 95 % interval of a difference of means, with the pooled variance.
///
/// Of 0, 0.01 and 0.10, 0.12: pooled variance 1.25e-4, standard error 0.01118, t(.975, 2) = 4.303, so
/// 0.0481.
fn half_interval(before: &[f64], after: &[f64]) -> f64 {
    let (m, n) = (before.len() as f64, after.len() as f64);
    let df = m + n - 2.0;
    let pooled = ((m - 1.0) * variance(before) + (n - 1.0) * variance(after)) / df;
    quantile(0.975, df) * (pooled * (1.0 / m + 1.0 / n)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_change_is_students() {
        let half = half_interval(&[0.0, 0.01], &[0.10, 0.12]);
        assert!((half - 0.0481).abs() < 1e-4, "{half}");
    }
}
