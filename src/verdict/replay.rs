//! The looks, replayed: the same data give the same decision, while sampling or years later.

use super::hypothesis::{Collapse, Hypothesis, Looked};
use crate::stats::median;
use crate::stats::multiple::holm;
use crate::stats::noise::{GUARDED, is_noisy};
use crate::stats::sequential::{Decision, Design, Outlook, PlannedLook, Sequential};

/// What became of all hypotheses.
#[derive(Debug)]
pub(super) struct Replay {
    /// The last look taken; `None` where there are too few repeats for the first.
    pub(super) taken: Option<PlannedLook>,
    /// The next look worth taking: not after a regression, nor when all is decided.
    pub(super) next: Option<PlannedLook>,
    /// Whether a regression ended the sampling before the last look.
    pub(super) cut_short: bool,
    /// Whether the last look dropped the archive's prior.
    pub(super) noisy: bool,
    /// Variance of the repeats by that of the archive, the median over the hypotheses: of the last
    /// look, where it has enough repeats to say.
    pub(super) variance_ratio: Option<f64>,
    /// One per hypothesis.
    pub(super) results: Vec<Result>,
    /// Every look taken, in order.
    pub(super) history: Vec<Taken>,
}

/// What one look saw.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) planned: PlannedLook,
    pub(super) noisy: bool,
    /// One per hypothesis.
    pub(super) results: Vec<Result>,
}

/// What became of one hypothesis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Result {
    pub(super) decision: Decision,
    pub(super) collapse: Collapse,
    /// The last look taken.
    pub(super) looked: Option<Looked>,
    /// P-value against "not worse", adjusted for looks and hypotheses.
    pub(super) adjusted: f64,
}

/// Takes look after look at `available` repeats until a regression stands or all is decided.
///
/// `None` stands for a hypothesis that can't be tested: it enters the correction with p = 1.
pub(super) fn replay(
    hypotheses: &[Option<&Hypothesis<'_>>],
    design: &Design,
    available: usize,
) -> Replay {
    let mut sequential = Sequential::new(design.clone(), hypotheses.len());
    let testable = hypotheses.iter().any(Option::is_some);
    let mut replay = Replay {
        taken: None,
        next: sequential.next().filter(|_| testable),
        cut_short: false,
        noisy: false,
        variance_ratio: None,
        results: vec![
            Result {
                decision: Decision::Open,
                collapse: Collapse::None,
                looked: None,
                adjusted: 1.0,
            };
            hypotheses.len()
        ],
        history: Vec::new(),
    };
    while let Some(look) = replay
        .next
        .filter(|look| look.repeats as usize <= available)
    {
        take(&mut sequential, &mut replay, hypotheses, look);
        let regressed = replay.results.iter().any(Result::is_regression);
        let settled = regressed
            || replay
                .results
                .iter()
                .zip(hypotheses)
                .all(|(result, hypothesis)| {
                    hypothesis.is_none()
                        || result.decision != Decision::Open
                        || result.collapse == Collapse::Both
                });
        replay.cut_short = regressed && sequential.next().is_some();
        replay.next = sequential.next().filter(|_| !settled);
    }
    replay
}

fn take(
    sequential: &mut Sequential,
    replay: &mut Replay,
    hypotheses: &[Option<&Hypothesis<'_>>],
    look: PlannedLook,
) {
    let k = look.repeats as usize;
    let ratios: Vec<f64> = hypotheses
        .iter()
        .flatten()
        .filter_map(|hypothesis| hypothesis.variance_ratio(k))
        .filter(|_| look.repeats >= GUARDED)
        .collect();
    let noisy = is_noisy(ratios.clone());
    replay.variance_ratio = median(ratios);
    let looked: Vec<Option<Looked>> = hypotheses
        .iter()
        .map(|hypothesis| {
            // One repeat and no archive: nothing says how much runs scatter.
            hypothesis
                .filter(|hypothesis| k > 1 || !hypothesis.is_assumed())
                .and_then(|hypothesis| hypothesis.at(k, look, noisy))
        })
        .collect();
    let outlooks: Vec<Option<Outlook>> = looked
        .iter()
        .map(|looked| {
            looked.map(
                |Looked {
                     look, tolerance, ..
                 }| Outlook::of(&look, tolerance),
            )
        })
        .collect();
    sequential.take(&outlooks);
    replay.taken = Some(look);
    replay.noisy = noisy;
    for (i, result) in replay.results.iter_mut().enumerate() {
        let collapse = hypotheses[i].map_or(Collapse::None, |hypothesis| hypothesis.collapse(k));
        *result = Result {
            decision: sequential.decisions()[i],
            // Where no regression may be claimed yet, a collapse is none either.
            collapse: if collapse == Collapse::Candidate && look.worse <= 0.0 {
                Collapse::Partly
            } else {
                collapse
            },
            looked: looked[i],
            adjusted: sequential.adjusted()[i],
        };
    }
    replay.history.push(Taken {
        planned: look,
        noisy,
        results: replay.results.clone(),
    });
}

impl Result {
    /// Whether it is a regression, by test or by collapse.
    pub(super) fn is_regression(&self) -> bool {
        self.decision == Decision::Regression || self.collapse == Collapse::Candidate
    }
}

/// P-values of "not better" at the last look, adjusted over the family.
pub(super) fn adjusted_improvements(
    replay: &Replay,
    members: &[Option<&Hypothesis<'_>>],
) -> Vec<f64> {
    let p: Vec<f64> = replay
        .results
        .iter()
        .zip(members)
        .map(|(result, member)| match (result.looked, member) {
            (Some(looked), Some(member)) if member.test.is_relative() => looked.look.p_better,
            _ => 1.0,
        })
        .collect();
    holm(&p)
}
