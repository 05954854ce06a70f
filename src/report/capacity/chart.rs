//! Latency over the steps of a sweep in Mermaid's language: both sides, the SLO and the knee.

use std::fmt::Write as _;

use super::CapacityChart;
use super::state;
use super::words;
use crate::capacity::{Capacity, Step, SweepReading};
use crate::report::sweep::Chart;
use crate::spec::SloClause;

/// Fewest steps that a chart is worth.
const STEPS: usize = 3;
/// In the order of the plots: the knee's bar, the SLO, before, after.
const KNEE: &str = "#eac54f";
const SLO: &str = "#1a7f37";
const BEFORE: &str = "#8c959f";
const AFTER: &str = "#cf222e";

/// TTFT p95 over the steps of each sweep.
pub(super) fn charts(after: &Capacity, before: Option<&Capacity>) -> Vec<CapacityChart> {
    let sweeps = after.sweeps.iter();
    sweeps
        .filter_map(|sweep| {
            let other =
                before.map(|before| before.sweeps.iter().find(|other| other.name == sweep.name));
            let other = match other {
                Some(found) => Some(found?),
                None => None,
            };
            let chart = chart(sweep, other, slo(after))?;
            let title = state::chart(sweep, slo(after).is_some(), other.is_some());
            Some(CapacityChart { title, chart })
        })
        .collect()
}

/// The limit of TTFT, where all classes have the same.
fn slo(capacity: &Capacity) -> Option<f64> {
    let mut limits = capacity.slos.values().map(|slo| slo.get(&SloClause::Ttft));
    let first = limits.next()??;
    limits
        .all(|limit| limit == Some(first))
        .then(|| first.as_secs_f64())
}

/// Steps that both sides have, from the first to where a line ends.
fn chart(sweep: &SweepReading, before: Option<&SweepReading>, slo: Option<f64>) -> Option<Chart> {
    let steps: Vec<(&Step, Option<&Step>)> = sweep
        .steps
        .iter()
        .filter_map(|step| match before {
            None => Some((step, None)),
            Some(before) => {
                let mut others = before.steps.iter();
                Some((step, Some(others.find(|other| other.stage == step.stage)?)))
            }
        })
        .collect();
    if steps.len() < STEPS {
        return None;
    }
    // The language has no gaps, so a line ends at the first step without a finite value.
    let after: Vec<f64> = steps.iter().map_while(|(step, _)| p95(step)).collect();
    let other: Option<Vec<f64>> = before.map(|_| {
        steps
            .iter()
            .map_while(|(_, other)| p95((*other)?))
            .collect()
    });
    if after.is_empty() || other.as_ref().is_some_and(Vec::is_empty) {
        return None;
    }
    let drawn = after.iter().chain(other.iter().flatten());
    let highest = drawn.copied().chain(slo).fold(0.0, f64::max);
    let (factor, unit) = if highest < 10.0 {
        (1e3, "ms")
    } else {
        (1.0, "s")
    };
    let numbers = |values: &[f64]| {
        let each = values.iter().map(|value| format!("{:.3}", value * factor));
        each.collect::<Vec<_>>().join(", ")
    };
    let knee = sweep.knee.figure().map(|knee| knee.load);
    let bars = knee.map(|knee| -> Vec<f64> {
        let height = |step: &Step| {
            let is_knee = step.load.total_cmp(&knee).is_eq();
            if is_knee { highest } else { 0.0 }
        };
        steps.iter().map(|(step, _)| height(step)).collect()
    });
    let level = slo.map(|slo| vec![slo; steps.len()]);
    let mut palette = Vec::new();
    let mut plots = String::new();
    let mut add = |colour: &'static str, kind: &str, values: Option<&Vec<f64>>| {
        if let Some(values) = values {
            palette.push(colour);
            let _ = writeln!(plots, "  {kind} [{}]", numbers(values));
        }
    };
    add(KNEE, "bar", bars.as_ref());
    add(SLO, "line", level.as_ref());
    add(BEFORE, "line", other.as_ref());
    add(AFTER, "line", Some(&after));
    let names: Vec<String> = steps
        .iter()
        .map(|(step, _)| format!("\"{}\"", step.load))
        .collect();
    let mut out = format!(
        "%%{{init: {{\"themeVariables\": {{\"xyChart\": {{\"plotColorPalette\": \"{}\"}}}}}}}}%%\nxychart-beta\n",
        palette.join(", ")
    );
    let axis = words::axis_name(sweep.axis);
    let _ = writeln!(out, "  x-axis \"{axis}\" [{}]", names.join(", "));
    let top = (highest * factor * 1.1).max(0.001);
    let _ = writeln!(out, "  y-axis \"TTFT p95 ({unit})\" 0 --> {top:.3}");
    out.push_str(&plots);
    Some(Chart::of(out))
}

fn p95(step: &Step) -> Option<f64> {
    let value = step.figures.as_ref()?.latencies.ttft_p95_s?;
    (value.is_finite() && value >= 0.0).then_some(value)
}
