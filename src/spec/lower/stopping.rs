//! `stop_when`, `soak` and `labels` of a stage.

use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::model::StopWhen;
use crate::spec::node::{Kind, Node};
use crate::spec::soak::Soak;
use crate::spec::values;
use crate::unit::{Nanos, Share};

/// The shortest window of a soak.
const LEAST_WINDOW: Nanos = Nanos::from_secs(1);

const STOP_WHEN: Shape = Shape {
    known: &["error_ratio", "overload"],
    later: &[],
    example: "stop_when: {error_ratio: 20%, overload: true}",
};

/// When a stage ends early. A closed loop cannot be overloaded, and only a sweep has steps to skip.
pub(super) fn stop_when(
    stage: &Fields<'_>,
    node: &Node,
    sweep: bool,
    out: &mut Diagnostics,
) -> Option<StopWhen> {
    let fields = Fields::open(node, "`stop_when`", &STOP_WHEN, out)?;
    let error_ratio = fields.optional("error_ratio", out, |node, out| {
        let share = values::quantity(node, "`error_ratio`", "error_ratio: 20%", out)?;
        match share {
            Share::Percent(share) if share > 0.0 && share <= 1.0 => Some(share),
            Share::Percent(_) | Share::Points(_) => {
                let rule = "it must be above 0, at most 100%";
                fields::out_of_range(node, "`error_ratio`", rule, out);
                None
            }
        }
    });
    let overload = fields.or("overload", false, out, |node, out| {
        values::boolean(node, "`overload`", "overload: true", out)
    });
    let place = fields.key_span("overload").unwrap_or(&node.span);
    let useless = match overload {
        Some(true) if stage.has("closed") => Some((
            "a closed loop cannot be overloaded: no more is in flight than it has users",
            "use `error_ratio`, or an `open` sweep",
        )),
        Some(true) if !sweep => Some((
            "overload is known at the end of a stage, so it stops the later steps of a sweep only",
            "use `error_ratio`, or give `rate` a list",
        )),
        _ => None,
    };
    if let Some((message, help)) = useless {
        out.error("spec::useless-stop", place, message, help);
        return None;
    }
    let stop = StopWhen {
        error_ratio: error_ratio.ok()?,
        overload: overload?,
    };
    if stop.error_ratio.is_none() && !stop.overload {
        out.error(
            "spec::missing-field",
            &node.span,
            "`stop_when` stops nothing",
            format!("write it like `{}`", STOP_WHEN.example),
        );
        return None;
    }
    Some(stop)
}

const SOAK: Shape = Shape {
    known: &["window", "tolerance"],
    later: &[],
    example: "soak: {window: 60s, tolerance: 5%}",
};

/// Whether a stage is a soak, and how it is cut and judged.
#[expect(clippy::option_option, reason = "`soak: false` was read, and is none")]
pub(super) fn soak(node: &Node, out: &mut Diagnostics) -> Option<Option<Soak>> {
    if !matches!(node.kind, Kind::Mapping(_)) {
        let soak = values::boolean(node, "`soak`", "soak: true", out)?;
        return Some(soak.then_some(Soak::USUAL));
    }
    let fields = Fields::open(node, "`soak`", &SOAK, out)?;
    let window = fields.or("window", Soak::USUAL.window, out, |node, out| {
        let window = values::time(node, "`window`", "window: 60s", out)?;
        if window < LEAST_WINDOW {
            let rule =
                format!("a window takes {LEAST_WINDOW} at least, or it holds too few requests");
            fields::out_of_range(node, "`window`", rule, out);
            return None;
        }
        Some(window)
    });
    let tolerance =
        fields.or(
            "tolerance",
            Soak::USUAL.tolerance,
            out,
            |node, out| match values::quantity(node, "`tolerance`", "tolerance: 5%", out)? {
                Share::Percent(share) if share > 0.0 => Some(share),
                Share::Percent(_) | Share::Points(_) => {
                    let rule = "it is a share of the figure's median, above 0%";
                    fields::out_of_range(node, "`tolerance`", rule, out);
                    None
                }
            },
        );
    Some(Some(Soak {
        window: window?,
        tolerance: tolerance?,
    }))
}

/// Labels, as names.
pub(super) fn labels(node: &Node, out: &mut Diagnostics) -> Option<Vec<String>> {
    let items = values::one_or_many(node, "`labels`", out);
    let labels: Vec<Option<String>> = items
        .iter()
        .map(|item| values::name(item, "`labels`", "labels: [nightly]", out))
        .map(|label| label.map(|label| label.to_string()))
        .collect();
    // All are read before the first wrong one ends it.
    labels.into_iter().collect()
}
