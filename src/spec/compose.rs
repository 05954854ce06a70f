//! `extends`: a spec and the files that it shares with others become one tree.
//!
//! The tree goes through the rest of the pass as that of one file would. Its places count through all texts,
//! so that a mistake is shown in the file in which it is written, whichever rule finds it.

use std::ops::Range;

use super::diagnostics::Diagnostics;
use super::fields::wrong_type;
use super::files::{FileAsk, FileText, Files, Reader};
use super::node::{Entry, Kind, Node};
use super::suite::{Cell, substitute};
use super::yaml;
use crate::diag::{Source, Sources};

/// Files that one spec is put together from, at most.
const MOST_FILES: usize = 8;
const FIELD: &str = "extends";

/// A spec as one tree.
pub(super) struct Composed {
    /// Without any `extends`; `None` where something could not be read, with the reasons noted.
    pub(super) root: Option<Node>,
    /// The texts that its places are in, the spec's own first.
    pub(super) sources: Sources,
}

impl Composed {
    /// Whether it came from more than one text.
    pub(super) fn is_merged(&self) -> bool {
        self.sources.all().nth(1).is_some()
    }
}

/// Reads a spec and what it extends, as a suite's cell has it.
pub(super) fn compose(
    source: &Source,
    cell: Option<&Cell>,
    files: Files<'_>,
    out: &mut Diagnostics,
) -> Composed {
    let own = yaml::read(&source.text, out);
    let mut chain = Chain {
        sources: Sources::new(source.clone()),
        paths: vec![own_name(&source.path).to_owned()],
        files,
    };
    let root = own.and_then(|own| chain.follow(own, out));
    let mut sources = chain.sources;
    let root = root.map(|mut root| {
        if let Some(cell) = cell {
            return cell.apply(root, &mut sources, out);
        }
        substitute(&mut root, None, out);
        root
    });
    Composed { root, sources }
}

/// Puts what a spec says over what it shares. Mappings are merged key by key, however deep; everything else
/// of `over` takes the place of what is below it, and a key without a value takes that away.
///
/// `{a: {x: 1, y: 2}, b: [1]}` under `{a: {y: 3}, b: [2]}` is `{a: {x: 1, y: 3}, b: [2]}`.
pub(super) fn merge(below: Node, over: Node) -> Node {
    match (below.kind, over.kind) {
        (Kind::Mapping(mut entries), Kind::Mapping(over_entries)) => {
            for entry in over_entries {
                put(&mut entries, entry);
            }
            Node {
                span: over.span,
                kind: Kind::Mapping(entries),
            }
        }
        (_, kind) => Node {
            span: over.span,
            kind,
        },
    }
}

fn put(entries: &mut Vec<Entry>, over: Entry) {
    let Some(at) = entries.iter().position(|entry| entry.key == over.key) else {
        entries.push(over);
        return;
    };
    if matches!(over.value.kind, Kind::Null) {
        entries.remove(at);
        return;
    }
    let below = std::mem::replace(&mut entries[at].value, Node::nothing());
    entries[at] = Entry {
        value: merge(below, over.value),
        key: over.key,
        key_span: over.key_span,
    };
}

/// The files of a spec, from its own on.
struct Chain<'f> {
    sources: Sources,
    /// Their paths from the spec's folder.
    paths: Vec<String>,
    files: Files<'f>,
}

impl Chain<'_> {
    fn follow(&mut self, mut own: Node, out: &mut Diagnostics) -> Option<Node> {
        let mut next = take_field(&mut own);
        let mut layers = vec![own];
        while let Some(field) = next {
            let mut layer = self.read(&field, out)?;
            next = take_field(&mut layer);
            layers.push(layer);
        }
        layers.into_iter().rev().reduce(merge)
    }

    /// The tree of a file that is extended.
    fn read(&mut self, field: &Entry, out: &mut Diagnostics) -> Option<Node> {
        let span = &field.value.span;
        let here = self.paths.last().map_or("", String::as_str);
        let path = beside(here, &relative(&field.value, "`extends`", out)?);
        if let Some(first) = self.paths.iter().position(|known| *known == path) {
            let mut round = self.paths[first..].to_vec();
            round.push(path);
            out.error(
                "spec::extends-cycle",
                span,
                format!("files extend each other in a circle: {}", round.join(" → ")),
                "what is shared must not extend the one that shares it; take one `extends` out",
            );
            return None;
        }
        if self.paths.len() == MOST_FILES {
            out.error(
                "spec::extends-too-deep",
                span,
                format!(
                    "a spec is put together from {MOST_FILES} files at most: {} → {path}",
                    self.paths.join(" → ")
                ),
                "bring some of them together",
            );
            return None;
        }
        let ask = FileAsk {
            reader: Reader::Extends,
            file: &path,
        };
        let text = match (self.files)(ask) {
            Ok(FileText::Whole(text)) => text,
            Ok(FileText::Replay(_) | FileText::Rows(_) | FileText::Schema(_)) => {
                unreadable(&path, "it is not kept as a text", span, out);
                return None;
            }
            Err(why) => {
                unreadable(&path, &why, span, out);
                return None;
            }
        };
        let named = self.sources.all().next().map_or("", |source| &source.path);
        let source = Source {
            path: beside(named, &path),
            text,
        };
        let mut noted = Diagnostics::default();
        let layer = yaml::read_shared(&source.text, &mut noted);
        let start = self.sources.add(source);
        out.append(noted, start);
        let layer = layer?.moved(start);
        self.paths.push(path);
        if !matches!(layer.kind, Kind::Mapping(_)) {
            wrong_type(
                &layer,
                "what a spec extends",
                "a mapping",
                "workload: {seed: 42}",
                out,
            );
            return None;
        }
        Some(layer)
    }
}

fn unreadable(path: &str, why: &str, span: &Range<usize>, out: &mut Diagnostics) {
    out.error(
        "spec::file-unreadable",
        span,
        format!("the file `{path}`, which is extended, cannot be read: {why}"),
        "its path is relative to the file that names it; correct it, or copy the file there",
    );
}

/// Takes `extends` out of a mapping.
fn take_field(node: &mut Node) -> Option<Entry> {
    let Kind::Mapping(entries) = &mut node.kind else {
        return None;
    };
    let at = entries.iter().position(|entry| entry.key == FIELD)?;
    Some(entries.remove(at))
}

/// The path of another file of the repository, as `what` names it.
pub(super) fn relative(node: &Node, what: &str, out: &mut Diagnostics) -> Option<String> {
    let example = format!("{}: ../shared.yaml", what.trim_matches('`'));
    let Some(scalar) = node.scalar().filter(|scalar| !scalar.text.is_empty()) else {
        wrong_type(node, what, "the path of a file", &example, out);
        return None;
    };
    let path = scalar.text.as_str();
    let why = if path.contains("://") {
        "a URL, and what a spec says must not change with what somebody else serves"
    } else if path.starts_with(['/', '~']) || path.contains('\\') || path.contains(':') {
        "no relative path, so it would be another file on another machine"
    } else if path.contains("${") {
        "no fixed path, and a spec has to say the same in every environment"
    } else if path.ends_with('/') {
        "a folder"
    } else {
        return Some(path.to_owned());
    };
    out.error(
        "spec::bad-path",
        &node.span,
        format!("{what} names `{}`, which is {why}", scalar.shown()),
        format!("name a file of the repository by its path from this one: `{example}`"),
    );
    None
}

/// What a file is called, without its folder.
fn own_name(path: &str) -> &str {
    path.rsplit(['/', '\\', ':']).next().unwrap_or(path)
}

/// A path that is relative to a file, from where that file's path begins: `a/b.yaml` and `../c.yaml` are
/// `c.yaml`. What leads out of there keeps its `..`.
fn beside(file: &str, path: &str) -> String {
    let folder = &file[..file.len() - own_name(file).len()];
    // `0123456789ab:` of a commit, and a root, stay what they are.
    let fixed = folder.find(':').map_or(0, |at| at + 1);
    let (fixed, folder) = folder.split_at(fixed);
    let root = if folder.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{fixed}{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_from_the_file_that_names_them() {
        for (file, path, wanted) in [
            ("spec.yaml", "shared.yaml", "shared.yaml"),
            (
                "specs/chat/spec.yaml",
                "../shared.yaml",
                "specs/shared.yaml",
            ),
            ("spec.yaml", "../shared.yaml", "../shared.yaml"),
            ("../a.yaml", "../b/./c.yaml", "../../b/c.yaml"),
            ("/srv/spec.yaml", "shared.yaml", "/srv/shared.yaml"),
            ("0123456789ab:spec.yaml", "a.yaml", "0123456789ab:a.yaml"),
            (
                "0123456789ab:x/spec.yaml",
                "../a.yaml",
                "0123456789ab:a.yaml",
            ),
        ] {
            assert_eq!(beside(file, path), wanted, "{file} and {path}");
        }
    }
}
