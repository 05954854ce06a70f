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
    #[error("cannot read `{}` as a run: {source}; was it written by infergate and is it whole?", path.display())]
    NotARun {
        /// Which file.
        path: PathBuf,
        /// Where the JSON is wrong.
        source: serde_json::Error,
    },
    /// The file has a format that this version does not know.
    #[error(
        "cannot read `{}`: its format is `{found}`, this version reads `{RUN_FORMAT}`; use a newer infergate",
        path.display()
    )]
    UnknownFormat {
        /// Which file.
        path: PathBuf,
        /// The format that it names.
        found: String,
    },
    /// A folder without one run.
    #[error("no run files (`*.json` of format `{RUN_FORMAT}`) in `{}` or its folder `runs`", path.display())]
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
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| at("write", path)(std::io::Error::other(error)))?;
    save_text(path, &(text + "\n"))
}

/// Writes a run into a folder as `<id>.json`; returns where.
pub fn save_run(folder: &Path, run: &Run) -> Result<PathBuf, ArchiveError> {
    let path = folder.join(format!("{}.json", run.id));
    save_json(&path, run)?;
    Ok(path)
}

/// Reads one run file.
pub fn load_run(path: &Path) -> Result<Run, ArchiveError> {
    let text = fs::read_to_string(path).map_err(at("read", path))?;
    let not_a_run = |source| ArchiveError::NotARun {
        path: path.to_owned(),
        source,
    };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(not_a_run)?;
    match value.get("format").and_then(serde_json::Value::as_str) {
        Some(RUN_FORMAT) => serde_json::from_value(value).map_err(not_a_run),
        found => Err(ArchiveError::UnknownFormat {
            path: path.to_owned(),
            found: found.unwrap_or("none").to_owned(),
        }),
    }
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
