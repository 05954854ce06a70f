//! Reading mappings: fields that should not be there or are missing are noted, and reading goes on.

use std::fmt::Display;
use std::ops::Range;

use super::diagnostics::Diagnostics;
use super::node::{Entry, Kind, Node};
use crate::diag::{Diagnostic, suggest};

/// The fields that a mapping takes.
pub(super) struct Shape {
    /// Those that this version reads.
    pub(super) known: &'static [&'static str],
    /// Those of the language that a later version reads: refused, never ignored.
    pub(super) later: &'static [&'static str],
    /// A mapping of this shape.
    pub(super) example: &'static str,
}

/// A value could not be read; the reason is among the diagnostics.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noted;

/// A mapping whose keys are all accounted for.
pub(super) struct Fields<'n> {
    whole: String,
    span: &'n Range<usize>,
    entries: &'n [Entry],
    /// Fields that an unknown one was likely meant to be: they are not missing as well.
    meant: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// Opens a mapping and notes the fields that it should not have.
    pub(super) fn open(
        node: &'n Node,
        whole: impl Into<String>,
        shape: &Shape,
        out: &mut Diagnostics,
    ) -> Option<Self> {
        let whole = whole.into();
        let Kind::Mapping(entries) = &node.kind else {
            wrong_type(node, &whole, "a mapping", shape.example, out);
            return None;
        };
        let mut meant = Vec::new();
        for entry in entries {
            let key = entry.key.as_str();
            if shape.known.contains(&key) {
                continue;
            }
            if shape.later.contains(&key) {
                not_yet(&entry.key_span, &format!("`{key}`"), out);
                continue;
            }
            let mut diagnostic = Diagnostic::error(
                "spec::unknown-field",
                format!("unknown field `{}` in {whole}", shortened(key)),
            )
            .at(entry.key_span.clone());
            let near = suggest(key, shape.known.iter().chain(shape.later).copied());
            if let Some(near) = near {
                meant.push(near);
                diagnostic = diagnostic.label(format!("did you mean `{near}`?"));
            }
            out.push(diagnostic.help(format!(
                "{whole} takes {}: `{}`",
                list(shape.known.iter().copied()),
                shape.example
            )));
        }
        Some(Self {
            whole,
            span: &node.span,
            entries,
            meant,
        })
    }

    /// A mapping below a field that may be left out: one that is has no fields.
    pub(super) fn section(&self, key: &str, shape: &Shape, out: &mut Diagnostics) -> Option<Self> {
        let whole = format!("`{key}`");
        if !self.has(key) {
            return Some(Self {
                whole,
                span: self.span,
                entries: &[],
                meant: Vec::new(),
            });
        }
        Self::open(self.get(key, out)?, whole, shape, out)
    }

    /// A field that may be left out.
    pub(super) fn get(&self, key: &str, out: &mut Diagnostics) -> Option<&'n Node> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        if matches!(entry.value.kind, Kind::Null) {
            out.error(
                "spec::missing-value",
                &entry.key_span,
                format!("`{key}` in {} has no value", self.whole),
                "give it one, or leave the field out",
            );
            return None;
        }
        Some(&entry.value)
    }

    /// A field that must be there.
    pub(super) fn need(&self, key: &str, example: &str, out: &mut Diagnostics) -> Option<&'n Node> {
        if !self.has(key) && !self.meant.contains(&key) {
            out.error(
                "spec::missing-field",
                self.span,
                format!("{} has no `{key}`", self.whole),
                format!("add one like `{example}`"),
            );
        }
        self.get(key, out)
    }

    /// A field that may be left out, read: `Ok(None)` where it is.
    pub(super) fn optional<T>(
        &self,
        key: &str,
        out: &mut Diagnostics,
        read: impl FnOnce(&'n Node, &mut Diagnostics) -> Option<T>,
    ) -> Result<Option<T>, Noted> {
        if !self.has(key) {
            return Ok(None);
        }
        let node = self.get(key, out).ok_or(Noted)?;
        read(node, out).map(Some).ok_or(Noted)
    }

    /// A field that may be left out, read, or its default.
    pub(super) fn or<T>(
        &self,
        key: &str,
        default: T,
        out: &mut Diagnostics,
        read: impl FnOnce(&'n Node, &mut Diagnostics) -> Option<T>,
    ) -> Option<T> {
        let value = self.optional(key, out, read).ok()?;
        Some(value.unwrap_or(default))
    }

    /// Whether a field is there, with or without a value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.key_span(key).is_some()
    }

    /// The place of a field's name.
    pub(super) fn key_span(&self, key: &str) -> Option<&'n Range<usize>> {
        self.entries
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.key_span)
    }

    /// The fields in the order of the text.
    pub(super) fn entries(&self) -> &'n [Entry] {
        self.entries
    }

    /// The mapping's place.
    pub(super) fn span(&self) -> &'n Range<usize> {
        self.span
    }

    /// Which of some fields is there: exactly one has to be.
    pub(super) fn exactly_one(
        &self,
        keys: &[&'static str],
        example: &str,
        out: &mut Diagnostics,
    ) -> Option<&'static str> {
        let mut present = keys.iter().copied().filter(|key| self.has(key));
        let Some(first) = present.next() else {
            if keys.iter().any(|key| self.meant.contains(key)) {
                return None;
            }
            out.error(
                "spec::missing-field",
                self.span,
                format!("{} has neither {}", self.whole, alternatives(keys, "nor")),
                format!("add one like `{example}`"),
            );
            return None;
        };
        let mut single = Some(first);
        for second in present {
            let place = self.key_span(second).unwrap_or(self.span);
            out.error(
                "spec::conflicting-fields",
                place,
                format!("{} has both `{first}` and `{second}`", self.whole),
                format!("keep one of {}", alternatives(keys, "and")),
            );
            single = None;
        }
        single
    }
}

fn alternatives(keys: &[&str], conjunction: &str) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {conjunction} {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Words in backticks, separated by commas.
pub(super) fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

fn shortened(key: &str) -> String {
    const MOST: usize = 40;
    if key.chars().count() <= MOST {
        return key.to_owned();
    }
    key.chars().take(MOST).chain(['…']).collect()
}

/// Notes that a part of the language is not read by this version.
pub(super) fn not_yet(span: &Range<usize>, what: &str, out: &mut Diagnostics) {
    out.error(
        "spec::not-supported-yet",
        span,
        format!("{what} is not supported by this version of infergate"),
        "remove it, or use a version that has it",
    );
}

/// Notes that a value has the wrong type.
pub(super) fn wrong_type(
    node: &Node,
    what: &str,
    expected: &str,
    example: &str,
    out: &mut Diagnostics,
) {
    out.error(
        "spec::wrong-type",
        &node.span,
        format!("{what} must be {expected}, not {}", node.describe()),
        format!("write it like `{example}`"),
    );
}

/// Notes that a value is well formed but cannot be used.
pub(super) fn out_of_range(node: &Node, what: &str, rule: impl Display, out: &mut Diagnostics) {
    out.error(
        "spec::out-of-range",
        &node.span,
        format!("{what} is out of range: {}", node.describe()),
        rule.to_string(),
    );
}
