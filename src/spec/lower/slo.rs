//! `slo` of a class: limits that a request has to keep.

use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape};
use crate::spec::model::{Slo, SloClause};
use crate::spec::node::Node;
use crate::spec::values;

const SLO: Shape = Shape {
    known: &["ttft", "ttfa", "tpot", "itl_max", "e2e"],
    later: &[],
    example: "{ttft: 500ms, tpot: 40ms, e2e: 60s}",
};

pub(super) fn lower(node: &Node, whole: &str, out: &mut Diagnostics) -> Option<Slo> {
    let fields = Fields::open(node, format!("`slo` of {whole}"), &SLO, out)?;
    let mut slo = Slo::new();
    for clause in SloClause::ALL {
        let key = clause.name();
        if let Some(node) = fields.get(key, out) {
            let example = format!("{key}: 500ms");
            if let Some(limit) = values::time(node, &format!("`{key}`"), &example, out) {
                slo.insert(clause, limit);
            }
        }
    }
    let below = |part: SloClause| match (slo.get(&part), slo.get(&SloClause::E2e)) {
        (Some(part), Some(whole)) => part > whole,
        _ => false,
    };
    for part in [SloClause::Ttft, SloClause::Ttfa] {
        if below(part) {
            let span = fields.key_span(part.name()).unwrap_or(fields.span());
            out.error(
                "spec::contradiction",
                span,
                format!("the limit of `{}` is above that of `e2e`", part.name()),
                "the whole request takes at least as long as its first token",
            );
        }
    }
    Some(slo)
}
