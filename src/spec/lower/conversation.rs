//! `turns` and `think`: how long conversations are, and the pauses in them.

use std::ops::Range;

use super::length;
use crate::spec::class::{OutputLength, Turns};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::node::{Kind, Node};
use crate::spec::think::Think;
use crate::spec::values;
use crate::unit::Nanos;

const THINK: Shape = Shape {
    known: &["fixed", "uniform", "lognormal", "exponential"],
    later: &[],
    example: "think: {lognormal: {p50: 5s, p95: 30s}}",
};
const LOGNORMAL: Shape = Shape {
    known: &["p50", "p95"],
    later: &[],
    example: "{p50: 5s, p95: 30s}",
};

/// Turns of one conversation at most.
const MOST_TURNS: u32 = 1000;

/// `turns` of a class, with the `think` that belongs to it.
pub(super) fn turns(
    fields: &Fields<'_>,
    whole: &str,
    output_length: OutputLength,
    model: Option<u32>,
    out: &mut Diagnostics,
) -> Result<Option<Turns>, fields::Noted> {
    let think = fields.optional("think", out, think);
    let count = fields.optional("turns", out, |node, out| {
        let count = length::lower(node, &format!("`turns` of {whole}"), out)?;
        // A log-normal has no largest; its conversations end at the most.
        let count = length::clip(count, MOST_TURNS);
        if count.is_none() {
            let rule = format!("a conversation has at most {MOST_TURNS} turns");
            fields::out_of_range(node, "`turns`", rule, out);
        }
        count
    });
    if let (Some(span), false) = (fields.key_span("think"), fields.has("turns")) {
        conflict(
            span,
            format!("{whole} has `think` and no `turns`"),
            "give it `turns`; how long a user of a closed stage thinks, `closed` says",
            out,
        );
        return Err(fields::Noted);
    }
    let (think, count) = (think?, count?);
    let Some(count) = count else {
        return Ok(None);
    };
    let is_open_ended = output_length == OutputLength::Natural && !fields.has("max_output");
    // Without the model's length, that there is no `max_output` is said with the lengths.
    if is_open_ended && model.is_some() {
        out.error(
            "spec::missing-field",
            fields.key_span("turns").unwrap_or(fields.span()),
            format!("{whole} has `turns`, a natural output length and no `max_output`"),
            "add one like `max_output: 1024`, so that the first answer can't fill the model",
        );
        return Err(fields::Noted);
    }
    Ok(Some(Turns {
        count,
        think,
        room: model,
    }))
}

fn conflict(span: &Range<usize>, message: String, help: &str, out: &mut Diagnostics) {
    out.error("spec::conflicting-fields", span, message, help);
}

/// A time to think: `500ms`, or a distribution of times.
pub(super) fn think(node: &Node, out: &mut Diagnostics) -> Option<Think> {
    const WHAT: &str = "`think`";
    if node.scalar().is_some() {
        return values::quantity(node, WHAT, "think: 500ms", out).map(Think::Fixed);
    }
    if !matches!(node.kind, Kind::Mapping(_)) {
        let expected = "a time or a distribution of times";
        fields::wrong_type(node, WHAT, expected, THINK.example, out);
        return None;
    }
    let fields = Fields::open(node, WHAT, &THINK, out)?;
    let key = fields.exactly_one(THINK.known, THINK.example, out)?;
    let node = fields.get(key, out)?;
    match key {
        "fixed" => values::quantity(node, WHAT, "think: {fixed: 500ms}", out).map(Think::Fixed),
        "exponential" => {
            let mean = values::time(node, WHAT, "think: {exponential: 5s}", out)?;
            Some(Think::Exponential { mean })
        }
        "uniform" => uniform(node, out),
        _ => lognormal(node, out),
    }
}

fn uniform(node: &Node, out: &mut Diagnostics) -> Option<Think> {
    const EXAMPLE: &str = "think: {uniform: [1s, 10s]}";
    let ends = match &node.kind {
        Kind::Sequence(ends) => ends.as_slice(),
        Kind::Null | Kind::Scalar(_) | Kind::Mapping(_) => &[],
    };
    let [low, high] = ends else {
        fields::wrong_type(
            node,
            "`think`",
            "a shortest and a longest time",
            EXAMPLE,
            out,
        );
        return None;
    };
    let mut end = |node| values::quantity::<Nanos>(node, "`think`", EXAMPLE, out);
    let (low, high) = (end(low), end(high));
    let (low, high) = (low?, high?);
    if low > high {
        let rule = format!("the shortest time {low} is above the longest {high}");
        fields::out_of_range(node, "`think`", rule, out);
        return None;
    }
    Some(Think::Uniform { low, high })
}

fn lognormal(node: &Node, out: &mut Diagnostics) -> Option<Think> {
    let fields = Fields::open(node, "`lognormal` of `think`", &LOGNORMAL, out)?;
    let mut read = |key: &str| {
        let node = fields.need(key, LOGNORMAL.example, out)?;
        values::time(node, &format!("`{key}`"), LOGNORMAL.example, out)
    };
    let (p50, p95) = (read("p50"), read("p95"));
    let (p50, p95) = (p50?, p95?);
    if p95 <= p50 {
        let rule = format!("p95 {p95} is not above p50 {p50}");
        fields::out_of_range(node, "`think`", rule, out);
        return None;
    }
    Some(Think::Lognormal { p50, p95 })
}
