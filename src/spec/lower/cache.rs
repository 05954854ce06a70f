//! `cache` of a workload.

use std::ops::Range;

use super::stages::Stages;
use crate::spec::cache::CacheRegime;
use crate::spec::class::Class;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::node::Node;
use crate::spec::stage::Arrival;
use crate::spec::values;

pub(super) fn lower(node: &Node, out: &mut Diagnostics) -> Option<CacheRegime> {
    let regimes = [CacheRegime::Cold, CacheRegime::Realistic, CacheRegime::Warm];
    let options = regimes.map(|regime| (regime.name(), regime));
    values::choice(node, "`cache`", &options, &[], out)
}

/// Warns of a warm regime with nothing to warm: no shared prefix, no prompts of one's own and no
/// trace that may have some.
pub(super) fn warn_of_nothing_shared(
    span: &Range<usize>,
    classes: &[Class],
    stages: &Stages,
    out: &mut Diagnostics,
) {
    let shares = |class: &Class| {
        let prefix = class.prefix.is_some_and(|prefix| prefix.share > 0.0);
        prefix || !class.plans_input()
    };
    let mut steps = stages
        .drafts()
        .iter()
        .flat_map(|draft| &draft.steps)
        .flatten();
    if classes.iter().any(shares) || steps.any(|step| matches!(step.arrival, Arrival::Trace(_))) {
        return;
    }
    out.warning(
        "spec::nothing-shared",
        span,
        "`cache: warm` has nothing to warm: no class shares a prefix",
        "give a class a `prefix: {tokens: 512}`, or leave `cache` out",
    );
}
