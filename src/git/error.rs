//! Why git could not answer.

use std::io;
use std::path::PathBuf;

use crate::archive::ArchiveError;

/// Why git could not answer or do something.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git`.
    #[error("cannot {doing}: there is no `git` program on the PATH; install git (2.30 or newer)")]
    NotInstalled {
        /// What was being done.
        doing: String,
    },
    /// It could not be started or spoken to.
    #[error("cannot {doing}: `git` could not be run: {source}")]
    NotRun {
        /// What was being done.
        doing: String,
        /// Why.
        source: io::Error,
    },
    /// A folder without a repository around it.
    #[error(
        "`{}` is not in a git repository; run infergate in a checkout, or make one with `git init`",
        folder.display()
    )]
    NotARepository {
        /// Which folder.
        folder: PathBuf,
    },
    /// A repository of somebody else, which git does not open.
    #[error(
        "git refuses the repository of `{}`: it belongs to another user; \
         say that it is safe: `git config --global --add safe.directory '*'` (in a container that only has this one)",
        folder.display()
    )]
    Untrusted {
        /// Which folder.
        folder: PathBuf,
    },
    /// A revision that does not exist here.
    #[error(
        "`{}` has no commit `{}`; {}", repository.display(), revision.escape_debug(),
        if *shallow {
            "its history is cut short (a shallow clone): fetch all of it with `git fetch --unshallow`, \
             in GitHub Actions with `fetch-depth: 0` of actions/checkout"
        } else {
            "fetch the branch that it is on, or name another"
        }
    )]
    UnknownRevision {
        /// Which repository.
        repository: PathBuf,
        /// What was asked for.
        revision: String,
        /// Whether its history is cut short.
        shallow: bool,
    },
    /// A file that is no text.
    #[error(
        "cannot read `{path}` of commit {commit}: it is no UTF-8 text; was it written by infergate?"
    )]
    NotText {
        /// Which file.
        path: String,
        /// Of which commit.
        commit: String,
    },
    /// A folder of the repository could not be locked.
    #[error(transparent)]
    Lock(#[from] ArchiveError),
    /// Git said no.
    #[error("cannot {doing} in `{}`: git says: {why}", repository.display())]
    Failed {
        /// What was being done.
        doing: String,
        /// Where.
        repository: PathBuf,
        /// Git's own words.
        why: String,
    },
    /// Git answered something that it never should.
    #[error(
        "cannot {doing} in `{}`: git's answer makes no sense (`{}`); is `git` really git?",
        repository.display(), answer.escape_debug()
    )]
    Strange {
        /// What was being done.
        doing: String,
        /// Where.
        repository: PathBuf,
        /// What it answered, shortened.
        answer: String,
    },
}
