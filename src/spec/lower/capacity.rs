//! `capacity`: the declared traffic, and the factors of replicas.

use std::ops::RangeInclusive;

use crate::spec::capacity::CapacityPlan;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Noted, Shape};
use crate::spec::values;
use crate::unit::{Rps, Share};

const SHAPE: Shape = Shape {
    known: &[
        "peak",
        "traffic",
        "redundancy",
        "elasticity",
        "failure",
        "alert",
        "attainment",
    ],
    later: &[],
    example: "capacity: {peak: 50/s, redundancy: 1.3}",
};
/// Factors of replicas: less than 1 would plan for less than the load.
const FACTOR: RangeInclusive<f64> = 1.0..=10.0;
/// Shares of the knee and of requests.
const SHARE: RangeInclusive<f64> = 0.01..=1.0;

/// What is declared of a service, where the spec says.
pub(super) fn lower(
    fields: &Fields<'_>,
    out: &mut Diagnostics,
) -> Result<Option<CapacityPlan>, Noted> {
    fields.optional("capacity", out, |node, out| {
        let fields = Fields::open(node, "`capacity`", &SHAPE, out)?;
        let given = CapacityPlan::default();
        let peak = rate(&fields, "peak", out);
        let traffic = rate(&fields, "traffic", out);
        if let (Ok(Some(peak)), Ok(Some(traffic))) = (peak, traffic)
            && traffic > peak
        {
            out.error(
                "spec::out-of-range",
                fields.key_span("traffic").unwrap_or(&node.span),
                format!("`traffic` is {traffic} on average, more than `peak` with {peak}"),
                "a mean is at most its peak: raise `peak`, or lower `traffic`",
            );
            return None;
        }
        let redundancy = factor(&fields, "redundancy", given.redundancy, out);
        let elasticity = factor(&fields, "elasticity", given.elasticity, out);
        let failure = factor(&fields, "failure", given.failure, out);
        let alert = share(&fields, "alert", given.alert, out);
        let attainment = share(&fields, "attainment", given.attainment, out);
        Some(CapacityPlan {
            peak_rps: peak.ok()?,
            traffic_rps: traffic.ok()?,
            redundancy: redundancy?,
            elasticity: elasticity?,
            failure: failure?,
            alert: alert?,
            attainment: attainment?,
        })
    })
}

fn rate(fields: &Fields<'_>, key: &str, out: &mut Diagnostics) -> Result<Option<Rps>, Noted> {
    fields.optional(key, out, |node, out| {
        values::quantity(node, &format!("`{key}`"), &format!("{key}: 50/s"), out)
    })
}

fn factor(fields: &Fields<'_>, key: &str, default: f64, out: &mut Diagnostics) -> Option<f64> {
    fields.or(key, default, out, |node, out| {
        let what = format!("`{key}`");
        let value = values::number(node, &what, &format!("{key}: 1.3"), out)?;
        if !FACTOR.contains(&value) {
            fields::out_of_range(node, &what, "it is a factor from 1 to 10", out);
            return None;
        }
        Some(value)
    })
}

fn share(fields: &Fields<'_>, key: &str, default: f64, out: &mut Diagnostics) -> Option<f64> {
    fields.or(key, default, out, |node, out| {
        let (what, example) = (format!("`{key}`"), format!("{key}: {}%", default * 100.0));
        match values::quantity(node, &what, &example, out)? {
            Share::Percent(value) if SHARE.contains(&value) => Some(value),
            Share::Percent(_) => {
                fields::out_of_range(node, &what, "it must be from 1% to 100%", out);
                None
            }
            Share::Points(_) => {
                fields::wrong_type(node, &what, "a percentage", &example, out);
                None
            }
        }
    })
}
