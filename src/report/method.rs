//! How the figures of a comparison came about.

use std::collections::BTreeSet;

use crate::compare::Alike;
use crate::lang::say;
use crate::stats::moderated::Evidence as Proof;
use crate::summary::Spent;
use crate::unit::scale;
use crate::verdict::{CellState, Finding, Judgement};

use super::build::Sides;
use super::span::Text;
use super::{base, network, source, spent, words};

/// Of the judgement, one line each.
pub(super) fn of_judgement(judgement: &Judgement) -> Vec<Text> {
    let mut out = vec![
        Text::say(say::RUNS_ARE, [words::design(&judgement.design)]),
        tested(judgement),
        Text::word(match judgement.proof {
            Proof::BeyondZero => say::PROOF_ZERO,
            Proof::BeyondTolerance => say::PROOF_TOLERANCE,
        }),
        Text::word(say::CHANGE_IS),
        Text::word(say::PERCENTILES_ARE),
    ];
    let noise = judgement.noise_ratio.map(|ratio| {
        let times = Text::just(format!("{ratio:.2}"));
        Text::say(say::NOISE, [times])
    });
    out.extend(noise);
    let mut told = BTreeSet::new();
    let once = judgement
        .findings
        .iter()
        // A cell under two limits has the same answers twice.
        .filter(|finding| told.insert(&finding.cell));
    out.extend(once.filter_map(alike));
    let said = judgement.base.iter().flat_map(base::says);
    out.extend(said.map(|line| Text::say(say::BASE, [line])));
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
        out.push(Text::say(say::FROM_SCHEDULE, [Text::list(by_schedule)]));
    }
    if let Some(run) = sides.candidate.first() {
        let digest = run.spec.digest.short();
        let args = [&run.definition, digest.as_str(), &run.client.version];
        out.push(Text::say(say::DEFINITIONS, args.map(Text::value)));
    }
    out.extend(source::sides(sides.baseline, sides.candidate));
    let spent = Spent::of(sides.baseline.iter().chain(sides.candidate));
    out.extend(spent.as_ref().map(spent::line));
    out.extend(network::sides(sides.baseline, sides.candidate));
    for (are, runs) in [
        (say::BASELINE_RUNS_ARE, sides.baseline),
        (say::CANDIDATE_RUNS_ARE, sides.candidate),
    ] {
        if !runs.is_empty() {
            let ids = runs.iter().map(|run| Text::value(&run.id));
            out.push(Text::say(are, [Text::list(ids)]));
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
    let (gated, others) = (count(true), count(false));
    let phrase = if gated.0 + others.0 == gated.1 + others.1 {
        say::TESTED
    } else {
        say::TESTED_REST
    };
    let counts = [gated.1, gated.0, others.1, others.0];
    Text::say(phrase, counts.map(|n| Text::just(scale::count(n))))
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

/// How far answers that differ are alike.
fn alike(finding: &Finding) -> Option<Text> {
    let Alike {
        compared,
        differing,
        until,
    } = finding.alike?;
    let count = |n: u64| Text::just(scale::count(n));
    let mut args = vec![
        words::cell(&finding.cell),
        count(differing),
        count(compared),
    ];
    Some(match until {
        Some(until) => {
            args.push(count(u64::from(until)));
            Text::say(say::ANSWERS_DIFFER_UNTIL, args)
        }
        None => Text::say(say::ANSWERS_DIFFER, args),
    })
}
