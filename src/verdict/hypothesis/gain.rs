//! A gain that buys a loss in another cell.

use super::Hypothesis;
use crate::compare::{Arrangement, ComparedCell, Comparison, Measure};
use crate::metric::Direction;
use crate::spec::{Limit, Trade};
use crate::stats::sequential::{ALPHA, PlannedLook};

/// A trade with the cell that has to gain.
#[derive(Debug, Clone)]
pub(in crate::verdict) struct Gain<'a> {
    pub(in crate::verdict) trade: &'a Trade,
    /// `None` where the repeats don't all hold it, or where its side did other work.
    hypothesis: Option<Hypothesis<'a>>,
}

/// What a look says of a gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::verdict) struct Gained {
    /// By how much it is better, as a fraction: more throughput, or less time; below 0 it is worse.
    pub(in crate::verdict) by: f64,
    /// Whether that is enough, beyond doubt.
    pub(in crate::verdict) shown: bool,
}

impl<'a> Gain<'a> {
    /// The trade of a cell over the kept repeats; `None` where it has none.
    pub(in crate::verdict) fn of(
        comparison: &'a Comparison,
        loser: &'a ComparedCell,
        kept: &[usize],
    ) -> Option<Self> {
        let trade = loser.trade.as_ref()?;
        let usable = |cell: &&ComparedCell| {
            cell.work_changed.is_none()
                && kept.iter().all(|&i| {
                    let base = comparison.arrangement != Arrangement::Interleaved
                        || cell.baseline.get(i).is_some_and(Measure::is_usable);
                    base && cell.candidate.get(i).is_some_and(Measure::is_usable)
                })
        };
        // Only the size of the gain is asked for, so the limit decides the scale alone.
        let limit = Limit::WorseBy {
            ratio: trade.better_by,
            floor: None,
        };
        let hypothesis = comparison
            .cells
            .iter()
            .find(|cell| cell.cell == trade.gain)
            .filter(usable)
            .map(|cell| Hypothesis::new(cell, limit, comparison.arrangement, kept));
        Some(Self {
            trade,
            hypothesis: hypothesis.filter(Hypothesis::is_log),
        })
    }

    /// What the first `k` repeats say of it: shown where it is better beyond doubt, the error split
    /// over the looks, and by as much as was asked, by best estimate. `None` where nothing can be
    /// said.
    pub(super) fn at(&self, k: usize, planned: PlannedLook, noisy: bool) -> Option<Gained> {
        let hypothesis = self.hypothesis.as_ref()?;
        // One repeat and no archive: nothing says how much runs scatter.
        if k < 2 && hypothesis.is_assumed() {
            return None;
        }
        let look = hypothesis.at(k, planned, noisy)?.look;
        let by = match hypothesis.metric().direction() {
            Direction::HigherIsBetter => (-look.estimate).exp_m1(),
            Direction::LowerIsBetter => -look.estimate.exp_m1(),
        };
        Some(Gained {
            by,
            shown: by >= self.trade.better_by && look.p_better <= ALPHA * planned.pass,
        })
    }
}
