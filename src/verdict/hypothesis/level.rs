//! Since when the stored baseline has stood at its level.

use super::Hypothesis;
use crate::stats::change_point::{LOG_SMALLEST, change_points};
use crate::stats::mean;

/// Smallest change of a share that is one: the usual tolerance of an error ratio.
const SMALLEST_POINTS: f64 = 0.005;

impl Hypothesis<'_> {
    /// Index of the first stored session after the last change of level; 0 where there was none.
    ///
    /// One value a session, its mean; sessions without the cell are passed over.
    pub(super) fn last_change(&self) -> usize {
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
        let last = change_points(&means, smallest).pop();
        last.map_or(0, |point| at[point.index])
    }

    /// Whether the stored baseline's level has changed.
    pub(in crate::verdict) const fn level_changed(&self) -> bool {
        self.level_since > 0
    }

    /// Sessions that hold this cell, since the last change of level.
    pub(in crate::verdict) fn stored_sessions(&self) -> usize {
        self.values(&self.cell.sessions)
            .iter()
            .skip(self.level_since)
            .filter(|session| !session.is_empty())
            .count()
    }
}
