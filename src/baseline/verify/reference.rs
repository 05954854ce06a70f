//! What a `reference.json` says that does not hold together.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Gravity, Verification};
use crate::baseline::accept::Accept;
use crate::baseline::reference::Reference;
use crate::baseline::void::Voided;

/// Names in it that stand for nothing, or for two things.
pub(super) fn inconsistencies(
    folder: &str,
    reference: &Reference,
    accepts: &BTreeMap<String, Accept>,
    found: &mut Verification,
) {
    let path = format!("{folder}/reference.json");
    let sessions: Vec<&str> = reference.kept().map(|(session, _)| session).collect();
    let runs: Vec<&str> = reference
        .kept()
        .flat_map(|(_, runs)| runs.iter().map(String::as_str))
        .collect();
    for (what, names) in [("session", &sessions), ("run", &runs)] {
        for twice in repeated(names) {
            found.add(
                (Gravity::Error, "twice"),
                &*path,
                format!("{what} `{twice}` stands in it twice, so it counts twice"),
                "leave one of the two",
            );
        }
    }
    let mut dangling = |what: String| {
        let remedy = "restore what it names, or take the entry out";
        found.add((Gravity::Error, "dangling"), &*path, what, remedy);
    };
    for void in &reference.voids {
        match &void.what {
            Voided::Run(run) if !runs.contains(&run.as_str()) => {
                dangling(format!("run `{run}` is void and not kept"));
            }
            Voided::Session(session) if !sessions.contains(&session.as_str()) => {
                dangling(format!("session `{session}` is void and not kept"));
            }
            Voided::Run(_) | Voided::Session(_) => {}
        }
    }
    for anchor in &reference.anchors {
        let counts = |(session, runs): (&str, &[String])| {
            session == anchor.session && runs.iter().any(|run| reference.counts(session, run))
        };
        if !reference.kept().any(counts) {
            dangling(format!(
                "the anchor `{}` is session `{}`, which is not kept or is void",
                anchor.label, anchor.session
            ));
        }
    }
    for epoch in &reference.epochs {
        if !sessions.contains(&epoch.from.as_str()) {
            dangling(format!(
                "the epoch of `{}` begins with session `{}`, which is not kept",
                epoch.accept, epoch.from
            ));
        }
    }
    for run in reference
        .digests
        .keys()
        .filter(|run| !runs.contains(&run.as_str()))
    {
        dangling(format!(
            "it has a digest of run `{run}`, which no session names"
        ));
    }
    for epoch in &reference.epochs {
        if !accepts.contains_key(&epoch.accept) {
            found.add(
                (Gravity::Note, "no-accept"),
                &*path,
                format!("the accept `{}` that began an epoch is gone", epoch.accept),
                "nothing: the epoch stands, git knows why",
            );
        }
    }
}

/// What comes more than once, each once.
fn repeated<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    names
        .iter()
        .copied()
        .filter(|name| !seen.insert(*name))
        .collect()
}
