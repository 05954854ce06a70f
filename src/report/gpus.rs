//! What GPUs did in a stage, in words and as rows of both sides.

use std::collections::BTreeSet;

use crate::lang::{Phrase, say};
use crate::sample::Throttle;
use crate::summary::{Gauge, GpuFigures, GpuView, Run};
use crate::unit::scale::{self, Unit};

use super::engines::mean;
use super::model::EngineRow;
use super::span::Text;

/// A line for each GPU, or why there is none.
pub(super) fn lines(view: &GpuView) -> Vec<Text> {
    match view {
        GpuView::Unknown { why } => vec![Text::of("unknown: ").prose(why)],
        GpuView::Seen(gpus) => gpus.iter().map(line).collect(),
    }
}

fn line(gpu: &GpuFigures) -> Text {
    let level = |name, gauge: Option<Gauge>, text: fn(f64) -> String| {
        gauge.map(|gauge| {
            Text::of(name)
                .figure(text(gauge.mean))
                .words(" (at most ")
                .figure(text(gauge.max))
                .words(")")
        })
    };
    let levels = [
        level("power ", gpu.power_w, watts),
        level("SM clock ", gpu.sm_clock_mhz, megahertz),
        level("temperature ", gpu.temperature_c, celsius),
        level("busy ", gpu.utilization, share),
    ];
    let held = gpu.throttled.iter().map(|(reason, looks)| {
        Text::of("held back by ")
            .then(throttle(*reason))
            .words(" in ")
            .figure(share(*looks))
            .words(" of the looks")
    });
    let said: Vec<Text> = levels.into_iter().flatten().chain(held).collect();
    Text::of("GPU ")
        .figure(gpu.index.to_string())
        .words(": ")
        .then(Text::join(said, ", "))
}

/// Rows of what both sides' GPUs of a number have, means over the runs of each side.
pub(super) fn rows(stage: &str, baseline: &[Run], candidate: &[Run]) -> Vec<EngineRow> {
    let indices: BTreeSet<u32> = candidate
        .iter()
        .flat_map(|run| seen(run, stage))
        .map(|gpu| gpu.index)
        .collect();
    let mut out = Vec::new();
    for index in indices {
        let of = |runs: &[Run], value: &dyn Fn(&GpuFigures) -> Option<f64>| {
            let gpus = runs.iter().flat_map(|run| seen(run, stage));
            mean(gpus.filter(|gpu| gpu.index == index).filter_map(value))
        };
        let mut row =
            |name: Phrase, value: &dyn Fn(&GpuFigures) -> Option<f64>, text: fn(f64) -> String| {
                let sides = of(baseline, value).zip(of(candidate, value));
                out.extend(sides.map(|(baseline, candidate)| EngineRow {
                    stage: Text::value(stage),
                    figure: Text::say(name, [Text::just(index.to_string())]),
                    baseline: Text::just(text(baseline)),
                    candidate: Text::just(text(candidate)),
                }));
            };
        row(say::GPU_POWER, &|gpu| Some(gpu.power_w?.mean), watts);
        row(
            say::GPU_CLOCK,
            &|gpu| Some(gpu.sm_clock_mhz?.mean),
            megahertz,
        );
        row(
            say::GPU_TEMPERATURE,
            &|gpu| Some(gpu.temperature_c?.max),
            celsius,
        );
        let both = || baseline.iter().chain(candidate);
        let reasons: BTreeSet<Throttle> = both()
            .flat_map(|run| seen(run, stage))
            .flat_map(|gpu| gpu.throttled.keys().copied())
            .collect();
        for reason in reasons {
            // A GPU that was looked at and had no such reason was held back in none of the looks.
            let looks = |gpu: &GpuFigures| Some(gpu.throttled.get(&reason).copied().unwrap_or(0.0));
            let held = of(baseline, &looks).zip(of(candidate, &looks));
            out.extend(held.map(|(baseline, candidate)| EngineRow {
                stage: Text::value(stage),
                figure: Text::say(
                    say::GPU_HELD_BACK,
                    [Text::just(index.to_string()), throttle(reason)],
                ),
                baseline: Text::just(share(baseline)),
                candidate: Text::just(share(candidate)),
            }));
        }
    }
    out
}

fn seen<'a>(run: &'a Run, stage: &str) -> &'a [GpuFigures] {
    let mut stages = run.stages.iter();
    match stages.find(|s| s.name == stage).map(|stage| &stage.gpus) {
        Some(Some(GpuView::Seen(gpus))) => gpus,
        Some(Some(GpuView::Unknown { .. }) | None) | None => &[],
    }
}

fn throttle(reason: Throttle) -> Text {
    Text::word(match reason {
        Throttle::PowerCap => say::BY_POWER_CAP,
        Throttle::SoftwareThermal => say::BY_SOFTWARE_THERMAL,
        Throttle::HardwareThermal => say::BY_HARDWARE_THERMAL,
        Throttle::PowerBrake => say::BY_POWER_BRAKE,
        Throttle::HardwareSlowdown => say::BY_HARDWARE,
        Throttle::SyncBoost => say::BY_SYNC_BOOST,
        Throttle::ClocksSetting => say::BY_CLOCKS_SETTING,
    })
}

fn watts(value: f64) -> String {
    format!("{value:.0} W")
}

fn megahertz(value: f64) -> String {
    format!("{value:.0} MHz")
}

fn celsius(value: f64) -> String {
    format!("{value:.0} °C")
}

fn share(value: f64) -> String {
    scale::value(Unit::Proportion, value)
}
