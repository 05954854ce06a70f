//! A spec as a tree of nodes, each with its place in the text.

use std::ops::Range;

/// One node.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Its bytes in the text; for a collection over several lines its first key or sign.
    pub(super) span: Range<usize>,
    /// What it holds.
    pub(super) kind: Kind,
}

/// What a node holds.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Nothing: `name:`, `~` or `null`.
    Null,
    /// Text that its reader gives a type.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// Fields, each key once.
    Mapping(Vec<Entry>),
}

/// A scalar as written.
#[derive(Debug, Clone)]
pub(super) struct Scalar {
    /// The text without quotes, variables expanded.
    pub(super) text: String,
    /// Whether quotes or a block make it text whatever it looks like.
    pub(super) quoted: bool,
    /// Whether a variable went into it, so that no message may show it.
    pub(super) expanded: bool,
}

/// One field of a mapping.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The field's name.
    pub(super) key: String,
    /// The name's bytes in the text.
    pub(super) key_span: Range<usize>,
    /// The field's value.
    pub(super) value: Node,
}

impl Node {
    /// A null without a place.
    pub(super) const fn nothing() -> Self {
        Self {
            span: 0..0,
            kind: Kind::Null,
        }
    }

    /// With all places so many bytes further on.
    #[must_use]
    pub(super) fn moved(mut self, by: usize) -> Self {
        self.shift(by);
        self
    }

    fn shift(&mut self, by: usize) {
        let shift = |span: &mut Range<usize>| *span = span.start + by..span.end + by;
        shift(&mut self.span);
        match &mut self.kind {
            Kind::Null | Kind::Scalar(_) => {}
            Kind::Sequence(items) => items.iter_mut().for_each(|item| item.shift(by)),
            Kind::Mapping(entries) => {
                for entry in entries {
                    shift(&mut entry.key_span);
                    entry.value.shift(by);
                }
            }
        }
    }

    /// The value of a field, if it is a mapping with that.
    pub(super) fn field(&self, key: &str) -> Option<&Self> {
        let Kind::Mapping(entries) = &self.kind else {
            return None;
        };
        let entry = entries.iter().find(|entry| entry.key == key)?;
        Some(&entry.value)
    }

    /// The scalar, if it is one.
    pub(super) fn scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(scalar),
            Kind::Null | Kind::Sequence(_) | Kind::Mapping(_) => None,
        }
    }

    /// How many nodes it is made of.
    pub(super) fn size(&self) -> usize {
        1 + match &self.kind {
            Kind::Null | Kind::Scalar(_) => 0,
            Kind::Sequence(items) => items.iter().map(Self::size).sum(),
            Kind::Mapping(entries) => entries.iter().map(|entry| entry.value.size()).sum(),
        }
    }

    /// What it is, for a sentence: "a list", "`abc`".
    pub(super) fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Scalar(scalar) if scalar.expanded => "the value of its variable".to_owned(),
            Kind::Scalar(scalar) if scalar.quoted => format!("the text {:?}", scalar.shown()),
            Kind::Scalar(scalar) => format!("`{}`", scalar.shown()),
            Kind::Sequence(_) => "a list".to_owned(),
            Kind::Mapping(_) => "a mapping".to_owned(),
        }
    }
}

impl Scalar {
    /// The text, cut where it is too long for a sentence.
    pub(super) fn shown(&self) -> String {
        const MOST: usize = 40;
        if self.text.chars().count() <= MOST {
            return self.text.clone();
        }
        let start: String = self.text.chars().take(MOST).collect();
        format!("{start}…")
    }
}
