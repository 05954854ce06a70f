//! Whether a comparison can keep the spec's limits.

use crate::cli::archived::Archived;
use crate::diag::Diagnostic;
use crate::plan::Plan;
use crate::spec::{Budget, Outlay, Spec};
use crate::summary::outlay::{bound, least};

/// Both sides of so many pairs, stages that are not gated once a side.
fn pairs(pairs: u32, of: impl Fn(bool) -> Outlay) -> Outlay {
    of(true)
        .plus(of(false).times(f64::from(pairs.saturating_sub(1))))
        .times(2.0)
}

/// An error where the first look lies beyond a limit, a warning where a later one may.
pub(super) fn mistakes(spec: &Spec, plan: &Plan, archive: &[Archived]) -> Vec<Diagnostic> {
    let Some(limits) = &spec.limits else {
        return Vec::new();
    };
    let looks = archive.iter().map(|archived| &archived.forecast.looks[..]);
    let Some((first, last)) = looks
        .filter_map(|looks| Some((*looks.first()?, *looks.last()?)))
        .reduce(|(first, last), (other, later)| (first.min(other), last.max(later)))
    else {
        return Vec::new();
    };
    let at_least = pairs(first, |all| least(spec, plan, all));
    let at_most = pairs(last, |all| bound(spec, plan, all));
    beyond(limits, (first, at_least), (last, at_most))
        .into_iter()
        .collect()
}

fn beyond(
    limits: &Budget,
    (first, at_least): (u32, Outlay),
    (last, at_most): (u32, Outlay),
) -> Option<Diagnostic> {
    let found = if let Some(broken) = limits.broken_by(at_least) {
        Diagnostic::error(
            "check::over-budget",
            format!("the first look, at {first} pairs, takes at least {broken}"),
        )
        .help("raise the limit, shorten the stages, or lower `repeats.min`".to_owned())
    } else {
        let broken = limits.broken_by(at_most)?;
        Diagnostic::warning(
            "check::tight-budget",
            format!("the last look, at {last} pairs, may take {broken}"),
        )
        .help(
            "a comparison that is still open then is stopped and cannot decide (exit 3)".to_owned(),
        )
    };
    Some(found.at(limits.place.clone()))
}
