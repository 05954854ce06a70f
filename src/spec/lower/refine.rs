//! `refine` of a stage.

use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Noted, Shape};
use crate::spec::node::{Kind, Node};
use crate::spec::refine::Refine;
use crate::spec::values;

const SHAPE: Shape = Shape {
    known: &["steps", "time"],
    later: &[],
    example: "refine: {steps: 6, time: 10m}",
};
/// Steps at most: a grid as fine as that tells nothing more.
const MOST: u32 = 50;

/// How far a sweep is refined; nothing for `false`.
pub(super) fn lower(
    stage: &Fields<'_>,
    node: &Node,
    sweep: bool,
    out: &mut Diagnostics,
) -> Result<Option<Refine>, Noted> {
    let refine = if matches!(node.kind, Kind::Mapping(_)) {
        let fields = Fields::open(node, "`refine`", &SHAPE, out).ok_or(Noted)?;
        let steps = fields.or("steps", Refine::DEFAULT.steps, out, |node, out| {
            values::whole_number(node, "`steps`", 1..=MOST, "steps: 6", out)
        });
        let time = fields.optional("time", out, |node, out| {
            values::time(node, "`time`", "time: 10m", out)
        });
        Some(Refine {
            steps: steps.ok_or(Noted)?,
            time: time?,
        })
    } else {
        let wanted = values::boolean(node, "`refine`", "refine: true", out).ok_or(Noted)?;
        wanted.then_some(Refine::DEFAULT)
    };
    if refine.is_some() && !sweep {
        out.error(
            "spec::useless-refine",
            stage.key_span("refine").unwrap_or(&node.span),
            "one load has no knee to look for",
            "give `users` or `rate` a list, or remove `refine`",
        );
        return Err(Noted);
    }
    Ok(refine)
}
