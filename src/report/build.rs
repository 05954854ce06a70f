//! Judgement and runs → the view model of a comparison: orders, words and rounds; decides nothing.

use crate::lang::say;
use crate::summary::{Run, Side};
use crate::unit::scale;
use crate::verdict::{CellState, Design, Finding, Judgement, PinDifference, Verdict};

use super::cells::{self, Group, Judged, group};
use super::facts::Facts;
use super::model::{AdviceRow, CellTable, Environment, PinRow, ReportModel, SharedPin, Tone};
use super::place::CellPlace;
use super::span::Text;
use super::{capacity, headline, method, outcomes, setup, sweep, textdiff, why, words};

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
    /// Where the gated cells stand in the spec; empty where nobody knows.
    pub places: &'a [CellPlace],
}

/// The view model of a comparison. The same inputs give the same model.
pub fn build(judgement: &Judgement, sides: &Sides<'_>) -> ReportModel {
    build_of(judgement, sides.title, &Facts::of(sides), usize::MAX)
}

/// The same of what a report file keeps of the runs, with so many urgent rows at most.
pub(super) fn build_of(
    judgement: &Judgement,
    title: &str,
    facts: &Facts,
    most: usize,
) -> ReportModel {
    let rows = |wanted| cells::table(cells::judged(judgement, wanted), usize::MAX);
    let [broken, unmeasured, undecided] =
        urgent(URGENT.map(|of| cells::judged(judgement, of)), most);
    let observed_broken = judgement
        .findings
        .iter()
        .filter(|f| !f.gated && group(f.state) == Group::Broken)
        .count();
    let moved = outcomes::moved(judgement);
    ReportModel {
        headline: headline::headline(judgement, title),
        tone: match judgement.verdict {
            Verdict::Pass => Tone::Good,
            Verdict::Regression => Tone::Bad,
            Verdict::Undecided | Verdict::Invalid => Tone::Unsure,
        },
        lead: lead(judgement, facts),
        environment: environment(judgement, facts),
        broken,
        unmeasured,
        unmeasured_title: if headline::no_baseline(judgement) {
            Text::word(say::NOT_JUDGED_TITLE)
        } else if judgement.pins.iter().any(|pin| pin.blocks) {
            Text::word(say::NOT_COMPARED_TITLE)
        } else {
            Text::word(say::NOT_MEASURED_TITLE)
        },
        undecided,
        within: rows(|f| f.gated && group(f.state) == Group::Within),
        observed: rows(|f| !f.gated),
        observed_broken: (observed_broken > 0).then(|| {
            let count = Text::just(scale::count(observed_broken as u64));
            Text::say(say::OBSERVED_BEYOND, [count])
        }),
        why: why::rows(&judgement.diagnoses),
        goodput: outcomes::clauses(&facts.counts, |stage| moved.contains(stage)),
        clauses: outcomes::clauses(&facts.counts, |stage| !moved.contains(stage)),
        outcomes: outcomes::rows(&facts.counts),
        advice: judgement
            .advice
            .iter()
            .map(|advice| AdviceRow {
                text: Text::said(&advice.text),
                command: advice
                    .command
                    .as_deref()
                    .map(|command| Text::default().command(command)),
            })
            .collect(),
        pins: judgement.pins.iter().map(pin_row).collect(),
        shared_pins: facts
            .pins
            .candidate
            .iter()
            .filter(|(path, _)| !judgement.pins.iter().any(|pin| pin.pin == **path))
            .map(|(path, pin)| SharedPin {
                pin: Text::value(path.as_str()),
                value: setup::pin_value(pin),
            })
            .collect(),
        pins_diff: textdiff::of_sides(&facts.pins),
        capacity: facts.capacity.as_deref().map(|file| {
            let comparable = is_comparable(judgement);
            capacity::section(file, comparable)
        }),
        sweeps: sweep::views(facts),
        engines: facts.engines.clone(),
        caveats: judgement
            .caveats
            .iter()
            .map(Text::said)
            .chain(facts.caveats.iter().cloned())
            .collect(),
        method: method::of_judgement(judgement)
            .into_iter()
            .chain(facts.method.iter().cloned())
            .collect(),
        reproduce: facts
            .reproduce
            .iter()
            .map(|command| Text::default().command(command))
            .collect(),
        left_out: None,
    }
}

/// Gated cells that someone has to look at, the worst first.
pub(super) const URGENT: [fn(&Finding) -> bool; 3] = [
    |f| f.gated && group(f.state) == Group::Broken,
    |f| f.gated && group(f.state) == Group::Unmeasured,
    |f| f.gated && group(f.state) == Group::Undecided,
];

/// Those as tables that share so many rows, the worst first.
pub(super) fn urgent(judged: [Vec<Judged>; 3], most: usize) -> [CellTable; 3] {
    let mut left = most;
    judged.map(|judged| {
        let shown = judged.len().min(left);
        left -= shown;
        cells::table(judged, shown)
    })
}

/// What matters most after the headline; that figures can't be trusted comes before all.
fn lead(judgement: &Judgement, facts: &Facts) -> Vec<Text> {
    let lead = headline::lead(judgement);
    let capacity = facts
        .capacity
        .as_deref()
        .filter(|_| is_comparable(judgement));
    untrusted(facts)
        .into_iter()
        .chain(lead)
        .chain(capacity.and_then(capacity::lead))
        .collect()
}

/// Whether one side may be held against the other, or there is but one.
fn is_comparable(judgement: &Judgement) -> bool {
    let incomparable = |finding: &Finding| finding.state == CellState::Incomparable;
    judgement.design != Design::SameRun
        && !judgement.pins.iter().any(|pin| pin.blocks)
        && !judgement.findings.iter().any(incomparable)
}

/// That figures are of a job that anyone could have changed.
pub(super) fn untrusted(facts: &Facts) -> Option<Text> {
    let told = |side| facts.untrusted.contains(&side);
    let ours = match (told(Side::Baseline), told(Side::Candidate)) {
        (false, false) => None,
        (false, true) => Some(say::UNTRUSTED_CANDIDATE),
        (true, _) => Some(say::UNTRUSTED),
    };
    ours.map(Text::word)
}

fn environment(judgement: &Judgement, facts: &Facts) -> Environment {
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
    let two_sides = judgement.design != Design::SameRun
        && judgement.unjudged.is_none()
        && !headline::no_baseline(judgement);
    if tested.is_empty() && comparable && two_sides {
        under_test.push(Text::word(say::NOTHING_DIFFERS));
    } else if tested.len() > 1 {
        let count = Text::just(scale::count(tested.len() as u64));
        under_test.push(Text::say(say::CONFOUNDED_PINS, [count, Text::list(tested)]));
    } else if let Some(only) = tested.into_iter().next() {
        under_test.push(Text::say(say::UNDER_TEST, [only]));
    }
    Environment {
        setup: setup::line(&facts.pins.candidate),
        design: words::design(&judgement.design),
        under_test,
        blocking: judgement
            .pins
            .iter()
            .filter(|pin| pin.blocks)
            .map(|pin| {
                let args = [
                    Text::value(pin.pin.as_str()),
                    setup::optional(pin.baseline.as_deref()),
                    setup::optional(pin.candidate.as_deref()),
                ];
                Text::say(say::NOT_COMPARABLE, args)
            })
            .collect(),
        caveats: judgement
            .pins
            .iter()
            .filter(|pin| !pin.blocks && !pin.under_test)
            .map(|pin| Text::say(say::DIFFERS_AS_WELL, [line(pin)]))
            .collect(),
    }
}

fn pin_row(pin: &PinDifference) -> PinRow {
    PinRow {
        pin: Text::value(pin.pin.as_str()),
        baseline: setup::optional(pin.baseline.as_deref()),
        candidate: setup::optional(pin.candidate.as_deref()),
        role: Text::word(if pin.blocks {
            say::BLOCKS
        } else if pin.under_test {
            say::UNDER_TEST_ROLE
        } else {
            say::CAVEAT_ROLE
        }),
    }
}
