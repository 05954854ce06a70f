//! Cells that are shown and never decide: those declared so, and those that nobody declared.

use super::finding::{Context, change_of, evidence, is_over, reading};
use super::hypothesis::{Collapse, Hypothesis, Looked};
use super::model::{Finding, Reason};
use super::state::CellState;
use crate::compare::{Arrangement, ComparedCell, Measure};
use crate::metric::{Kind, Metric};
use crate::spec::Limit;
use crate::stats::multiple::benjamini_hochberg;
use crate::stats::sequential::ALPHA;

/// False discovery rate at which a cell is worth a look.
const DISCOVERY: f64 = 0.10;

/// The limit that an undeclared cell is seen against.
pub(super) fn default_limit(cell: &ComparedCell) -> Limit {
    let metric = cell.cell.metric.metric();
    match metric.kind() {
        Kind::Distribution => Limit::WorseBy {
            ratio: 0.10,
            floor: None,
        },
        Kind::Rate | Kind::OfSweep | Kind::Energy => Limit::WorseBy {
            ratio: 0.05,
            floor: None,
        },
        Kind::OfRun | Kind::OfEvents => Limit::WorseBy {
            ratio: 0.20,
            floor: None,
        },
        Kind::Proportion if metric == Metric::Attainment => Limit::WorseByPoints(0.02),
        Kind::Proportion if metric == Metric::QualityAgreement => Limit::WorseByPoints(0.02),
        Kind::Proportion if metric.is_quality() => Limit::WorseByPoints(0.01),
        Kind::Proportion => Limit::WorseByPoints(0.005),
    }
}

/// A cell with what one look at all its repeats says.
struct Shown<'a> {
    cell: &'a ComparedCell,
    looked: Option<(Hypothesis<'a>, Looked)>,
    collapse: Collapse,
    few: Option<(u64, u64)>,
}

/// The findings of all cells that don't gate.
pub(super) fn findings(context: &Context<'_>, kept: &[usize]) -> Vec<Finding> {
    let comparison = context.comparison;
    let shown: Vec<Shown<'_>> = comparison
        .cells
        .iter()
        .filter(|cell| !cell.gated)
        .map(|cell| look(context, cell, kept))
        .collect();
    let p = |pick: fn(&Looked) -> f64| -> Vec<f64> {
        let p = shown.iter().map(|shown| {
            shown
                .looked
                .as_ref()
                .map_or(1.0, |(_, looked)| pick(looked))
        });
        benjamini_hochberg(&p.collect::<Vec<f64>>())
    };
    let worse = p(|looked| looked.look.p_worse);
    let better = p(|looked| looked.look.p_better);
    shown
        .iter()
        .zip(worse.into_iter().zip(better))
        .filter_map(|(shown, (worse, better))| finding(context, shown, worse, better))
        .collect()
}

fn look<'a>(context: &Context<'_>, cell: &'a ComparedCell, kept: &[usize]) -> Shown<'a> {
    let arrangement = context.comparison.arrangement;
    let limit = cell.limit.unwrap_or_else(|| default_limit(cell));
    let usable: Vec<usize> = kept
        .iter()
        .copied()
        .filter(|&i| {
            let base = arrangement != Arrangement::Interleaved
                || !limit.is_relative()
                || cell.baseline.get(i).is_some_and(Measure::is_usable);
            base && cell.candidate.get(i).is_some_and(Measure::is_usable)
        })
        .collect();
    let can = context.comparison.is_comparable()
        && cell.means.is_none()
        && arrangement != Arrangement::SameRun;
    let hypothesis = Hypothesis::new(cell, limit, arrangement, &usable);
    let k = usable.len();
    Shown {
        cell,
        collapse: if can {
            hypothesis.collapse(k)
        } else {
            Collapse::None
        },
        few: hypothesis.too_few_samples(),
        looked: can
            .then(|| hypothesis.at(k, context.design.last(), context.replay.noisy))
            .flatten()
            .map(|looked| (hypothesis, looked)),
    }
}

/// `None` of an undeclared cell that neither side has.
fn finding(context: &Context<'_>, shown: &Shown<'_>, worse: f64, better: f64) -> Option<Finding> {
    let cell = shown.cell;
    let baseline = reading(cell, &cell.baseline);
    let candidate = reading(cell, &cell.candidate);
    let declared = cell.limit.is_some();
    if !declared && baseline.is_none() && candidate.is_none() {
        return None;
    }
    let state = if candidate.is_none() {
        CellState::Missing
    } else if baseline.is_none() && cell.limit.is_none_or(Limit::is_relative) {
        CellState::New
    } else if !context.comparison.is_comparable() || cell.means.is_some() {
        CellState::Incomparable
    } else {
        tested(context, shown, worse, better)
    };
    let few = shown
        .few
        .map(|(n, needed)| Reason::FewSamples { n, needed });
    let reason = match state {
        CellState::Suspect if shown.collapse != Collapse::None => Some(Reason::CandidateFailed),
        CellState::Incomparable if cell.means.is_some() => {
            cell.means.clone().map(|why| Reason::Absent { why })
        }
        _ => few.or(declared.then_some(Reason::Informational)),
    };
    let looked = shown.looked.as_ref();
    Some(Finding {
        cell: cell.cell.clone(),
        alike: cell.alike,
        since: None,
        state,
        gated: false,
        limit: cell.limit,
        baseline,
        candidate,
        change: match looked {
            Some((hypothesis, looked)) if hypothesis.test.is_relative() => {
                Some(change_of(hypothesis, looked))
            }
            _ => None,
        },
        evidence: looked.map(|(hypothesis, looked)| evidence(hypothesis, looked, worse)),
        reason,
    })
}

fn tested(context: &Context<'_>, shown: &Shown<'_>, worse: f64, better: f64) -> CellState {
    let firm = matches!(
        context.comparison.arrangement,
        Arrangement::Interleaved | Arrangement::Stored
    );
    if matches!(shown.collapse, Collapse::Candidate | Collapse::Partly) {
        return CellState::Suspect;
    }
    let Some((_, looked)) = &shown.looked else {
        return CellState::Inconclusive;
    };
    if worse <= DISCOVERY && is_over(looked) {
        CellState::Suspect
    } else if !firm || shown.few.is_some() {
        CellState::Inconclusive
    } else if better <= DISCOVERY && looked.look.estimate <= -looked.tolerance {
        CellState::Improved
    } else if looked.look.p_within <= ALPHA {
        CellState::Ok
    } else {
        CellState::Inconclusive
    }
}
