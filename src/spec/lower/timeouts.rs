//! `timeouts`: when a request is given up.

use super::workload::Classes;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape};
use crate::spec::model::SloClause;
use crate::spec::node::Node;
use crate::spec::timeouts::Timeouts;
use crate::spec::values;
use crate::unit::Nanos;

const SHAPE: Shape = Shape {
    known: &["connect", "first_token", "stall", "total"],
    later: &[],
    example: "timeouts: {connect: 10s, first_token: 60s, stall: 60s, total: 10m}",
};

/// How many times its limit a request may take before it is given up: a slow answer is still a
/// value, and cutting it near the limit would make the percentiles look better.
const TIMES_SLO: f64 = 10.0;

pub(super) fn lower(
    fields: &Fields<'_>,
    classes: &Classes,
    out: &mut Diagnostics,
) -> Option<Timeouts> {
    let fields = fields.section("timeouts", &SHAPE, out)?;
    let mut flat = |key: &str, secs: u64| {
        fields.or(key, Nanos::from_secs(secs), out, |node, out| {
            read(node, key, out)
        })
    };
    let (connect, stall) = (flat("connect", 10), flat("stall", 60));
    let first = by_class(&fields, "first_token", SloClause::Ttft, 60, classes, out);
    let total = by_class(&fields, "total", SloClause::E2e, 600, classes, out);
    Some(Timeouts {
        connect: connect?,
        first_token: first?,
        stall: stall?,
        total: total?,
    })
}

fn read(node: &Node, key: &str, out: &mut Diagnostics) -> Option<Nanos> {
    values::time(node, &format!("`{key}`"), &format!("{key}: 60s"), out)
}

/// The declared time for every class, or for each the larger of `least` seconds and ten times its
/// limit: a TTFT limit of 500 ms gives 60 s, one of 8 s gives 80 s.
fn by_class(
    fields: &Fields<'_>,
    key: &str,
    clause: SloClause,
    least: u64,
    classes: &Classes,
    out: &mut Diagnostics,
) -> Option<Vec<Nanos>> {
    let declared = fields.optional(key, out, |node, out| {
        Some((read(node, key, out)?, &node.span))
    });
    let declared = declared.ok()?;
    let workload = classes.workload()?;
    let mut times = Vec::with_capacity(workload.classes.len());
    for class in &workload.classes {
        let slo = class.slo.get(&clause).copied();
        if let (Some((time, span)), Some(slo)) = (declared, slo)
            && time < slo
        {
            out.error(
                "spec::timeout-below-slo",
                span,
                format!(
                    "`{key}` gives requests of class `{}` up before their `{}` limit of {slo}",
                    class.name,
                    clause.name()
                ),
                "raise it well above the limit, or leave it out",
            );
        }
        let by_slo = slo
            .and_then(|slo| Nanos::try_from_secs_f64(slo.as_secs_f64() * TIMES_SLO))
            .unwrap_or(Nanos::ZERO);
        times.push(match declared {
            Some((time, _)) => time,
            None => by_slo.max(Nanos::from_secs(least)),
        });
    }
    Some(times)
}
