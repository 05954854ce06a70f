//! What both sides mean by a metric, and what has to be known of figures that other tools made.

use std::collections::{BTreeMap, BTreeSet};

use super::pairing::Arranged;
use crate::lang::{Said, of_judged};
use crate::metric::{Metric, is_known, meaning};
use crate::spec::Slo;
use crate::summary::Run;

/// Whether two definitions have anything in common: they are the same, or known both, so that each cell can
/// say for itself.
pub(super) fn meet(one: &str, other: &str) -> bool {
    one == other || (is_known(one) && is_known(other))
}

/// What the sides mean by a metric, where it is not the same.
pub(super) fn difference(arranged: &Arranged<'_>, metric: Metric) -> Option<Said> {
    let runs = || arranged.baseline.iter().chain(&arranged.candidate);
    let first = runs().next()?;
    // Of our own runs the limits are part of the workload, which has to be the same anyway.
    let is_limited =
        first.spec.settings.is_some() && matches!(metric, Metric::Attainment | Metric::Goodput);
    if is_limited && let Some(other) = runs().find(|run| run.spec.slos != first.spec.slos) {
        let [ours, theirs] = [first, other].map(|run| limits(&run.spec.slos));
        let args = [metric.to_string(), ours, theirs];
        return Some(Said::new(of_judged::OTHER_LIMITS, args));
    }
    let other = runs().find(|run| run.definition != first.definition)?;
    let (ours, theirs) = (
        meaning(&first.definition, metric),
        meaning(&other.definition, metric),
    );
    if ours.is_some() && ours == theirs {
        return None;
    }
    let told = |meaning: Option<&str>| meaning.unwrap_or("no such figure").to_owned();
    let args = [
        metric.to_string(),
        first.definition.clone(),
        told(ours),
        other.definition.clone(),
        told(theirs),
    ];
    Some(Said::new(of_judged::DEFINED_DIFFERENTLY, args))
}

/// `ttft ≤ 300ms` of each class; none where nothing limits.
fn limits(slos: &BTreeMap<String, Slo>) -> String {
    let clauses = slos.values().flatten();
    let each: Vec<String> = clauses
        .map(|(clause, limit)| format!("{} ≤ {limit}", clause.name()))
        .collect();
    if each.is_empty() {
        "none".to_owned()
    } else {
        each.join(", ")
    }
}

/// What is to be doubted of figures from other tools' files, each once.
pub(super) fn caveats(baseline: &[&Run], candidate: &[&Run]) -> Vec<Said> {
    let mut out = Vec::new();
    for (side, runs) in [
        (of_judged::DOUBT_OF_BASELINE, baseline),
        (of_judged::DOUBT_OF_CANDIDATE, candidate),
    ] {
        let mut seen = BTreeSet::new();
        for origin in runs.iter().filter_map(|run| run.origin.as_ref()) {
            for caveat in &origin.caveats {
                if seen.insert(&caveat.code) {
                    let args = [&origin.tool, &origin.file, &caveat.code, &caveat.message];
                    out.push(Said::new(side, args.map(Clone::clone)));
                }
            }
        }
    }
    let versions: BTreeSet<(&str, &str)> = baseline
        .iter()
        .chain(candidate)
        .filter_map(|run| run.origin.as_ref())
        .filter_map(|origin| Some((origin.tool.as_str(), origin.version.as_deref()?)))
        .collect();
    let tools: BTreeSet<&str> = versions.iter().map(|(tool, _)| *tool).collect();
    for tool in tools {
        let of_tool = versions.iter().filter(|(name, _)| *name == tool);
        let several: Vec<&str> = of_tool.map(|(_, version)| *version).collect();
        if several.len() > 1 {
            let args = [tool.to_owned(), several.join(" / ")];
            out.push(Said::new(of_judged::VERSIONS_OF_TOOL, args));
        }
    }
    out.extend(one_sided(baseline, candidate));
    out
}

/// What one side knows of its workload and the other does not.
fn one_sided(baseline: &[&Run], candidate: &[&Run]) -> Option<Said> {
    let known = |runs: &[&Run]| -> Option<BTreeSet<String>> {
        let settings = runs.first()?.spec.settings.as_ref()?;
        Some(settings.keys().cloned().collect())
    };
    let (base, head) = (known(baseline)?, known(candidate)?);
    let names: Vec<&str> = base
        .symmetric_difference(&head)
        .map(String::as_str)
        .collect();
    let said = || Said::new(of_judged::KNOWN_OF_ONE_SIDE, [names.join(", ")]);
    (!names.is_empty()).then(said)
}
