//! Why a request to GitHub brought nothing, and what to do about it.

use std::fmt::{self, Display};
use std::time::Duration;

/// Why a request brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// GitHub says no.
    Refused {
        /// The status of the answer.
        status: u16,
        /// GitHub's words.
        said: String,
    },
    /// So many requests are not allowed; nothing was done.
    Limited {
        /// How long GitHub asks to wait, where it says so.
        wait: Option<Duration>,
        /// GitHub's words.
        said: String,
    },
    /// GitHub can't answer now; it may have done what was asked.
    Unavailable {
        /// The status of the answer.
        status: u16,
    },
    /// No answer came.
    Silent {
        /// Why.
        why: String,
        /// Whether the request may have arrived.
        arrived: bool,
    },
    /// An answer that is none of GitHub's.
    Odd {
        /// What is odd about it.
        why: String,
    },
}

impl Fault {
    /// Whether what was asked may have been done all the same.
    pub(super) const fn may_be_done(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. } | Self::Silent { arrived: true, .. } | Self::Odd { .. }
        )
    }

    /// Whether GitHub says no by this status.
    pub(super) const fn is(&self, code: u16) -> bool {
        matches!(self, Self::Refused { status, .. } if *status == code)
    }

    /// Whether a text is too long for GitHub.
    pub(super) fn is_too_long(&self) -> bool {
        matches!(self, Self::Refused { status: 422, said } if said.contains("too long"))
    }
}

/// What a token has to be allowed, in the words of a workflow's `permissions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    /// Look at pull requests.
    ReadPulls,
    /// Comment on pull requests.
    WritePulls,
    /// Make check runs.
    WriteChecks,
    /// Make commit statuses.
    WriteStatuses,
    /// Write issues.
    WriteIssues,
}

impl Permission {
    const fn words(self) -> &'static str {
        match self {
            Self::ReadPulls => "pull-requests: read",
            Self::WritePulls => "pull-requests: write",
            Self::WriteChecks => "checks: write",
            Self::WriteStatuses => "statuses: write",
            Self::WriteIssues => "issues: write",
        }
    }
}

/// What could not be done on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// What was being done, on what: completes "cannot …".
    pub(super) doing: String,
    /// Why it failed.
    pub(super) fault: Fault,
    /// What it takes.
    pub(super) takes: Permission,
}

impl Trouble {
    /// Makes a fault one of what was being done.
    pub(super) fn of(doing: impl Into<String>, takes: Permission) -> impl FnOnce(Fault) -> Self {
        let doing = doing.into();
        move |fault| Self {
            doing,
            fault,
            takes,
        }
    }
}

impl Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            doing,
            fault,
            takes,
        } = self;
        write!(f, "cannot {doing}: ")?;
        match fault {
            Fault::Refused { status: 401, said } => write!(
                f,
                "GitHub does not accept the token (401, {said}); it may have expired or be of another server: give a \
                 valid one in `GITHUB_TOKEN`"
            ),
            Fault::Refused { status: 403, said } if said.contains("locked") => {
                write!(
                    f,
                    "the conversation is locked (403, {said}); unlock it to be told there"
                )
            }
            Fault::Refused { status: 403, said } if said.contains("via a GitHub App") => write!(
                f,
                "only GitHub Apps may (403, {said}); use the job's own `GITHUB_TOKEN` or an app's token, or go \
                 without: `--skip check` posts a commit status"
            ),
            Fault::Refused { status: 403, said } => write!(
                f,
                "the token is not allowed to (403, {said}); it takes `{need}`, which the workflow grants by\n    \
                 permissions:\n      {need}\n  (a pull request from a fork gets a token that may only read, whatever the \
                 workflow grants)",
                need = takes.words()
            ),
            Fault::Refused { status: 404, said } => write!(
                f,
                "it is not there, or the token can't see it (404, {said}); look at `--repo` and `--pr`, and in a private \
                 repository grant `{}`",
                takes.words()
            ),
            Fault::Refused { status: 410, said } => {
                write!(
                    f,
                    "it is gone, or the repository has none of it (410, {said})"
                )
            }
            Fault::Refused { status: 422, said } => write!(
                f,
                "GitHub does not take what was sent (422, {said}); the report is in the job's files"
            ),
            Fault::Refused {
                status: status @ 300..=399,
                said,
            } => write!(
                f,
                "it has moved ({status}, {said}); name the repository as it is called now: `--repo OWNER/NAME`"
            ),
            Fault::Refused { status, said } => write!(f, "GitHub refuses it ({status}, {said})"),
            Fault::Limited {
                wait: Some(wait),
                said,
            } => write!(
                f,
                "too many requests ({said}); GitHub asks to wait {} s, longer than infergate waits: publish the report \
                 later with `infergate publish`",
                wait.as_secs()
            ),
            Fault::Limited { wait: None, said } => write!(
                f,
                "too many requests ({said}), also after waiting: publish the report later with `infergate publish`"
            ),
            Fault::Unavailable { status } => write!(
                f,
                "GitHub answers {status} each time; publish the report later with `infergate publish`"
            ),
            Fault::Silent { why, .. } => write!(
                f,
                "no answer ({why}); look at `GITHUB_API_URL`, proxies and `--timeout`, or publish the report later \
                 with `infergate publish`"
            ),
            Fault::Odd { why } => write!(
                f,
                "that is no answer of GitHub's: {why}; look at `GITHUB_API_URL` and at proxies"
            ),
        }
    }
}
