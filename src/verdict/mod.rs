//! Cells to findings and one verdict.
//!
//! [`judge`] is a pure replay of the whole procedure on all repeats so far: it screens the cells,
//! takes look after look, and says what became of each cell, what the exit code is, and how many
//! repeats the next look needs. A live comparison calls it after every look and stops when it says
//! so; the same files give the identical judgement offline, years later.

mod accepted;
mod base;
mod complaint;
mod drift;
pub mod empirical;
mod explain;
mod explanation;
mod finding;
pub mod forecast;
mod hypothesis;
mod informational;
mod model;
mod outcome;
mod past;
pub mod power;
mod preset;
mod procedure;
mod replay;
mod screen;
mod shift;
mod soaked;
mod state;
#[cfg(test)]
mod tests;
mod unjudged;

pub use crate::compare::PinDifference;
pub use accepted::{Excuse, judge_accepting};
pub use base::{BaseStamp, Nearest};
pub use drift::{NoRelease, Release, judge_drift, without_drift};
pub use explain::explain;
pub use explanation::{Decided, Explanation, LookAhead, LookTaken, NoiseOfRun, Repeat, Tail};
pub use finding::ARCHIVE_DAYS;
pub use model::{
    Advice, Change, Design, Evidence, Finding, Headline, Judgement, NextLook, Reading, Reason,
    UniformShift, Verdict,
};
pub use past::LevelChange;
pub use soaked::heed_soaks;
pub use state::CellState;
pub use unjudged::Ruling;

use crate::compare::{Arrangement, Comparison};
use crate::spec::{Gate, Repeats};
use crate::stats::sequential;
use procedure::Procedure;
use screen::ATTEMPTS;

/// Bounds of pairs, where the spec gives none.
const PAIRS: Repeats = Repeats { min: 3, max: 10 };
/// Bounds of candidate runs against stored sessions, where the spec gives none.
const STORED: Repeats = Repeats { min: 1, max: 5 };

/// Repeats from which on more than half of them say something.
const SEVERAL: u32 = 3;

/// Judges a comparison: total, whatever was measured.
pub fn judge(comparison: &Comparison, gate: &Gate) -> Judgement {
    judge_as(comparison, gate, |_| {})
}

/// The same, with a word on the findings of the gated cells before anything follows from them.
fn judge_as(
    comparison: &Comparison,
    gate: &Gate,
    retouch: impl FnOnce(&mut [Finding]),
) -> Judgement {
    let procedure = Procedure::new(comparison, gate);
    let context = procedure.context();
    let mut findings = procedure.gated(&context);
    retouch(&mut findings);
    findings.extend(informational::findings(&context, procedure.kept()));
    let next = next(&procedure);
    let mut judgement = outcome::judgement(&context, gate, findings, next, &procedure.screened);
    judgement.caveats.extend(procedure.level_caveats());
    judgement.levels = past::changes(&procedure);
    judgement
}

/// What the looks depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Interleaved pairs, the noise known from archived sessions.
    Pairs,
    /// Interleaved pairs, the noise assumed: the first look comes later.
    PairsWithoutArchive,
    /// Candidate runs against stored sessions.
    Stored,
}

/// The looks that a gate takes: those of the mode within the spec's `repeats`.
///
/// Pairs without `repeats`: 3, 5, 7, 10; without an archive 5, 7, 10; stored 1, 3, 5.
pub fn planned_looks(mode: Mode, gate: &Gate) -> sequential::Design {
    let Repeats { min, max } = gate.repeats.unwrap_or(match mode {
        Mode::Pairs | Mode::PairsWithoutArchive => PAIRS,
        Mode::Stored => STORED,
    });
    match mode {
        Mode::Pairs => sequential::Design::paired(min, max),
        Mode::PairsWithoutArchive => sequential::Design::unarchived(min, max),
        Mode::Stored => sequential::Design::stored(min, max),
    }
}

/// What would still be needed.
fn next(procedure: &Procedure<'_>) -> NextLook {
    let Procedure {
        comparison,
        screened,
        replay,
        design,
        ..
    } = procedure;
    let live = matches!(
        comparison.arrangement,
        Arrangement::Interleaved | Arrangement::Stored
    );
    let lost = comparison.lost.baseline || comparison.lost.candidate;
    if !live || lost || !comparison.is_comparable() || screened.hopeless {
        return NextLook::Stop;
    }
    let dropped = u32::try_from(screened.taken - screened.kept.len()).unwrap_or(u32::MAX);
    if let Some(look) = replay.next {
        return NextLook::Repeats(look.repeats.saturating_add(dropped));
    }
    // A first run that had not settled says nothing of the others.
    let warming = screened
        .aside
        .iter()
        .flatten()
        .any(|aside| aside.state == CellState::Inconclusive);
    let several = |look: &&sequential::PlannedLook| look.repeats >= SEVERAL;
    if let Some(look) = design.looks().iter().find(several)
        && warming
        && replay.taken.is_none()
        && screened.kept.len() < look.repeats as usize
    {
        return NextLook::Repeats(look.repeats.saturating_add(dropped));
    }
    // Nothing could be tested because the first repeats were the client's fault: try again.
    let faulty = screened
        .aside
        .iter()
        .flatten()
        .any(|aside| aside.state == CellState::Invalid);
    match design.looks().first() {
        Some(first) if replay.taken.is_none() && faulty && screened.taken < ATTEMPTS => {
            let taken = u32::try_from(screened.taken).unwrap_or(u32::MAX);
            NextLook::Repeats(first.repeats.saturating_add(taken))
        }
        _ => NextLook::Stop,
    }
}
