//! The whole procedure on all repeats so far: what is screened, tested, demoted and decided.

use super::finding::{Context, Demotion, Judged};
use super::hypothesis::{Collapse, Gain, Hypothesis};
use super::model::Finding;
use super::replay::{Replay, adjusted_improvements, replay};
use super::screen::{Screened, SetAside, screen};
use super::state::CellState;
use super::{Mode, planned_looks, preset};
use crate::compare::{Arrangement, ComparedCell, Comparison};
use crate::lang::{Said, of_judged};
use crate::spec::{Gate, Limit};
use crate::stats::sequential;

/// A comparison under a gate, with every look taken that its repeats allow.
pub(super) struct Procedure<'a> {
    pub(super) comparison: &'a Comparison,
    /// The declared cells, in the order of the spec.
    pub(super) cells: Vec<&'a ComparedCell>,
    preset: Vec<Option<SetAside>>,
    pub(super) screened: Screened,
    /// One per declared cell; `None` where it is not tested.
    pub(super) hypotheses: Vec<Option<Hypothesis<'a>>>,
    demoted: Vec<Option<Demotion>>,
    /// Indices of the declared cells that are tested together: every gated one that is not
    /// demoted; those set aside count with p = 1.
    pub(super) family: Vec<usize>,
    pub(super) design: sequential::Design,
    pub(super) replay: Replay,
    better: Vec<f64>,
}

impl<'a> Procedure<'a> {
    /// Takes all looks.
    pub(super) fn new(comparison: &'a Comparison, gate: &'a Gate) -> Self {
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
                (preset[i].is_none() && screened.aside[i].is_none()).then(|| {
                    Hypothesis::new(cell, *limit, arrangement, &screened.kept)
                        .with_evidence(gate.evidence)
                        .with_trade(Gain::of(comparison, cell, &screened.kept))
                })
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

        let family: Vec<usize> = (0..declared.len())
            .filter(|&i| judged[i] && demoted[i].is_none())
            .collect();
        let members: Vec<Option<&Hypothesis<'_>>> =
            family.iter().map(|&i| hypotheses[i].as_ref()).collect();
        let mut replay = replay(&members, &design, screened.kept.len());
        let regressed = |aside: &SetAside| aside.state == CellState::Regressed;
        if (0..declared.len()).any(|i| cells[i].gated && preset[i].as_ref().is_some_and(regressed))
        {
            replay.cut_short |= replay.next.take().is_some();
        }
        let better = adjusted_improvements(&replay, &members);
        Self {
            comparison,
            cells,
            preset,
            screened,
            hypotheses,
            demoted,
            family,
            design,
            replay,
            better,
        }
    }

    /// What all findings share.
    pub(super) fn context(&self) -> Context<'_> {
        Context {
            comparison: self.comparison,
            design: &self.design,
            replay: &self.replay,
            available: self.screened.kept.len(),
        }
    }

    /// Indices of the repeats that every judged cell can use.
    pub(super) fn kept(&self) -> &[usize] {
        &self.screened.kept
    }

    /// Cells whose stored baseline has changed level, in words.
    pub(super) fn level_caveats(&self) -> Vec<Said> {
        let gated = self.cells.iter().zip(&self.hypotheses);
        gated
            .filter(|(cell, _)| cell.gated)
            .filter_map(|(cell, hypothesis)| {
                let hypothesis = hypothesis.as_ref()?;
                hypothesis.level_changed().then(|| {
                    let args = [
                        cell.cell.to_string(),
                        cell.sessions.len().to_string(),
                        hypothesis.stored_sessions().to_string(),
                    ];
                    Said::new(of_judged::LEVEL_CHANGED, args)
                })
            })
            .collect()
    }

    /// The findings of the gated cells, in the order of the spec.
    pub(super) fn gated(&self, context: &Context<'_>) -> Vec<Finding> {
        (0..self.cells.len())
            .filter(|&i| self.cells[i].gated)
            .map(|i| self.finding(context, i))
            .collect()
    }

    /// The finding of one declared cell.
    pub(super) fn finding(&self, context: &Context<'_>, index: usize) -> Finding {
        let member = self.member(index);
        context.finding(&Judged {
            cell: self.cells[index],
            hypothesis: self.hypotheses[index].as_ref(),
            preset: self.preset[index].as_ref(),
            aside: self.screened.aside[index].as_ref(),
            demoted: self.demoted[index],
            result: member.map(|m| (&self.replay.results[m], self.better[m])),
        })
    }

    /// The place of a declared cell among those that are tested together.
    pub(super) fn member(&self, index: usize) -> Option<usize> {
        self.family.iter().position(|&member| member == index)
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
