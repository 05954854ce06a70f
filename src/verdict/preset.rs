//! Cells whose state follows from how the runs went, not from a test of their values.

use super::model::Reason;
use super::screen::SetAside;
use super::state::CellState;
use crate::compare::{Arrangement, ComparedCell, Comparison, Measure, Unfit, Value};
use crate::lang::{Said, of_judged};
use crate::spec::Limit;

/// The state of a cell that is not tested at all.
pub(super) fn preset(
    comparison: &Comparison,
    cell: &ComparedCell,
    limit: Limit,
) -> Option<SetAside> {
    let relative = limit.is_relative();
    let (state, reason) = if comparison.arrangement == Arrangement::SameRun {
        let what = Said::plain(of_judged::SAME_RUN);
        (CellState::Inconclusive, Some(Reason::Advisory { what }))
    } else if relative && cell.baseline.is_empty() {
        let why = Said::plain(of_judged::NO_BASELINE);
        (CellState::New, Some(Reason::Absent { why }))
    } else if relative && !comparison.is_comparable() {
        (CellState::Incomparable, None)
    } else if let (true, Some(what)) = (relative, &cell.means) {
        let why = what.clone();
        (CellState::Incomparable, Some(Reason::Absent { why }))
    } else {
        return lost(comparison, cell).or_else(|| capacity(comparison, cell));
    };
    Some(SetAside { state, reason })
}

fn aside(state: CellState, reason: Reason) -> SetAside {
    SetAside {
        state,
        reason: Some(reason),
    }
}

/// The state of a cell whose target was lost: the candidate's loss is its regression, the
/// baseline's leaves nothing to compare with.
fn lost(comparison: &Comparison, cell: &ComparedCell) -> Option<SetAside> {
    let failed = |side: &[Measure]| side.iter().any(|measure| measure.value == Value::Failed);
    if comparison.lost.baseline && failed(&cell.baseline) {
        let reason = if comparison.lost.candidate {
            Reason::BothFailed
        } else {
            let why = Said::plain(of_judged::BASELINE_LOST);
            Reason::Absent { why }
        };
        Some(aside(CellState::Invalid, reason))
    } else if comparison.lost.candidate && failed(&cell.candidate) {
        Some(aside(CellState::Regressed, Reason::CandidateFailed))
    } else {
        None
    }
}

/// Of a latency under overload, which depends on how long the stage lasts and so is not judged: in
/// two thirds of the repeats, at least two, a candidate that alone does not keep up has lost
/// capacity. Where both sides don't, the load is set too high; where the baseline alone does not,
/// there is nothing to compare with.
fn capacity(comparison: &Comparison, cell: &ComparedCell) -> Option<SetAside> {
    if cell.baseline.is_empty() || !comparison.is_comparable() {
        return None;
    }
    let overloaded = |measure: &Measure| matches!(measure.unfit, Some(Unfit::Overloaded { .. }));
    let stored = {
        let over = cell.baseline.iter().filter(|m| overloaded(m)).count();
        2 * over > cell.baseline.len()
    };
    let pairs: Vec<(bool, bool)> = cell
        .candidate
        .iter()
        .enumerate()
        .filter_map(|(i, candidate)| {
            let baseline = match comparison.arrangement {
                Arrangement::Interleaved => {
                    overloaded(cell.baseline.get(i).filter(|m| m.is_usable())?)
                }
                Arrangement::Stored | Arrangement::SameRun | Arrangement::Unpaired => stored,
            };
            candidate
                .is_usable()
                .then_some((baseline, overloaded(candidate)))
        })
        .collect();
    let enough = |wanted: (bool, bool)| {
        let found = pairs.iter().filter(|pair| **pair == wanted).count();
        found >= 2 && 3 * found >= 2 * pairs.len()
    };
    if enough((false, true)) {
        let shares: Vec<f64> = cell
            .candidate
            .iter()
            .filter_map(|measure| match measure.unfit {
                Some(Unfit::Overloaded { completed }) => Some(completed),
                _ => None,
            })
            .collect();
        let completed = crate::stats::mean(&shares)?;
        let reason = Reason::CandidateOverloaded { completed };
        Some(aside(CellState::Regressed, reason))
    } else if enough((true, true)) {
        Some(aside(CellState::Invalid, Reason::BothOverloaded))
    } else if enough((true, false)) {
        let reason = Reason::BaselineOverloaded;
        Some(aside(CellState::Inconclusive, reason))
    } else {
        None
    }
}

/// A latency that on some side was still warming up in more than half of the runs: a figure of the
/// start, not of the load.
pub(super) fn not_settled(cell: &ComparedCell, limit: Limit) -> Option<SetAside> {
    if !limit.is_relative() {
        return None;
    }
    let of = |side: &[Measure]| {
        let measured = side.iter().filter(|m| m.measured().is_some()).count();
        let cuts: Vec<(u64, u64)> = side
            .iter()
            .filter_map(|measure| match measure.unfit {
                Some(Unfit::NotSettled { cut, of }) => Some((cut, of)),
                _ => None,
            })
            .collect();
        (2 * cuts.len() > measured)
            .then(|| cuts.into_iter().max())
            .flatten()
    };
    let (cut, of) = of(&cell.candidate).or_else(|| of(&cell.baseline))?;
    let reason = Reason::NotSettled { cut, of };
    Some(aside(CellState::Inconclusive, reason))
}
