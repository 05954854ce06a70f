//! `tenants`: whose requests they are.

use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::node::Node;
use crate::spec::tenants::Tenants;
use crate::spec::values;

const SHAPE: Shape = Shape {
    known: &["count", "zipf"],
    later: &[],
    example: "tenants: {count: 50, zipf: 1.1}",
};

/// Tenants of a class or workload at most.
const MOST: u32 = 100_000;
/// Exponents of Zipf's law: from all the same to hardly any but the first.
const ZIPF: std::ops::RangeInclusive<f64> = 0.0..=10.0;

pub(super) fn lower(node: &Node, out: &mut Diagnostics) -> Option<Tenants> {
    let fields = Fields::open(node, "`tenants`", &SHAPE, out)?;
    let count = fields
        .need("count", SHAPE.example, out)
        .and_then(|node| values::whole_number(node, "`count`", 1..=MOST, "count: 50", out));
    let zipf = fields.or("zipf", 0.0, out, |node, out| {
        let zipf = values::number(node, "`zipf`", "zipf: 1.1", out)?;
        if ZIPF.contains(&zipf) {
            return Some(zipf);
        }
        let rule = "it is the exponent of Zipf's law, from 0, where all have the same share, to 10";
        fields::out_of_range(node, "`zipf`", rule, out);
        None
    });
    Some(Tenants::new(count?, zipf?))
}
