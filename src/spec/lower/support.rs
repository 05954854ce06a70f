//! Which of a line's cells the plan can support, and why not others.

use std::ops::Range;

use super::sampling;
use super::stages::Stages;
use crate::metric::{CellMetric, Kind, Metric};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields;
use crate::spec::model::{Stage, Workload};
use crate::unit::scale;

/// Which cells a line could speak about: a stage, and where it was named.
pub(super) struct Place<'s> {
    /// `None` pools all stages.
    pub(super) stage: Option<&'s Stage>,
    /// Whether the line says so itself or takes whatever fits.
    pub(super) named: bool,
}

/// The stages that a line without `stages` may take: sweeps, soaks and changing rates only where
/// they ask for it.
pub(super) fn implied_stages(stages: &Stages) -> impl Iterator<Item = (&Stage, bool)> {
    stages.drafts().iter().flat_map(|draft| {
        let asked = draft.gate == Some(true);
        let taken = draft
            .gate
            .unwrap_or(!draft.sweep && !draft.soak && draft.is_steady());
        draft
            .steps
            .iter()
            .flatten()
            .filter(move |_| taken)
            .map(move |stage| (stage, asked))
    })
}

/// Those stages as places of a line.
pub(super) fn implied(stages: &Stages) -> Vec<Place<'_>> {
    implied_stages(stages)
        .map(|(stage, asked)| Place {
            stage: Some(stage),
            named: asked,
        })
        .collect()
}

/// Whether throughput there is only the arrival rate again.
pub(super) fn is_arrival_rate(metric: Metric, stage: &Stage) -> bool {
    let throughput = matches!(
        metric,
        Metric::RequestThroughput
            | Metric::OutputThroughput
            | Metric::InputThroughput
            | Metric::TotalThroughput
    );
    throughput && stage.arrival.is_open()
}

/// Whether a cell there would be a percentile or mean over the whole of a soak.
pub(super) fn is_whole_of_soak(metric: Metric, stage: &Stage) -> bool {
    stage.soak.is_some() && metric.kind() == Kind::Distribution
}

/// Which cells of a line the plan supports, and why others are not.
pub(super) struct Supported<'w> {
    pub(super) metric: CellMetric,
    pub(super) workload: Option<&'w Workload>,
    pub(super) informational: bool,
    pub(super) too_few: Vec<(String, sampling::TooFew)>,
    pub(super) open: Vec<String>,
    pub(super) soak: Vec<String>,
}

impl Supported<'_> {
    /// Whether the cell is taken; one that was named and cannot be is remembered.
    pub(super) fn take(&mut self, place: &Place<'_>, class: Option<&str>) -> bool {
        let Some(stage) = place.stage else {
            return true;
        };
        if self.informational {
            return true;
        }
        if is_arrival_rate(self.metric.metric(), stage) {
            if place.named && !self.open.contains(&stage.name) {
                self.open.push(stage.name.clone());
            }
            return false;
        }
        if is_whole_of_soak(self.metric.metric(), stage) {
            if place.named && !self.soak.contains(&stage.name) {
                self.soak.push(stage.name.clone());
            }
            return false;
        }
        // A stage of a handful of requests is there to look at, unless it is named.
        let handful = |requests| requests < sampling::LEAST_VALUES;
        if !place.named && stage.expected_requests().is_some_and(handful) {
            return false;
        }
        let too_few = self
            .workload
            .and_then(|workload| sampling::check(self.metric, stage, class, workload));
        let Some(too_few) = too_few else {
            return true;
        };
        if place.named {
            let name = match class {
                Some(class) => format!("{}/{class}", stage.name),
                None => stage.name.clone(),
            };
            self.too_few.push((name, too_few));
        }
        false
    }

    /// Notes what was remembered; whether there was anything.
    pub(super) fn explain(self, place: &Range<usize>, out: &mut Diagnostics) -> bool {
        let metric = self.metric;
        if !self.open.is_empty() {
            out.error(
                "spec::open-loop-throughput",
                place,
                format!(
                    "`{metric}` at open-loop stage {} is the arrival rate, whatever the engine does",
                    fields::list(self.open.iter().map(String::as_str))
                ),
                "gate it at a closed stage, gate `goodput` or latency here, or say \
                 `informational: true`",
            );
        }
        if !self.soak.is_empty() {
            out.error(
                "spec::soak-percentile",
                place,
                format!(
                    "`{metric}` of soak stage {} would be one figure over hours, in which drift cannot be seen",
                    fields::list(self.soak.iter().map(String::as_str))
                ),
                "gate a rate or a proportion there, gate latency at a shorter stage, or say \
                 `informational: true`",
            );
        }
        let worst = self
            .too_few
            .iter()
            .max_by(|(_, a), (_, b)| a.needed.total_cmp(&b.needed));
        if let Some((_, worst)) = worst {
            let names = fields::list(self.too_few.iter().map(|(name, _)| name.as_str()));
            let (planned, needed) = (worst.planned as u64, worst.needed as u64);
            out.error(
                "spec::too-few-requests",
                place,
                format!(
                    "`{metric}` needs {} requests a run and gets {} at {names}",
                    scale::count(needed),
                    scale::count(planned)
                ),
                "lengthen the stage, take a lower percentile, or say `informational: true`",
            );
        }
        !self.open.is_empty() || !self.soak.is_empty() || !self.too_few.is_empty()
    }
}
