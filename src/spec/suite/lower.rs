//! Tree to suite.

use std::collections::BTreeMap;

use super::{AxisValue, Cell, Choice, MOST_MEMBERS, Suite};
use crate::diag::Source;
use crate::spec::compose::relative;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Noted, Shape, list, out_of_range, wrong_type};
use crate::spec::node::{Entry, Kind, Node};
use crate::spec::values;

/// The fields of a suite.
pub(in crate::spec) const FIELDS: &[&str] = &[
    "infergate-suite",
    "specs",
    "matrix",
    "exclude",
    "include",
    "limits",
];

const SHAPE: Shape = Shape {
    known: FIELDS,
    later: &[],
    example: "infergate-suite: 1",
};
const LIMITS: Shape = Shape {
    known: &["time"],
    later: &[],
    example: "limits: {time: 3h}",
};
const MATRIX: &str =
    "matrix: {engine: {vllm: {target: {url: \"http://10.0.0.5:8000\"}}}, quantization: [fp8, awq]}";
const INCLUDE: &str = "{engine: sglang, with: {pins: {engine: {version: \"0.5.6\"}}}}";
const EXCLUDE: &str = "{engine: sglang, quantization: awq}";
/// The format that this version reads.
const FORMAT: u32 = 1;
/// Keys of an entry that are no axis.
const RESERVED: [&str; 2] = ["spec", "with"];

/// One axis, with what each of its values changes.
struct Axis {
    name: String,
    values: Vec<(String, Option<Node>)>,
}

pub(super) fn lower(root: &Node, source: &Source, out: &mut Diagnostics) -> Option<Suite> {
    let fields = Fields::open(root, "the suite", &SHAPE, out)?;
    if let Some(node) = fields.need("infergate-suite", SHAPE.example, out) {
        values::whole_number(node, "`infergate-suite`", 1..=FORMAT, SHAPE.example, out);
    }
    let specs = fields.optional("specs", out, |node, out| {
        let items = values::items(node, "`specs`", "specs: [chat.yaml, code]", out)?;
        each(items, |item| relative(item, "`specs`", out))
    });
    let time = fields.optional("limits", out, |node, out| {
        let fields = Fields::open(node, "`limits`", &LIMITS, out)?;
        let node = fields.need("time", LIMITS.example, out)?;
        values::time(node, "`time`", "3h", out)
    });
    let axes = fields
        .optional("matrix", out, matrix)
        .ok()?
        .unwrap_or_default();
    let cells = cells(&axes, source);
    if cells.len() > MOST_MEMBERS {
        let node = fields.get("matrix", out)?;
        out_of_range(
            node,
            "`matrix`",
            format!(
                "it has {} cells, and a suite {MOST_MEMBERS} members at most",
                cells.len()
            ),
            out,
        );
        return None;
    }
    let specs = specs.ok()?;
    let known = Known {
        axes: &axes,
        specs: specs.as_deref(),
        source,
    };
    let excluded = fields.or("exclude", Vec::new(), out, |node, out| {
        let items = values::items(node, "`exclude`", &format!("exclude: [{EXCLUDE}]"), out)?;
        each(items, |item| known.excluded(item, out))
    });
    let included = fields.or("include", Vec::new(), out, |node, out| {
        let items = values::items(node, "`include`", &format!("include: [{INCLUDE}]"), out)?;
        each(items, |item| known.included(item, out))
    });
    Some(Suite {
        specs,
        time: time.ok()?,
        // Without a matrix each spec is a member as it is; what is included comes beside it.
        cells,
        excluded: excluded?,
        included: included?,
    })
}

fn matrix(node: &Node, out: &mut Diagnostics) -> Option<Vec<Axis>> {
    let entries = values::entries(node, "`matrix`", MATRIX, out)?;
    each(entries, |entry| axis(entry, out))
}

/// All of them read, so that every mistake shows; `None` where one could not be.
fn each<'n, N, T>(nodes: &'n [N], read: impl FnMut(&'n N) -> Option<T>) -> Option<Vec<T>> {
    let read: Vec<Option<T>> = nodes.iter().map(read).collect();
    read.into_iter().collect()
}

fn axis(entry: &Entry, out: &mut Diagnostics) -> Option<Axis> {
    let what = format!("the axis `{}`", entry.key);
    if RESERVED.contains(&&*entry.key) {
        out.error(
            "spec::reserved-field",
            &entry.key_span,
            format!("an axis cannot be called `{}`", entry.key),
            "`spec` and `with` have a meaning in `include` and `exclude`; give it another name",
        );
        return None;
    }
    name(&entry.key, &entry.key_span, out)?;
    let values: Option<Vec<_>> = match &entry.value.kind {
        Kind::Sequence(items) if !items.is_empty() => each(items, |item| {
            let text = values::text(item, &what, "quantization: [fp8, awq]", out)?;
            name(text, &item.span, out)?;
            Some((text.to_owned(), None))
        }),
        Kind::Mapping(entries) if !entries.is_empty() => each(entries, |entry| {
            let named = name(&entry.key, &entry.key_span, out);
            let changes = changes(&entry.value, out).ok()?;
            named.map(|()| (entry.key.clone(), changes))
        }),
        _ => {
            wrong_type(
                &entry.value,
                &what,
                "a list of names, or names with what each changes of a spec",
                MATRIX,
                out,
            );
            None
        }
    };
    let values = values?;
    for (at, (value, _)) in values.iter().enumerate() {
        if values[..at].iter().any(|(before, _)| before == value) {
            out.error(
                "spec::duplicate-name",
                &entry.value.span,
                format!("{what} has `{value}` twice"),
                "keep one of the two",
            );
            return None;
        }
    }
    Some(Axis {
        name: entry.key.clone(),
        values,
    })
}

/// What a value changes of a spec; nothing where nothing is said.
fn changes(node: &Node, out: &mut Diagnostics) -> Result<Option<Node>, Noted> {
    match &node.kind {
        Kind::Null => Ok(None),
        Kind::Mapping(entries) => {
            if let Some(entry) = entries.iter().find(|entry| entry.key == "extends") {
                out.error(
                    "spec::reserved-field",
                    &entry.key_span,
                    "a cell of a matrix extends nothing",
                    "let the spec extend it, or write its fields here",
                );
                return Err(Noted);
            }
            Ok(Some(node.clone()))
        }
        Kind::Scalar(_) | Kind::Sequence(_) => {
            wrong_type(
                node,
                "what a value changes",
                "fields of a spec",
                "vllm: {target: {model: m}}",
                out,
            );
            Err(Noted)
        }
    }
}

/// A name that can be a part of a spec's.
fn name(text: &str, span: &std::ops::Range<usize>, out: &mut Diagnostics) -> Option<()> {
    let parsed: Result<crate::ident::Name, _> = text.parse();
    if let Err(error) = parsed {
        out.error(
            "spec::bad-name",
            span,
            format!("`{}` {error}", text.chars().take(40).collect::<String>()),
            "it becomes a part of the spec's name, as in `chat-8b-vllm-fp8`",
        );
        return None;
    }
    Some(())
}

/// All combinations, the last axis running first.
fn cells(axes: &[Axis], source: &Source) -> Vec<Cell> {
    let mut cells = vec![Cell {
        values: Vec::new(),
        source: source.clone(),
        layers: Vec::new(),
    }];
    for axis in axes {
        if cells.len() > MOST_MEMBERS {
            break;
        }
        let each = |cell: &Cell| -> Vec<Cell> {
            let with = axis.values.iter().map(|(value, changes)| {
                let mut cell = cell.clone();
                cell.values.push(AxisValue {
                    axis: axis.name.clone(),
                    value: value.clone(),
                });
                cell.layers.extend(changes.clone());
                cell
            });
            with.collect()
        };
        cells = cells.iter().flat_map(each).collect();
    }
    cells
}

/// What entries of `include` and `exclude` can speak of.
struct Known<'a> {
    axes: &'a [Axis],
    specs: Option<&'a [String]>,
    source: &'a Source,
}

impl Known<'_> {
    fn excluded(&self, item: &Node, out: &mut Diagnostics) -> Option<Choice> {
        let mut choice = Choice {
            spec: None,
            values: BTreeMap::new(),
        };
        for entry in values::entries(item, "an item of `exclude`", EXCLUDE, out)? {
            if entry.key == "spec" {
                choice.spec = Some(self.spec(&entry.value, out)?);
                continue;
            }
            let axis = self.axis(entry, out)?;
            let value = values::text(&entry.value, &format!("`{}`", entry.key), EXCLUDE, out)?;
            if !axis.values.iter().any(|(known, _)| known == value) {
                out.error(
                    "spec::unknown-value",
                    &entry.value.span,
                    format!("the axis `{}` has no `{value}`", axis.name),
                    format!(
                        "it has {}",
                        list(axis.values.iter().map(|(known, _)| &**known))
                    ),
                );
                return None;
            }
            choice.values.insert(entry.key.clone(), value.to_owned());
        }
        Some(choice)
    }

    fn included(&self, item: &Node, out: &mut Diagnostics) -> Option<(Option<String>, Cell)> {
        let (mut spec, mut with) = (None, None);
        let mut given: BTreeMap<&str, &str> = BTreeMap::new();
        for entry in values::entries(item, "an item of `include`", INCLUDE, out)? {
            match entry.key.as_str() {
                "spec" => spec = Some(self.spec(&entry.value, out)?),
                "with" => with = changes(&entry.value, out).ok()?,
                _ => {
                    let axis = self.axis(entry, out)?;
                    let what = format!("`{}`", entry.key);
                    let value = values::text(&entry.value, &what, INCLUDE, out)?;
                    name(value, &entry.value.span, out)?;
                    given.insert(&axis.name, value);
                }
            }
        }
        let mut cell = Cell {
            values: Vec::new(),
            source: self.source.clone(),
            layers: Vec::new(),
        };
        for axis in self.axes {
            let Some(value) = given.get(&*axis.name) else {
                out.error(
                    "spec::missing-field",
                    &item.span,
                    format!("an item of `include` has no `{}`", axis.name),
                    "it names a value on each axis, of the matrix or a new one",
                );
                return None;
            };
            let known = axis.values.iter().find(|(known, _)| known == value);
            cell.layers
                .extend(known.and_then(|(_, changes)| changes.clone()));
            cell.values.push(AxisValue {
                axis: axis.name.clone(),
                value: (*value).to_owned(),
            });
        }
        cell.layers.extend(with);
        Some((spec, cell))
    }

    fn axis<'s>(&'s self, entry: &Entry, out: &mut Diagnostics) -> Option<&'s Axis> {
        let axis = self.axes.iter().find(|axis| axis.name == entry.key);
        if axis.is_none() {
            out.error(
                "spec::unknown-axis",
                &entry.key_span,
                format!("the matrix has no axis `{}`", entry.key),
                format!(
                    "its axes are {}",
                    list(self.axes.iter().map(|axis| &*axis.name))
                ),
            );
        }
        axis
    }

    /// A spec that is a member's.
    fn spec(&self, node: &Node, out: &mut Diagnostics) -> Option<String> {
        let path = relative(node, "`spec`", out)?;
        if let Some(specs) = self.specs
            && !specs.contains(&path)
        {
            out.error(
                "spec::unknown-value",
                &node.span,
                format!("`{path}` is none of the suite's specs"),
                format!("they are {}", list(specs.iter().map(String::as_str))),
            );
            return None;
        }
        Some(path)
    }
}
