//! Judged cells as table rows.

use crate::lang::say;
use crate::metric::{Kind, Metric};
use crate::unit::scale;
use crate::verdict::{CellState, Design, Finding, Judgement, Reading};

use super::model::{CellReason, CellRow, CellTable, Tone};
use super::span::Text;
use super::words;

/// Where a cell stands in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Broken,
    Unmeasured,
    Undecided,
    Within,
}

pub(super) const fn group(state: CellState) -> Group {
    match state {
        CellState::Regressed => Group::Broken,
        CellState::Invalid | CellState::Missing | CellState::Incomparable => Group::Unmeasured,
        CellState::Suspect
        | CellState::Implausible
        | CellState::Inconclusive
        | CellState::NotResolvable
        | CellState::NotFinished => Group::Undecided,
        CellState::New | CellState::Accepted | CellState::Improved | CellState::Ok => Group::Within,
    }
}

/// A row, and why its state is what it is where the numbers do not say.
pub(super) struct Judged {
    pub(super) state: CellState,
    pub(super) row: CellRow,
    why: Option<Text>,
}

/// The wanted findings in their order.
pub(super) fn judged(judgement: &Judgement, wanted: fn(&Finding) -> bool) -> Vec<Judged> {
    let findings = judgement.findings.iter().filter(|f| wanted(f));
    let judged = findings.map(|finding| Judged {
        state: finding.state,
        row: row(finding, &judgement.design),
        why: words::why(finding),
    });
    judged.collect()
}

/// The first rows as a table; cells with one reason share a line.
pub(super) fn table(mut judged: Vec<Judged>, most: usize) -> CellTable {
    let more = judged.len().saturating_sub(most);
    judged.truncate(most);
    let mut reasons: Vec<(Text, Vec<Text>)> = Vec::new();
    for Judged { row, why, .. } in &judged {
        let Some(why) = why else { continue };
        let cell = row.cell.clone();
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, cells)) => cells.push(cell),
            None => reasons.push((why.clone(), vec![cell])),
        }
    }
    let rows: Vec<CellRow> = judged.into_iter().map(|judged| judged.row).collect();
    let all = rows.len();
    let reason = |(why, cells): (Text, Vec<Text>)| CellReason {
        cells: if cells.len() == all && all > 1 {
            Text::word(say::ALL_OF_THEM)
        } else {
            listed(cells)
        },
        why,
    };
    CellTable {
        resolvable: rows.iter().any(|row| row.resolvable.is_some()),
        rows,
        reasons: reasons.into_iter().map(reason).collect(),
        more: (more > 0)
            .then(|| Text::say(say::MORE_CELLS, [Text::just(scale::count(more as u64))])),
    }
}

/// Names of a list that are said at most.
const NAMED: usize = 8;

/// Names, separated by commas; the first of them and how many more where there are many.
pub(super) fn listed(mut names: Vec<Text>) -> Text {
    let more = names.len().saturating_sub(NAMED);
    // Counting one costs as much as naming it.
    if more < 2 {
        return Text::list(names);
    }
    names.truncate(NAMED);
    let more = Text::just(scale::count(more as u64));
    Text::say(say::AND_MORE, [Text::list(names), more])
}

/// `steady/ttft.p95`, and of a pinned release `steady/ttft.p95 since v1.2`.
fn named(finding: &Finding) -> Text {
    let cell = Text::value(&finding.cell.to_string());
    match &finding.since {
        Some(release) => Text::say(say::SINCE, [cell, Text::value(release)]),
        None => cell,
    }
}

/// One finding as a row.
pub(super) fn row(finding: &Finding, design: &Design) -> CellRow {
    let metric = finding.cell.metric.metric();
    let (baseline, candidate) = readings(metric, finding.baseline, finding.candidate);
    CellRow {
        cell: named(finding),
        baseline,
        candidate,
        change: finding
            .change
            .map_or_else(|| Text::of("–"), |change| words::change(metric, change)),
        limit: finding
            .limit
            .map_or_else(|| Text::of("–"), |limit| words::limit(limit, metric)),
        state: words::state(finding.state),
        tone: match group(finding.state) {
            Group::Broken => Tone::Bad,
            Group::Unmeasured | Group::Undecided => Tone::Unsure,
            Group::Within if finding.state == CellState::Improved => Tone::Good,
            Group::Within if finding.state == CellState::Accepted => Tone::Unsure,
            Group::Within => Tone::Neutral,
        },
        resolvable: words::resolvable(finding)
            .zip(finding.evidence)
            .map(|(size, evidence)| {
                Text::say(say::WITH, [size, words::repeats_of(evidence, design)])
            }),
    }
}

/// Both sides at one scale, with the sample counts where a sample stands behind the number.
fn readings(metric: Metric, baseline: Option<Reading>, candidate: Option<Reading>) -> (Text, Text) {
    let number = |reading: Option<Reading>| {
        reading.map_or(0.0, |reading| reading.value.unwrap_or(f64::INFINITY))
    };
    let [base, cand] = scale::row(metric.unit(), [number(baseline), number(candidate)]);
    let text = |reading: Option<Reading>, number: String| match reading {
        None => Text::of("–"),
        Some(reading) => {
            let text = Text::just(number);
            match metric.kind() {
                Kind::Distribution | Kind::Proportion => {
                    Text::say(say::N_VALUES, [text, Text::just(scale::count(reading.n))])
                }
                Kind::Rate | Kind::OfSweep | Kind::OfEvents | Kind::Energy | Kind::OfRun => text,
            }
        }
    };
    (text(baseline, base), text(candidate, cand))
}
