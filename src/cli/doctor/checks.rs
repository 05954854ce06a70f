//! What `doctor` asks of the archive, this machine and the job that it runs in.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use crate::baseline::Shelf;
use crate::checkup::{self, Actions, Disk, Finding, Sessions, Topic};
use crate::cli::archived::{Archived, Kept, kept};
use crate::cli::check::tolerances;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::diag::{Diagnostic, Severity};
use crate::plan::Plan;
use crate::probe;
use crate::spec::Spec;
use crate::summary::Run;

/// Pairs of a comparison at most, where the spec does not say.
const MOST_PAIRS: u32 = 10;

/// The sessions that are kept of a spec, and the tolerances that their noise lets nobody resolve.
pub(super) fn archive(
    spec: &Spec,
    plan: &Plan,
    shelf: &Shelf,
    context: &Context,
) -> Result<Vec<Finding>, Failure> {
    let kept = kept(shelf, spec, plan)?;
    let sessions: Vec<Sessions> = kept.iter().map(|kept| sessions(kept, context)).collect();
    let mut found = checkup::archive(&sessions);
    let archived = Archived::in_each(&kept, spec);
    let mistakes = tolerances::mistakes(spec, &archived);
    let assumed = tolerances::notes(&archived);
    if mistakes.is_empty() && assumed.is_empty() {
        let whose = archived.first().map(Archived::whose).unwrap_or_default();
        found.push(Finding::ok(
            Topic::Tolerances,
            format!("the last look resolves all of them on {whose}"),
        ));
    }
    found.extend(mistakes.iter().map(unresolvable));
    found.extend(assumed.into_iter().map(|note| {
        Finding::note(
            Topic::Tolerances,
            note,
            "such a cell stays undecided more often than not",
            "measure the noise with `infergate calibrate SPEC`, or raise the tolerance",
        )
    }));
    Ok(found)
}

fn unresolvable(mistake: &Diagnostic) -> Finding {
    let why = "equal sides would be undecided (exit 3), whatever is measured";
    let remedy = mistake.help.first().cloned();
    let remedy = remedy.unwrap_or_else(|| "raise the tolerance".to_owned());
    match mistake.severity {
        Severity::Error => Finding::trouble(Topic::Tolerances, &mistake.message, why, remedy),
        Severity::Warning => Finding::note(Topic::Tolerances, &mistake.message, why, remedy),
    }
}

fn sessions(kept: &Kept, context: &Context) -> Sessions {
    let count = |runs: &[Run]| {
        let ids: BTreeSet<&str> = runs.iter().map(|run| run.session.as_str()).collect();
        ids.len()
    };
    let since_epoch = |run: &Run| {
        let started = Context::instant(&run.started)?;
        let since = started.time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(since.as_secs_f64())
    };
    let newest = kept.stands.iter().filter_map(since_epoch);
    let newest = newest.max_by(f64::total_cmp);
    Sessions {
        environment: kept.environment.clone(),
        standing: count(&kept.stands),
        noise: count(&kept.noise),
        age_days: newest.map(|newest| (context.seconds() - newest) / 86_400.0),
    }
}

/// What decides the speed of this machine, and its room for the records of a spec.
pub(super) fn machine(spec: Option<&Spec>) -> Vec<Finding> {
    let mut found: Vec<Finding> = checkup::power(&probe::power()).into_iter().collect();
    let free = probe::free_disk(Path::new("infergate-out"));
    if let (Some(spec), Some(free)) = (spec, free) {
        let pairs = spec.gate.repeats.map_or(MOST_PAIRS, |repeats| repeats.max);
        let needed = checkup::record_bytes(spec, 2 * pairs);
        found.push(checkup::disk(Disk { free, needed }));
    }
    found
}

/// What a job of GitHub Actions shows; nothing elsewhere.
pub(super) fn job(context: &Context) -> Vec<Finding> {
    let filled = |name: &str| context.variable(name).filter(|value| !value.is_empty());
    if filled("GITHUB_ACTIONS").as_deref() != Some("true") {
        return Vec::new();
    }
    checkup::actions(&Actions {
        token: filled("GITHUB_TOKEN").is_some(),
        summary: filled("GITHUB_STEP_SUMMARY").is_some(),
        event: filled("GITHUB_EVENT_NAME").unwrap_or_default(),
        self_hosted: filled("RUNNER_ENVIRONMENT").map(|kind| kind == "self-hosted"),
    })
}
