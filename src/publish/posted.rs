//! What became of each thing that was to be published.

use std::fmt::{self, Display};

use serde::Serialize;

/// Where something is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// The comment that is edited in place.
    Comment,
    /// The short comment that says that pass became regression, or back.
    Change,
    /// The check run.
    Check,
    /// The commit status.
    Status,
    /// The issue about the default branch.
    Issue,
    /// The summary of the job.
    Summary,
    /// The outputs of the step.
    Outputs,
    /// The note on the merge request.
    Note,
    /// The annotation of the build.
    Annotation,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// It is there.
    Done {
        /// What was done: `created`, `updated`.
        how: String,
        /// Where it can be seen.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// It was left out on purpose.
    Left {
        /// Why.
        why: String,
    },
    /// It could not be published.
    Failed {
        /// What was being done, why it failed, what to do next.
        error: String,
    },
}

/// One thing that was to be published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Posted {
    /// Where.
    pub channel: Channel,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Posted {
    /// It is there.
    pub(super) fn done(channel: Channel, how: impl Into<String>, url: Option<String>) -> Self {
        let how = how.into();
        Self {
            channel,
            outcome: Outcome::Done { how, url },
        }
    }

    /// It was left out on purpose.
    pub(super) fn left(channel: Channel, why: impl Into<String>) -> Self {
        Self {
            channel,
            outcome: Outcome::Left { why: why.into() },
        }
    }

    /// It could not be published.
    pub(super) fn failed(channel: Channel, error: &dyn Display) -> Self {
        Self {
            channel,
            outcome: Outcome::Failed {
                error: error.to_string(),
            },
        }
    }

    /// Whether it could not be published.
    pub const fn is_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. })
    }
}

impl Channel {
    /// What it is, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::Change => "comment on the change",
            Self::Check => "check run",
            Self::Status => "commit status",
            Self::Issue => "issue",
            Self::Summary => "job summary",
            Self::Outputs => "step outputs",
            Self::Note => "merge-request note",
            Self::Annotation => "build annotation",
        }
    }
}

impl Display for Posted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.channel.name();
        match &self.outcome {
            Outcome::Done {
                how,
                url: Some(url),
            } => write!(f, "{what} {how}: {url}"),
            Outcome::Done { how, url: None } => write!(f, "{what} {how}"),
            Outcome::Left { why } => write!(f, "no {what}: {why}"),
            Outcome::Failed { error } => write!(f, "{what}: {error}"),
        }
    }
}
