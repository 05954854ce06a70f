//! Pins before numbers: what differs between the sides, and whether it may.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::lang::{Said, of_judged};
use crate::provenance::{Hardness, Pin, PinPath, Pins, UnderTest};
use crate::summary::Run;

/// A pin that both sides do not share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PinDifference {
    /// Which.
    pub pin: PinPath,
    /// The baseline's value; `None` is unknown.
    pub baseline: Option<String>,
    /// The candidate's value; `None` is unknown.
    pub candidate: Option<String>,
    /// Whether the spec says that it may differ.
    pub under_test: bool,
    /// Whether the difference forbids the comparison.
    pub blocks: bool,
}

/// The pins that differ, and caveats about those that nobody could see.
///
/// A hard pin that differs, or is known on one side only, blocks unless it is under test; a soft
/// one never does. Unknown on both sides is a caveat. A side whose runs differ among themselves
/// shows all its values, joined by ` | `, and never counts as equal to anything.
pub(super) fn compare(
    baseline: &[&Run],
    candidate: &[&Run],
    under_test: &UnderTest,
) -> (Vec<PinDifference>, Vec<Said>) {
    if baseline.is_empty() || candidate.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let paths: BTreeSet<PinPath> = baseline
        .iter()
        .chain(candidate)
        .flat_map(|run| run.pins.keys().copied())
        .collect();
    let (mut differences, mut unknown) = (Vec::new(), Vec::new());
    for pin in paths {
        let (base, head) = (Seen::of(baseline, pin), Seen::of(candidate, pin));
        let hard = under_test.hardness(pin) == Hardness::Hard;
        if base.is_unknown() && head.is_unknown() {
            if hard {
                unknown.push(pin);
            }
            continue;
        }
        if base.is_same(&head, pin) {
            continue;
        }
        let under_test = under_test.contains(pin);
        differences.push(PinDifference {
            pin,
            // Several values on one side are a fault even of a pin under test.
            blocks: hard && (!under_test || base.is_mixed() || head.is_mixed()),
            baseline: base.text(),
            candidate: head.text(),
            under_test,
        });
    }
    let mut caveats = Vec::new();
    if !unknown.is_empty() {
        let names = by_group(&unknown).join(", ");
        caveats.push(Said::new(of_judged::UNKNOWN_PINS, [names]));
    }
    let tested: Vec<&str> = differences
        .iter()
        .filter(|difference| difference.under_test)
        .map(|difference| difference.pin.as_str())
        .collect();
    if tested.len() > 1 {
        caveats.push(Said::new(of_judged::CONFOUNDED, [tested.join(", ")]));
    }
    (differences, caveats)
}

/// Pins by name, but for a group of which no hard pin is missing: that goes by its own.
fn by_group(pins: &[PinPath]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for pin in pins {
        let mut siblings = PinPath::all()
            .filter(|other| other.group() == pin.group() && other.hardness() == Hardness::Hard);
        let name = if siblings.all(|sibling| pins.contains(&sibling)) {
            pin.group()
        } else {
            pin.as_str()
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The hard pins of one side that are not what they were before, whether under test or not: runs of
/// before and of now could not be one side.
pub fn changed(before: &Pins, now: &Pins) -> Vec<PinDifference> {
    let value = |pins: &Pins, pin| pins.get(&pin).and_then(Pin::value).map(str::to_owned);
    let paths: BTreeSet<PinPath> = before.keys().chain(now.keys()).copied().collect();
    let differences = paths.into_iter().map(|pin| PinDifference {
        pin,
        baseline: value(before, pin),
        candidate: value(now, pin),
        under_test: false,
        blocks: pin.hardness() == Hardness::Hard,
    });
    differences
        .filter(|pin| pin.blocks && pin.baseline != pin.candidate)
        .collect()
}

/// The values of a pin over the runs of one side; `None` is unknown.
#[derive(Debug, PartialEq, Eq)]
struct Seen(BTreeSet<Option<String>>);

impl Seen {
    fn of(runs: &[&Run], pin: PinPath) -> Self {
        let value = |run: &&Run| Some(run.pins.get(&pin)?.value()?.to_owned());
        Self(runs.iter().map(value).collect())
    }

    fn is_unknown(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Whether each side has one value and both the same, but for its spelling.
    fn is_same(&self, other: &Self, pin: PinPath) -> bool {
        let one = |seen: &Self| match seen.0.iter().collect::<Vec<_>>()[..] {
            [Some(value)] => Some(value.clone()),
            _ => None,
        };
        match (one(self), one(other)) {
            (Some(ours), Some(theirs)) => pin.same(&ours, &theirs),
            _ => false,
        }
    }

    fn is_mixed(&self) -> bool {
        self.0.len() > 1
    }

    fn text(&self) -> Option<String> {
        if self.is_unknown() {
            return None;
        }
        let values: Vec<&str> = self
            .0
            .iter()
            .map(|value| value.as_deref().unwrap_or("unknown"))
            .collect();
        Some(values.join(" | "))
    }
}
