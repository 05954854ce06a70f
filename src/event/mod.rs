//! What CI says of its job: which commit is judged, and which branch it is on its way into.
//!
//! Events are read, not trusted. What they know of a base is old: `push.before` is all zeros for a new
//! branch and gone after a forced push, `pull_request.base.sha` is the branch's tip when the pull
//! request was last pushed to, and the parent of a merge group may be a group that never lands. So an
//! event names the branch, and the base is what git finds that this branch and the checkout share.

mod buildkite;
mod github;
mod gitlab;
mod payload;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::ident::Commit;

/// The value of a variable.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The text of a file, or why there is none.
pub type FileText<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// A job of CI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Whose job it is.
    pub ci: Ci,
    /// The event's name there: `pull_request`, `push`.
    pub name: String,
    /// The pull or merge request, by its number.
    pub pull_request: Option<u64>,
    /// Whether that comes from another repository.
    pub fork: bool,
    /// The repository whose commit is judged, by owner and name, where the event says it.
    pub origin: Option<String>,
    /// The branch whose commit is judged.
    pub branch: Option<String>,
    /// The commit that is judged; `None` is whatever is checked out.
    pub head: Option<Commit>,
    /// Where it is going.
    pub aim: Aim,
}

/// Whose CI it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ci {
    /// GitHub Actions.
    GitHub,
    /// GitLab.
    GitLab,
    /// Buildkite.
    Buildkite,
}

/// Where a commit is going.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aim {
    /// Nowhere: it is on the branch that others are held against, if the head is what is checked out.
    Landed,
    /// Into a branch.
    Into(Destination),
}

/// The branch that a commit is to land on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Its name, without `refs/heads/`.
    pub branch: String,
    /// A commit of it that the event names, for clones without that branch.
    pub seen: Option<Seen>,
}

/// A commit of a branch as an event has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Which.
    pub commit: Commit,
    /// What it is: completes "… stands in for the branch".
    pub what: &'static str,
}

/// Why it is not known what CI is doing.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The event's file is not there.
    #[error(
        "cannot read what {ci} says of `{event}` from `{path}`: {why}; name the base by yourself: `--base REV`"
    )]
    File {
        /// Whose.
        ci: Ci,
        /// The event's name.
        event: String,
        /// The file, as the environment names it.
        path: String,
        /// Why.
        why: String,
    },
    /// The event does not say it.
    #[error(
        "`{event}` of {ci} does not say `{field}`, without which its base can't be found; name the base by \
         yourself: `--base REV`"
    )]
    Lacks {
        /// Whose.
        ci: Ci,
        /// The event's name.
        event: String,
        /// What is not there, or is not what it should be.
        field: &'static str,
    },
    /// A branch was deleted.
    #[error(
        "this `{event}` of {ci} deleted a branch, so there is no commit to judge; leave such events out of \
         the job: `if: ${{{{ !github.event.deleted }}}}`"
    )]
    Deleted {
        /// Whose.
        ci: Ci,
        /// The event's name.
        event: String,
    },
}

/// The job that this environment describes; `None` outside of CI, and in one that is not known.
pub fn read(variable: Variable<'_>, file: FileText<'_>) -> Result<Option<Event>, EventError> {
    let is_true = |name: &str| variable(name).is_some_and(|value| value == "true");
    if is_true("GITHUB_ACTIONS") {
        github::read(variable, file).map(Some)
    } else if is_true("GITLAB_CI") {
        gitlab::read(variable).map(Some)
    } else if is_true("BUILDKITE") {
        buildkite::read(variable).map(Some)
    } else {
        Ok(None)
    }
}

impl Event {
    /// Which commit is judged and why, and where it is going, as one sentence without its stop.
    pub fn says(&self) -> String {
        let judged = match (&self.head, self.pull_request) {
            (Some(head), Some(number)) => {
                format!(
                    "{} is judged, the head of {} {number}",
                    head.short(),
                    self.request()
                )
            }
            (Some(head), None) => format!("{} is judged, which it names", head.short()),
            (None, _) => "what is checked out is judged, for it names no commit".to_owned(),
        };
        let fork = if self.fork { ", from a fork" } else { "" };
        let aim = match &self.aim {
            Aim::Landed => ", on the branch that others are held against".to_owned(),
            Aim::Into(to) => format!(", on its way into `{}`", to.branch),
        };
        format!("`{}` of {}: {judged}{fork}{aim}", self.name, self.ci)
    }

    /// What this CI calls a pull request.
    const fn request(&self) -> &'static str {
        match self.ci {
            Ci::GitLab => "merge request",
            Ci::GitHub | Ci::Buildkite => "pull request",
        }
    }
}

impl Ci {
    /// How this CI is told to fetch the whole history, as one puts it into its file.
    pub const fn whole_history(self) -> &'static str {
        match self {
            Self::GitHub => "- uses: actions/checkout@v4\n  with: {fetch-depth: 0}",
            Self::GitLab => "variables: {GIT_DEPTH: 0}",
            Self::Buildkite => "env: {BUILDKITE_GIT_CLONE_FLAGS: \"-v\"}   # without --depth",
        }
    }
}

impl fmt::Display for Ci {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GitHub => "GitHub",
            Self::GitLab => "GitLab",
            Self::Buildkite => "Buildkite",
        })
    }
}

/// A branch's name without what stands before it in a whole reference; tags are none.
fn branch_of(reference: &str) -> Option<&str> {
    match reference.strip_prefix("refs/") {
        Some(rest) => rest.strip_prefix("heads/"),
        None => (!reference.is_empty()).then_some(reference),
    }
}
