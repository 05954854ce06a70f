//! Latency against throughput, over the steps of a sweep.

use std::collections::BTreeMap;

use super::page::Figure;
use super::table::{Cell, Column, Table};
use crate::capacity::{Capacity, SweepReading};
use crate::lang::Lang;
use crate::metric::Metric;
use crate::plot::{Axis, Dot, Ground, Line, Lines, Mark, Shape};
use crate::report::facts::{self, StepFigures};
use crate::report::span::Text;
use crate::report::words;
use crate::unit::scale::{self, Unit};

/// A limit is drawn where it is at most so many times the highest value, for one far above presses lines flat.
const TALLEST: f64 = 4.0;

/// Steps of one side, and what it is called.
pub(super) struct Curve {
    pub(super) name: &'static str,
    pub(super) steps: Vec<StepFigures>,
    /// Steps at which its sweeps have their knees.
    pub(super) knees: Vec<String>,
}

/// The steps at the knees of a side's sweeps.
pub(super) fn knees(capacity: &Capacity) -> Vec<String> {
    let knee = |sweep: &SweepReading| {
        let load = sweep.knee.figure()?.load;
        let mut steps = sweep.steps.iter();
        let step = steps.find(|step| step.load.total_cmp(&load).is_eq())?;
        Some(step.stage.clone())
    };
    capacity.sweeps.iter().filter_map(knee).collect()
}

/// A side's steps of one sweep that have a latency.
struct Drawn<'a> {
    side: &'static str,
    steps: Vec<&'a StepFigures>,
    /// What it completes at its knee.
    knee_rps: Option<f64>,
}

/// A plot a sweep and latency, with a line a side, the knees and the limits of SLOs, by metric in seconds; none
/// where nothing sweeps.
pub(super) fn curves(sides: &[Curve], slo: &BTreeMap<Metric, Vec<f64>>, id: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    let all = sides.iter().flat_map(|side| &side.steps);
    for (number, sweep) in facts::sweeps(all).into_iter().enumerate() {
        for metric in facts::LATENCIES {
            let drawn: Vec<Drawn<'_>> = sides
                .iter()
                .map(|side| {
                    let own = side.steps.iter().filter(|step| step.sweep() == sweep);
                    let steps: Vec<&StepFigures> = own.collect();
                    let knee = steps.iter().find(|step| side.knees.contains(&step.stage));
                    Drawn {
                        side: side.name,
                        knee_rps: knee.map(|step| step.completed_rps),
                        steps,
                    }
                })
                .filter(|drawn| drawn.steps.iter().any(|step| p95(step, metric).is_some()))
                .collect();
            if !drawn.is_empty() {
                let id = format!("{id}-{number}-{}", metric.name());
                let limits = slo.get(&metric).map_or(&[][..], Vec::as_slice);
                figures.push(figure(&sweep, (metric, limits), &drawn, &id));
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
    (metric, limits): (Metric, &[f64]),
    sides: &[Drawn<'_>],
    id: &str,
) -> Figure {
    let title = words::metric(metric)
        .words(" p95 against throughput in ")
        .quoted(sweep);
    let write_x = |ticks: &[f64]| scale::axis(Unit::RequestsPerSecond, ticks);
    let write_y = move |ticks: &[f64]| scale::axis(metric.unit(), ticks);
    let name = format!("{} p95", words::name(metric).text(Lang::En));
    let of_sides = sides
        .iter()
        .zip([Shape::Dot, Shape::Up])
        .map(|(drawn, shape)| Line {
            name: drawn.side.to_owned(),
            dots: drawn
                .steps
                .iter()
                .map(|step| dot(step, metric, shape))
                .collect(),
            levels: Vec::new(),
            joined: true,
        });
    let levels = levels(metric, limits, sides);
    let marks = marks(sides);
    let mut notes = vec![Text::of(
        "Up and to the left is worse; a step whose p95 is infinite has no point",
    )];
    if !marks.is_empty() {
        notes.push(Text::of(if sides.len() > 1 {
            "An upright line marks a knee: B the baseline's, C the candidate's"
        } else {
            "The upright line marks the knee"
        }));
    }
    if !limits.is_empty() && levels.is_empty() {
        let limits = limits
            .iter()
            .map(|limit| Text::just(scale::value(metric.unit(), *limit)));
        notes.push(Text::of("The SLO is far above the plot: ").then(Text::list(limits)));
    }
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
        lines: of_sides.chain(levels).collect(),
        marks,
    };
    Figure {
        id: id.to_owned(),
        label: title.plain(),
        title,
        gated: false,
        newest: false,
        svg: lines.draw().svg(id),
        notes,
        table: table(metric, sides),
    }
}

/// Limits as level lines across the plot; none where one is far above.
fn levels(metric: Metric, limits: &[f64], sides: &[Drawn<'_>]) -> Vec<Line> {
    let steps = || sides.iter().flat_map(|drawn| &drawn.steps);
    let highest = steps()
        .filter_map(|step| p95(step, metric))
        .fold(0.0, f64::max);
    let rates = || steps().map(|step| step.completed_rps);
    let ends = [
        rates().fold(f64::INFINITY, f64::min),
        rates().fold(0.0, f64::max),
    ];
    if limits.iter().any(|limit| *limit > TALLEST * highest) {
        return Vec::new();
    }
    let level = |limit: &f64| {
        let name = format!("SLO {}", scale::value(metric.unit(), *limit));
        Line {
            dots: ends
                .iter()
                .map(|x| Dot {
                    x: *x,
                    y: Some(*limit),
                    shape: Shape::Diamond,
                    hint: name.clone(),
                })
                .collect(),
            name,
            levels: Vec::new(),
            joined: true,
        }
    };
    limits.iter().map(level).collect()
}

/// Where the knees are.
fn marks(sides: &[Drawn<'_>]) -> Vec<Mark> {
    let several = sides.len() > 1;
    let mark = |drawn: &Drawn<'_>| {
        let tag = match drawn.side {
            "baseline" if several => "B",
            "candidate" if several => "C",
            _ => "knee",
        };
        Some(Mark {
            x: drawn.knee_rps?,
            tag: tag.to_owned(),
        })
    };
    let mut marks: Vec<Mark> = sides.iter().filter_map(mark).collect();
    marks.sort_by(|one, other| one.x.total_cmp(&other.x));
    marks
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

fn table(metric: Metric, sides: &[Drawn<'_>]) -> Table {
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
    for Drawn { side, steps, .. } in sides {
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
