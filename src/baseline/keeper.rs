//! Who keeps an archive: a folder, or a branch. Reading gives a shelf; writing is one change at a time.

use std::path::PathBuf;

use super::branch::ArchiveBranch;
use super::change::Change;
use super::folder;
use super::reference::BaselineError;
use super::shelf::Shelf;
use crate::archive::{ArchiveError, FolderLock};
use crate::git::{GitError, Refusal};

/// Who keeps an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keeper {
    /// A folder of the working tree, or any other.
    Folder(PathBuf),
    /// A branch, of this repository or of another one.
    Branch(ArchiveBranch),
}

/// An archive as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Its files.
    pub shelf: Shelf,
    /// What a reader has to know: that they are an older copy.
    pub note: Option<String>,
}

/// Why a change was not kept. The archive is what it was before.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The remote does not take it.
    #[error("{place} takes nothing from here: {refusal}; {}", refusal.kind.advice())]
    Refused {
        /// Which branch, in words.
        place: String,
        /// What the remote says.
        refusal: Refusal,
    },
    /// The remote could not be reached.
    #[error(
        "{place} cannot be reached: {why}; see that the remote is there and that this machine may use it"
    )]
    Unreachable {
        /// Which branch, in words.
        place: String,
        /// In git's words.
        why: String,
    },
    /// Others were faster each time.
    #[error("{place} changed under each of {tries} tries; try again when fewer jobs write to it")]
    Crowded {
        /// Which branch, in words.
        place: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The branch is checked out, so moving it would pull the files from under a working tree.
    #[error(
        "branch `{branch}` is checked out in `{}`; check out another one there, so that infergate can write it",
        folder.display()
    )]
    CheckedOut {
        /// Which.
        branch: String,
        /// Where.
        folder: PathBuf,
    },
    /// A file could not be written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The archive could not be read.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// Git could not do its part.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Keeper {
    /// What it keeps now: of a branch the newest commit, fetched where it is another repository's.
    pub fn open(&self) -> Result<Opened, BaselineError> {
        match self {
            Self::Folder(root) => Ok(Opened {
                shelf: Shelf::folder(root),
                note: None,
            }),
            Self::Branch(branch) => branch.open(),
        }
    }

    /// Makes a change of what it keeps, and keeps it. Where others write at the same time, the change is
    /// made anew from what they left, so that nobody's is lost. Gives what was made with the change.
    pub fn keep<T, E: From<KeepError>>(
        &self,
        mut make: impl FnMut(&Shelf) -> Result<(Change, T), E>,
    ) -> Result<T, E> {
        match self {
            Self::Folder(root) => {
                let shelf = Shelf::folder(root);
                // One that can't be made leaves no folder behind.
                make(&shelf)?;
                let _lock = FolderLock::take(root).map_err(KeepError::from)?;
                let (change, made) = make(&shelf)?;
                for step in folder::steps(root, &change) {
                    step.take().map_err(KeepError::from)?;
                }
                Ok(made)
            }
            Self::Branch(branch) => branch.keep(make),
        }
    }

    /// The file or folder at a path, for people.
    pub fn describe(&self, path: &str) -> String {
        match self {
            Self::Folder(root) => root.join(path).display().to_string(),
            Self::Branch(branch) => branch.describe(path),
        }
    }
}
