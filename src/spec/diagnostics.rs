//! The list that every step of the pass adds to, so that all mistakes come out at once.

use std::ops::Range;

use super::variables;
use crate::diag::{Diagnostic, Severity};

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds those of a text whose places begin here.
    pub(super) fn append(&mut self, others: Self, start: usize) {
        self.0.extend(others.0.into_iter().map(|mut diagnostic| {
            let span = diagnostic.span.unwrap_or(0..0);
            diagnostic.span = Some(span.start + start..span.end + start);
            diagnostic
        }));
    }

    /// Adds an error at a place, with what to do about it.
    pub(super) fn error(
        &mut self,
        code: &'static str,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::error(code, message).at(span.clone()).help(help));
    }

    /// Adds a warning at a place, with what to do about it.
    pub(super) fn warning(
        &mut self,
        code: &'static str,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(
            Diagnostic::warning(code, message)
                .at(span.clone())
                .help(help),
        );
    }

    /// Whether the spec cannot be used.
    pub(super) fn has_errors(&self) -> bool {
        self.0
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// All of them in the order of their places, each once.
    ///
    /// A value with a variable that cannot stand or be filled in is wrong for every reader of it;
    /// only the variable is said.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        let is_variable = |diagnostic: &Diagnostic| variables::CODES.contains(&diagnostic.code);
        let places: Vec<Range<usize>> = self
            .0
            .iter()
            .filter(|diagnostic| is_variable(diagnostic))
            .filter_map(|diagnostic| diagnostic.span.clone())
            .collect();
        self.0.retain(|diagnostic| {
            is_variable(diagnostic)
                || !diagnostic
                    .span
                    .as_ref()
                    .is_some_and(|span| places.contains(span))
        });
        self.0
            .sort_by_key(|diagnostic| diagnostic.span.as_ref().map_or(0, |span| span.start));
        self.0.dedup();
        self.0
    }
}
