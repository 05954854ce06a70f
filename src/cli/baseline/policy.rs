//! Who may change an archive: in CI only a job of a protected or default branch, never a pull request's.

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::source::read_file;
use crate::event::{self, Aim};

/// What a job of CI is, as far as its variables say.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Job {
    /// No job at all.
    None,
    /// Of a pull or merge request: its code is not reviewed.
    PullRequest,
    /// Of a branch that reviewed code alone reaches.
    Trusted,
    /// Of another ref, or of one that nobody says anything of.
    Other(String),
}

/// Refuses where this job must not change an archive; `forced` overrules a ref, never a pull request.
pub(super) fn allow_change(doing: &str, forced: bool, context: &Context) -> Result<(), Failure> {
    match job(context) {
        Job::None | Job::Trusted => Ok(()),
        Job::Other(_) if forced => Ok(()),
        Job::PullRequest => Err(Failure::usage(format!(
            "cannot {doing} in a job of a pull request: it would judge itself by its own baseline; \
             do it in a job of the branch that it is merged into"
        ))),
        Job::Other(name) => Err(Failure::usage(format!(
            "cannot {doing} in a job of `{name}`: that is neither a protected nor the default branch; \
             do it there, or say `--force` where this job may all the same"
        ))),
    }
}

fn job(context: &Context) -> Job {
    let file = |path: &str| read_file(path.as_ref());
    let says = |name: &str| context.variable(name).is_some_and(|value| value == "true");
    match event::read(&|name| context.variable(name), &file) {
        Ok(Some(event)) if event.pull_request.is_some() => Job::PullRequest,
        _ if says("GITHUB_REF_PROTECTED") || says("CI_COMMIT_REF_PROTECTED") => Job::Trusted,
        Ok(Some(event)) if event.aim == Aim::Landed => Job::Trusted,
        Ok(Some(event)) => Job::Other(event.branch.unwrap_or(event.name)),
        Err(_) => Job::Other("an event that says too little".to_owned()),
        Ok(None) => match context.variable("CI") {
            Some(value) if !matches!(value.as_str(), "" | "false" | "0") => {
                Job::Other("an unknown CI".to_owned())
            }
            _ => Job::None,
        },
    }
}
