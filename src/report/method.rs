//! How the figures of a comparison came about.

use std::collections::BTreeSet;

use crate::compare::Alike;
use crate::stats::moderated::Evidence as Proof;
use crate::summary::{Side, Spent};
use crate::unit::scale;
use crate::verdict::{BaseStamp, CellState, Finding, Judgement};

use super::build::Sides;
use super::span::Text;
use super::{network, source, spent, words};

/// Of the judgement, one line each.
pub(super) fn of_judgement(judgement: &Judgement) -> Vec<Text> {
    let mut out = vec![
        Text::of("Runs: ").then(words::design(&judgement.design)),
        tested(judgement),
        proof(judgement),
        Text::of(
            "Change is candidate divided by baseline, minus one; for shares it is the difference in percentage points. Brackets hold its unadjusted 95 % interval; states follow from tests that are adjusted for the looks and for the number of gated cells",
        ),
        Text::of(
            "Percentiles interpolate between order statistics (type 7); in gated ones every failed request counts as infinitely slow. n is the number of values over all runs of the side",
        ),
    ];
    out.extend(judgement.noise_ratio.map(noise));
    let mut told = BTreeSet::new();
    let once = judgement
        .findings
        .iter()
        // A cell under two limits has the same answers twice.
        .filter(|finding| told.insert(&finding.cell));
    out.extend(once.filter_map(alike));
    let said = judgement.base.iter().flat_map(BaseStamp::says);
    out.extend(said.map(|line| Text::of("Base: ").prose(&line)));
    out
}

/// Of the runs, one line each.
pub(super) fn of_runs(sides: &Sides<'_>) -> Vec<Text> {
    let mut out = Vec::new();
    let by_schedule: Vec<Text> = sides
        .candidate
        .first()
        .into_iter()
        .flat_map(|run| &run.stages)
        .filter(|stage| stage.from_schedule)
        .map(|stage| Text::value(&stage.name))
        .collect();
    if !by_schedule.is_empty() {
        out.push(
            Text::of("Latencies count from the scheduled instant, so waiting for a slow server is inside them: ")
                .then(Text::join(by_schedule, ", ")),
        );
    }
    if let Some(run) = sides.candidate.first() {
        out.push(
            Text::of("Definitions: ")
                .quoted(&run.definition)
                .words("; spec digest ")
                .quoted(&run.spec.digest.short())
                .words("; measured by infergate ")
                .quoted(&run.client.version),
        );
    }
    out.extend(source::sides(sides.baseline, sides.candidate));
    let spent = Spent::of(sides.baseline.iter().chain(sides.candidate));
    out.extend(spent.as_ref().map(spent::line));
    out.extend(network::sides(sides.baseline, sides.candidate));
    for (side, runs) in [
        (Side::Baseline, sides.baseline),
        (Side::Candidate, sides.candidate),
    ] {
        if !runs.is_empty() {
            out.push(
                Text::of(match side {
                    Side::Baseline => "Baseline runs: ",
                    Side::Candidate => "Candidate runs: ",
                })
                .then(Text::join(
                    runs.iter().map(|run| Text::value(&run.id)),
                    ", ",
                )),
            );
        }
    }
    out
}

/// How many cells were tested and how many could not be.
fn tested(judgement: &Judgement) -> Text {
    let count = |gated: bool| {
        let cells = || judgement.findings.iter().filter(move |f| f.gated == gated);
        let tested = cells().filter(|finding| is_tested(finding)).count();
        (cells().count() as u64, tested as u64)
    };
    let said = |(all, tested): (u64, u64)| {
        Text::just(scale::count(tested))
            .words(" of ")
            .figure(scale::count(all))
    };
    let (gated, others) = (count(true), count(false));
    let text = Text::of("Tested: ")
        .then(said(gated))
        .words(" gated cells, ")
        .then(said(others))
        .words(" others");
    if gated.0 + others.0 == gated.1 + others.1 {
        text
    } else {
        text.words("; the rest could not be, and their states say why")
    }
}

/// Whether a test stands behind a state, or a rule that needs none.
fn is_tested(finding: &Finding) -> bool {
    match finding.state {
        CellState::Regressed => true,
        CellState::Ok
        | CellState::Accepted
        | CellState::Improved
        | CellState::Suspect
        | CellState::Inconclusive
        | CellState::NotFinished
        | CellState::Implausible => finding.evidence.is_some(),
        CellState::Invalid
        | CellState::Missing
        | CellState::Incomparable
        | CellState::New
        | CellState::NotResolvable => false,
    }
}

/// What a regression and a pass claim.
fn proof(judgement: &Judgement) -> Text {
    Text::of("Regressed means ")
        .words(match judgement.proof {
            Proof::BeyondZero => "worse than the baseline beyond doubt (5 % over all gated cells and looks) with the best estimate over the tolerance",
            Proof::BeyondTolerance => "worse than the tolerance itself beyond doubt (5 % over all gated cells and looks)",
        })
        .words("; ok means that a change as large as the tolerance is ruled out at 95 %")
}

/// How far answers that differ are alike.
fn alike(finding: &Finding) -> Option<Text> {
    let Alike {
        compared,
        differing,
        until,
    } = finding.alike?;
    let said = words::cell(&finding.cell)
        .words(": ")
        .figure(scale::count(differing))
        .words(" of ")
        .figure(scale::count(compared))
        .words(" pairs of answers differ");
    Some(match until {
        Some(until) => said
            .words("; half of those are alike for at least ")
            .figure(scale::count(u64::from(until)))
            .words(" characters from the start on"),
        None => said,
    })
}

/// How noisy this session is beside the archive.
fn noise(ratio: f64) -> Text {
    Text::of("Noise: the repeats scatter ")
        .figure(format!("{ratio:.2}"))
        .words(" times as much as the prior says (median over the gated cells)")
}
