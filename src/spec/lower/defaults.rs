//! The cells that are gated when the spec names none.

use super::stages::Stages;
use super::support::{implied_stages, is_arrival_rate, is_whole_of_soak};
use super::workload::Classes;
use super::{limit, sampling};
use crate::metric::{Cell, CellMetric, Metric, Quantile};
use crate::spec::gate::GateCell;
use crate::spec::limit::Limit;
use crate::spec::stage::Stage;

/// Error share that a run may have when the spec names no cell.
const MOST_ERRORS: f64 = 0.01;

/// TTFT, TPOT and E2E p95 where the sample supports them, output throughput in closed loops, and
/// the error ratio over all stages; `None` where a class could not be read.
pub(super) fn cells(classes: &Classes, stages: &Stages) -> Option<Vec<GateCell>> {
    let workload = classes.workload()?;
    let answers_have_gaps = workload
        .classes
        .iter()
        .any(|class| class.largest_output() > 1);
    let latencies = [Metric::Ttft, Metric::Tpot, Metric::E2e]
        .into_iter()
        .filter(|metric| *metric != Metric::Tpot || answers_have_gaps)
        .filter_map(|metric| CellMetric::quantile(metric, Quantile::P95));
    let metrics: Vec<CellMetric> = latencies
        .chain(CellMetric::value(Metric::OutputThroughput))
        .collect();
    let mut gated = Vec::new();
    let supports = |metric, stage| sampling::check(metric, stage, None, &workload).is_none();
    for (stage, asked) in implied_stages(stages) {
        // A stage too short for any of the percentiles is there to look at.
        if !asked && !metrics.iter().all(|&metric| supports(metric, stage)) {
            continue;
        }
        for &metric in &metrics {
            let supported = !is_arrival_rate(metric.metric(), stage)
                && !is_whole_of_soak(metric.metric(), stage)
                && supports(metric, stage);
            if let (true, Some(limit)) = (supported, limit::default(metric.metric())) {
                gated.push(cell(Some(stage), metric, limit));
            }
        }
    }
    gated.extend(
        CellMetric::value(Metric::ErrorRatio)
            .map(|metric| cell(None, metric, Limit::AtMost(MOST_ERRORS))),
    );
    Some(gated)
}

fn cell(stage: Option<&Stage>, metric: CellMetric, limit: Limit) -> GateCell {
    GateCell {
        cell: Cell {
            stage: stage.map(|stage| stage.name.clone()),
            class: None,
            metric,
        },
        limit,
        informational: false,
        trade: None,
        place: None,
    }
}
