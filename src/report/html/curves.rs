//! Latency against throughput, over the steps of a sweep.

use super::page::Figure;
use super::table::{Cell, Column, Table};
use crate::lang::Lang;
use crate::metric::Metric;
use crate::plot::{Axis, Dot, Ground, Line, Lines, Shape};
use crate::report::facts::{self, StepFigures};
use crate::report::span::Text;
use crate::report::words;
use crate::unit::scale::{self, Unit};

/// Steps of one side, and what it is called.
pub(super) type Named = (&'static str, Vec<StepFigures>);

/// A plot a sweep and latency, with a line a side; none where nothing sweeps.
pub(super) fn curves(sides: &[Named], id: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    let all = sides.iter().flat_map(|(_, steps)| steps);
    for (number, sweep) in facts::sweeps(all).into_iter().enumerate() {
        for metric in facts::LATENCIES {
            let steps: Vec<(&'static str, Vec<&StepFigures>)> = sides
                .iter()
                .map(|(side, steps)| {
                    let own = steps.iter().filter(|step| step.sweep() == sweep);
                    (*side, own.collect::<Vec<_>>())
                })
                .filter(|(_, steps)| steps.iter().any(|step| p95(step, metric).is_some()))
                .collect();
            if !steps.is_empty() {
                let id = format!("{id}-{number}-{}", metric.name());
                figures.push(figure(&sweep, metric, &steps, &id));
            }
        }
    }
    figures
}

/// `None` where it is infinite in some run, or nobody measured it.
fn p95(step: &StepFigures, metric: Metric) -> Option<f64> {
    *step.p95_s.get(&metric)?
}

fn figure(
    sweep: &str,
    metric: Metric,
    sides: &[(&'static str, Vec<&StepFigures>)],
    id: &str,
) -> Figure {
    let title = words::metric(metric)
        .words(" p95 against throughput in ")
        .quoted(sweep);
    let write_x = |ticks: &[f64]| scale::axis(Unit::RequestsPerSecond, ticks);
    let write_y = move |ticks: &[f64]| scale::axis(metric.unit(), ticks);
    let name = format!("{} p95", words::name(metric).text(Lang::En));
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

fn dot(step: &StepFigures, metric: Metric, shape: Shape) -> Dot {
    let y = p95(step, metric);
    let value = y.map_or_else(String::new, |v| scale::value(metric.unit(), v));
    let rate = scale::value(Unit::RequestsPerSecond, step.completed_rps);
    Dot {
        x: step.completed_rps,
        y,
        shape,
        hint: format!("{}: {value} at {rate}", step.stage),
    }
}

fn table(metric: Metric, sides: &[(&'static str, Vec<&StepFigures>)]) -> Table {
    let columns = vec![
        Column::text(Text::of("Step")),
        Column::text(Text::of("Side")),
        Column::number(Text::of("Completed")),
        Column::number(Text::of("Output")),
        Column::number(words::metric(metric).words(" p95")),
    ];
    let mut table = Table::new(Text::of("Means over the runs of a side"), columns);
    let number =
        |unit: Unit, value: f64| Cell::number(Text::just(scale::value(unit, value)), Some(value));
    for (side, steps) in sides {
        for step in steps {
            table.rows.push(vec![
                Cell::text(Text::value(&step.stage)),
                Cell::text(Text::of(side)),
                number(Unit::RequestsPerSecond, step.completed_rps),
                number(Unit::TokensPerSecond, step.output_tps),
                match p95(step, metric) {
                    Some(value) => number(metric.unit(), value),
                    None => Cell::number(Text::of("∞"), Some(f64::MAX)),
                },
            ]);
        }
    }
    table
}
