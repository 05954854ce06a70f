//! `trade` of a cell: what it may lose more, and for which gain.

use super::cells;
use super::stages::Stages;
use crate::metric::{Cell, CellMetric, Direction, Kind, Metric};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::limit::Limit;
use crate::spec::node::Node;
use crate::spec::trade::Trade;
use crate::spec::values;
use crate::unit::Share;

const SHAPE: Shape = Shape {
    known: &["up_to", "for", "better_by", "stage"],
    later: &[],
    example: "trade: {up_to: 8%, for: output_throughput, better_by: 15%}",
};

/// A trade before it is known which cell loses.
pub(super) struct Draft {
    metric: CellMetric,
    stage: Option<String>,
    better_by: f64,
    up_to: f64,
}

impl Draft {
    /// The trade of a losing cell: the gain is looked for in its own stage where the spec names none.
    pub(super) fn of(&self, loser: &Cell) -> Trade {
        let stage = self.stage.clone().or_else(|| loser.stage.clone());
        let of_class = self.metric.metric().kind() == Kind::Distribution;
        Trade {
            gain: Cell {
                stage,
                class: loser.class.clone().filter(|_| of_class),
                metric: self.metric,
            },
            better_by: self.better_by,
            up_to: self.up_to,
        }
    }
}

/// Reads the `trade` of a cell of `metric` under `limits`.
pub(super) fn lower(
    node: &Node,
    metric: CellMetric,
    limits: &[Limit],
    stages: &Stages,
    out: &mut Diagnostics,
) -> Option<Draft> {
    let fields = Fields::open(node, "`trade`", &SHAPE, out)?;
    let tolerance = limits.iter().find_map(|limit| match limit {
        Limit::WorseBy { ratio, .. } => Some(*ratio),
        Limit::WorseByPoints(_) | Limit::AtMost(_) | Limit::AtLeast(_) => None,
    });
    let Some(tolerance) = tolerance else {
        out.error(
            "spec::bad-trade",
            &node.span,
            format!("`trade` widens a `worse_by` in percent, and `{metric}` has none here"),
            "give the cell one like `worse_by: 5%`, or leave `trade` out",
        );
        return None;
    };
    let up_to = fields
        .need("up_to", "up_to: 8%", out)
        .and_then(|node| percent(node, "`up_to`", "up_to: 8%", most(metric.metric()), out));
    let gain = fields
        .need("for", "for: output_throughput", out)
        .and_then(|node| {
            let gain = cells::metric(node, out)?;
            if gain.metric().kind() == Kind::Proportion {
                out.error(
                    "spec::bad-trade",
                    &node.span,
                    format!("`{gain}` is a proportion, and a gain in percent of one could mean two things"),
                    "trade for a latency or a rate, say `output_throughput`",
                );
                return None;
            }
            if gain.metric().kind() == Kind::OfSweep {
                out.error(
                    "spec::bad-trade",
                    &node.span,
                    format!("`{gain}` is of a whole sweep, and a gain is looked for in one stage"),
                    "trade for `goodput` of one of its steps: `{for: goodput, stage: sweep@8, …}`",
                );
                return None;
            }
            Some(gain)
        });
    let better_by = fields
        .need("better_by", "better_by: 15%", out)
        .and_then(|node| {
            let most = match gain?.metric().direction() {
                Direction::LowerIsBetter => 0.99,
                Direction::HigherIsBetter => 10.0,
            };
            percent(node, "`better_by`", "better_by: 15%", most, out)
        });
    let stage = fields.optional("stage", out, |node, out| stage(node, stages, out));
    let (up_to, gain, better_by, stage) = (up_to?, gain?, better_by?, stage.ok()?);
    if up_to <= tolerance {
        out.error(
            "spec::bad-trade",
            &node.span,
            format!(
                "`up_to` {} is no more than the `worse_by` {} that holds anyway",
                Share::Percent(up_to),
                Share::Percent(tolerance)
            ),
            "raise `up_to`, or leave `trade` out",
        );
        return None;
    }
    if gain == metric && stage.is_none() {
        out.error(
            "spec::bad-trade",
            &node.span,
            format!("`{metric}` cannot gain and lose at once"),
            "name another metric, or the stage in which it has to gain",
        );
        return None;
    }
    Some(Draft {
        metric: gain,
        stage,
        better_by,
        up_to,
    })
}

/// The most that a metric can lose, as a fraction.
const fn most(metric: Metric) -> f64 {
    match metric.direction() {
        Direction::LowerIsBetter => 10.0,
        Direction::HigherIsBetter => 0.99,
    }
}

fn percent(
    node: &Node,
    what: &str,
    example: &str,
    most: f64,
    out: &mut Diagnostics,
) -> Option<f64> {
    match values::quantity(node, what, example, out)? {
        Share::Percent(ratio) if ratio > 0.0 && ratio <= most => Some(ratio),
        Share::Percent(_) | Share::Points(_) => {
            let rule = format!(
                "it must be in percent, above 0%, at most {}",
                Share::Percent(most)
            );
            fields::out_of_range(node, what, rule, out);
            None
        }
    }
}

/// One stage or one step of a sweep, by its name.
fn stage(node: &Node, stages: &Stages, out: &mut Diagnostics) -> Option<String> {
    let name = values::text(node, "`stage`", "stage: steady", out)?;
    let steps = || {
        let drafts = stages.drafts().iter();
        drafts.flat_map(|draft| draft.steps.iter().flatten())
    };
    if steps().any(|step| step.name == name) {
        return Some(name.to_owned());
    }
    if stages.complete() {
        let names: Vec<&str> = steps().map(|step| step.name.as_str()).collect();
        cells::unknown("stage", node, name, &names, out);
    }
    None
}
