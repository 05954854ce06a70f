//! A tree written as YAML again, and the digest of what it says.

use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;

use super::node::{Kind, Node, Scalar};
use crate::diag::Sources;
use crate::ident::Digest;

/// What a spec keeps of how it was written.
pub(super) struct Written {
    /// Its text, variables not expanded.
    pub(super) text: String,
    /// Digest of what that says.
    pub(super) content: Digest,
    /// What it was read from.
    pub(super) sources: Sources,
}

/// What stands behind a value, as a comment.
pub(super) type Remark<'r> = &'r dyn Fn(&Range<usize>) -> Option<String>;

/// The tree as YAML that reads as the same tree: one value a line, in the order in which they were read.
pub(super) fn yaml(root: &Node, remark: Remark<'_>) -> String {
    let mut out = String::new();
    match &root.kind {
        Kind::Mapping(entries) if !entries.is_empty() => block(root, 0, remark, &mut out),
        _ => {
            out.push_str(inline(root).as_deref().unwrap_or("{}"));
            out.push('\n');
        }
    }
    out
}

/// Digest of what a tree says: the same whatever the order of its fields, its comments, and the files that it
/// was put together from.
pub(super) fn digest(root: &Node) -> Digest {
    Digest::of_json(&canonical(root))
}

/// As JSON, in which a number and the text of one are kept apart.
fn canonical(node: &Node) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Scalar(scalar) => {
            let sign = if is_text(scalar) { '"' } else { '=' };
            Value::String(format!("{sign}{}", scalar.text))
        }
        Kind::Sequence(items) => items.iter().map(canonical).collect(),
        Kind::Mapping(entries) => entries
            .iter()
            .map(|entry| (entry.key.clone(), canonical(&entry.value)))
            .collect(),
    }
}

/// Whether it is text whatever it looks like, or because it looks like nothing else.
fn is_text(scalar: &Scalar) -> bool {
    scalar.quoted || !is_plain(&scalar.text)
}

/// A collection with something in it, each line this far in.
fn block(node: &Node, indent: usize, remark: Remark<'_>, out: &mut String) {
    let margin = " ".repeat(indent);
    match &node.kind {
        Kind::Mapping(entries) => {
            for entry in entries {
                let _ = write!(out, "{margin}{}:", key(&entry.key));
                if let Some(text) = inline(&entry.value) {
                    line(&format!(" {text}"), &entry.key_span, remark, out);
                } else {
                    out.push('\n');
                    block(&entry.value, indent + 2, remark, out);
                }
            }
        }
        Kind::Sequence(items) => {
            for item in items {
                let _ = write!(out, "{margin}- ");
                if let Some(text) = inline(item) {
                    line(&text, &item.span, remark, out);
                } else {
                    let mut inner = String::new();
                    block(item, indent + 2, remark, &mut inner);
                    out.push_str(inner.trim_start_matches(' '));
                }
            }
        }
        Kind::Null | Kind::Scalar(_) => {}
    }
}

fn line(text: &str, span: &Range<usize>, remark: Remark<'_>, out: &mut String) {
    out.push_str(text);
    if let Some(remark) = remark(span) {
        let _ = write!(out, "  # {remark}");
    }
    out.push('\n');
}

/// What needs no line of its own; `None` of a collection with something in it.
fn inline(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Null => Some("~".to_owned()),
        Kind::Scalar(scalar) if is_text(scalar) => Some(quoted(&scalar.text)),
        Kind::Scalar(scalar) => Some(scalar.text.clone()),
        Kind::Sequence(items) => items.is_empty().then(|| "[]".to_owned()),
        Kind::Mapping(entries) => entries.is_empty().then(|| "{}".to_owned()),
    }
}

/// Whether a text that was plain is still so on a line of its own.
fn is_plain(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_alphanumeric() || "_./$+<>=".contains(c))
        || text.strip_prefix('-').is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_alphanumeric() || "-.".contains(c)) && rest != "--"
        });
    starts_well
        && !text.chars().any(char::is_control)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
        && text != "..."
}

fn key(text: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || "_.-/".contains(c);
    let is_plain =
        text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && text.chars().all(word);
    let is_null = matches!(text, "null" | "Null" | "NULL");
    if is_plain && !is_null {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// In double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
