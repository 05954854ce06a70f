//! Latency against throughput, over the steps of a sweep.

use super::page::Figure;
use super::table::{Cell, Column, Table};
use crate::metric::{Metric, Quantile};
use crate::plot::{Axis, Dot, Ground, Line, Lines, Shape};
use crate::report::span::Text;
use crate::report::words;
use crate::stats::mean;
use crate::summary::{Run, StageSummary};
use crate::unit::scale::{self, Unit};

/// Latencies that are drawn.
const LATENCIES: [Metric; 3] = [Metric::Ttft, Metric::Tpot, Metric::E2e];

/// Runs of one side, and what it is called.
pub(super) type Named<'a> = (&'static str, &'a [Run]);

/// A step of a sweep as one side measured it, over its runs.
struct Step {
    name: String,
    completed_rps: f64,
    output_tps: f64,
    /// The 95th percentile with failures; `None` where it is infinite in some run, or nobody measured it.
    p95_s: Option<f64>,
}

/// A plot a sweep and latency, with a line a side; none where nothing sweeps.
pub(super) fn curves(sides: &[Named<'_>], id: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (number, sweep) in sweeps(sides).into_iter().enumerate() {
        for metric in LATENCIES {
            let steps: Vec<(&'static str, Vec<Step>)> = sides
                .iter()
                .map(|(side, runs)| (*side, steps(runs, &sweep, metric)))
                .filter(|(_, steps)| steps.iter().any(|step| step.p95_s.is_some()))
                .collect();
            if !steps.is_empty() {
                let id = format!("{id}-{number}-{}", metric.name());
                figures.push(figure(&sweep, metric, &steps, &id));
            }
        }
    }
    figures
}

/// `sweep` of `sweep@8`, where several steps share it, in the order of the stages.
fn sweeps(sides: &[Named<'_>]) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for stage in sides
        .iter()
        .flat_map(|(_, runs)| *runs)
        .flat_map(|run| &run.stages)
    {
        let Some((sweep, _)) = stage.name.rsplit_once('@') else {
            continue;
        };
        match found.iter_mut().find(|(name, _)| name == sweep) {
            Some((_, steps)) if steps.contains(&stage.name.as_str()) => {}
            Some((_, steps)) => steps.push(&stage.name),
            None => found.push((sweep.to_owned(), vec![&stage.name])),
        }
    }
    found.retain(|(_, steps)| steps.len() > 1);
    found.into_iter().map(|(sweep, _)| sweep).collect()
}

fn steps(runs: &[Run], sweep: &str, metric: Metric) -> Vec<Step> {
    let mut names: Vec<&str> = Vec::new();
    let stages = || runs.iter().flat_map(|run| &run.stages);
    for stage in stages() {
        let is_step = stage
            .name
            .rsplit_once('@')
            .is_some_and(|(of, _)| of == sweep);
        if is_step && !names.contains(&stage.name.as_str()) {
            names.push(&stage.name);
        }
    }
    names
        .into_iter()
        .filter_map(|name| {
            let own: Vec<&StageSummary> = stages().filter(|stage| stage.name == name).collect();
            let over = |of: fn(&StageSummary) -> f64| -> Option<f64> {
                mean(&own.iter().map(|stage| of(stage)).collect::<Vec<f64>>())
            };
            let p95s: Option<Vec<f64>> = own
                .iter()
                .map(|stage| {
                    let distribution = stage.pooled.distributions.get(&metric)?;
                    distribution.quantiles.get(&Quantile::P95)?.adjusted_s
                })
                .collect();
            Some(Step {
                name: name.to_owned(),
                completed_rps: over(|stage| stage.pooled.rates.completed_rps)?,
                output_tps: over(|stage| stage.pooled.rates.output_tps)?,
                p95_s: p95s.and_then(|values| mean(&values)),
            })
        })
        .collect()
}

fn figure(sweep: &str, metric: Metric, sides: &[(&'static str, Vec<Step>)], id: &str) -> Figure {
    let title = Text::of(words::metric(metric))
        .words(" p95 against throughput in ")
        .quoted(sweep);
    let write_x = |ticks: &[f64]| scale::axis(Unit::RequestsPerSecond, ticks);
    let write_y = move |ticks: &[f64]| scale::axis(metric.unit(), ticks);
    let name = format!("{} p95", words::metric(metric));
    let lines = Lines {
        title: title.plain(),
        description:
            "Each point is a step of the sweep; the values stand in the table below the plot."
                .to_owned(),
        ground: Ground::Numbers(Axis {
            write: &write_x,
            name: "completed",
            zero: true,
        }),
        axis: Axis {
            write: &write_y,
            name: &name,
            zero: true,
        },
        lines: sides
            .iter()
            .zip([Shape::Dot, Shape::Up])
            .map(|((side, steps), shape)| Line {
                name: (*side).to_owned(),
                dots: steps.iter().map(|step| dot(step, metric, shape)).collect(),
                levels: Vec::new(),
                joined: true,
            })
            .collect(),
        marks: Vec::new(),
    };
    Figure {
        id: id.to_owned(),
        label: title.plain(),
        title,
        gated: false,
        newest: false,
        svg: lines.draw().svg(id),
        notes: vec![Text::of(
            "Up and to the left is worse; a step whose p95 is infinite has no point",
        )],
        table: table(metric, sides),
    }
}

fn dot(step: &Step, metric: Metric, shape: Shape) -> Dot {
    let value = step
        .p95_s
        .map_or_else(String::new, |v| scale::value(metric.unit(), v));
    let rate = scale::value(Unit::RequestsPerSecond, step.completed_rps);
    Dot {
        x: step.completed_rps,
        y: step.p95_s,
        shape,
        hint: format!("{}: {value} at {rate}", step.name),
    }
}

fn table(metric: Metric, sides: &[(&'static str, Vec<Step>)]) -> Table {
    let columns = vec![
        Column::text(Text::of("Step")),
        Column::text(Text::of("Side")),
        Column::number(Text::of("Completed")),
        Column::number(Text::of("Output")),
        Column::number(Text::of(words::metric(metric)).words(" p95")),
    ];
    let mut table = Table::new(Text::of("Means over the runs of a side"), columns);
    let number =
        |unit: Unit, value: f64| Cell::number(Text::just(scale::value(unit, value)), Some(value));
    for (side, steps) in sides {
        for step in steps {
            table.rows.push(vec![
                Cell::text(Text::value(&step.name)),
                Cell::text(Text::of(side)),
                number(Unit::RequestsPerSecond, step.completed_rps),
                number(Unit::TokensPerSecond, step.output_tps),
                match step.p95_s {
                    Some(value) => number(metric.unit(), value),
                    None => Cell::number(Text::of("∞"), Some(f64::MAX)),
                },
            ]);
        }
    }
    table
}
