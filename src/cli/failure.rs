//! What a user sees when a command cannot do its work, and the exit code that goes with it.

use crate::archive::ArchiveError;
use crate::baseline::{BaselineError, EditError, KeepError, PromoteError};
use crate::exit::Exit;
use crate::session::{MeasureError, TargetError};

/// A command that could not do its work.
#[derive(Debug)]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    /// What was being done, on what, why it failed, what to do next; diagnostics are rendered
    /// already and carry their own `error`.
    pub text: FailureText,
}

/// What is printed.
#[derive(Debug)]
pub enum FailureText {
    /// One sentence, printed behind `error: `.
    Sentence(String),
    /// Rendered diagnostics, printed as they are.
    Diagnostics(String),
}

impl Failure {
    /// A sentence with an exit code.
    pub fn new(exit: Exit, sentence: impl Into<String>) -> Self {
        Self {
            exit,
            text: FailureText::Sentence(sentence.into()),
        }
    }

    /// A mistake in usage, spec or configuration.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::new(Exit::Usage, sentence)
    }

    /// The text as it is printed, with its line end.
    pub fn render(&self) -> String {
        match &self.text {
            FailureText::Sentence(sentence) => format!("error: {sentence}\n"),
            FailureText::Diagnostics(text) => text.clone(),
        }
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        // A file that cannot be read is a wrong argument; one that cannot be written loses a
        // measurement.
        let exit = match &error {
            ArchiveError::Io {
                doing: "write" | "create" | "read back",
                ..
            }
            | ArchiveError::Behind { .. }
            | ArchiveError::Changed { .. } => Exit::Invalid,
            _ => Exit::Usage,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<BaselineError> for Failure {
    fn from(error: BaselineError) -> Self {
        let exit = match &error {
            BaselineError::None { .. }
            | BaselineError::OtherEnvironment { .. }
            | BaselineError::Unreachable { .. } => Exit::Undecided,
            BaselineError::NoRun { .. }
            | BaselineError::Tampered { .. }
            | BaselineError::Accept { .. }
            | BaselineError::Archive(_)
            | BaselineError::Git(_) => Exit::Usage,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<PromoteError> for Failure {
    fn from(error: PromoteError) -> Self {
        match error {
            PromoteError::Archive(error) => error.into(),
            PromoteError::Baseline(error) => error.into(),
            PromoteError::Keep(error) => error.into(),
            error => Self::usage(error.to_string()),
        }
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Baseline(error) => error.into(),
            EditError::Keep(error) => error.into(),
            error @ (EditError::Void(_) | EditError::Pin(_)) => Self::usage(error.to_string()),
        }
    }
}

impl From<KeepError> for Failure {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Archive(error) => error.into(),
            KeepError::Baseline(error) => error.into(),
            error @ (KeepError::Unreachable { .. } | KeepError::Crowded { .. }) => {
                Self::new(Exit::Invalid, error.to_string())
            }
            error @ (KeepError::Refused { .. }
            | KeepError::CheckedOut { .. }
            | KeepError::Git(_)) => Self::usage(error.to_string()),
        }
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self::new(Exit::Invalid, error.to_string())
    }
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        let exit = match &error {
            MeasureError::Contradiction { .. }
            | MeasureError::ReplicasDiffer { .. }
            | MeasureError::Client(_) => Exit::Usage,
            MeasureError::NotKept { .. } => Exit::Undecided,
            MeasureError::Probe(_)
            | MeasureError::Interrupted
            | MeasureError::Start(_)
            | MeasureError::TooLate { .. }
            | MeasureError::Archive(_) => Exit::Invalid,
        };
        Self::new(exit, error.to_string())
    }
}
