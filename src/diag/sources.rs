//! Texts that were read as one: places count through all of them.

use std::ops::Range;
use std::sync::Arc;

use super::{Diagnostic, Source};

/// Texts that were read as one, the one that was named first. A place counts bytes through all of them, with
/// one between two, so that no place is in both.
///
/// Of texts of 10 and 5 bytes the second begins at 11: its last byte is at 15.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources(Vec<Arc<Source>>);

/// A place in one of several texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<'s> {
    /// The text.
    pub source: &'s Arc<Source>,
    /// Whether it is the one that was named.
    pub is_first: bool,
    /// The place in that text.
    pub span: Range<usize>,
}

impl Sources {
    /// Of one text.
    pub fn new(first: Source) -> Self {
        Self(vec![Arc::new(first)])
    }

    /// Adds one and says where its places begin.
    pub fn add(&mut self, source: Source) -> usize {
        let end = self.0.iter().map(|source| source.text.len() + 1).sum();
        self.0.push(Arc::new(source));
        end
    }

    /// All of them, in the order in which they came.
    pub fn all(&self) -> impl Iterator<Item = &Source> {
        self.0.iter().map(|source| &**source)
    }

    /// Which text a place is in, and where there; `None` behind all of them.
    pub fn locate(&self, span: &Range<usize>) -> Option<Located<'_>> {
        let mut start = 0;
        for (number, source) in self.0.iter().enumerate() {
            let end = start + source.text.len();
            if span.start <= end {
                return Some(Located {
                    source,
                    is_first: number == 0,
                    span: span.start - start..span.end.saturating_sub(start).min(source.text.len()),
                });
            }
            start = end + 1;
        }
        None
    }

    /// A diagnostic with its place in the text that it is about.
    #[must_use]
    pub fn resolve(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let place = diagnostic.span.as_ref().and_then(|span| self.locate(span));
        if let Some(place) = place
            && !place.is_first
        {
            let (source, span) = (Arc::clone(place.source), place.span);
            diagnostic.source = Some(source);
            diagnostic.span = Some(span);
        }
        diagnostic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_place_is_in_one_text_alone() {
        let mut sources = Sources::new(source("a", "0123456789"));
        assert_eq!(sources.add(source("b", "01234")), 11);
        assert_eq!(sources.add(source("c", "")), 17);
        let at = |span: Range<usize>| {
            let found = sources.locate(&span)?;
            Some((&*found.source.path, found.is_first, found.span))
        };
        assert_eq!(at(3..5), Some(("a", true, 3..5)));
        assert_eq!(at(10..10), Some(("a", true, 10..10)));
        assert_eq!(at(11..16), Some(("b", false, 0..5)));
        assert_eq!(at(17..17), Some(("c", false, 0..0)));
        assert_eq!(at(18..19), None);
    }
}
