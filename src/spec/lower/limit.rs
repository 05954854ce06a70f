//! Where a cell breaks: `worse_by` with `floor`, `at_most`, `at_least`, or the metric's default.

use crate::metric::{CellMetric, Direction, Kind, Metric};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields};
use crate::spec::limit::Limit;
use crate::spec::node::Node;
use crate::spec::values;
use crate::unit::scale::Unit;
use crate::unit::{Joules, Nanos, Rps, Share, TokensPerJoule};

/// The tolerance of a metric for which the spec gives no limit; `None` where there is no usual one.
pub(super) fn default(metric: Metric) -> Option<Limit> {
    let relative = |ratio| Some(Limit::WorseBy { ratio, floor: None });
    match metric {
        Metric::Ttft | Metric::Ttfa | Metric::Tpot | Metric::Itl | Metric::E2e => relative(0.10),
        Metric::Goodput
        | Metric::MaxGoodput
        | Metric::RequestThroughput
        | Metric::OutputThroughput
        | Metric::InputThroughput
        | Metric::TotalThroughput
        | Metric::TokensPerJoule
        | Metric::JoulesPerGood => relative(0.05),
        Metric::Attainment | Metric::QualityAgreement => Some(Limit::WorseByPoints(0.02)),
        Metric::QualityValidJson
        | Metric::QualityRegex
        | Metric::QualityExact
        | Metric::QualityImported
        | Metric::LostToEvents => Some(Limit::WorseByPoints(0.01)),
        Metric::ErrorRatio => Some(Limit::WorseByPoints(0.005)),
        // Times of single requests, and of reading weights from a disk that others read too.
        Metric::ColdReady => relative(0.20),
        Metric::ColdFirstRequest | Metric::ColdWarmRequest => relative(0.50),
        // A single gap differs by 30 to 80 % between equal runs: only a limit in seconds makes sense. What
        // follows from an event is one figure a run, and how long a restart takes is the service's own.
        Metric::ChunkGap
        | Metric::MaxStall
        | Metric::TruncatedRatio
        | Metric::RecoveryTime
        | Metric::DrainTime => None,
    }
}

/// The limits of a cell: at least one, at most a relative and an absolute one.
pub(super) fn lower(
    fields: &Fields<'_>,
    metric: CellMetric,
    out: &mut Diagnostics,
) -> Option<Vec<Limit>> {
    let metric = metric.metric();
    let given = ["worse_by", "floor", "at_most", "at_least"];
    if !given.iter().any(|key| fields.has(key)) {
        let limit = default(metric);
        if limit.is_none() {
            out.error(
                "spec::needs-limit",
                fields.span(),
                format!("there is no usual tolerance for `{metric}`"),
                format!("give one like `{}`", absolute_example(metric)),
            );
        }
        return limit.map(|limit| vec![limit]);
    }
    let relative = fields.optional("worse_by", out, |node, out| worse_by(node, metric, out));
    let floor = fields.optional("floor", out, |node, out| {
        value(node, "`floor`", metric, out)
    });
    let at_most = fields.optional("at_most", out, |node, out| {
        absolute(node, "at_most", Direction::LowerIsBetter, metric, out).map(Limit::AtMost)
    });
    let at_least = fields.optional("at_least", out, |node, out| {
        absolute(node, "at_least", Direction::HigherIsBetter, metric, out).map(Limit::AtLeast)
    });
    if let Some(place) = fields.key_span("floor")
        && (metric.kind() == Kind::Proportion || !fields.has("worse_by"))
    {
        bad(
            place,
            "`floor` goes with a `worse_by` in percent".to_owned(),
            "write it like `worse_by: 10%, floor: 5ms`: worse by both, or it does not count"
                .to_owned(),
            out,
        );
        return None;
    }
    let floor = floor.ok()?;
    let relative = relative.ok()?.map(|limit| match limit {
        Limit::WorseBy { ratio, .. } => Limit::WorseBy { ratio, floor },
        other => other,
    });
    let limits = [relative, at_most.ok()?, at_least.ok()?];
    Some(limits.into_iter().flatten().collect())
}

fn worse_by(node: &Node, metric: Metric, out: &mut Diagnostics) -> Option<Limit> {
    let proportion = metric.kind() == Kind::Proportion;
    let example = if proportion {
        "worse_by: 2pp"
    } else {
        "worse_by: 10%"
    };
    let share: Share = values::quantity(node, "`worse_by`", example, out)?;
    let (limit, size, most) = match (share, proportion) {
        (Share::Percent(ratio), false) => {
            let most = match metric.direction() {
                Direction::LowerIsBetter => 10.0,
                Direction::HigherIsBetter => 0.99,
            };
            (Limit::WorseBy { ratio, floor: None }, ratio, most)
        }
        (Share::Points(points), true) => (Limit::WorseByPoints(points), points, 0.99),
        (Share::Percent(_), true) => {
            bad(
                &node.span,
                format!("`{metric}` is a proportion: `%` of it could mean two things"),
                format!("say percentage points: `{example}`"),
                out,
            );
            return None;
        }
        (Share::Points(_), false) => {
            bad(
                &node.span,
                format!("`{metric}` is no proportion, so `pp` does not apply"),
                format!("say percent: `{example}`"),
                out,
            );
            return None;
        }
    };
    if !(size > 0.0 && size <= most) {
        let rule = format!(
            "it must be above 0, at most {}",
            if proportion {
                Share::Points(most)
            } else {
                Share::Percent(most)
            }
        );
        fields::out_of_range(node, "`worse_by`", rule, out);
        return None;
    }
    Some(limit)
}

fn absolute(
    node: &Node,
    key: &str,
    wanted: Direction,
    metric: Metric,
    out: &mut Diagnostics,
) -> Option<f64> {
    if metric.direction() != wanted {
        let better = match metric.direction() {
            Direction::LowerIsBetter => "lower",
            Direction::HigherIsBetter => "higher",
        };
        bad(
            &node.span,
            format!("`{key}` does not bound `{metric}`, of which {better} is better"),
            format!("write `{}`", absolute_example(metric)),
            out,
        );
        return None;
    }
    value(node, &format!("`{key}`"), metric, out)
}

/// A value above zero in the metric's unit.
fn value(node: &Node, what: &str, metric: Metric, out: &mut Diagnostics) -> Option<f64> {
    match metric.unit() {
        Unit::Seconds => values::time(node, what, "500ms", out).map(Nanos::as_secs_f64),
        Unit::RequestsPerSecond | Unit::TokensPerSecond => {
            values::quantity::<Rps>(node, what, "8/s", out).map(Rps::get)
        }
        Unit::TokensPerJoule => {
            values::quantity(node, what, "2tok/J", out).map(TokensPerJoule::get)
        }
        Unit::Joules => values::quantity(node, what, "30J", out).map(Joules::get),
        Unit::Proportion => match values::quantity(node, what, "0.5%", out)? {
            Share::Percent(fraction) if fraction > 0.0 && fraction < 1.0 => Some(fraction),
            Share::Percent(_) => {
                fields::out_of_range(node, what, "it must be above 0% and below 100%", out);
                None
            }
            Share::Points(_) => {
                bad(
                    &node.span,
                    format!("{what} of `{metric}` is a value, and `pp` is a difference"),
                    "say percent: `0.5%`".to_owned(),
                    out,
                );
                None
            }
        },
    }
}

const fn absolute_example(metric: Metric) -> &'static str {
    match (metric.unit(), metric.direction()) {
        (Unit::Seconds, _) => "at_most: 2s",
        (Unit::Proportion, Direction::LowerIsBetter) => "at_most: 0.5%",
        (Unit::Proportion, Direction::HigherIsBetter) => "at_least: 99%",
        (Unit::RequestsPerSecond, _) => "at_least: 8/s",
        (Unit::TokensPerSecond, _) => "at_least: 2000/s",
        (Unit::TokensPerJoule, _) => "at_least: 2tok/J",
        (Unit::Joules, _) => "at_most: 30J",
    }
}

fn bad(span: &std::ops::Range<usize>, message: String, help: String, out: &mut Diagnostics) {
    out.error("spec::bad-limit", span, message, help);
}
