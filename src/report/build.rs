//! Judgement and runs → the view model of a comparison: orders, words and rounds; decides nothing.

use crate::summary::{Run, RunEnd, Side};
use crate::unit::scale;
use crate::verdict::{Design, Finding, Judgement, PinDifference, Verdict};

use super::cells::{self, Group, group};
use super::model::{AdviceRow, Environment, PinRow, ReportModel, SharedPin, Tone};
use super::span::Text;
use super::{conditions, engines, headline, method, outcomes, setup, why, words};

/// The runs behind a judgement, and what only the caller knows.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'a> {
    /// The spec's name.
    pub title: &'a str,
    /// Baseline runs; empty where there is no baseline.
    pub baseline: &'a [Run],
    /// Candidate runs; empty where only the judgement is known.
    pub candidate: &'a [Run],
    /// Commands that make the report again.
    pub reproduce: &'a [String],
}

/// The view model of a comparison. The same inputs give the same model.
pub fn build(judgement: &Judgement, sides: &Sides<'_>) -> ReportModel {
    let rows = |wanted: fn(&Finding) -> bool| cells::table(judgement, wanted);
    let observed_broken = judgement
        .findings
        .iter()
        .filter(|f| !f.gated && group(f.state) == Group::Broken)
        .count();
    let moved = outcomes::moved(judgement);
    ReportModel {
        headline: headline::headline(judgement, sides.title),
        tone: match judgement.verdict {
            Verdict::Pass => Tone::Good,
            Verdict::Regression => Tone::Bad,
            Verdict::Undecided | Verdict::Invalid => Tone::Unsure,
        },
        lead: lead(judgement, sides),
        environment: environment(judgement, sides),
        broken: rows(|f| f.gated && group(f.state) == Group::Broken),
        unmeasured: rows(|f| f.gated && group(f.state) == Group::Unmeasured),
        unmeasured_title: if headline::no_baseline(judgement) {
            Text::of("Not judged, for there is no baseline")
        } else if judgement.pins.iter().any(|pin| pin.blocks) {
            Text::of("Not compared")
        } else {
            Text::of("Not measured")
        },
        undecided: rows(|f| f.gated && group(f.state) == Group::Undecided),
        within: rows(|f| f.gated && group(f.state) == Group::Within),
        observed: rows(|f| !f.gated),
        observed_broken: (observed_broken > 0).then(|| {
            Text::just(scale::count(observed_broken as u64)).words(if observed_broken == 1 {
                " beyond its limit"
            } else {
                " beyond their limits"
            })
        }),
        why: why::rows(&judgement.diagnoses),
        goodput: outcomes::clauses(sides, |stage| moved.contains(stage)),
        clauses: outcomes::clauses(sides, |stage| !moved.contains(stage)),
        outcomes: outcomes::rows(sides),
        advice: judgement
            .advice
            .iter()
            .map(|advice| AdviceRow {
                text: Text::default().prose(&advice.text),
                command: advice
                    .command
                    .as_deref()
                    .map(|command| Text::default().command(command)),
            })
            .collect(),
        pins: judgement.pins.iter().map(pin_row).collect(),
        shared_pins: sides.candidate.first().map_or_else(Vec::new, |run| {
            let differs = |path| judgement.pins.iter().any(|pin| pin.pin == path);
            run.pins
                .iter()
                .filter(|(path, _)| !differs(**path))
                .map(|(path, pin)| SharedPin {
                    pin: Text::value(path.as_str()),
                    value: setup::pin_value(pin),
                })
                .collect()
        }),
        engines: engines::rows(sides.baseline, sides.candidate),
        caveats: caveats(judgement, sides),
        method: method::lines(judgement, sides),
        reproduce: sides
            .reproduce
            .iter()
            .map(|command| Text::default().command(command))
            .collect(),
    }
}

/// What matters most after the headline; that figures can't be trusted comes before all.
fn lead(judgement: &Judgement, sides: &Sides<'_>) -> Vec<Text> {
    let told = |runs: &[Run]| runs.iter().any(|run| run.untrusted);
    let ours = match (told(sides.baseline), told(sides.candidate)) {
        (false, false) => None,
        (false, true) => Some("the baseline, the limits and this verdict are"),
        (true, _) => Some("the limits and this verdict are"),
    };
    let untrusted = ours.map(|ours| {
        Text::of("Figures come from a job that is not trusted, whose code could have written any; ")
            .words(ours)
            .words(" of this repository")
    });
    let lead = headline::lead(judgement);
    untrusted.into_iter().chain(lead).collect()
}

fn environment(judgement: &Judgement, sides: &Sides<'_>) -> Environment {
    let line = |pin: &PinDifference| {
        Text::value(pin.pin.as_str())
            .words(" ")
            .then(setup::optional(pin.baseline.as_deref()))
            .words(" → ")
            .then(setup::optional(pin.candidate.as_deref()))
    };
    let tested: Vec<Text> = judgement
        .pins
        .iter()
        .filter(|pin| pin.under_test && !pin.blocks)
        .map(line)
        .collect();
    let mut under_test = Vec::new();
    let comparable = !judgement.pins.iter().any(|pin| pin.blocks);
    let two_sides = judgement.design != Design::SameRun && !headline::no_baseline(judgement);
    if tested.is_empty() && comparable && two_sides {
        under_test.push(Text::of(
            "Nothing under test differs: this is an A/A comparison, and a change is noise or the machine's",
        ));
    } else if tested.len() > 1 {
        under_test.push(
            Text::of("Confounded: ")
                .figure(scale::count(tested.len() as u64))
                .words(" pins under test differ, so no change can be laid to one of them: ")
                .then(Text::join(tested, ", ")),
        );
    } else if let Some(only) = tested.into_iter().next() {
        under_test.push(Text::of("Under test: ").then(only));
    }
    Environment {
        setup: sides
            .candidate
            .first()
            .map_or_else(Text::default, |run| setup::line(&run.pins)),
        design: words::design(&judgement.design),
        under_test,
        blocking: judgement
            .pins
            .iter()
            .filter(|pin| pin.blocks)
            .map(|pin| {
                Text::of("Not comparable: ")
                    .quoted(pin.pin.as_str())
                    .words(" is ")
                    .then(setup::optional(pin.baseline.as_deref()))
                    .words(" in the baseline, ")
                    .then(setup::optional(pin.candidate.as_deref()))
                    .words(" in the candidate, and not under test")
            })
            .collect(),
        caveats: judgement
            .pins
            .iter()
            .filter(|pin| !pin.blocks && !pin.under_test)
            .map(|pin| Text::of("Differs as well, a caveat: ").then(line(pin)))
            .collect(),
    }
}

fn pin_row(pin: &PinDifference) -> PinRow {
    PinRow {
        pin: Text::value(pin.pin.as_str()),
        baseline: setup::optional(pin.baseline.as_deref()),
        candidate: setup::optional(pin.candidate.as_deref()),
        role: Text::of(if pin.blocks {
            "blocks the comparison"
        } else if pin.under_test {
            "under test"
        } else {
            "caveat"
        }),
    }
}

fn caveats(judgement: &Judgement, sides: &Sides<'_>) -> Vec<Text> {
    let mut out: Vec<Text> = judgement
        .caveats
        .iter()
        .map(|caveat| Text::default().prose(caveat))
        .collect();
    for (side, runs) in [
        (Side::Baseline, sides.baseline),
        (Side::Candidate, sides.candidate),
    ] {
        for (stage, state, over, of) in conditions::saturated(runs) {
            out.push(
                Text::value(stage)
                    .words(" of ")
                    .words(setup::side(side))
                    .words(" is ")
                    .words(state.label())
                    .words(" in ")
                    .figure(scale::count(over as u64))
                    .words(" of ")
                    .figure(scale::count(of as u64))
                    .words(" runs: latencies there depend on the length of the stage"),
            );
        }
        for (number, run) in runs.iter().enumerate() {
            if let RunEnd::TargetLost { error } = &run.end {
                out.push(
                    Text::of(setup::side(side))
                        .words(" run ")
                        .figure((number + 1).to_string())
                        .words(" lost its target: ")
                        .quoted(error),
                );
            }
            for stage in &run.stages {
                let told = stage.engine.iter().flat_map(engines::caveats);
                out.extend(told.map(|caveat| {
                    Text::value(&stage.name)
                        .words(" of ")
                        .words(setup::side(side))
                        .words(" run ")
                        .figure((number + 1).to_string())
                        .words(": ")
                        .then(caveat)
                }));
                for reason in &stage.invalid {
                    out.push(
                        Text::value(&stage.name)
                            .words(" of ")
                            .words(setup::side(side))
                            .words(" run ")
                            .figure((number + 1).to_string())
                            .words(" is invalid: ")
                            .then(words::invalid(reason)),
                    );
                }
            }
        }
    }
    out
}
