//! Run files of other tools, wherever a run is expected.

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::source::read_file;
use crate::archive::{ArchiveError, load_runs, parse_run};
use crate::importer::{ImportError, Options, import, is_foreign};
use crate::summary::{RUN_FORMAT, Run};

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::usage(error.to_string())
    }
}

/// The runs of a file or folder, ours or another tool's.
pub(super) fn runs_at(path: &Path) -> Result<Vec<Run>, Failure> {
    if path.is_file() {
        return runs_of_file(path);
    }
    match load_runs(path) {
        Err(error @ ArchiveError::NoRuns { .. }) => {
            let runs = foreign_in(path, &Options::default())?;
            if runs.is_empty() {
                Err(error.into())
            } else {
                Ok(runs)
            }
        }
        other => Ok(other?),
    }
}

fn runs_of_file(path: &Path) -> Result<Vec<Run>, Failure> {
    let text = text_of(path)?;
    if is_ours(&text) || !is_foreign(&text) {
        return match parse_run(path, &text) {
            Ok(run) => Ok(vec![run]),
            Err(error) if is_ours(&text) => Err(error.into()),
            Err(_) => Ok(import(&name_of(path), &text, &Options::default())?),
        };
    }
    Ok(import(&name_of(path), &text, &Options::default())?)
}

/// The runs of another tool's file, or of all those in a folder that are recognised.
pub(super) fn foreign_at(path: &Path, options: &Options) -> Result<Vec<Run>, Failure> {
    if path.is_dir() {
        let runs = foreign_in(path, options)?;
        if runs.is_empty() {
            return Err(Failure::usage(format!(
                "cannot import `{}`: no file in it is one of a known tool; name one to see what is looked for",
                path.display()
            )));
        }
        return Ok(runs);
    }
    let text = text_of(path)?;
    if is_ours(&text) {
        return Err(Failure::usage(format!(
            "cannot import `{}`: it is a run of infergate already; name it as it is",
            path.display()
        )));
    }
    Ok(import(&name_of(path), &text, options)?)
}

fn foreign_in(folder: &Path, options: &Options) -> Result<Vec<Run>, Failure> {
    let mut files = Vec::new();
    gather(folder, 3, &mut files);
    files.sort();
    let mut runs = Vec::new();
    for path in files {
        let Ok(text) = read_file(&path) else {
            continue;
        };
        if !is_ours(&text) && is_foreign(&text) {
            runs.extend(import(&name_of(&path), &text, options)?);
        }
    }
    Ok(runs)
}

/// Files of a folder and of those in it, so many levels deep.
fn gather(folder: &Path, levels: u32, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_file() {
            files.push(path);
        } else if levels > 0 && path.is_dir() {
            gather(&path, levels - 1, files);
        }
    }
}

fn text_of(path: &Path) -> Result<String, Failure> {
    read_file(path)
        .map_err(|why| Failure::usage(format!("cannot read `{}`: {why}", path.display())))
}

/// Whether a text names our format near its start, whole or not.
fn is_ours(text: &str) -> bool {
    let name = RUN_FORMAT.split('/').next().unwrap_or(RUN_FORMAT);
    let start = text
        .char_indices()
        .nth(400)
        .map_or(text, |(at, _)| &text[..at]);
    start.contains("\"format\"") && start.contains(name)
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
