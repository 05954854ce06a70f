//! Series as plots: the statistics of one metric share one.

use super::forge::Forge;
use super::history::{at, commit, tags};
use super::page::Figure;
use super::table::{Cell, Column, Table};
use crate::history::{Point, PointValue, Series, Sitting, Standing, Track};
use crate::lang::Lang;
use crate::metric::{Cell as Named, Kind, Statistic};
use crate::plot::{Axis, Dot, Ground, Line, Lines, Mark, Shape};
use crate::report::history::marks;
use crate::report::span::Text;
use crate::report::words;
use crate::unit::scale;

/// Statistics of one metric, stage and class share a plot.
pub(super) fn groups(track: &Track) -> Vec<Vec<&Series>> {
    let mut groups: Vec<Vec<&Series>> = Vec::new();
    for series in &track.series {
        let is_same = |other: &Named| {
            let own = &series.cell;
            (&own.stage, &own.class, own.metric.metric())
                == (&other.stage, &other.class, other.metric.metric())
                && own.metric.metric().kind() == Kind::Distribution
        };
        match groups.iter_mut().find(|group| is_same(&group[0].cell)) {
            Some(group) => group.push(series),
            None => groups.push(vec![series]),
        }
    }
    for group in &mut groups {
        group.sort_by(|a, b| a.cell.cmp(&b.cell));
    }
    groups
}

/// `TTFT of chat in steady`.
fn title(cell: &Named) -> Text {
    let mut text = words::metric(cell.metric.metric());
    if let Statistic::Task(name) = cell.metric.statistic() {
        text = text.words(" ").figure(name.to_string());
    }
    if let Some(class) = &cell.class {
        text = text.words(" of ").quoted(class);
    }
    match &cell.stage {
        Some(stage) => text.words(" in ").quoted(stage),
        None => text.words(" of the whole run"),
    }
    .capitalised()
}

fn statistic(cell: &Named) -> Text {
    match cell.metric.statistic() {
        Statistic::Quantile(quantile) => Text::just(quantile.to_string()),
        Statistic::Mean => Text::of("mean"),
        Statistic::Value | Statistic::Task(_) => Text::of("value"),
    }
}

pub(super) fn figure(track: &Track, group: &[&Series], id: &str, forge: Option<&Forge>) -> Figure {
    let first = group[0];
    let metric = first.cell.metric.metric();
    let title = title(&first.cell);
    let write = move |ticks: &[f64]| scale::axis(metric.unit(), ticks);
    let shifts: usize = group.iter().map(|series| series.shifts.len()).sum();
    let statistics: Vec<String> = group.iter().map(|s| statistic(&s.cell).plain()).collect();
    let lines = Lines {
        title: title.plain(),
        description: format!(
            "{} over {} sessions, {} changes of level. The values stand in the table below the plot.",
            statistics.join(", "),
            track.sittings.len(),
            shifts
        ),
        ground: Ground::Places {
            name: "session",
            names: track.sittings.iter().map(Sitting::day).collect(),
        },
        axis: Axis {
            write: &write,
            name: words::name(metric).text(Lang::En),
            zero: false,
        },
        lines: group.iter().map(|series| line(track, series)).collect(),
        marks: tags(track)
            .into_iter()
            .map(|(at, tag)| Mark { x: at as f64, tag })
            .collect(),
    };
    let mut notes = Vec::new();
    // Percentiles move together; what is gated is told.
    let gated = group.iter().any(|series| series.gated);
    for series in group.iter().filter(|series| series.gated || !gated) {
        for shift in &series.shifts {
            notes.push(
                at(track, shift.sitting)
                    .words(": ")
                    .then(statistic(&series.cell))
                    .words(" ")
                    .then(marks::shift(series, shift)),
            );
        }
        if let Some(drift) = &series.drift {
            let text = statistic(&series.cell).words(" is ");
            notes.push(text.then(marks::drift(track, series, drift)));
        }
    }
    Figure {
        id: id.to_owned(),
        label: title.plain(),
        title,
        gated: group.iter().any(|series| series.gated),
        newest: true,
        svg: lines.draw().svg(id),
        notes,
        table: values(track, group, forge),
    }
}

fn line(track: &Track, series: &Series) -> Line {
    let metric = series.cell.metric.metric();
    let dots = series.points.iter().map(|point| {
        let sitting = &track.sittings[point.sitting];
        let value = point.value.value();
        let text = value.map_or_else(String::new, |v| scale::value(metric.unit(), v));
        let commit = sitting.short_commit().unwrap_or_default();
        Dot {
            x: point.sitting as f64,
            y: value,
            shape: shape(track, series, point),
            hint: format!("{} {commit}: {text}", sitting.day()),
        }
    });
    Line {
        name: if series.cell.metric.metric().kind() == Kind::Distribution {
            statistic(&series.cell).plain()
        } else {
            String::new()
        },
        dots: dots.collect(),
        levels: if series.shifts.is_empty() {
            Vec::new()
        } else {
            let levels = series.stretches.iter();
            levels
                .map(|level| (level.from as f64, level.to as f64, level.mean))
                .collect()
        },
        joined: true,
    }
}

fn shape(track: &Track, series: &Series, point: &Point) -> Shape {
    let sitting = &track.sittings[point.sitting];
    let mut shifts = series.shifts.iter();
    match (&sitting.standing, &sitting.anchor) {
        (Standing::Void { .. }, _) => Shape::Cross,
        (Standing::Noise, _) => Shape::Hollow,
        (Standing::Stands, Some(_)) => Shape::Diamond,
        (Standing::Stands, None) => match shifts.find(|s| s.sitting == point.sitting) {
            Some(shift) if shift.change > 0.0 => Shape::Up,
            Some(_) => Shape::Down,
            None => Shape::Dot,
        },
    }
}

fn values(track: &Track, group: &[&Series], forge: Option<&Forge>) -> Table {
    let metric = group[0].cell.metric.metric();
    let mut columns = vec![
        Column::text(Text::of("Day")),
        Column::text(Text::of("Commit")),
    ];
    columns.extend(group.iter().map(|s| Column::number(statistic(&s.cell))));
    columns.push(Column::text(Text::of("Remarks")));
    let mut table = Table::new(title(&group[0].cell).words(", by session"), columns);
    for (i, sitting) in track.sittings.iter().enumerate() {
        let mut row = vec![
            Cell::text(Text::value(&sitting.day())),
            commit(track, i, forge),
        ];
        let mut remarks = marks::sitting(sitting);
        for series in group {
            let point = series.points.iter().find(|point| point.sitting == i);
            row.push(match point.map(|point| &point.value) {
                Some(PointValue::Value(value)) => Cell::number(
                    Text::just(scale::value(metric.unit(), *value)),
                    Some(*value),
                ),
                Some(PointValue::Failed) => Cell::number(Text::of("∞"), Some(f64::MAX)),
                Some(PointValue::Unknown(_)) | None => Cell::number(Text::of("–"), None),
            });
            if let Some(shift) = series.shifts.iter().find(|shift| shift.sitting == i) {
                let size = marks::size(series.scale, shift.change);
                let text = statistic(&series.cell).words(" changes by ").figure(size);
                remarks.push(text);
            }
        }
        row.push(Cell::wide(Text::join(remarks, "; ")));
        table.rows.push(row);
    }
    table
}
