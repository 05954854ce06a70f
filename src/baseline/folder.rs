//! A change of an archive that is a folder, step by step.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::change::Change;
use crate::archive::ArchiveError;

/// One step. A process that ends between any two leaves an archive that reads as before or as after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// Takes away what a writer left that was ended in the middle.
    Sweep(PathBuf),
    /// Makes a folder and those around it.
    MakeFolder(PathBuf),
    /// Writes a text beside its file.
    WriteTemporary(PathBuf, &'a str),
    /// Puts it in the file's place, which nobody sees half-way.
    Rename(PathBuf),
    /// Takes a file away.
    Remove(PathBuf),
}

/// The steps of a change of the archive below a folder, for its one writer.
pub(super) fn steps<'a>(root: &Path, change: &'a Change) -> Vec<Step<'a>> {
    let files = change.files();
    let folders: BTreeSet<PathBuf> = (files.iter())
        .filter_map(|(path, _)| Some(root.join(path).parent()?.to_owned()))
        .collect();
    let mut steps: Vec<Step<'a>> = Vec::new();
    for folder in folders {
        steps.push(Step::MakeFolder(folder.clone()));
        steps.push(Step::Sweep(folder));
    }
    for (path, text) in files {
        let path = root.join(path);
        match text {
            Some(text) => {
                steps.push(Step::WriteTemporary(path.clone(), text));
                steps.push(Step::Rename(path));
            }
            None => steps.push(Step::Remove(path)),
        }
    }
    steps
}

impl Step<'_> {
    /// Takes it.
    pub(super) fn take(&self) -> Result<(), ArchiveError> {
        let (doing, path, done) = match self {
            Self::Sweep(folder) => ("list", folder, sweep(folder)),
            Self::MakeFolder(folder) => ("create", folder, fs::create_dir_all(folder)),
            Self::WriteTemporary(path, text) => ("write", path, write(&temporary(path), text)),
            Self::Rename(path) => ("write", path, fs::rename(temporary(path), path)),
            Self::Remove(path) => ("remove", path, remove(path)),
        };
        done.map_err(|source| ArchiveError::Io {
            doing,
            path: path.clone(),
            source,
        })
    }
}

/// How a file is called until it is whole.
const UNFINISHED: &str = ".unfinished";

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(UNFINISHED);
    PathBuf::from(name)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(UNFINISHED) {
            remove(&path)?;
        }
    }
    Ok(())
}
