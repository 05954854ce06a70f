//! The steps of sweeps as rows.

use super::state;
use super::words;
use super::{StepRow, StepTable};
use crate::capacity::{Capacity, Step, SweepReading};
use crate::report::span::Text;
use crate::unit::scale::{self, Unit};

/// The columns of a table of steps.
pub(super) const HEADER: [&str; 10] = [
    "load",
    "completed",
    "output",
    "TTFT p50",
    "p99",
    "ITL p95",
    "p99",
    "goodput",
    "good",
    "state",
];

/// A table a sweep and side.
pub(super) fn tables(sides: &[(Option<&'static str>, &Capacity)]) -> Vec<StepTable> {
    let each = sides.iter().flat_map(|(side, capacity)| {
        let sweeps = capacity.sweeps.iter();
        sweeps.map(move |sweep| StepTable {
            title: match side {
                Some(side) => Text::value(&sweep.name).words(", ").words(side),
                None => Text::value(&sweep.name),
            },
            rows: sweep.steps.iter().map(|step| row(sweep, step)).collect(),
        })
    });
    each.collect()
}

fn row(sweep: &SweepReading, step: &Step) -> StepRow {
    let none = || Text::of("–");
    let load = words::load(sweep.axis, step.load);
    let class = state::class(step);
    let Some(figures) = &step.figures else {
        return StepRow {
            load,
            completed: none(),
            output: none(),
            ttft_p50: none(),
            ttft_p99: none(),
            itl_p95: none(),
            itl_p99: none(),
            goodput: none(),
            attainment: none(),
            class,
        };
    };
    let value = |unit: Unit, value: f64| Text::just(scale::value(unit, value));
    let time =
        |seconds: Option<f64>| seconds.map_or_else(none, |seconds| value(Unit::Seconds, seconds));
    let latencies = &figures.latencies;
    StepRow {
        load,
        completed: value(Unit::RequestsPerSecond, figures.completed_rps.value),
        output: value(Unit::TokensPerSecond, figures.output_tps.value),
        ttft_p50: time(latencies.ttft_p50_s),
        ttft_p99: time(latencies.ttft_p99_s),
        itl_p95: time(latencies.itl_p95_s),
        itl_p99: time(latencies.itl_p99_s),
        goodput: match &figures.goodput_rps {
            Some(goodput) => value(Unit::RequestsPerSecond, goodput.value),
            None => none(),
        },
        attainment: match figures.attainment {
            Some(share) => value(Unit::Proportion, share),
            None => none(),
        },
        class,
    }
}
