//! The state of one gated cell, with the numbers behind it.

use super::hypothesis::{Collapse, Gained, Hypothesis, Looked};
use super::model::{Change, Evidence, Finding, Reading, Reason};
use super::replay::{Replay, Result};
use super::screen::SetAside;
use super::state::CellState;
use crate::compare::{Arrangement, ComparedCell, Comparison, Measure, Value};
use crate::lang::{Phrase, Said, of_judged};
use crate::metric::{Direction, Kind};
use crate::spec::Limit;
use crate::stats::proportion::Count;
use crate::stats::sequential::{ALPHA, Decision, Design, PlannedLook};
use crate::stats::stored::{FEWEST_SESSIONS, FIRM_SESSIONS};

/// Error with which an improvement has to be shown before it can be too good to be true.
const IMPLAUSIBLE_ALPHA: f64 = 0.01;
/// Halving or doubling is too good to be true.
const IMPLAUSIBLE_CHANGE: f64 = std::f64::consts::LN_2;
/// Days after which an archive is too old to convict or acquit.
pub const ARCHIVE_DAYS: f64 = 14.0;

/// What all findings share.
pub(super) struct Context<'a> {
    pub(super) comparison: &'a Comparison,
    pub(super) design: &'a Design,
    pub(super) replay: &'a Replay,
    /// Kept repeats.
    pub(super) available: usize,
}

/// What is known of one gated cell.
pub(super) struct Judged<'a> {
    pub(super) cell: &'a ComparedCell,
    pub(super) hypothesis: Option<&'a Hypothesis<'a>>,
    /// Its state, where it was not tested at all.
    pub(super) preset: Option<&'a SetAside>,
    pub(super) aside: Option<&'a SetAside>,
    /// Why it does not gate after all.
    pub(super) demoted: Option<Demotion>,
    /// What the looks say, with the adjusted p-value of an improvement.
    pub(super) result: Option<(&'a Result, f64)>,
}

/// Why a declared gate does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demotion {
    /// Too few values for its quantile.
    FewSamples {
        /// Values a run.
        n: u64,
        /// Values that it needs.
        needed: u64,
    },
    /// Its tolerance is finer than the last look can resolve.
    Resolution,
}

impl Context<'_> {
    /// The finding of a gated cell.
    pub(super) fn finding(&self, judged: &Judged<'_>) -> Finding {
        let shown = judged.hypothesis.and_then(|hypothesis| {
            let looked = judged.result.and_then(|(result, _)| result.looked);
            looked.or_else(|| self.look_now(hypothesis))
        });
        let (state, reason) = self.cap(judged, self.state(judged, shown));
        let reason = reason.or_else(|| trade_reason(state, judged.hypothesis?, &shown?));
        let adjusted = judged.result.map_or(1.0, |(result, _)| result.adjusted);
        Finding {
            cell: judged.cell.cell.clone(),
            alike: judged.cell.alike,
            since: None,
            state,
            gated: true,
            limit: judged.cell.limit,
            baseline: reading(judged.cell, &judged.cell.baseline),
            candidate: reading(judged.cell, &judged.cell.candidate),
            change: self.change(judged.cell, judged.hypothesis.zip(shown)),
            evidence: judged
                .hypothesis
                .zip(shown)
                .map(|(hypothesis, shown)| evidence(hypothesis, &shown, adjusted)),
            reason,
        }
    }

    /// A look at all kept repeats, for numbers where none was taken.
    pub(super) fn look_now(&self, hypothesis: &Hypothesis<'_>) -> Option<Looked> {
        let planned = PlannedLook {
            repeats: u32::try_from(self.available).unwrap_or(u32::MAX),
            ..self.replay.taken.unwrap_or(self.design.last())
        };
        hypothesis.at(self.available, planned, self.replay.noisy)
    }

    fn state(&self, judged: &Judged<'_>, shown: Option<Looked>) -> (CellState, Option<Reason>) {
        if let Some(aside) = judged.preset.or(judged.aside) {
            return (aside.state, aside.reason.clone());
        }
        if let Some(demotion) = judged.demoted {
            let reason = match demotion {
                Demotion::FewSamples { n, needed } => Some(Reason::FewSamples { n, needed }),
                Demotion::Resolution => None,
            };
            return (CellState::NotResolvable, reason);
        }
        let (Some(hypothesis), Some((result, better))) = (judged.hypothesis, judged.result) else {
            return (CellState::Inconclusive, None);
        };
        if let Some(kept) = self.on_this_run(hypothesis) {
            let state = if kept {
                CellState::Ok
            } else {
                CellState::Regressed
            };
            return (state, Some(Reason::OnThisRun));
        }
        if result.is_regression() {
            return (CellState::Regressed, regression_reason(hypothesis, result));
        }
        // Other cells may have gone on after this one's look, and what failed then counts. Two sides of
        // which nothing is left are alike, and that is no pass either.
        let collapse = match result.collapse {
            Collapse::None => hypothesis.collapse(self.available),
            collapse => collapse,
        };
        if result.decision == Decision::Pass && collapse == Collapse::None {
            return self.passed(hypothesis, result, better);
        }
        let over = shown.is_some_and(|shown| is_over(&shown));
        match collapse {
            Collapse::Both => (CellState::Invalid, Some(Reason::BothFailed)),
            Collapse::Partly | Collapse::Candidate => {
                let failed = |measure: &Measure| measure.value == Value::Failed;
                let reason = if judged.cell.baseline.iter().any(failed) {
                    Reason::BothFailed
                } else {
                    Reason::CandidateFailed
                };
                (CellState::Suspect, Some(reason))
            }
            Collapse::None if self.replay.cut_short => (CellState::NotFinished, None),
            Collapse::None if over => (CellState::Suspect, None),
            Collapse::None => (CellState::Inconclusive, None),
        }
    }

    /// One run and no archive: a limit is compared as it is; `None` where that does not apply.
    fn on_this_run(&self, hypothesis: &Hypothesis<'_>) -> Option<bool> {
        let alone = self.available == 1 && self.design.last().repeats == 1;
        (alone && self.comparison.sessions == 0)
            .then(|| hypothesis.keeps_limit())
            .flatten()
    }

    /// Of a cell whose tolerance is ruled out: better, too good to be true, or fine.
    fn passed(
        &self,
        hypothesis: &Hypothesis<'_>,
        result: &Result,
        better: f64,
    ) -> (CellState, Option<Reason>) {
        if hypothesis.test.is_relative() && hypothesis.cell.work_changed.is_some() {
            return (CellState::Implausible, Some(Reason::WorkChanged));
        }
        if hypothesis.cell.is_below_round_trip() {
            return (CellState::Implausible, Some(Reason::BelowRoundTrip));
        }
        let Some(Looked {
            look, tolerance, ..
        }) = result.looked
        else {
            return (CellState::Ok, None);
        };
        let halved = hypothesis.is_log()
            && hypothesis.test.is_relative()
            && look.estimate <= -IMPLAUSIBLE_CHANGE;
        let firm = self.comparison.arrangement != Arrangement::Stored
            || hypothesis.stored_sessions() >= FIRM_SESSIONS;
        if halved && better <= IMPLAUSIBLE_ALPHA {
            (CellState::Implausible, None)
        } else if firm && tolerance > 0.0 && look.estimate <= -tolerance && better <= ALPHA {
            (CellState::Improved, None)
        } else {
            (CellState::Ok, None)
        }
    }

    /// Where the design shows no more than a hint, no cell is convicted or acquitted.
    fn cap(
        &self,
        judged: &Judged<'_>,
        (state, reason): (CellState, Option<Reason>),
    ) -> (CellState, Option<Reason>) {
        let relative = judged.cell.limit.is_some_and(Limit::is_relative);
        let what = judged
            .hypothesis
            .filter(|_| relative)
            .and_then(|hypothesis| self.lacking(hypothesis));
        let Some(what) = what else {
            return (state, reason);
        };
        let capped = match state {
            CellState::Regressed | CellState::Suspect => CellState::Suspect,
            // What can't be resolved would not count, and a design that shows no more must not pass.
            CellState::Ok
            | CellState::Improved
            | CellState::Implausible
            | CellState::NotFinished
            | CellState::NotResolvable
            | CellState::Inconclusive => CellState::Inconclusive,
            // Accepted is said of what was judged, later than this.
            CellState::Invalid
            | CellState::Missing
            | CellState::Incomparable
            | CellState::New
            | CellState::Accepted => {
                return (state, reason);
            }
        };
        (capped, Some(Reason::Advisory { what }))
    }

    /// What the design lacks to decide about a relative limit.
    fn lacking(&self, hypothesis: &Hypothesis<'_>) -> Option<Said> {
        match self.comparison.arrangement {
            Arrangement::Interleaved | Arrangement::SameRun => None,
            Arrangement::Unpaired => {
                let fewest = [FEWEST_SESSIONS.to_string()];
                Some(Said::new(of_judged::NO_TURNS, fewest))
            }
            Arrangement::Stored => {
                let sessions = hypothesis.stored_sessions();
                let changed = hypothesis.level_changed();
                let of = |needed: usize, [plain, since]: [Phrase; 2]| {
                    let args = [sessions.to_string(), needed.to_string()];
                    Said::new(if changed { since } else { plain }, args)
                };
                if sessions < FEWEST_SESSIONS {
                    let few = [of_judged::FEW_SESSIONS, of_judged::FEW_SESSIONS_SINCE];
                    Some(of(FEWEST_SESSIONS, few))
                } else if sessions < FIRM_SESSIONS {
                    let few = [of_judged::FEW_FOR_FIRM, of_judged::FEW_FOR_FIRM_SINCE];
                    Some(of(FIRM_SESSIONS, few))
                } else {
                    let age = self.comparison.archive_age_days;
                    let old = age.filter(|days| *days > ARCHIVE_DAYS);
                    old.map(|days| Said::new(of_judged::OLD_SESSION, [format!("{days:.0}")]))
                }
            }
        }
    }

    /// The change of a cell; of one under an absolute limit beside it, where there is a baseline.
    pub(super) fn change(
        &self,
        cell: &ComparedCell,
        looked: Option<(&Hypothesis<'_>, Looked)>,
    ) -> Option<Change> {
        match looked {
            Some((hypothesis, looked)) if hypothesis.test.is_relative() => {
                Some(change_of(hypothesis, &looked))
            }
            _ if self.comparison.is_comparable() && !cell.baseline.is_empty() => {
                let usable: Vec<usize> = (0..cell.candidate.len())
                    .filter(|&i| {
                        cell.candidate[i].is_usable()
                            && (self.comparison.arrangement != Arrangement::Interleaved
                                || cell.baseline.get(i).is_some_and(Measure::is_usable))
                    })
                    .collect();
                let limit = super::informational::default_limit(cell);
                let hypothesis = Hypothesis::new(cell, limit, self.comparison.arrangement, &usable);
                let looked = hypothesis.at(usable.len(), self.design.last(), false)?;
                Some(change_of(&hypothesis, &looked))
            }
            _ => None,
        }
    }
}

/// What a trade did to a cell that is over its plain tolerance.
fn trade_reason(state: CellState, hypothesis: &Hypothesis<'_>, shown: &Looked) -> Option<Reason> {
    let trade = hypothesis.trade()?.said();
    match shown.gained {
        Some(Gained { by, shown: true }) if hypothesis.is_over_plain(shown) => {
            Some(Reason::Traded { trade, by })
        }
        Some(Gained { shown: true, .. }) => None,
        gained if matches!(state, CellState::Regressed | CellState::Suspect) => {
            let by = gained.map(|gained| gained.by);
            Some(Reason::TradeNotShown { trade, by })
        }
        _ => None,
    }
}

/// Whether the best estimate is at or over the tolerance.
pub(super) fn is_over(looked: &Looked) -> bool {
    looked.look.estimate >= looked.tolerance
}

fn regression_reason(hypothesis: &Hypothesis<'_>, result: &Result) -> Option<Reason> {
    if hypothesis.baseline_breaks_limit() {
        Some(Reason::Inherited)
    } else if result.collapse != Collapse::Candidate {
        None
    } else if hypothesis.fell_to_zero() {
        Some(Reason::FellToZero)
    } else {
        Some(Reason::CandidateFailed)
    }
}

/// The change as people read it: up is up, whether that is worse or not.
pub(super) fn change_of(hypothesis: &Hypothesis<'_>, looked: &Looked) -> Change {
    let interval = looked.look.interval(0.95);
    let ends = [interval.lower, interval.upper];
    change_between(hypothesis, looked.look.estimate, ends)
}

/// The same of an estimate and its interval on the scale of the test.
pub(super) fn change_between(hypothesis: &Hypothesis<'_>, estimate: f64, ends: [f64; 2]) -> Change {
    let direction = hypothesis.cell.cell.metric.metric().direction();
    if hypothesis.is_log() {
        // Finite, so that it survives JSON.
        let ratio = |y: f64| (direction.sign() * y).exp_m1().min(f64::MAX);
        let [a, b] = ends.map(ratio);
        Change::Ratio {
            estimate: ratio(estimate),
            low: a.min(b),
            high: a.max(b),
        }
    } else {
        // Counted in bad requests, read in good ones where more is better.
        let points = |y: f64| direction.sign() * y;
        let [a, b] = ends.map(points);
        Change::Points {
            estimate: points(estimate),
            low: a.min(b),
            high: a.max(b),
        }
    }
}

pub(super) fn evidence(hypothesis: &Hypothesis<'_>, looked: &Looked, adjusted: f64) -> Evidence {
    Evidence {
        repeats: looked.look.repeats as u32,
        p_regression: looked.look.p_worse,
        p_adjusted: adjusted,
        p_pass: looked.look.p_within,
        beyond_tolerance: looked.look.interval(0.95).lower > looked.tolerance,
        resolvable: looked
            .resolvable
            .map(|smallest| hypothesis.as_change(smallest))
            // A number that JSON can't hold says nothing anyway.
            .filter(|smallest| smallest.is_finite()),
    }
}

/// A side in one number; `None` where none of its runs has the cell.
pub(super) fn reading(cell: &ComparedCell, side: &[Measure]) -> Option<Reading> {
    let usable: Vec<&Measure> = side.iter().filter(|measure| measure.is_usable()).collect();
    if usable.is_empty() {
        return None;
    }
    let kind = cell.cell.metric.metric().kind();
    let values: Vec<f64> = usable
        .iter()
        .map(|measure| match (&measure.value, kind) {
            (Value::Measured(value), _) => *value,
            (_, Kind::Distribution | Kind::Energy | Kind::OfRun | Kind::OfEvents) => f64::INFINITY,
            (_, Kind::Rate | Kind::OfSweep | Kind::Proportion) => 0.0,
        })
        .collect();
    let count = values.len() as f64;
    let value = match kind {
        // Each run of a side has the same score.
        Kind::Proportion if usable.iter().all(|measure| measure.bad.is_none()) => {
            values.last().copied().unwrap_or(f64::NAN)
        }
        Kind::Proportion => {
            let bad: Vec<Count> = usable.iter().filter_map(|measure| measure.bad).collect();
            let good = cell.cell.metric.metric().direction() == Direction::HigherIsBetter;
            let share = Count::pool(&bad).share().unwrap_or(f64::NAN);
            if good { 1.0 - share } else { share }
        }
        _ if values.iter().all(|value| *value > 0.0) => {
            (values.iter().map(|value| value.ln()).sum::<f64>() / count).exp()
        }
        _ => values.iter().sum::<f64>() / count,
    };
    Some(Reading {
        value: value.is_finite().then_some(value),
        n: usable.iter().map(|measure| measure.n).sum(),
    })
}
