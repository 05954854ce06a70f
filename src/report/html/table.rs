//! Tables of a page.

use serde::Serialize;

use crate::report::span::Text;

/// A table that sorts by its columns where scripts run.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Table {
    /// What it holds, as an attribute.
    pub(super) label: String,
    /// What it holds, above it.
    pub(super) caption: Text,
    /// Its columns.
    pub(super) columns: Vec<Column>,
    /// Its rows, as long as there are columns.
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Column {
    name: Text,
    number: bool,
}

/// A place in a row.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Cell {
    text: Text,
    kind: Kind,
    /// What it sorts by.
    value: Option<String>,
    href: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Text,
    Number,
    Wide,
}

impl Table {
    /// An empty one.
    pub(super) fn new(caption: Text, columns: Vec<Column>) -> Self {
        Self {
            label: caption.plain(),
            caption,
            columns,
            rows: Vec::new(),
        }
    }
}

impl Column {
    /// Of texts.
    pub(super) const fn text(name: Text) -> Self {
        Self {
            name,
            number: false,
        }
    }

    /// Of numbers.
    pub(super) const fn number(name: Text) -> Self {
        Self { name, number: true }
    }
}

impl Cell {
    /// A text.
    pub(super) const fn text(text: Text) -> Self {
        Self {
            text,
            kind: Kind::Text,
            value: None,
            href: None,
        }
    }

    /// A text that may be long.
    pub(super) const fn wide(text: Text) -> Self {
        Self {
            text,
            kind: Kind::Wide,
            value: None,
            href: None,
        }
    }

    /// A number as text, which sorts by its value.
    pub(super) fn number(text: Text, value: Option<f64>) -> Self {
        Self {
            text,
            kind: Kind::Number,
            value: value
                .filter(|value| value.is_finite())
                .map(|v| v.to_string()),
            href: None,
        }
    }

    /// With a link.
    pub(super) fn linked(mut self, href: Option<String>) -> Self {
        self.href = href;
        self
    }
}
