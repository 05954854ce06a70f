//! Compacting an archive: what no verdict looks at any more goes, by one stated rule.

use std::collections::BTreeSet;

use serde::Serialize;

use super::change::Change;
use super::reference::{BaselineError, Reference, read_reference, reference_text};
use super::shelf::Shelf;
use super::void::Voided;
use super::{Stored, accepts, list};
use crate::stats::stored::FIRM_SESSIONS;

/// How many of the newest sessions of each environment are kept: at least those of a firm verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep(usize);

impl Keep {
    /// What is kept where nobody says: the sessions from which the noise is learnt.
    pub const DEFAULT: Self = Self(20);

    /// `None` of fewer than five.
    pub fn try_new(sessions: usize) -> Option<Self> {
        (sessions >= FIRM_SESSIONS).then_some(Self(sessions))
    }
}

/// What goes from one environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// The environment's folder from the archive's top.
    pub folder: String,
    /// The sessions that go, oldest first.
    pub sessions: Vec<String>,
    /// Sessions that stay.
    pub kept: usize,
    /// Run files that go.
    pub runs: usize,
    /// Bytes of those.
    pub bytes: u64,
}

/// What it changes to keep the newest sessions of each environment of this spec, or of all of them. First
/// sessions of epochs, anchors, and what accepts name stay however old they are.
pub fn prune(
    shelf: &Shelf,
    name: Option<&str>,
    keep: Keep,
) -> Result<(Change, Vec<Pruned>), BaselineError> {
    let mut change = Change::new(format!(
        "{}: keep the newest {} sessions\n",
        name.unwrap_or("all"),
        keep.0
    ));
    let mut pruned = Vec::new();
    for Stored {
        name: spec,
        environment,
        ..
    } in list(shelf)?
    {
        if name.is_some_and(|name| name != spec) {
            continue;
        }
        let folder = format!("{spec}/{environment}");
        let Some(reference) = read_reference(shelf, &folder)? else {
            continue;
        };
        let accepted = accepts(shelf, &spec)?;
        let named = accepted.iter().flat_map(|(_, accept)| &accept.sessions);
        let stays = stays(&reference, named.map(String::as_str), keep);
        let (left, gone) = split(&reference, &stays);
        if gone.is_empty() {
            continue;
        }
        let mut went = Pruned {
            folder: folder.clone(),
            sessions: gone.iter().map(|(session, _)| session.clone()).collect(),
            kept: left.kept().count(),
            runs: 0,
            bytes: 0,
        };
        let still: BTreeSet<&String> = left.kept().flat_map(|(_, runs)| runs).collect();
        for run in gone.iter().flat_map(|(_, runs)| runs) {
            let path = format!("{folder}/runs/{run}.json");
            if still.contains(run) {
                continue;
            }
            if let Some(text) = shelf.read(&path)? {
                went.runs += 1;
                went.bytes += text.len() as u64;
                change.remove(path);
            }
        }
        let path = format!("{folder}/reference.json");
        change.write(&*path, reference_text(shelf, &path, &left)?);
        pruned.push(went);
    }
    Ok((change, pruned))
}

/// The sessions that stay.
fn stays<'a>(
    reference: &'a Reference,
    named: impl Iterator<Item = &'a str>,
    keep: Keep,
) -> BTreeSet<String> {
    let newest = reference
        .sessions
        .iter()
        .rev()
        .take(keep.0)
        .map(|s| s.session.as_str());
    let noise = reference
        .noise
        .iter()
        .rev()
        .take(keep.0)
        .map(|s| s.session.as_str());
    let epochs = reference.epochs.iter().map(|epoch| epoch.from.as_str());
    let anchors = reference
        .anchors
        .iter()
        .map(|anchor| anchor.session.as_str());
    let all = newest
        .chain(noise)
        .chain(epochs)
        .chain(anchors)
        .chain(named);
    all.map(str::to_owned).collect()
}

type Gone = Vec<(String, Vec<String>)>;

/// The reference with the sessions that stay, and the others with their runs.
fn split(reference: &Reference, stays: &BTreeSet<String>) -> (Reference, Gone) {
    let gone: Gone = reference
        .kept()
        .filter(|(session, _)| !stays.contains(*session))
        .map(|(session, runs)| (session.to_owned(), runs.to_vec()))
        .collect();
    let mut left = reference.clone();
    left.sessions
        .retain(|session| stays.contains(&session.session));
    left.noise
        .retain(|session| stays.contains(&session.session));
    let runs: BTreeSet<String> = left.kept().flat_map(|(_, runs)| runs.to_vec()).collect();
    left.digests.retain(|run, _| runs.contains(run));
    left.voids.retain(|void| match &void.what {
        Voided::Run(run) => runs.contains(run),
        Voided::Session(session) => stays.contains(session),
    });
    (left, gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::{Anchor, Epoch, ReferenceSession};

    fn reference(sessions: usize) -> Reference {
        let session = |n: usize| ReferenceSession {
            session: format!("s{n}"),
            runs: vec![format!("r{n}a"), format!("r{n}b")],
            promoted: format!("2026-11-{:02}T00:00:00Z", n + 1),
            reason: "x".to_owned(),
        };
        Reference {
            sessions: (0..sessions).map(session).collect(),
            ..Reference::default()
        }
    }

    #[test]
    fn the_newest_stay_and_what_something_stands_on() {
        let mut full = reference(12);
        full.epochs.push(Epoch {
            from: "s2".to_owned(),
            accept: "a".to_owned(),
            started: String::new(),
        });
        full.anchors.push(Anchor {
            session: "s0".to_owned(),
            label: "v1".parse().unwrap(),
            pinned: String::new(),
        });
        full.void("s1", "x", "me", "now").unwrap();
        full.void("r11a", "x", "me", "now").unwrap();
        let stays = stays(&full, ["s4"].into_iter(), Keep::try_new(5).unwrap());
        let (left, gone) = split(&full, &stays);
        let ids: Vec<&str> = left.kept().map(|(session, _)| session).collect();
        assert_eq!(ids, ["s0", "s2", "s4", "s7", "s8", "s9", "s10", "s11"]);
        let ids: Vec<&str> = gone.iter().map(|(session, _)| session.as_str()).collect();
        assert_eq!(ids, ["s1", "s3", "s5", "s6"]);
        assert_eq!(left.voids.len(), 1, "the void of what is gone goes");
        assert_eq!(left.centre(), 1..8, "the epoch is where it was");
    }

    #[test]
    fn fewer_than_a_firm_verdict_needs_are_never_kept() {
        assert_eq!(Keep::try_new(4), None);
        assert!(Keep::try_new(5).is_some());
    }
}
