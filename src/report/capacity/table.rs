//! The steps of sweeps as rows.

use super::state;
use super::words::{self, rate, share};
use super::{StepRow, StepTable};
use crate::capacity::{Capacity, Step, SweepReading};
use crate::lang::{Phrase, say};
use crate::report::span::Text;
use crate::unit::scale::{self, Unit};

/// A table a sweep and side.
pub(super) fn tables(sides: &[(Option<Phrase>, &Capacity)]) -> Vec<StepTable> {
    let each = sides.iter().flat_map(|(side, capacity)| {
        let sweeps = capacity.sweeps.iter();
        sweeps.map(move |sweep| StepTable {
            title: match side {
                Some(side) => {
                    Text::say(say::CAP_SIDE, [Text::value(&sweep.name), Text::word(*side)])
                }
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
        completed: rate(figures.completed_rps.value),
        output: value(Unit::TokensPerSecond, figures.output_tps.value),
        ttft_p50: time(latencies.ttft_p50_s),
        ttft_p99: time(latencies.ttft_p99_s),
        itl_p95: time(latencies.itl_p95_s),
        itl_p99: time(latencies.itl_p99_s),
        goodput: match &figures.goodput_rps {
            Some(goodput) => rate(goodput.value),
            None => none(),
        },
        attainment: figures.attainment.map_or_else(none, share),
        class,
    }
}
