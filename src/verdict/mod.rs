//! Cells to findings and one verdict.
//!
//! [`judge`] is a pure replay of the whole procedure on all repeats so far: it screens the cells,
//! takes look after look, and says what became of each cell, what the exit code is, and how many
//! repeats the next look needs. A live comparison calls it after every look and stops when it says
//! so; the same files give the identical judgement offline, years later.

mod finding;
mod hypothesis;
mod informational;
mod model;
mod outcome;
mod preset;
mod replay;
mod screen;
#[cfg(test)]
mod tests;

pub use crate::compare::PinDifference;
pub use model::{
    Advice, CellState, Change, Design, Evidence, Finding, Headline, Judgement, NextLook, Reading,
    Reason, Verdict,
};

use crate::compare::{Arrangement, ComparedCell, Comparison};
use crate::spec::{Gate, Limit, Repeats};
use crate::stats::sequential;
use finding::{Demotion, Judged};
use hypothesis::{Collapse, Hypothesis};
use replay::{Replay, replay};
use screen::{ATTEMPTS, Screened, SetAside, screen};

/// Bounds of pairs, where the spec gives none.
const PAIRS: Repeats = Repeats { min: 3, max: 10 };
/// Bounds of candidate runs against stored sessions, where the spec gives none.
const STORED: Repeats = Repeats { min: 1, max: 5 };

/// Repeats from which on more than half of them say something.
const SEVERAL: u32 = 3;

/// Judges a comparison: total, whatever was measured.
pub fn judge(comparison: &Comparison, gate: &Gate) -> Judgement {
    let arrangement = comparison.arrangement;
    let declared: Vec<(&ComparedCell, Limit)> = comparison
        .cells
        .iter()
        .filter_map(|cell| Some((cell, cell.limit?)))
        .collect();
    let preset: Vec<Option<SetAside>> = declared
        .iter()
        .map(|(cell, limit)| preset::preset(comparison, cell, *limit))
        .collect();

    let cells: Vec<&ComparedCell> = declared.iter().map(|(cell, _)| *cell).collect();
    let judged: Vec<bool> = cells
        .iter()
        .zip(&preset)
        .map(|(cell, preset)| cell.gated && preset.is_none())
        .collect();
    let mut screened = screen(&cells, &judged, arrangement);
    for (aside, (cell, limit)) in screened.aside.iter_mut().zip(&declared) {
        if aside.is_none() {
            *aside = preset::not_settled(cell, *limit);
        }
    }
    let hypotheses: Vec<Option<Hypothesis<'_>>> = declared
        .iter()
        .enumerate()
        .map(|(i, (cell, limit))| {
            (preset[i].is_none() && screened.aside[i].is_none())
                .then(|| Hypothesis::new(cell, *limit, arrangement, &screened.kept))
        })
        .collect();

    let assumed = hypotheses.iter().zip(&judged).any(|(hypothesis, judged)| {
        *judged && hypothesis.as_ref().is_some_and(Hypothesis::is_assumed)
    });
    let design = design(arrangement, gate, screened.kept.len(), assumed);
    let demoted: Vec<Option<Demotion>> = hypotheses
        .iter()
        .map(|hypothesis| demotion(hypothesis.as_ref()?, &design, screened.kept.len()))
        .collect();

    // The family: every gated cell that is not demoted; those set aside count with p = 1.
    let family: Vec<usize> = (0..declared.len())
        .filter(|&i| judged[i] && demoted[i].is_none())
        .collect();
    let members: Vec<Option<&Hypothesis<'_>>> =
        family.iter().map(|&i| hypotheses[i].as_ref()).collect();
    let mut replay = replay(&members, &design, screened.kept.len());
    let regressed = |aside: &SetAside| aside.state == CellState::Regressed;
    if (0..declared.len()).any(|i| cells[i].gated && preset[i].as_ref().is_some_and(regressed)) {
        replay.cut_short |= replay.next.take().is_some();
    }
    let better = finding::adjusted_improvements(&replay, &members);

    let context = finding::Context {
        comparison,
        design: &design,
        replay: &replay,
        available: screened.kept.len(),
    };
    let mut findings = Vec::new();
    for (i, (cell, _)) in declared.iter().enumerate() {
        if !cell.gated {
            continue;
        }
        let member = family.iter().position(|&member| member == i);
        findings.push(context.finding(&Judged {
            cell,
            hypothesis: hypotheses[i].as_ref(),
            preset: preset[i].as_ref(),
            aside: screened.aside[i].as_ref(),
            demoted: demoted[i],
            result: member.map(|m| (&replay.results[m], better[m])),
        }));
    }
    findings.extend(informational::findings(&context, &screened.kept));
    let next = next(comparison, &screened, &replay, &design);
    outcome::judgement(&context, gate, findings, next, &screened)
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

/// The looks of a comparison; one at all that there is, where nothing more can come.
fn design(arrangement: Arrangement, gate: &Gate, kept: usize, assumed: bool) -> sequential::Design {
    match arrangement {
        Arrangement::Interleaved if assumed => planned_looks(Mode::PairsWithoutArchive, gate),
        Arrangement::Interleaved => planned_looks(Mode::Pairs, gate),
        Arrangement::Stored => planned_looks(Mode::Stored, gate),
        Arrangement::SameRun | Arrangement::Unpaired => {
            let all = u32::try_from(kept).unwrap_or(u32::MAX);
            sequential::Design::paired(all, all)
        }
    }
}

/// Why a cell can't gate, known only now. A collapse needs no resolution to be seen.
fn demotion(
    hypothesis: &Hypothesis<'_>,
    design: &sequential::Design,
    kept: usize,
) -> Option<Demotion> {
    if matches!(
        hypothesis.collapse(kept),
        Collapse::Candidate | Collapse::Both
    ) {
        return None;
    }
    if let Some((n, needed)) = hypothesis.too_few_samples() {
        return Some(Demotion::FewSamples { n, needed });
    }
    hypothesis
        .is_beyond_resolution(design.last())
        .then_some(Demotion::Resolution)
}

/// What would still be needed.
fn next(
    comparison: &Comparison,
    screened: &Screened,
    replay: &Replay,
    design: &sequential::Design,
) -> NextLook {
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
