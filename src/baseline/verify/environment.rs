//! One environment: its pins, its sessions, and every file that lies there.

use std::collections::BTreeSet;

use super::finding::{Gravity, Verification};
use super::{NEWER, RESTORE, foreign, listed, text_of};
use crate::archive::{ArchiveError, parse_run};
use crate::baseline::environment::{ENVIRONMENT_FORMAT, Environment};
use crate::baseline::reference::{REFERENCE_FORMAT, Reference, ReferenceSession};
use crate::baseline::seal::seal;
use crate::baseline::shelf::Shelf;
use crate::ident::Day;
use crate::summary::Run;

/// What was found of one environment.
pub(super) struct Kept {
    pub(super) folder: String,
    pub(super) reference: Reference,
    /// Sessions that stand and are not void.
    pub(super) standing: usize,
    /// The newest of their promotions.
    pub(super) newest: Option<Day>,
}

/// Reads what lies in an environment's folder; `None` where that is none, or its reference can't be read.
pub(super) fn of_environment(
    shelf: &Shelf,
    folder: &str,
    found: &mut Verification,
) -> Option<Kept> {
    let mut files: BTreeSet<String> = BTreeSet::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (entry, is_folder) in listed(shelf, folder, found) {
        let path = format!("{folder}/{entry}");
        match (entry.as_str(), is_folder) {
            ("runs", true) => {
                for (run, is_folder) in listed(shelf, &path, found) {
                    if is_folder {
                        foreign(&format!("{path}/{run}"), found);
                    } else {
                        files.insert(run);
                    }
                }
                names.insert(entry);
            }
            ("reference.json" | "environment.json", false) => {
                names.insert(entry);
            }
            _ => foreign(&path, found),
        }
    }
    if names.is_empty() {
        return None;
    }
    let path = format!("{folder}/reference.json");
    let reference = names
        .contains("reference.json")
        .then(|| text_of(shelf, &path, found))
        .flatten();
    let reference = match reference {
        Some(text) => read_json::<Reference>(&path, &text, REFERENCE_FORMAT, found),
        None if names.contains("reference.json") => None,
        None => {
            let what = format!(
                "it is missing, so its {} run files count for nothing",
                files.len()
            );
            found.add((Gravity::Error, "no-reference"), path, what, RESTORE);
            None
        }
    };
    let environment = of_pins(shelf, folder, names.contains("environment.json"), found);
    let reference = reference?;
    let mut unsealed = 0_u32;
    for (session, runs) in reference.kept() {
        for run in runs {
            let file = format!("{run}.json");
            let path = format!("{folder}/runs/{file}");
            if !files.remove(&file) {
                let what = format!("session `{session}` names it, and it is not there");
                let remedy = format!("{RESTORE}, or `infergate baseline void {run} --reason TEXT`");
                found.add((Gravity::Error, "missing-run"), path, what, remedy);
                continue;
            }
            let Some(text) = text_of(shelf, &path, found) else {
                continue;
            };
            match reference.digests.get(run) {
                Some(digest) if *digest != seal(&text) => {
                    let what =
                        "it is not what was kept: someone changed it, and run files never change";
                    found.add((Gravity::Error, "tampered"), &*path, what, RESTORE);
                }
                Some(_) => {}
                None => unsealed += 1,
            }
            if let Some(run) = whole_run(&path, &text, found) {
                found.runs += 1;
                found.run_bytes += text.len() as u64;
                misplaced(&path, &run, (session, environment.as_ref()), found);
            }
        }
    }
    for file in files {
        stray(shelf, &format!("{folder}/runs/{file}"), found);
    }
    if unsealed > 0 {
        let what = format!(
            "{unsealed} of its run files were kept without a digest, by an earlier version"
        );
        let remedy =
            "nothing: those of new sessions have one; what happens to the old ones goes unnoticed";
        found.add(
            (Gravity::Note, "no-digest"),
            format!("{folder}/reference.json"),
            what,
            remedy,
        );
    }
    let counts = |s: &&ReferenceSession| s.runs.iter().any(|run| reference.counts(&s.session, run));
    let standing = reference.sessions.iter().filter(counts).count();
    let newest = reference.sessions.iter().filter(counts);
    let newest = newest
        .filter_map(|session| Day::of(&session.promoted))
        .max();
    Some(Kept {
        folder: folder.to_owned(),
        reference,
        standing,
        newest,
    })
}

/// `environment.json`, where it is what its folder's name says.
fn of_pins(
    shelf: &Shelf,
    folder: &str,
    is_there: bool,
    found: &mut Verification,
) -> Option<Environment> {
    let path = format!("{folder}/environment.json");
    if !is_there {
        let what = "it is missing, so nobody can tell in which pins another environment differs";
        found.add((Gravity::Error, "no-environment"), path, what, RESTORE);
        return None;
    }
    let text = text_of(shelf, &path, found)?;
    let environment: Environment = read_json(&path, &text, ENVIRONMENT_FORMAT, found)?;
    let own = folder.rsplit('/').next().unwrap_or(folder);
    if environment.folder() != own {
        let what = format!(
            "its pins are those of `{}`: someone changed it",
            environment.folder()
        );
        found.add((Gravity::Error, "tampered"), path, what, RESTORE);
        return None;
    }
    Some(environment)
}

/// A file of ours, unless it is damaged, foreign or newer.
fn read_json<T: for<'de> serde::Deserialize<'de>>(
    path: &str,
    text: &str,
    known: &str,
    found: &mut Verification,
) -> Option<T> {
    let value: serde_json::Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let what = format!("it is no whole JSON: {error}");
            found.add((Gravity::Error, "corrupt"), path, what, RESTORE);
            return None;
        }
    };
    let format = value.get("format").and_then(serde_json::Value::as_str);
    if format != Some(known) {
        other_format(path, format.unwrap_or("none"), known, found);
        return None;
    }
    match serde_json::from_value(value) {
        Ok(value) => Some(value),
        Err(error) => {
            let what = format!("it does not have the shape of `{known}`: {error}");
            found.add((Gravity::Error, "corrupt"), path, what, RESTORE);
            None
        }
    }
}

fn other_format(path: &str, format: &str, known: &str, found: &mut Verification) {
    let kind = known.split('/').next().unwrap_or(known);
    let what = format!(
        "its format is `{}`, this version reads `{known}`",
        format.escape_debug()
    );
    if format.starts_with(kind) {
        found.add((Gravity::Error, "newer"), path, what, NEWER);
    } else {
        found.add((Gravity::Error, "foreign"), path, what, RESTORE);
    }
}

fn whole_run(path: &str, text: &str, found: &mut Verification) -> Option<Run> {
    match parse_run(path.as_ref(), text) {
        Ok(run) => Some(run),
        Err(ArchiveError::UnknownFormat {
            found: format,
            known,
            ..
        }) => {
            other_format(path, &format, known, found);
            None
        }
        Err(error) => {
            found.add(
                (Gravity::Error, "corrupt"),
                path,
                error.to_string(),
                RESTORE,
            );
            None
        }
    }
}

/// A run under another name, of another session, or from another environment.
fn misplaced(
    path: &str,
    run: &Run,
    (session, environment): (&str, Option<&Environment>),
    found: &mut Verification,
) {
    let mut wrong = |what: String| {
        found.add((Gravity::Error, "misplaced"), path, what, RESTORE);
    };
    if !path.ends_with(&format!("/{}.json", run.id)) {
        wrong(format!("it is run `{}`", run.id));
    }
    if run.session != session {
        wrong(format!(
            "it is of session `{}`, and `{session}` names it",
            run.session
        ));
    }
    let differs = environment.and_then(|environment| {
        environment.pins.iter().find_map(|(path, value)| {
            let own = run.pins.get(path).and_then(|pin| pin.value());
            (own != value.as_deref()).then(|| (*path, own.unwrap_or("unknown").to_owned()))
        })
    });
    if let Some((pin, own)) = differs {
        wrong(format!("it was measured elsewhere: its `{pin}` is `{own}`"));
    }
}

/// A file among the runs that no session names.
fn stray(shelf: &Shelf, path: &str, found: &mut Verification) {
    let is_run = path.rsplit_once('.').is_some_and(|(_, end)| end == "json")
        && text_of(shelf, path, found).is_some_and(|text| {
            let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
            let format = value
                .as_ref()
                .ok()
                .and_then(|value| value.get("format")?.as_str());
            format.is_some_and(|format| format.starts_with("infergate.run/"))
        });
    if is_run {
        found.add(
            (Gravity::Warning, "orphan"),
            path,
            "no session names this run: its promotion was cut off, or a merge lost it",
            "promote its session again, or delete it",
        );
    } else {
        foreign(path, found);
    }
}
