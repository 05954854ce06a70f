//! What a change makes of capacity, in the report of a comparison: a line near the verdict, and a section.

use serde::Serialize;

use super::DifferenceRow;
use super::difference::{self, Sides, carried, change, dearer};
use super::words::{conditions, count, rate};
use crate::capacity::{Capacity, CapacityFile, Compared, Verdict};
use crate::lang::say;
use crate::report::span::Text;

/// The section of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapacitySection {
    /// Figures of both sides, and what lies between.
    pub rows: Vec<DifferenceRow>,
    /// What they hold for, and why others are not known.
    pub notes: Vec<Text>,
}

/// What there is to say of capacities; `comparable` where one side may be held against the other.
pub(in crate::report) fn section(file: &CapacityFile, comparable: bool) -> CapacitySection {
    let against = file.against.as_ref();
    let sides = Sides {
        before: against.map(|against| &against.before),
        after: &file.capacity,
        difference: against
            .map(|against| &against.difference)
            .filter(|_| comparable),
    };
    let mut notes = Vec::new();
    if !file.capacity.sweeps.is_empty() {
        notes.extend(conditions(&file.capacity));
        let measured = count(file.capacity.replicas_measured.into());
        let runs = |capacity: &Capacity| count(capacity.runs.len() as u64);
        notes.push(match against {
            Some(against) => Text::say(
                say::CAP_BOTH_RUNS,
                [runs(&against.before), runs(&file.capacity), measured],
            ),
            None => Text::say(say::CAP_RUNS, [runs(&file.capacity), measured]),
        });
    }
    if against.is_some() && !comparable {
        notes.push(Text::word(say::CAP_INCOMPARABLE));
    }
    notes.extend(currencies(file));
    notes.extend(difference::reasons(sides));
    CapacitySection {
        rows: difference::rows(sides, true),
        notes,
    }
}

/// That prices can't be held against each other.
fn currencies(file: &CapacityFile) -> Option<Text> {
    let before = &file.against.as_ref()?.before.cost.figure()?.price.currency;
    let after = &file.capacity.cost.figure()?.price.currency;
    let of = || [before, after].map(|currency| Text::value(currency));
    (before != after).then(|| Text::say(say::CAP_OTHER_CURRENCIES, of()))
}

/// What a person can act on, in one line; `None` where there is nothing to go by.
pub(in crate::report) fn lead(file: &CapacityFile) -> Option<Text> {
    let parts = match &file.against {
        Some(against) => {
            let compared = Compared {
                before: against.before.clone(),
                after: file.capacity.clone(),
                difference: against.difference.clone(),
            };
            changed(&compared)
        }
        None => told(&file.capacity),
    };
    (!parts.is_empty()).then(|| Text::say(say::CAP_LEAD, [Text::clauses(parts)]))
}

fn changed(compared: &Compared) -> Vec<Text> {
    let difference = &compared.difference;
    let mut parts = Vec::new();
    let replicas = compared
        .before
        .replicas
        .figure()
        .zip(compared.after.replicas.figure());
    let moved = |verdict: Option<Verdict>| verdict.is_some_and(|verdict| verdict != Verdict::Noise);
    let carries = difference.rps.filter(|rps| moved(Some(rps.verdict)));
    if let (Some((before, after)), true) = (replicas, moved(difference.replicas_verdict)) {
        let what = match difference.replicas_verdict {
            Some(Verdict::Less) => say::CAP_LEAD_FEWER,
            _ => say::CAP_LEAD_MORE,
        };
        let by = difference.replicas.unwrap_or_default().unsigned_abs();
        let of = [
            rate(after.peak_rps),
            count(by),
            count(before.needed),
            count(after.needed),
        ];
        parts.push(Text::say(what, of));
    } else if let Some(rps) = carries {
        let of = [rate(rps.after), rate(rps.before), change(rps)];
        parts.push(Text::say(say::CAP_LEAD_RPS, of));
        if let Some((_, after)) = replicas {
            let of = [rate(after.peak_rps), count(after.needed)];
            parts.push(Text::say(say::CAP_LEAD_SAME, of));
        }
    } else if let Some(best) = difference.best.filter(|best| moved(Some(best.verdict))) {
        let of = [rate(best.after), rate(best.before), change(best)];
        parts.push(Text::say(say::CAP_LEAD_BEST, of));
    }
    if let Some(dearer) = dearer(compared) {
        let what = if dearer.by > 0.0 {
            say::CAP_LEAD_MORE_COST
        } else {
            say::CAP_LEAD_LESS_COST
        };
        parts.push(Text::say(what, [dearer.size, change(dearer.moved)]));
    }
    if parts.is_empty() && (difference.rps.is_some() || difference.best.is_some()) {
        parts.push(Text::word(say::CAP_NO_DIFFERENCE));
        parts.extend(told(&compared.after));
    }
    parts
}

/// What one replica carries, and how many a peak needs.
fn told(capacity: &Capacity) -> Vec<Text> {
    let carries = capacity
        .carries
        .figure()
        .map(|carries| Text::say(say::CAP_LEAD_ONE, [carried(&carries.rps)]));
    let replicas = capacity.replicas.figure().map(|replicas| {
        let of = [count(replicas.needed), rate(replicas.peak_rps)];
        Text::say(say::CAP_LEAD_REPLICAS, of)
    });
    carries.into_iter().chain(replicas).collect()
}
