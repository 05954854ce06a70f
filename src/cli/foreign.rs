//! Run files of other tools, wherever a run is expected.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::source::read_file;
use crate::archive::{ArchiveError, load_runs, parse_run};
use crate::importer::{Foreign, ImportError, Input, Options};
use crate::summary::{RUN_FORMAT, Run, StageSummary};

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

/// The runs of another tool's file, or of all those in a folder that are recognised: one of which the tool wrote
/// several files counts once.
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
            let folder = path.parent().map(Path::to_owned);
            let found = foreign.runs(options)?;
            runs.extend(found.into_iter().map(|run| (folder.clone(), run)));
        }
    }
    Ok(each_once(runs))
}

/// The runs of which some tools write several files, each once: the one that tells most of its requests.
fn each_once(mut found: Vec<(Option<PathBuf>, Run)>) -> Vec<Run> {
    // Runs with their requests come first, each kind in the order of the files.
    found.sort_by_key(|(_, run)| run.stages.iter().any(has_summaries));
    let mut kept: Vec<(Option<PathBuf>, Run)> = Vec::new();
    for (folder, run) in found {
        let again =
            |(other, kept): &(Option<PathBuf>, Run)| *other == folder && is_the_same(kept, &run);
        if !kept.iter().any(again) {
            kept.push((folder, run));
        }
    }
    kept.into_iter().map(|(_, run)| run).collect()
}

/// Whether two files of one folder tell of one run: one tool, one start as far as both tell, the same counts, and
/// not the same shape, or the same figures throughout.
fn is_the_same(a: &Run, b: &Run) -> bool {
    let (Some(of_a), Some(of_b)) = (&a.origin, &b.origin) else {
        return false;
    };
    let counts = |run: &Run| -> Vec<(u64, u64)> {
        let stages = run.stages.iter();
        stages
            .map(|stage| (stage.pooled.scheduled, stage.pooled.ended_well()))
            .collect()
    };
    // A summary counts from when the tool started, its requests from the first of them.
    let start = |run: &Run| run.started.get(..16).map(str::to_owned);
    let starts = start(a).zip(start(b));
    of_a.tool == of_b.tool
        && of_a.file != of_b.file
        && counts(a) == counts(b)
        && starts.is_none_or(|(a, b)| a == b)
        && (of_a.shape != of_b.shape || a.stages == b.stages)
}

/// Whether a stage's figures are the tool's own.
fn has_summaries(stage: &StageSummary) -> bool {
    let mut distributions = stage.pooled.distributions.values();
    distributions.any(|distribution| distribution.summary.is_some())
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
