//! Cells of what follows from events and bursts: of stages that have some.

use super::stages::{Draft, Stages};
use crate::metric::{Bad, Kind, Metric, Source};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::gate::Gate;
use crate::spec::rate::RateProfile;
use crate::spec::stage::{Arrival, Stage};

/// Notes cells of stages in which nothing happens, and of single classes.
pub(super) fn refuse(stages: &Stages, gate: &Gate, out: &mut Diagnostics) {
    for gated in &gate.cells {
        let metric = gated.cell.metric.metric();
        let of_events =
            metric.kind() == Kind::OfEvents || metric.source() == Source::Bad(Bad::Lost);
        let Some(place) = gated.place.as_ref().filter(|_| of_events) else {
            continue;
        };
        let mut named = stages.drafts().iter().filter(|draft| {
            let mut steps = draft.steps.iter().flatten();
            let asked = gated.cell.stage.as_ref();
            asked.is_none_or(|name| steps.any(|stage| *name == stage.name))
        });
        if gated.cell.class.is_some() {
            out.error(
                "spec::of-the-stage",
                place,
                format!(
                    "`{metric}` is of a whole stage: what happens, happens to all classes at once"
                ),
                "leave `classes` out",
            );
        } else if !named.any(|draft| happens(draft, metric)) {
            let (what, help) = if metric == Metric::DrainTime {
                (
                    "neither `events` nor a `burst`",
                    "events, or a rate with a burst",
                )
            } else {
                ("no `events`", "events")
            };
            out.error(
                "spec::needs-events",
                place,
                format!(
                    "`{metric}` says what follows from events, and `{}` has {what}",
                    gated.cell.stage.as_deref().unwrap_or("the spec")
                ),
                format!("name a stage that has {help} by `stages`"),
            );
        }
    }
}

fn happens(draft: &Draft, metric: Metric) -> bool {
    let bursts = draft.steps.iter().flatten().any(bursts);
    !draft.happenings.is_empty() || (bursts && metric == Metric::DrainTime)
}

fn bursts(stage: &Stage) -> bool {
    matches!(
        stage.arrival,
        Arrival::Open {
            profile: RateProfile::Burst { .. },
            ..
        }
    )
}
