//! Judged cells as table rows.

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

/// The wanted findings in their order; cells with one reason share a line.
pub(super) fn table(judgement: &Judgement, wanted: fn(&Finding) -> bool) -> CellTable {
    let findings = || judgement.findings.iter().filter(|finding| wanted(finding));
    let mut reasons: Vec<CellReason> = Vec::new();
    for finding in findings() {
        let Some(why) = words::why(finding) else {
            continue;
        };
        let cell = named(finding);
        match reasons.iter_mut().find(|reason| reason.why == why) {
            Some(reason) => {
                let cells = std::mem::take(&mut reason.cells);
                reason.cells = cells.words(", ").then(cell);
            }
            None => reasons.push(CellReason { cells: cell, why }),
        }
    }
    let rows: Vec<CellRow> = findings().map(|f| row(f, &judgement.design)).collect();
    CellTable {
        resolvable: rows.iter().any(|row| row.resolvable.is_some()),
        rows,
        reasons,
    }
}

/// `steady/ttft.p95`, and of a pinned release `steady/ttft.p95 since v1.2`.
fn named(finding: &Finding) -> Text {
    let cell = Text::value(&finding.cell.to_string());
    match &finding.since {
        Some(release) => cell.words(" since ").then(Text::value(release)),
        None => cell,
    }
}

fn row(finding: &Finding, design: &Design) -> CellRow {
    let metric = finding.cell.metric.metric();
    let (baseline, candidate) = readings(metric, finding.baseline, finding.candidate);
    CellRow {
        cell: named(finding),
        baseline,
        candidate,
        change: finding
            .change
            .map_or_else(|| Text::of("–"), |change| words::change(metric, change)),
        limit: finding.limit.map_or_else(
            || Text::of("–"),
            |limit| Text::just(limit.describe(metric).to_string()),
        ),
        state: Text::of(finding.state.label()),
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
                size.words(" with ")
                    .then(words::repeats_of(evidence, design))
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
                Kind::Distribution | Kind::Proportion => text
                    .words(" (n ")
                    .figure(scale::count(reading.n))
                    .words(")"),
                Kind::Rate | Kind::Energy | Kind::OfRun => text,
            }
        }
    };
    (text(baseline, base), text(candidate, cand))
}
