//! The stored baseline against its own past: what changed before the candidate came.

use serde::{Deserialize, Serialize};

use super::finding::change_between;
use super::model::Change;
use super::procedure::Procedure;
use crate::compare::SessionName;
use crate::metric::{Cell, Direction};

/// A cell whose level changed within the stored baseline. The candidate is held against the later
/// sessions alone, so nothing of it is charged to the candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LevelChange {
    /// Which cell.
    pub cell: Cell,
    /// From the mean of the sessions before to that of the sessions after, with its unadjusted 95 %
    /// interval by Student's t over session means.
    pub change: Change,
    /// Whether that is for the worse.
    pub worse: bool,
    /// The last session of the old level.
    pub last: SessionName,
    /// The first session of the new one.
    pub first: SessionName,
    /// Sessions since.
    pub since: u32,
}

/// The newest change of level of each gated cell, in the order of the spec.
pub(super) fn changes(procedure: &Procedure<'_>) -> Vec<LevelChange> {
    let names = &procedure.comparison.session_names;
    let cells = procedure.cells.iter().zip(&procedure.hypotheses);
    cells
        .filter(|(cell, _)| cell.gated)
        .filter_map(|(cell, hypothesis)| {
            let hypothesis = hypothesis.as_ref()?;
            let level = hypothesis.level()?;
            let change = change_between(hypothesis, level.change, level.interval);
            let (Change::Ratio { estimate, .. } | Change::Points { estimate, .. }) = change;
            let direction = cell.cell.metric.metric().direction();
            Some(LevelChange {
                cell: cell.cell.clone(),
                change,
                worse: match direction {
                    Direction::LowerIsBetter => estimate > 0.0,
                    Direction::HigherIsBetter => estimate < 0.0,
                },
                last: names.get(level.last)?.clone(),
                first: names.get(level.first)?.clone(),
                since: u32::try_from(hypothesis.stored_sessions()).unwrap_or(u32::MAX),
            })
        })
        .collect()
}
