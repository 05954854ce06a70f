//! Which repeats count, and which cells can't be judged at all.

use crate::compare::{Arrangement, ComparedCell, Measure, Value};
use crate::lang::{Said, of_judged};

use super::model::Reason;
use super::state::CellState;

/// Why a cell can't be judged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SetAside {
    pub(super) state: CellState,
    pub(super) reason: Option<Reason>,
}

/// Repeats that every judged cell can use, and what each cell is set aside for.
#[derive(Debug)]
pub(super) struct Screened {
    /// Indices of the kept repeats (pairs, or candidate runs).
    pub(super) kept: Vec<usize>,
    /// Repeats there are in all.
    pub(super) taken: usize,
    /// Whether the last pair and both its repetitions were dropped: more won't help.
    pub(super) hopeless: bool,
    /// One per cell.
    pub(super) aside: Vec<Option<SetAside>>,
}

/// A pair may be run again twice.
pub(super) const ATTEMPTS: usize = 3;

/// Drops repeats in which a judged cell has no usable value on some side, so that all cells rest on
/// the same repeats.
///
/// A cell without a usable value in more than half of them is set aside instead, so that one bad
/// stage does not void the others. A failure of the target is usable: it is a result.
/// `judged` tells which cells the verdict depends on.
pub(super) fn screen(
    cells: &[&ComparedCell],
    judged: &[bool],
    arrangement: Arrangement,
) -> Screened {
    let taken = cells
        .iter()
        .map(|cell| cell.candidate.len())
        .max()
        .unwrap_or(0);
    let sides = |cell: &ComparedCell, i: usize| -> Vec<Measure> {
        let base = (arrangement == Arrangement::Interleaved && needs_baseline(cell))
            .then(|| cell.baseline.get(i))
            .flatten();
        cell.candidate
            .get(i)
            .into_iter()
            .chain(base)
            .cloned()
            .collect()
    };
    let usable = |cell: &ComparedCell, i: usize| sides(cell, i).iter().all(Measure::is_usable);
    let aside: Vec<Option<SetAside>> = cells
        .iter()
        .map(|cell| {
            if arrangement != Arrangement::Interleaved
                && needs_baseline(cell)
                && !cell.baseline.is_empty()
                && !cell.baseline.iter().any(Measure::is_usable)
            {
                let values = cell.baseline.iter().map(|measure| measure.value.clone());
                return Some(why(values, is_open(cell)));
            }
            let faults: Vec<usize> = (0..taken).filter(|&i| !usable(cell, i)).collect();
            if taken > 0 && 2 * faults.len() <= taken {
                return None;
            }
            let measures = faults.iter().flat_map(|&i| sides(cell, i));
            Some(why(measures.map(|measure| measure.value), is_open(cell)))
        })
        .collect();
    let kept: Vec<usize> = (0..taken)
        .filter(|&i| {
            cells
                .iter()
                .zip(judged)
                .zip(&aside)
                .all(|((cell, judged), aside)| !judged || aside.is_some() || usable(cell, i))
        })
        .collect();
    Screened {
        hopeless: taken >= ATTEMPTS && (taken - ATTEMPTS..taken).all(|i| !kept.contains(&i)),
        kept,
        taken,
        aside,
    }
}

/// Whether no run of either side failed in it, was at fault or lacks it: some files do not tell, that is all.
fn is_open(cell: &ComparedCell) -> bool {
    let known = |measure: &Measure| matches!(measure.value, Value::Measured(_) | Value::Untold(_));
    cell.baseline.iter().chain(&cell.candidate).all(known)
}

fn needs_baseline(cell: &ComparedCell) -> bool {
    cell.limit.is_none_or(crate::spec::Limit::is_relative)
}

/// The client's fault where there is one; else the cell is not in the runs, or nobody tells.
///
/// Where all that is wrong is that nobody tells, the cell is left open.
fn why(values: impl Iterator<Item = Value>, is_open: bool) -> SetAside {
    let (mut absent, mut untold) = (None, None);
    for value in values {
        match value {
            Value::Invalid(what) => {
                return SetAside {
                    state: CellState::Invalid,
                    reason: Some(Reason::ClientFault { what }),
                };
            }
            Value::Absent(why) => absent = absent.or(Some(why)),
            Value::Untold(why) => {
                absent.get_or_insert_with(|| why.clone());
                untold = untold.or(Some(why));
            }
            Value::Measured(_) | Value::Failed => {}
        }
    }
    if is_open && let Some(why) = untold {
        return SetAside {
            state: CellState::Inconclusive,
            reason: Some(Reason::Absent { why: why.into() }),
        };
    }
    SetAside {
        state: CellState::Missing,
        reason: Some(Reason::Absent {
            why: absent.map_or_else(|| Said::plain(of_judged::NO_COMPLETE_RUN), Said::from),
        }),
    }
}
