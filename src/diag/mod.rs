//! Diagnostics: what is wrong in a file that a person wrote, where, and what to do next.

mod render;
mod sources;
mod suggest;

use std::ops::Range;
use std::sync::Arc;

pub use render::{Style, render};
pub use sources::{Located, Sources};
pub use suggest::suggest;

/// A text with the name under which its reader knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path as the user gave it.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Allowed, but likely not what was meant.
    Warning,
    /// Nothing can be done until it is mended.
    Error,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable and searchable: `spec::unknown-field`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence: lowercase, no full stop, literals in backticks.
    pub message: String,
    /// Byte range in the source; `None` where the mistake has no one place.
    pub span: Option<Range<usize>>,
    /// The text that the range is in, where it is not the one that was named.
    pub source: Option<Arc<Source>>,
    /// What to write at the place, as in "did you mean `rate`?".
    pub label: Option<String>,
    /// What to do next.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            span: None,
            source: None,
            label: None,
            help: Vec::new(),
        }
    }

    /// A warning without a place.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, message)
        }
    }

    /// At a byte range of the source.
    #[must_use]
    pub fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }

    /// With a text beside the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// With a line of help below.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// Line and column of a byte offset, both from 1; the column counts characters.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_column("a\nüb: x", 0), (1, 1));
        assert_eq!(line_column("a\nüb: x", 4), (2, 2));
        assert_eq!(line_column("a", 99), (1, 2));
    }
}
