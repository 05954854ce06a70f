//! Places of cells that are of no single stage: one number of a run, and one of a sweep.

use super::cells::unknown;
use super::stages::{Draft, Stages};
use super::support::Place;
use crate::metric::CellMetric;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::Fields;
use crate::spec::values;

/// The place of a cell that is one number of a run, and of none of its stages or classes.
pub(super) fn of_run<'r>(
    fields: &Fields<'_>,
    metric: CellMetric,
    out: &mut Diagnostics,
) -> Option<Vec<Place<'r>>> {
    let mut of_run = true;
    for key in ["stages", "classes"] {
        if let Some(place) = fields.key_span(key) {
            out.error(
                "spec::of-the-run",
                place,
                format!("`{metric}` is one number of a whole run, so `{key}` do not apply"),
                format!("leave `{key}` out"),
            );
            of_run = false;
        }
    }
    let place = Place {
        stage: None,
        named: false,
    };
    of_run.then(|| vec![place])
}

/// The places of a cell that is of all steps of a sweep: the sweeps that are named, else all of them.
pub(super) fn of_sweeps<'r>(
    fields: &Fields<'_>,
    metric: CellMetric,
    stages: &'r Stages,
    out: &mut Diagnostics,
) -> Option<Vec<Place<'r>>> {
    let drafts = || stages.drafts().iter().filter(|draft| draft.sweep);
    let place = |draft: &'r Draft| {
        let first = draft.steps.iter().flatten().next();
        first.map(|stage| Place {
            stage: Some(stage),
            named: true,
        })
    };
    let Some(node) = fields.get("stages", out) else {
        if fields.has("stages") {
            return None;
        }
        let places: Vec<Place<'_>> = drafts().filter_map(place).collect();
        if drafts().next().is_none() && stages.complete() {
            let at = fields
                .get("metric", out)
                .map_or(fields.span(), |node| &node.span);
            out.error(
                "spec::needs-sweep",
                at,
                format!("`{metric}` is the largest of a sweep's steps, and nothing sweeps"),
                "add a sweep like `{name: sweep, closed: {users: [1, 2, 4, 8]}, duration: 60s}`, or gate `goodput` of a stage",
            );
            return None;
        }
        return Some(places);
    };
    let mut places = Vec::new();
    let mut all = true;
    for item in values::one_or_many(node, "`stages`", out) {
        let Some(name) = values::text(item, "`stages`", "stages: [sweep]", out) else {
            all = false;
            continue;
        };
        let named = |draft: &&Draft| draft.name.as_deref() == Some(name);
        if let Some(draft) = drafts().find(named) {
            places.extend(place(draft));
            continue;
        }
        let step_of = drafts().find(|draft| {
            let mut steps = draft.steps.iter().flatten();
            steps.any(|step| step.name == name)
        });
        let help = match step_of.and_then(|draft| draft.name.as_deref()) {
            Some(sweep) => Some(format!(
                "name the sweep: `stages: [{sweep}]`, or gate `goodput` of its step"
            )),
            None if stages.drafts().iter().any(|draft| named(&draft)) => {
                Some("gate `goodput` there, or name a sweep".to_owned())
            }
            None => None,
        };
        if let Some(help) = help {
            let what =
                format!("`{metric}` is the largest of a sweep's steps, and `{name}` is one stage");
            out.error("spec::needs-sweep", &item.span, what, help);
            all = false;
        } else if stages.all_named() {
            let names: Vec<&str> = drafts().filter_map(|draft| draft.name.as_deref()).collect();
            unknown("stage", item, name, &names, out);
            all = false;
        }
    }
    all.then_some(places)
}
