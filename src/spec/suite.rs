//! A suite: specs that are judged as one, each as it is or once in each cell of a matrix.
//!
//! A cell says what it changes of a spec in the spec's own language, and its fields stand over the spec's as
//! those stand over what the spec extends.

mod lower;
#[cfg(test)]
pub(super) mod tests;

#[cfg(test)]
pub(super) use lower::FIELDS;

use std::collections::BTreeMap;

use super::diagnostics::Diagnostics;
use super::node::{Kind, Node, Scalar};
use super::yaml;
use crate::diag::{Diagnostic, Source, Sources};
use crate::unit::Nanos;

/// Members of a suite at most.
pub const MOST_MEMBERS: usize = 256;

/// Specs that are judged as one.
#[derive(Debug, Clone)]
pub struct Suite {
    /// Paths of specs from the suite's folder; `None` for all that lie there.
    pub specs: Option<Vec<String>>,
    /// What all of its members may take together, by the clock.
    pub time: Option<Nanos>,
    /// The cells of the matrix in the order of their axes; one that changes nothing where there is none.
    cells: Vec<Cell>,
    excluded: Vec<Choice>,
    included: Vec<(Option<String>, Cell)>,
}

/// One cell of a matrix.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its value on each axis, in the order of the axes.
    pub values: Vec<AxisValue>,
    source: Source,
    layers: Vec<Node>,
}

/// A value on an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisValue {
    /// The axis.
    pub axis: String,
    /// The value.
    pub value: String,
}

/// Some values and perhaps a spec, which all have to be a member's.
#[derive(Debug, Clone)]
struct Choice {
    spec: Option<String>,
    values: BTreeMap<String, String>,
}

/// One spec in one cell.
#[derive(Debug, Clone)]
pub struct SuiteMember {
    /// The spec's path, as the suite or its folder names it.
    pub spec: String,
    /// The cell; `None` for the spec as it is.
    pub cell: Option<Cell>,
}

impl Suite {
    /// Reads a suite; an error holds every mistake in the order of the text.
    pub fn parse(source: &Source) -> Result<Self, Vec<Diagnostic>> {
        let mut out = Diagnostics::default();
        let root = yaml::read(&source.text, &mut out);
        let suite = root.and_then(|root| lower::lower(&root, source, &mut out));
        match suite {
            Some(suite) if !out.has_errors() => Ok(suite),
            _ => Err(out.finish()),
        }
    }

    /// What the suite is made of: each of these specs in each cell that is not excluded, then what is included.
    pub fn members(&self, specs: &[String]) -> Vec<SuiteMember> {
        let mut members = Vec::new();
        for spec in specs {
            let cells = self.cells.iter().filter(|cell| {
                let is_excluded = |choice: &Choice| choice.is_of(spec, cell);
                !self.excluded.iter().any(is_excluded)
            });
            let of = self.included.iter();
            let included = of.filter(|(only, _)| only.as_ref().is_none_or(|only| only == spec));
            for cell in cells.chain(included.map(|(_, cell)| cell)) {
                members.push(SuiteMember {
                    spec: spec.clone(),
                    cell: (!cell.values.is_empty()).then(|| cell.clone()),
                });
            }
        }
        members
    }
}

impl Choice {
    fn is_of(&self, spec: &str, cell: &Cell) -> bool {
        self.spec.as_deref().is_none_or(|own| own == spec)
            && self.values.iter().all(|(axis, value)| {
                let mut values = cell.values.iter();
                values.any(|own| own.axis == *axis && own.value == *value)
            })
    }
}

impl Cell {
    /// Its values, joined: `vllm-fp8`.
    pub fn label(&self) -> String {
        let values: Vec<&str> = self.values.iter().map(|own| &*own.value).collect();
        values.join("-")
    }

    /// A spec as this cell has it: with the cell's fields over its own, its values in place of
    /// `${matrix.AXIS}`, and its values behind the name, where the cell gives none.
    pub(super) fn apply(
        &self,
        mut root: Node,
        sources: &mut Sources,
        out: &mut Diagnostics,
    ) -> Node {
        let start = sources.add(self.source.clone());
        for layer in &self.layers {
            root = super::compose::merge(root, layer.clone().moved(start));
        }
        let is_named = self
            .layers
            .iter()
            .any(|layer| layer.field("name").is_some());
        if !is_named
            && let Kind::Mapping(entries) = &mut root.kind
            && let Some(name) = entries.iter_mut().find(|entry| entry.key == "name")
            && let Kind::Scalar(scalar) = &mut name.value.kind
        {
            scalar.text = format!("{}-{}", scalar.text, self.label());
        }
        substitute(&mut root, Some(&self.values), out);
        root
    }
}

const OPEN: &str = "${matrix.";

/// Puts the values of a cell in place of `${matrix.AXIS}`; without a cell there are none.
pub(super) fn substitute(node: &mut Node, values: Option<&[AxisValue]>, out: &mut Diagnostics) {
    let span = node.span.clone();
    match &mut node.kind {
        Kind::Scalar(scalar) if scalar.text.contains(OPEN) => match filled(scalar, values) {
            Ok(text) => scalar.text = text,
            Err((axis, known)) => {
                let (message, help) = match values {
                    None => (
                        format!("`{OPEN}{axis}}}` has a value in a suite alone"),
                        "judge the spec by its suite: `infergate gate FOLDER`".to_owned(),
                    ),
                    Some(_) => (
                        format!("the matrix has no axis `{axis}`"),
                        format!("its axes are {known}"),
                    ),
                };
                out.error("spec::unknown-axis", &span, message, help);
                // It is no variable of the environment either.
                scalar.text = scalar.text.replace("${", "");
            }
        },
        Kind::Null | Kind::Scalar(_) => {}
        Kind::Sequence(items) => {
            for item in items {
                substitute(item, values, out);
            }
        }
        Kind::Mapping(entries) => {
            for entry in entries {
                substitute(&mut entry.value, values, out);
            }
        }
    }
}

/// The text with values in it; an error names the axis that is none, and those that are.
fn filled(scalar: &Scalar, values: Option<&[AxisValue]>) -> Result<String, (String, String)> {
    let values = values.unwrap_or_default();
    let mut text = String::new();
    let mut rest = scalar.text.as_str();
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (axis, after) = after.split_once('}').unwrap_or((after, ""));
        let Some(own) = values.iter().find(|own| own.axis == axis) else {
            let known = values.iter().map(|own| &*own.axis);
            return Err((axis.chars().take(40).collect(), super::fields::list(known)));
        };
        text.push_str(before);
        text.push_str(&own.value);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}
