//! How requests ended and which clause of the SLO lost them, by stage and side.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::lang::say;
use crate::metric::Metric;
use crate::sample::{FinishReason, OutcomeKind};
use crate::spec::SloClause;
use crate::summary::{ClassSummary, ClauseCount, Run, Side};
use crate::unit::scale::{self, Unit};
use crate::verdict::{CellState, Judgement};

use super::build::Sides;
use super::model::{ClauseRow, OutcomeRow};
use super::setup;
use super::span::Text;

/// Requests of one stage, added up over the runs of a side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StageCounts {
    /// The stage.
    pub stage: String,
    /// The side.
    pub side: Side,
    /// Runs that have it.
    pub runs: u64,
    /// Requests that were due.
    pub scheduled: u64,
    /// Requests that were sent.
    pub sent: u64,
    /// Requests that count, which leaves out cancelled ones.
    pub counted: u64,
    /// How they ended.
    pub outcomes: BTreeMap<OutcomeKind, u64>,
    /// Requests within their whole SLO; `None` where no class has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good: Option<ClauseCount>,
    /// Requests within each clause of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clauses: BTreeMap<SloClause, ClauseCount>,
}

impl StageCounts {
    fn none(stage: &str, side: Side) -> Self {
        Self {
            stage: stage.to_owned(),
            side,
            runs: 0,
            scheduled: 0,
            sent: 0,
            counted: 0,
            outcomes: BTreeMap::new(),
            good: None,
            clauses: BTreeMap::new(),
        }
    }

    fn of(runs: &[Run], stage: &str, side: Side) -> Self {
        let mut counts = Self::none(stage, side);
        for summary in runs
            .iter()
            .flat_map(|run| &run.stages)
            .filter(|s| s.name == stage)
        {
            counts.add(&summary.pooled);
        }
        counts
    }

    fn add(&mut self, class: &ClassSummary) {
        let sum = |to: &mut ClauseCount, met: u64, of: u64| {
            to.met += met;
            to.of += of;
        };
        self.runs += 1;
        self.scheduled += class.scheduled;
        self.sent += class.sent;
        self.counted += class.counted();
        for (kind, n) in &class.outcomes {
            *self.outcomes.entry(*kind).or_default() += n;
        }
        if let Some(attainment) = &class.attainment {
            let none = ClauseCount { met: 0, of: 0 };
            sum(
                self.good.get_or_insert(none),
                attainment.good,
                attainment.of,
            );
            for (clause, count) in &attainment.clauses {
                sum(
                    self.clauses.entry(*clause).or_insert(none),
                    count.met,
                    count.of,
                );
            }
        }
    }

    fn failed(&self) -> u64 {
        let failed = self.outcomes.iter().filter(|(kind, _)| kind.is_error());
        failed.fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }
}

/// Of both sides, stage by stage in the candidate's order, the baseline first.
pub(super) fn counts(sides: &Sides<'_>) -> Vec<StageCounts> {
    let mut seen = BTreeSet::new();
    let runs = sides.candidate.iter().chain(sides.baseline);
    runs.flat_map(|run| &run.stages)
        .map(|stage| stage.name.as_str())
        .filter(|name| seen.insert(*name))
        .flat_map(|stage| {
            [
                StageCounts::of(sides.baseline, stage, Side::Baseline),
                StageCounts::of(sides.candidate, stage, Side::Candidate),
            ]
        })
        .filter(|counts| counts.runs > 0)
        .collect()
}

/// Stage names, each once.
fn stages(counts: &[StageCounts]) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let names = counts.iter().map(|counts| counts.stage.as_str());
    names.filter(|name| seen.insert(*name)).collect()
}

fn of_side(counts: &[StageCounts], stage: &str, side: Side) -> StageCounts {
    let mut own = counts.iter();
    own.find(|counts| counts.stage == stage && counts.side == side)
        .cloned()
        .unwrap_or_else(|| StageCounts::none(stage, side))
}

/// Stages whose goodput or attainment changed, by test or by estimate.
pub(super) fn moved(judgement: &Judgement) -> BTreeSet<&str> {
    judgement
        .findings
        .iter()
        .filter(|f| matches!(f.cell.metric.metric(), Metric::Goodput | Metric::Attainment))
        .filter(|f| {
            matches!(
                f.state,
                CellState::Regressed
                    | CellState::Suspect
                    | CellState::Improved
                    | CellState::Implausible
            )
        })
        .filter_map(|f| f.cell.stage.as_deref())
        .collect()
}

/// What each clause lost, for the stages that are wanted and have an SLO.
pub(super) fn clauses(counts: &[StageCounts], wanted: impl Fn(&str) -> bool) -> Vec<ClauseRow> {
    let mut rows = Vec::new();
    for stage in stages(counts).into_iter().filter(|stage| wanted(stage)) {
        let base = of_side(counts, stage, Side::Baseline);
        let cand = of_side(counts, stage, Side::Candidate);
        let row = |clause: Text, baseline: Text, candidate: Text| ClauseRow {
            stage: Text::value(stage),
            clause,
            baseline,
            candidate,
        };
        let missed = |count: Option<&ClauseCount>| {
            count.map_or_else(
                || Text::of("–"),
                |count| share(count.of.saturating_sub(count.met), count.of),
            )
        };
        if base.good.is_none() && cand.good.is_none() {
            continue;
        }
        for clause in SloClause::ALL {
            let (b, c) = (base.clauses.get(&clause), cand.clauses.get(&clause));
            let lost = [b, c]
                .into_iter()
                .flatten()
                .any(|count| count.met < count.of);
            if lost {
                rows.push(row(label(clause), missed(b), missed(c)));
            }
        }
        if base.failed() + cand.failed() > 0 {
            rows.push(row(
                Text::word(say::FAILED_REQUESTS),
                share(base.failed(), base.counted),
                share(cand.failed(), cand.counted),
            ));
        }
        rows.push(row(
            Text::word(say::NOT_GOOD),
            missed(base.good.as_ref()),
            missed(cand.good.as_ref()),
        ));
    }
    rows
}

/// One row a stage and side.
pub(super) fn rows(counts: &[StageCounts]) -> Vec<OutcomeRow> {
    let count = |n: u64| Text::just(scale::count(n));
    let row = |counts: &StageCounts| OutcomeRow {
        stage: Text::value(&counts.stage),
        side: setup::side(counts.side),
        runs: count(counts.runs),
        scheduled: count(counts.scheduled),
        sent: count(counts.sent),
        completed: count(
            counts
                .outcomes
                .get(&OutcomeKind::Completed)
                .copied()
                .unwrap_or(0),
        ),
        failed: failures(&counts.outcomes).unwrap_or_else(|| Text::of("–")),
        good: counts
            .good
            .map_or_else(|| Text::of("–"), |good| share(good.met, good.of)),
    };
    counts.iter().map(row).collect()
}

/// `timeout 12, rejected 3`, and what else is not completed; `None` where all completed.
pub(super) fn failures(outcomes: &BTreeMap<OutcomeKind, u64>) -> Option<Text> {
    let parts: Vec<Text> = outcomes
        .iter()
        .filter(|(kind, n)| **kind != OutcomeKind::Completed && **n > 0)
        .map(|(kind, n)| {
            let count = Text::just(scale::count(*n));
            Text::say(say::COUNTED, [ending(*kind), count])
        })
        .collect();
    (!parts.is_empty()).then(|| Text::list(parts))
}

pub(super) fn ending(kind: OutcomeKind) -> Text {
    Text::word(match kind {
        OutcomeKind::Completed => say::COMPLETED,
        OutcomeKind::Truncated => say::TRUNCATED,
        OutcomeKind::InvalidOutput => say::INVALID_OUTPUT,
        OutcomeKind::HttpError => say::HTTP_ERROR,
        OutcomeKind::Rejected => say::REJECTED,
        OutcomeKind::ConnectError => say::CONNECT_ERROR,
        OutcomeKind::Timeout => say::TIMEOUT,
        OutcomeKind::StreamError => say::STREAM_ERROR,
        OutcomeKind::Empty => say::EMPTY,
        OutcomeKind::Cancelled => say::CANCELLED,
        OutcomeKind::Unsent => say::UNSENT,
        OutcomeKind::Unfinished => say::UNFINISHED,
    })
}

/// `stop 1,380, length 60`; `None` where no answer said why it ended.
pub(super) fn finishes(finish: &BTreeMap<FinishReason, u64>) -> Option<Text> {
    let parts: Vec<Text> = finish
        .iter()
        .map(|(reason, n)| Text::of(reason.label()).words(" ").figure(scale::count(*n)))
        .collect();
    (!parts.is_empty()).then(|| Text::join(parts, ", "))
}

/// `1.18 % (17 of 1,440)`.
pub(super) fn share(part: u64, of: u64) -> Text {
    if of == 0 {
        return Text::of("–");
    }
    let share = scale::value(Unit::Proportion, part as f64 / of as f64);
    let args = [share, scale::count(part), scale::count(of)];
    Text::say(say::SHARE, args.map(Text::just))
}

/// A clause as people say it.
pub(super) fn label(clause: SloClause) -> Text {
    Text::word(match clause {
        SloClause::Ttft => say::TTFT,
        SloClause::Ttfa => say::TTFA,
        SloClause::Tpot => say::TPOT,
        SloClause::ItlMax => say::ITL_MAX,
        SloClause::E2e => say::E2E,
    })
}
