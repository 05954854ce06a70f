//! YAML text to a tree of nodes; the only file that names the YAML crate.
//!
//! The tree is built from the parser's events and not by deserialising, for three reasons: serde
//! stops at the first mistake, its spans of collections have no end, and it types `1.10` as a
//! number where a version was meant. Only broken YAML ends the pass here; duplicate keys and the
//! like are noted, and reading goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_yaml::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span};

use super::diagnostics::Diagnostics;
use super::node::{Entry, Kind, Node, Scalar};
use crate::diag::Diagnostic;

/// Nodes of a spec at most, aliases expanded: bounds what a hostile file can ask for.
const MOST_NODES: usize = 20_000;
/// Bytes of a spec at most.
const MOST_BYTES: usize = 1 << 20;

/// Reads a spec; `None` where it is no YAML document, with the reason among the diagnostics.
pub(super) fn read(text: &str, out: &mut Diagnostics) -> Option<Node> {
    let node = document(text, out)?;
    if matches!(node.kind, Kind::Null) {
        out.push(
            Diagnostic::error("spec::empty", "the spec is empty")
                .help("write a first one with `infergate init`"),
        );
        return None;
    }
    Some(node)
}

/// The same of a file that specs share: one without anything in it is a mapping without fields.
pub(super) fn read_shared(text: &str, out: &mut Diagnostics) -> Option<Node> {
    let mut node = document(text, out)?;
    if matches!(node.kind, Kind::Null) {
        node.kind = Kind::Mapping(Vec::new());
    }
    Some(node)
}

/// What a text holds; null where it holds nothing.
fn document(text: &str, out: &mut Diagnostics) -> Option<Node> {
    if text.len() > MOST_BYTES {
        out.push(too_large().help(format!("a spec has at most {MOST_BYTES} bytes")));
        return None;
    }
    let mut tree = Tree {
        text,
        out,
        root: None,
        open: Vec::new(),
        anchors: BTreeMap::new(),
        nodes: 0,
        documents: 0,
    };
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => tree.take(event, &span)?,
            Err(error) => {
                let diagnostic = syntax(&error, text);
                tree.out.push(diagnostic);
                return None;
            }
        }
    }
    Some(tree.root.unwrap_or(Node::nothing()))
}

/// A tree in the making.
struct Tree<'t> {
    text: &'t str,
    out: &'t mut Diagnostics,
    root: Option<Node>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    documents: usize,
}

/// A collection whose end is still to come.
struct Open {
    start: usize,
    anchor: usize,
    items: Items,
}

enum Items {
    Sequence(Vec<Node>),
    Mapping {
        entries: Vec<Entry>,
        seen: BTreeSet<String>,
        key: Option<Key>,
    },
}

/// A key whose value is still to come.
enum Key {
    Good {
        text: String,
        span: Range<usize>,
    },
    /// Refused already; its value is dropped.
    Bad,
}

impl Tree<'_> {
    /// Takes one event; `None` ends the pass.
    fn take(&mut self, event: Event<'_>, span: &Span) -> Option<()> {
        let place = span.byte_range().unwrap_or(0..0);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.out.error(
                        "spec::unsupported-yaml",
                        &place,
                        "a spec is one YAML document, and here a second starts",
                        "keep each spec in a file of its own",
                    );
                    return None;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                let quoted = style != ScalarStyle::Plain;
                let null = !quoted && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                let kind = if null {
                    Kind::Null
                } else {
                    Kind::Scalar(Scalar {
                        text: text.into_owned(),
                        quoted,
                        expanded: false,
                    })
                };
                self.add(Node { span: place, kind }, anchor)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                self.open(place.start, anchor, Items::Sequence(Vec::new()));
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                let items = Items::Mapping {
                    entries: Vec::new(),
                    seen: BTreeSet::new(),
                    key: None,
                };
                self.open(place.start, anchor, items);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(place.end)?,
            Event::Alias(anchor) => {
                let Some(mut node) = self.anchors.get(&anchor).cloned() else {
                    self.out.error(
                        "spec::unsupported-yaml",
                        &place,
                        "an alias cannot stand inside the value it refers to",
                        "write the value out",
                    );
                    return None;
                };
                self.spend(node.size(), &place)?;
                node.span = place;
                self.add(node, 0)?;
            }
            // Stream and document ends, and presentation that is switched off.
            _ => {}
        }
        Some(())
    }

    fn open(&mut self, start: usize, anchor: usize, items: Items) {
        self.open.push(Open {
            start,
            anchor,
            items,
        });
    }

    fn close(&mut self, end: usize) -> Option<()> {
        let Open {
            start,
            anchor,
            items,
        } = self.open.pop()?;
        let (first, kind) = match items {
            Items::Sequence(items) => (None, Kind::Sequence(items)),
            Items::Mapping { entries, .. } => (
                entries.first().map(|entry| entry.key_span.clone()),
                Kind::Mapping(entries),
            ),
        };
        let one_line = self
            .text
            .get(start..end)
            .is_some_and(|text| !text.trim_end().contains('\n'));
        let span = if one_line {
            start..start + self.text[start..end].trim_end().len()
        } else {
            first.unwrap_or(start..start + 1)
        };
        self.add(Node { span, kind }, anchor)
    }

    /// Puts a whole node where it belongs.
    fn add(&mut self, node: Node, anchor: usize) -> Option<()> {
        self.spend(1, &node.span)?;
        if anchor != 0 {
            self.spend(node.size(), &node.span)?;
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Some(());
        };
        match &mut open.items {
            Items::Sequence(items) => items.push(node),
            Items::Mapping { entries, seen, key } => match key.take() {
                Some(Key::Good { text, span }) => entries.push(Entry {
                    key: text,
                    key_span: span,
                    value: node,
                }),
                Some(Key::Bad) => {}
                None => *key = Some(as_key(node, seen, self.out)),
            },
        }
        Some(())
    }

    fn spend(&mut self, nodes: usize, place: &Range<usize>) -> Option<()> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MOST_NODES {
            self.out.push(too_large().at(place.clone()).help(format!(
                "a spec has at most {MOST_NODES} values, aliases counted"
            )));
            return None;
        }
        Some(())
    }

    fn refuse_tag(&mut self, tagged: bool, span: &Span) {
        if tagged {
            let place = span.tag_span().and_then(|span| span.byte_range());
            self.out.error(
                "spec::unsupported-yaml",
                &place.unwrap_or(0..0),
                "YAML tags are not used in a spec",
                "remove the tag; quotes make a value text",
            );
        }
    }
}

fn as_key(node: Node, seen: &mut BTreeSet<String>, out: &mut Diagnostics) -> Key {
    let Kind::Scalar(scalar) = node.kind else {
        out.error(
            "spec::unsupported-yaml",
            &node.span,
            "a field's name must be plain text",
            "write it like `name: chat-8b`",
        );
        return Key::Bad;
    };
    if scalar.text == "<<" {
        out.error(
            "spec::unsupported-yaml",
            &node.span,
            "merge keys (`<<`) are not used in a spec",
            "write the fields out, or give the whole value by an alias",
        );
        return Key::Bad;
    }
    if !seen.insert(scalar.text.clone()) {
        out.error(
            "spec::duplicate-field",
            &node.span,
            format!("field `{}` is given twice", scalar.shown()),
            "keep one of the two",
        );
        return Key::Bad;
    }
    Key::Good {
        text: scalar.text,
        span: node.span,
    }
}

fn too_large() -> Diagnostic {
    Diagnostic::error("spec::too-large", "the spec is too large")
}

/// The parser's error in our own words where the case is common.
fn syntax(error: &ScanError, text: &str) -> Diagnostic {
    let start = error.marker().byte_offset().unwrap_or(text.len());
    let start = start.min(text.len());
    let at_variable = text.get(start..).is_some_and(|rest| rest.starts_with("${"))
        || text
            .get(..start)
            .is_some_and(|before| before.ends_with('$'));
    let (message, help) = match error.kind() {
        _ if at_variable => (
            "a variable inside brackets needs quotes".to_owned(),
            "write it like `{url: \"${TARGET_URL}\"}`",
        ),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => {
            ("a tab cannot indent YAML".to_owned(), "indent with spaces")
        }
        ErrorKind::UnclosedFlowCollection { open } => (
            format!("`{open}` is never closed"),
            "add the closing bracket",
        ),
        ErrorKind::UnexpectedEofFlowSequence => {
            ("`[` is never closed".to_owned(), "add the closing bracket")
        }
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            ("`{` is never closed".to_owned(), "add the closing bracket")
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => (
            format!("`{open}` is closed by `{close}`"),
            "close each bracket with its own kind",
        ),
        ErrorKind::MisplacedFlowCollectionEnd => (
            "this bracket closes nothing".to_owned(),
            "remove it, or add the bracket that it closes",
        ),
        ErrorKind::UnclosedQuotedScalar => (
            "a quoted text is never closed".to_owned(),
            "add the closing quote",
        ),
        ErrorKind::ExpectedFlowMappingSeparator => (
            "expected `,` or `}` here".to_owned(),
            "separate fields by commas, and write `key: value` with a space",
        ),
        ErrorKind::ExpectedFlowSequenceSeparator => (
            "expected `,` or `]` here".to_owned(),
            "separate items by commas",
        ),
        ErrorKind::BlockEntryInFlowCollection => (
            "a list item starts before a bracket above is closed".to_owned(),
            "close the bracket; items inside `[ ]` have no `-`",
        ),
        ErrorKind::UnknownAnchor => (
            "this alias refers to nothing above it".to_owned(),
            "define it with `&name` before, or quote a text that starts with `*`",
        ),
        ErrorKind::RecursionLimitExceeded => (
            "collections are nested too deeply".to_owned(),
            "a spec needs about six levels",
        ),
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation
        | ErrorKind::MappingValueNotAllowed
        | ErrorKind::MappingKeyNotAllowed => (
            "this line does not fit the ones before it".to_owned(),
            "check its indentation, the space after `:`, and quote a text that holds `: `",
        ),
        _ => (
            format!("not YAML: {}", error.info()),
            "check indentation, quotes and brackets near here",
        ),
    };
    let length = text
        .get(start..)
        .and_then(|rest| rest.chars().next())
        .map_or(0, char::len_utf8);
    Diagnostic::error("spec::syntax", message)
        .at(start..start + length)
        .help(help)
}
