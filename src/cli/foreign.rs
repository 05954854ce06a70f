//! Run files of other tools, wherever a run is expected.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::source::read_file;
use crate::archive::{ArchiveError, load_runs, parse_run};
use crate::importer::{Foreign, ImportError, Input, Options};
use crate::summary::{RUN_FORMAT, Run};

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::usage(error.to_string())
    }
}

/// The runs of a file or folder, ours or another tool's.
pub(super) fn runs_at(path: &Path) -> Result<Vec<Run>, Failure> {
    runs_by(path, &Options::default())
}

/// The same, with what is said beside the files of other tools.
pub(super) fn runs_by(path: &Path, options: &Options) -> Result<Vec<Run>, Failure> {
    if path.is_file() {
        return runs_of_file(path, options);
    }
    match load_runs(path) {
        Err(error @ ArchiveError::NoRuns { .. }) => {
            let runs = foreign_in(path, options)?;
            if runs.is_empty() {
                Err(error.into())
            } else {
                Ok(runs)
            }
        }
        other => Ok(other?),
    }
}

fn runs_of_file(path: &Path, options: &Options) -> Result<Vec<Run>, Failure> {
    let own = |path: &Path| parse_run(path, &text_of(path)?).map_err(Failure::from);
    if is_ours(path)? {
        return Ok(vec![own(path)?]);
    }
    let (name, file) = (name_of(path), OnDisk(path));
    let foreign = Foreign::read(&name, &file)?;
    if !foreign.is_known()
        && let Ok(run) = own(path)
    {
        return Ok(vec![run]);
    }
    Ok(foreign.runs(options)?)
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
    if is_ours(path)? {
        return Err(Failure::usage(format!(
            "cannot import `{}`: it is a run of infergate already; name it as it is",
            path.display()
        )));
    }
    let name = name_of(path);
    Ok(Foreign::read(&name, &OnDisk(path))?.runs(options)?)
}

fn foreign_in(folder: &Path, options: &Options) -> Result<Vec<Run>, Failure> {
    let mut files = Vec::new();
    gather(folder, 3, &mut files);
    files.sort();
    let mut runs = Vec::new();
    for path in files {
        if !is_ours(&path).is_ok_and(|is_ours| !is_ours) {
            continue;
        }
        let (name, file) = (name_of(&path), OnDisk(&path));
        let Ok(foreign) = Foreign::read(&name, &file) else {
            continue;
        };
        if foreign.is_known() {
            runs.extend(foreign.runs(options)?);
        }
    }
    Ok(runs)
}

/// A file, opened anew for each pass over it.
struct OnDisk<'a>(&'a Path);

impl Input for OnDisk<'_> {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(self.0)?))
    }
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

/// Whether a file names our format near its start, whole or not.
fn is_ours(path: &Path) -> Result<bool, Failure> {
    let mut start = Vec::new();
    let file = File::open(path);
    file.and_then(|file| file.take(400).read_to_end(&mut start))
        .map_err(|why| Failure::usage(format!("cannot read `{}`: {why}", path.display())))?;
    let start = String::from_utf8_lossy(&start);
    let name = RUN_FORMAT.split('/').next().unwrap_or(RUN_FORMAT);
    Ok(start.contains("\"format\"") && start.contains(name))
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
