//! Run files: written by temporary file and rename, read with their version checked.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::summary::{RUN_FORMAT, Run};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file system refused.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The file is not what its name says.
    #[error("cannot read `{}`: {source}; was it written by infergate and is it whole?", path.display())]
    NotARun {
        /// Which file.
        path: PathBuf,
        /// Where the JSON is wrong.
        source: serde_json::Error,
    },
    /// The file has a format that this version does not know.
    #[error(
        "cannot read `{}`: its format is `{found}`, this version reads `{known}`; use a newer infergate",
        path.display()
    )]
    UnknownFormat {
        /// Which file.
        path: PathBuf,
        /// The format that it names.
        found: String,
        /// The format that is wanted.
        known: &'static str,
    },
    /// A run whose names could lead out of the folders that they are used in.
    #[error(
        "cannot use `{}`: its {what} is `{}`, which is no name that infergate gives (letters, digits, `-`, `_`, `.`)",
        path.display(), found.escape_debug()
    )]
    UnsafeName {
        /// Which file.
        path: PathBuf,
        /// Which of its names.
        what: &'static str,
        /// What it says.
        found: String,
    },
    /// A count that no run can have: someone edited the file.
    #[error("cannot use `{}`: it counts {found} of something, more than any run can; restore the file", path.display())]
    ImpossibleCount {
        /// Which file.
        path: PathBuf,
        /// The count.
        found: u64,
    },
    /// Records come faster than they can be written.
    #[error(
        "cannot keep up writing `{}`: records of {} MiB wait for the disk; give `--out` a faster one, or send less",
        path.display(), waiting >> 20
    )]
    Behind {
        /// Which file.
        path: PathBuf,
        /// Bytes of records that were not written yet.
        waiting: usize,
    },
    /// A file of records is not the one that was written.
    #[error(
        "cannot summarise `{}`: it holds {found} records of the stage and {written} were written; \
         is something else changing it?",
        path.display()
    )]
    Changed {
        /// Which file.
        path: PathBuf,
        /// Records found.
        found: u64,
        /// Records written.
        written: u64,
    },
    /// Another process writes for longer than any should.
    #[error(
        "cannot write: another process has held `{}` for a minute; end it, or wait for it and try again",
        path.display()
    )]
    Busy {
        /// The file that is locked.
        path: PathBuf,
    },
    /// A folder without one run.
    #[error("no run files (`*.json` of format `{RUN_FORMAT}`) in `{}` or its folder `runs`; name a run file or the folder of one session", path.display())]
    NoRuns {
        /// Which folder.
        path: PathBuf,
    },
}

/// Attaches the path to an I/O error.
pub(super) fn at<'a>(
    doing: &'static str,
    path: &'a Path,
) -> impl FnOnce(std::io::Error) -> ArchiveError + 'a {
    move |source| ArchiveError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}

/// Writes a text whole: to a temporary file beside it, then renamed.
pub fn save_text(path: &Path, text: &str) -> Result<(), ArchiveError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        fs::create_dir_all(folder).map_err(at("create", folder))?;
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let write = || {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|source| {
        // The write's own error is the one to report.
        let _ = fs::remove_file(&temporary);
        ArchiveError::Io {
            doing: "write",
            path: path.to_owned(),
            source,
        }
    })
}

/// Writes a value as indented JSON, maps sorted by key, with a line end.
pub fn save_json<T: Serialize>(path: &Path, value: &T) -> Result<(), ArchiveError> {
    save_text(path, &json_text(path, value)?)
}

/// The text of such a file; its path is for errors.
pub fn json_text<T: Serialize>(path: &Path, value: &T) -> Result<String, ArchiveError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| at("write", path)(std::io::Error::other(error)))?;
    Ok(text + "\n")
}

/// Writes a run into a folder as `<id>.json`; returns where.
pub fn save_run(folder: &Path, run: &Run) -> Result<PathBuf, ArchiveError> {
    let path = folder.join(format!("{}.json", run.id));
    save_json(&path, run)?;
    Ok(path)
}

/// Largest count that is believed, so that sums over many runs stay far from overflow.
const LARGEST_COUNT: u64 = 1 << 48;

/// Reads one run file.
pub fn load_run(path: &Path) -> Result<Run, ArchiveError> {
    let text = fs::read_to_string(path).map_err(at("read", path))?;
    parse_run(path, &text)
}

/// Reads the text of a run file; its path is for errors.
pub fn parse_run(path: &Path, text: &str) -> Result<Run, ArchiveError> {
    let not_a_run = |source| ArchiveError::NotARun {
        path: path.to_owned(),
        source,
    };
    let value: serde_json::Value = serde_json::from_str(text).map_err(not_a_run)?;
    match value.get("format").and_then(serde_json::Value::as_str) {
        Some(RUN_FORMAT) => {}
        found => {
            return Err(ArchiveError::UnknownFormat {
                path: path.to_owned(),
                found: found.unwrap_or("none").to_owned(),
                known: RUN_FORMAT,
            });
        }
    }
    if let Some(found) = impossible_count(&value) {
        return Err(ArchiveError::ImpossibleCount {
            path: path.to_owned(),
            found,
        });
    }
    let run = serde_json::from_value(value).map_err(not_a_run)?;
    refuse_unsafe_names(path, &run)?;
    Ok(run)
}

fn impossible_count(value: &serde_json::Value) -> Option<u64> {
    match value {
        serde_json::Value::Number(number) => number.as_u64().filter(|&n| n > LARGEST_COUNT),
        serde_json::Value::Array(list) => list.iter().find_map(impossible_count),
        serde_json::Value::Object(map) => map.values().find_map(impossible_count),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::String(_) => None,
    }
}

/// Refuses a run whose id, session or spec's name is none: files and folders are called by them.
fn refuse_unsafe_names(path: &Path, run: &Run) -> Result<(), ArchiveError> {
    for (what, name) in [
        ("id", &run.id),
        ("session", &run.session),
        ("spec's name", &run.spec.name),
    ] {
        if !is_safe(name) {
            return Err(ArchiveError::UnsafeName {
                path: path.to_owned(),
                what,
                found: name.chars().take(80).collect(),
            });
        }
    }
    Ok(())
}

/// Whether a text can be a file's name anywhere: as [`crate::ident::Name`], and longer, since ids
/// and sessions have a spec's name or a digest and a time in them.
fn is_safe(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 128
        && name.chars().all(allowed)
}

/// Reads a run file, or every run of a folder (its own, else those of its folder `runs`), in the
/// order of their ids, which is that of time.
pub fn load_runs(path: &Path) -> Result<Vec<Run>, ArchiveError> {
    if !path.is_dir() {
        return Ok(vec![load_run(path)?]);
    }
    let mut runs = runs_in(path)?;
    if runs.is_empty() && path.join("runs").is_dir() {
        runs = runs_in(&path.join("runs"))?;
    }
    if runs.is_empty() {
        return Err(ArchiveError::NoRuns {
            path: path.to_owned(),
        });
    }
    runs.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(runs)
}

fn runs_in(folder: &Path) -> Result<Vec<Run>, ArchiveError> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder).map_err(at("list", folder))? {
        let path = entry.map_err(at("list", folder))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        match load_run(&path) {
            Ok(run) => runs.push(run),
            // Reports and environments are JSON too; only what calls itself a run is one.
            Err(ArchiveError::UnknownFormat { found, .. })
                if !found.starts_with("infergate.run/") => {}
            Err(error) => return Err(error),
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<Vec<Run>, ArchiveError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        save_text(&path, r#"{"format": "infergate.run/2"}"#).unwrap();
        let text = message(load_runs(&path));
        assert!(
            text.contains("infergate.run/2") && text.contains("newer infergate"),
            "{text}"
        );
        assert!(message(load_runs(folder.path())).contains("infergate.run/2"));
    }

    #[test]
    fn a_broken_or_foreign_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(message(load_runs(folder.path())).contains("no run files"));
        assert!(message(load_runs(&folder.path().join("gone.json"))).contains("gone.json"));
        let path = folder.path().join("x.json");
        save_text(&path, r#"{"format": "infergate.report/1"}"#).unwrap();
        assert!(message(load_runs(folder.path())).contains("no run files"));
        save_text(&path, r#"{"format": "infergate.run/1", "#).unwrap();
        assert!(message(load_runs(folder.path())).contains("x.json"));
    }

    #[test]
    fn writing_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        save_json(&folder.path().join("a/b.json"), &1).unwrap();
        let names: Vec<_> = fs::read_dir(folder.path().join("a"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["b.json"]);
    }
}
