//! `gate`: how often, what is judged, and what becomes of what cannot be.

use super::import::Imports;
use super::stages::Stages;
use super::workload::Classes;
use super::{cells, defaults};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::gate::{Drift, Gate, Policy, Repeats};
use crate::spec::node::Node;
use crate::spec::values;
use crate::stats::moderated::Evidence;
use crate::unit::Share;

const SHAPE: Shape = Shape {
    known: &[
        "repeats",
        "cells",
        "undecided",
        "no_baseline",
        "incomparable",
        "token_mismatch",
        "evidence",
        "layer",
        "anchor",
    ],
    later: &["min_completed"],
    example: "gate: {cells: [{metric: ttft.p95, worse_by: 10%}]}",
};
const ANCHOR: Shape = Shape {
    known: &["drift"],
    later: &[],
    example: "anchor: {drift: 15%}",
};
const REPEATS: Shape = Shape {
    known: &["min", "max"],
    later: &[],
    example: "repeats: {min: 3, max: 10}",
};

/// Pairs after which a comparison is looked at.
const LOOKS: [u32; 4] = [3, 5, 7, 10];
/// Pairs where the spec says nothing.
const DEFAULT_REPEATS: Repeats = Repeats { min: 3, max: 10 };
/// Difference of tokens between plan and observation where the spec says nothing.
const TOKEN_MISMATCH: f64 = 0.05;
/// Gated cells from which on one false alarm among them becomes likely.
const MANY_GATES: usize = 16;

pub(super) fn lower(
    fields: &Fields<'_>,
    classes: &Classes,
    (stages, imports): (&Stages, &Imports),
    out: &mut Diagnostics,
) -> Option<Gate> {
    let top = fields.key_span("gate").unwrap_or(fields.span());
    let gate = fields.section("gate", &SHAPE, out)?;
    let repeats = gate.optional("repeats", out, repeats);
    let mut policy = |key: &str| {
        gate.or(key, Policy::default(), out, |node, out| {
            let options = [
                ("undecided", Policy::Undecided),
                ("pass", Policy::Pass),
                ("fail", Policy::Fail),
            ];
            values::choice(node, &format!("`{key}`"), &options, &[], out)
        })
    };
    let undecided = policy("undecided");
    let no_baseline = policy("no_baseline");
    let incomparable = policy("incomparable");
    let token_mismatch = gate.or("token_mismatch", TOKEN_MISMATCH, out, token_mismatch);
    let evidence = gate.or("evidence", Evidence::BeyondZero, out, |node, out| {
        let options = [
            ("beyond-zero", Evidence::BeyondZero),
            ("beyond-tolerance", Evidence::BeyondTolerance),
        ];
        values::choice(node, "`evidence`", &options, &[], out)
    });
    let anchor = gate.optional("anchor", out, anchor);
    let cells = match gate.get("cells", out) {
        Some(node) => cells::lower(node, classes, (stages, imports), out),
        None if gate.has("cells") => None,
        None => defaults::cells(classes, stages),
    };
    let place = gate.key_span("cells").unwrap_or(top);
    if let Some(cells) = &cells {
        let gated = cells.iter().filter(|cell| !cell.informational).count();
        if gated == 0 && stages.complete() {
            out.error(
                "spec::nothing-gated",
                place,
                "no cell is gated, so every run would pass",
                "give a cell without `informational: true`: `{metric: ttft.p95, worse_by: 10%}`",
            );
        }
        if gated > MANY_GATES {
            out.warning(
                "spec::many-gates",
                place,
                format!("{gated} cells are gated; each more makes the others harder to decide"),
                format!(
                    "keep at most {MANY_GATES}, and make the rest `informational: true` or pool them"
                ),
            );
        }
    }
    Some(Gate {
        repeats: repeats.ok()?,
        cells: cells?,
        undecided: undecided?,
        no_baseline: no_baseline?,
        incomparable: incomparable?,
        token_mismatch: token_mismatch?,
        evidence: evidence?,
        anchor: anchor.ok()?,
    })
}

fn repeats(node: &Node, out: &mut Diagnostics) -> Option<Repeats> {
    let fields = Fields::open(node, "`repeats`", &REPEATS, out)?;
    let mut bound = |key: &str, default: u32| {
        fields.or(key, default, out, |node, out| {
            values::whole_number(node, &format!("`{key}`"), 1..=100, REPEATS.example, out)
        })
    };
    let min = bound("min", DEFAULT_REPEATS.min);
    let max = bound("max", DEFAULT_REPEATS.max);
    let repeats = Repeats {
        min: min?,
        max: max?,
    };
    if repeats.min > repeats.max {
        out.error(
            "spec::out-of-range",
            &node.span,
            format!("`min` {} is above `max` {}", repeats.min, repeats.max),
            format!("write it like `{}`", REPEATS.example),
        );
        return None;
    }
    let looked_at = LOOKS
        .iter()
        .any(|look| (repeats.min..=repeats.max).contains(look));
    // As many as that and no others: one look, then.
    if !looked_at && repeats.min < repeats.max {
        out.error(
            "spec::no-look",
            &node.span,
            format!(
                "a comparison is decided after 3, 5, 7 or 10 pairs, and none lies from {} to {}",
                repeats.min, repeats.max
            ),
            format!(
                "write it like `{}`, or `{{min: {max}, max: {max}}}` for one look at {max} pairs",
                REPEATS.example,
                max = repeats.max
            ),
        );
        return None;
    }
    Some(repeats)
}

fn anchor(node: &Node, out: &mut Diagnostics) -> Option<Drift> {
    let fields = Fields::open(node, "`anchor`", &ANCHOR, out)?;
    let drift = fields.need("drift", ANCHOR.example, out)?;
    match values::quantity(drift, "`drift`", ANCHOR.example, out)? {
        Share::Percent(ratio) if Drift::try_new(ratio).is_some() => Drift::try_new(ratio),
        Share::Percent(_) | Share::Points(_) => {
            let rule = "it must be above 0% and below 100%";
            fields::out_of_range(drift, "`drift`", rule, out);
            None
        }
    }
}

fn token_mismatch(node: &Node, out: &mut Diagnostics) -> Option<f64> {
    match values::quantity(node, "`token_mismatch`", "token_mismatch: 5%", out)? {
        Share::Percent(fraction) if fraction > 0.0 && fraction < 1.0 => Some(fraction),
        Share::Percent(_) | Share::Points(_) => {
            let rule = "it must be above 0% and below 100%";
            fields::out_of_range(node, "`token_mismatch`", rule, out);
            None
        }
    }
}
