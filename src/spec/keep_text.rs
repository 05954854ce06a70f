//! What is kept of prompts and answers beside counts and digests.

/// Texts in records. They are what users said and were told, so none are kept unless the spec asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeepText {
    /// None.
    #[default]
    None,
    /// Answers.
    Answers,
    /// Answers, and the bodies of the requests with their prompts.
    All,
}
