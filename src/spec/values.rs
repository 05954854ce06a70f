//! Reading typed values out of nodes: what is wrong is noted, and reading goes on.

use std::ops::RangeInclusive;
use std::str::FromStr;

use super::diagnostics::Diagnostics;
use super::fields::{list, not_yet, out_of_range, wrong_type};
use super::node::{Entry, Kind, Node};
use crate::diag::{Diagnostic, suggest};
use crate::ident::Name;
use crate::unit::{Nanos, UnitError, scale};

/// A text; plain numbers and words are texts too.
pub(super) fn text<'n>(
    node: &'n Node,
    what: &str,
    example: &str,
    out: &mut Diagnostics,
) -> Option<&'n str> {
    if let Some(scalar) = node.scalar() {
        return Some(&scalar.text);
    }
    wrong_type(node, what, "a text", example, out);
    None
}

/// A name.
pub(super) fn name(node: &Node, what: &str, example: &str, out: &mut Diagnostics) -> Option<Name> {
    match text(node, what, example, out)?.parse() {
        Ok(name) => Some(name),
        Err(error) => {
            out.error(
                "spec::bad-name",
                &node.span,
                format!("{} {error}", node.describe()),
                format!("write it like `{example}`"),
            );
            None
        }
    }
}

/// Whether a node reads as a whole number: digits without quotes.
pub(super) fn is_whole_number(node: &Node) -> bool {
    node.scalar().is_some_and(|scalar| {
        !scalar.quoted
            && !scalar.text.is_empty()
            && scalar.text.bytes().all(|byte| byte.is_ascii_digit())
            && (scalar.text.len() == 1 || !scalar.text.starts_with('0'))
    })
}

/// A whole number within bounds.
pub(super) fn whole_number<T>(
    node: &Node,
    what: &str,
    bounds: RangeInclusive<T>,
    example: &str,
    out: &mut Diagnostics,
) -> Option<T>
where
    T: FromStr + PartialOrd + Copy + TryInto<u64>,
{
    let negative = node.scalar().is_some_and(|scalar| {
        !scalar.quoted
            && scalar.text.len() > 1
            && scalar
                .text
                .strip_prefix('-')
                .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    });
    if !is_whole_number(node) && !negative {
        wrong_type(node, what, "a whole number", example, out);
        return None;
    }
    let value: Option<T> = node.scalar().and_then(|scalar| scalar.text.parse().ok());
    let value = value.filter(|value| bounds.contains(value));
    if value.is_none() {
        let bound = |bound: T| {
            bound
                .try_into()
                .map_or_else(|_| String::new(), scale::count)
        };
        let rule = format!(
            "it must be from {} to {}",
            bound(*bounds.start()),
            bound(*bounds.end())
        );
        out_of_range(node, what, rule, out);
    }
    value
}

/// A finite number.
pub(super) fn number(node: &Node, what: &str, example: &str, out: &mut Diagnostics) -> Option<f64> {
    let value = node
        .scalar()
        .filter(|scalar| !scalar.quoted)
        .and_then(|scalar| finite(&scalar.text));
    if value.is_none() {
        wrong_type(node, what, "a number", example, out);
    }
    value
}

/// A number as JSON would have it, a leading `+` or `.` aside; neither `nan` nor `inf`.
pub(super) fn finite(text: &str) -> Option<f64> {
    let numeric = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E'));
    let value: f64 = text.parse().ok()?;
    (numeric && value.is_finite()).then_some(value)
}

/// `true` or `false`.
pub(super) fn boolean(
    node: &Node,
    what: &str,
    example: &str,
    out: &mut Diagnostics,
) -> Option<bool> {
    match node.scalar() {
        Some(scalar) if !scalar.quoted && scalar.text == "true" => Some(true),
        Some(scalar) if !scalar.quoted && scalar.text == "false" => Some(false),
        _ => {
            wrong_type(node, what, "`true` or `false`", example, out);
            None
        }
    }
}

/// A number with its unit.
pub(super) fn quantity<T>(
    node: &Node,
    what: &str,
    example: &str,
    out: &mut Diagnostics,
) -> Option<T>
where
    T: FromStr<Err = UnitError>,
{
    let Some(scalar) = node.scalar() else {
        wrong_type(node, what, "a number with its unit", example, out);
        return None;
    };
    match scalar.text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            let sentence = error.to_string();
            // The rule comes first; how to write it is help.
            let fault = sentence.split(';').next().unwrap_or(&sentence);
            let units = match &error {
                UnitError::UnknownUnit { units, .. } => format!(" (units: {units})"),
                UnitError::NotANumber { .. } | UnitError::OutOfRange { .. } => String::new(),
            };
            out.error(
                "spec::bad-unit",
                &node.span,
                format!("{what}: {} {fault}", node.describe()),
                format!("write it like `{example}`{units}"),
            );
            None
        }
    }
}

/// A time above zero.
pub(super) fn time(node: &Node, what: &str, example: &str, out: &mut Diagnostics) -> Option<Nanos> {
    let time: Nanos = quantity(node, what, example, out)?;
    if time == Nanos::ZERO {
        out_of_range(node, what, "it must be above zero", out);
        return None;
    }
    Some(time)
}

/// One of a few words.
pub(super) fn choice<T: Copy>(
    node: &Node,
    what: &str,
    options: &[(&'static str, T)],
    later: &[&'static str],
    out: &mut Diagnostics,
) -> Option<T> {
    let example = options.first().map_or("", |(word, _)| word);
    let word = text(node, what, example, out)?;
    if let Some((_, value)) = options.iter().find(|(option, _)| *option == word) {
        return Some(*value);
    }
    if later.contains(&word) {
        not_yet(&node.span, &format!("{} as {what}", node.describe()), out);
        return None;
    }
    let words = || options.iter().map(|(option, _)| *option);
    let mut diagnostic = Diagnostic::error(
        "spec::unknown-value",
        format!("{what} cannot be {}", node.describe()),
    )
    .at(node.span.clone());
    let expanded = node.scalar().is_some_and(|scalar| scalar.expanded);
    let near = suggest(word, words().chain(later.iter().copied())).filter(|_| !expanded);
    if let Some(near) = near {
        diagnostic = diagnostic.label(format!("did you mean `{near}`?"));
    }
    out.push(diagnostic.help(format!("it is one of {}", list(words()))));
    None
}

/// A list, or one value that stands for a list of one; an empty list is refused.
pub(super) fn one_or_many<'n>(node: &'n Node, what: &str, out: &mut Diagnostics) -> &'n [Node] {
    match &node.kind {
        Kind::Sequence(items) => {
            if items.is_empty() {
                empty_list(node, what, out);
            }
            items
        }
        Kind::Null | Kind::Scalar(_) | Kind::Mapping(_) => std::slice::from_ref(node),
    }
}

/// A list with at least one item.
pub(super) fn items<'n>(
    node: &'n Node,
    what: &str,
    example: &str,
    out: &mut Diagnostics,
) -> Option<&'n [Node]> {
    match &node.kind {
        Kind::Sequence(items) if items.is_empty() => {
            empty_list(node, what, out);
            None
        }
        Kind::Sequence(items) => Some(items),
        Kind::Null | Kind::Scalar(_) | Kind::Mapping(_) => {
            wrong_type(node, what, "a list", example, out);
            None
        }
    }
}

/// Fields whose names the spec chooses, at least one.
pub(super) fn entries<'n>(
    node: &'n Node,
    what: &str,
    example: &str,
    out: &mut Diagnostics,
) -> Option<&'n [Entry]> {
    match &node.kind {
        Kind::Mapping(entries) if !entries.is_empty() => Some(entries),
        Kind::Mapping(_) | Kind::Null | Kind::Scalar(_) | Kind::Sequence(_) => {
            wrong_type(node, what, "a mapping of names", example, out);
            None
        }
    }
}

fn empty_list(node: &Node, what: &str, out: &mut Diagnostics) {
    out.error(
        "spec::empty-list",
        &node.span,
        format!("{what} is an empty list"),
        "give it at least one item, or leave the field out",
    );
}
