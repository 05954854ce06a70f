//! What is wrong with an archive: every finding with what to do. It is what a nightly job asks.

mod accepts;
mod environment;
mod finding;
mod reference;

use std::collections::BTreeMap;

use super::accept::Accept;
use super::reference::BaselineError;
use super::shelf::Shelf;
use crate::ident::Day;
use crate::stats::stored::FEWEST_SESSIONS;
use crate::verdict::ARCHIVE_DAYS;
use accepts::{judge_accepts, read_accepts};
use environment::{Kept, of_environment};
pub use finding::{ArchiveFinding, Gravity, Verification};
use reference::inconsistencies;

const RESTORE: &str =
    "restore it from git's history: `git log -- FILE`, `git checkout COMMIT -- FILE`";
const NEWER: &str = "use a newer infergate; nothing of it is judged by this one";

/// Looks through a whole archive as of today.
pub fn verify(shelf: &Shelf, today: Day) -> Result<Verification, BaselineError> {
    let mut found = Verification::default();
    for entry in shelf.list("")? {
        if entry.name.starts_with('.') {
            continue;
        }
        if entry.is_folder {
            of_spec(shelf, &entry.name, today, &mut found);
        } else {
            foreign(&entry.name, &mut found);
        }
    }
    if found.specs == 0 {
        found.add(
            (Gravity::Error, "no-history"),
            "",
            format!("nothing is kept in {shelf}, so no gate has a baseline"),
            "promote a session: `infergate baseline promote SESSION --reason TEXT`",
        );
    }
    found
        .findings
        .sort_by(|a, b| (a.gravity, &a.path, a.code).cmp(&(b.gravity, &b.path, b.code)));
    Ok(found)
}

/// A file that has no place here. What people write beside their data is left alone.
fn foreign(path: &str, found: &mut Verification) {
    let end = path.rsplit_once('.').map(|(_, end)| end);
    if end == Some("tmp") {
        found.add(
            (Gravity::Warning, "temporary"),
            path,
            "a file that was being written when its command ended",
            "delete it: what it was to replace is whole",
        );
    } else if !matches!(end, Some("md" | "lock")) {
        found.add(
            (Gravity::Warning, "foreign"),
            path,
            "no file of an archive; nothing reads it",
            "move it elsewhere",
        );
    }
}

/// The text of a file that is listed; what keeps it from being read is a finding.
fn text_of(shelf: &Shelf, path: &str, found: &mut Verification) -> Option<String> {
    match shelf.read(path) {
        Ok(Some(text)) => Some(text),
        Ok(None) => None,
        Err(error) => {
            found.add(
                (Gravity::Error, "unreadable"),
                path,
                error.to_string(),
                RESTORE,
            );
            None
        }
    }
}

fn listed(shelf: &Shelf, folder: &str, found: &mut Verification) -> Vec<(String, bool)> {
    match shelf.list(folder) {
        Ok(entries) => entries
            .into_iter()
            .filter(|entry| !entry.name.starts_with('.'))
            .map(|entry| (entry.name, entry.is_folder))
            .collect(),
        Err(error) => {
            let remedy = "see that it can be read";
            found.add(
                (Gravity::Error, "unreadable"),
                folder,
                error.to_string(),
                remedy,
            );
            Vec::new()
        }
    }
}

fn of_spec(shelf: &Shelf, name: &str, today: Day, found: &mut Verification) {
    let mut kept: Vec<Kept> = Vec::new();
    let mut accepts: BTreeMap<String, Accept> = BTreeMap::new();
    let mut has_spec = false;
    for (entry, is_folder) in listed(shelf, name, found) {
        let path = format!("{name}/{entry}");
        match (entry.as_str(), is_folder) {
            ("spec.yaml", false) => has_spec = true,
            ("accepts", true) => accepts = read_accepts(shelf, &path, found),
            (_, true) => kept.extend(of_environment(shelf, &path, found)),
            (_, false) => foreign(&path, found),
        }
    }
    if kept.is_empty() && accepts.is_empty() {
        if !has_spec {
            let what = "no folder of an archive: it holds no environment with a `reference.json`";
            found.add(
                (Gravity::Warning, "foreign"),
                name,
                what,
                "move it elsewhere",
            );
            return;
        }
    } else if !has_spec {
        let remedy = "promote a session, which writes it, or copy the spec there";
        let what = "the spec that was measured is missing";
        found.add(
            (Gravity::Warning, "no-spec"),
            format!("{name}/spec.yaml"),
            what,
            remedy,
        );
    }
    found.specs += 1;
    found.environments += kept.len() as u32;
    history(name, &kept, today, found);
    judge_accepts(name, &accepts, &kept, today, found);
    for Kept {
        folder, reference, ..
    } in &kept
    {
        inconsistencies(folder, reference, &accepts, found);
    }
}

/// Whether there is enough to judge by, and whether it is young enough.
fn history(name: &str, kept: &[Kept], today: Day, found: &mut Verification) {
    let measure_again = "measure and promote sessions: `infergate run SPEC --repeats 3`, \
                         `infergate baseline promote SESSION --reason TEXT`";
    if kept.iter().all(|kept| kept.standing == 0) {
        let what = "no session stands, so `gate` never judges this spec";
        found.add((Gravity::Error, "no-history"), name, what, measure_again);
        return;
    }
    let newest = kept.iter().filter_map(|kept| kept.newest.as_ref()).max();
    for Kept {
        folder,
        standing,
        newest: own,
        ..
    } in kept
    {
        let age = own.as_ref().map(|own| own.days_until(today));
        let is_newest = own.as_ref() == newest;
        match age {
            Some(days) if days as f64 > ARCHIVE_DAYS => {
                // A machine that is measured no more stays as it is; the one in use must not.
                let gravity = if is_newest {
                    Gravity::Error
                } else {
                    Gravity::Note
                };
                found.add(
                    (gravity, "stale"),
                    &**folder,
                    format!(
                        "its newest session was promoted {days} days ago: from {ARCHIVE_DAYS:.0} on verdicts are advisory"
                    ),
                    measure_again,
                );
            }
            _ => {}
        }
        if *standing > 0 && *standing < FEWEST_SESSIONS {
            let what = format!("{standing} of the {FEWEST_SESSIONS} sessions that a verdict needs");
            found.add(
                (Gravity::Warning, "few-sessions"),
                &**folder,
                what,
                measure_again,
            );
        }
    }
}
