//! Where a command finds promoted sessions, and where it puts them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::context::Context;
use super::failure::{Failure, FailureText};
use crate::baseline::{ArchiveBranch, Keeper, PromoteError, Shelf};
use crate::spec::{Archive, ArchivePlace, BranchName, Spec};

/// The folder of a spec that names no archive.
const FOLDER: &str = "baselines";

/// Where promoted sessions are, where that is not what the spec says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(super) struct ArchiveArgs {
    /// Folder of promoted baselines and noise sessions, whatever `archive` of the spec says; without
    /// either it is `baselines`
    #[arg(long, value_name = "DIR", conflicts_with = "archive_branch")]
    pub(super) baselines: Option<PathBuf>,

    /// Branch of promoted baselines and noise sessions, of `origin` or the only remote, whatever
    /// `archive` of the spec says
    #[arg(long, value_name = "BRANCH")]
    pub(super) archive_branch: Option<BranchName>,
}

impl ArchiveArgs {
    /// Who keeps them: what the command says, else what the spec says, else the folder `baselines`.
    pub(super) fn keeper(&self, spec: Option<&Spec>) -> Result<Keeper, Failure> {
        if let Some(folder) = &self.baselines {
            return Ok(Keeper::Folder(folder.clone()));
        }
        let archive = match &self.archive_branch {
            Some(branch) => Some(Archive {
                branch: branch.clone(),
                place: ArchivePlace::Unsaid,
                folder: String::new(),
            }),
            None => spec.and_then(|spec| spec.archive.clone()),
        };
        match archive {
            None => Ok(Keeper::Folder(PathBuf::from(FOLDER))),
            // As `baselines` is, it is looked for from where the command runs.
            Some(archive) => match ArchiveBranch::find(Path::new("."), &archive) {
                Ok(branch) => Ok(Keeper::Branch(branch)),
                Err(error) => Err(Failure::usage(error.to_string())),
            },
        }
    }

    /// What is kept now, and a line where it is not the newest.
    pub(super) fn open(
        &self,
        spec: Option<&Spec>,
        context: &mut Context,
    ) -> Result<Shelf, Failure> {
        open(&self.keeper(spec)?, context)
    }
}

/// What is kept now, and a line where it is not the newest.
pub(super) fn open(keeper: &Keeper, context: &mut Context) -> Result<Shelf, Failure> {
    let opened = keeper.open()?;
    if let Some(note) = opened.note {
        context.note(&note);
    }
    Ok(opened.shelf)
}

/// Of a session that the archive did not take: where it still is.
pub(super) fn nothing_lost(error: PromoteError, session: &Path) -> Failure {
    let refused = matches!(error, PromoteError::Keep(_));
    let mut failure = Failure::from(error);
    if let (true, FailureText::Sentence(text)) = (refused, &mut failure.text) {
        let _ = write!(
            text,
            ". Nothing is lost: the session is in `{}`; promote it when that is mended",
            session.display()
        );
    }
    failure
}
