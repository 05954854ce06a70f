//! One cell over the sessions of a track.

use serde::Serialize;

use super::scale::Scale;
use super::track::Sitting;
use crate::compare::{Measure, Value, measures};
use crate::metric::Cell;
use crate::stats::change_point::{ChangePoint, change_points};
use crate::stats::mean;
use crate::summary::Run;

/// Newest points that make today's level, where the last change is longer ago.
const LEVEL: usize = 5;
/// A change of level this many sessions from an epoch's first one is that epoch's.
const NEAR: usize = 3;

/// One cell over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// `steady/ttft.p95`, as reports name it.
    #[serde(serialize_with = "as_text")]
    pub cell: Cell,
    /// Whether the spec's gate judges it.
    pub gated: bool,
    /// The unit of its values, as a word.
    pub unit: &'static str,
    /// How values are averaged and changes told.
    pub scale: Scale,
    /// A point a session that holds the cell, oldest first.
    pub points: Vec<Point>,
    /// Where the level changed, oldest first.
    pub shifts: Vec<Shift>,
    /// The levels between those changes, oldest first.
    pub stretches: Vec<Stretch>,
    /// Today's level; `None` without a value that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// How far that is from the anchor; `None` without one that holds the cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

/// One session of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Index of its session in the track.
    pub sitting: usize,
    /// Whether it counts: its session stands, and it has a value.
    pub counts: bool,
    /// The mean of its runs.
    #[serde(flatten)]
    pub value: PointValue,
    /// Its runs.
    pub runs: Vec<RunValue>,
}

/// What a session says of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointValue {
    /// The mean of its runs, in the metric's unit.
    Value(f64),
    /// In some run the target failed too many requests for a value: worse than any.
    Failed,
    /// No run has a value, and why.
    Unknown(String),
}

impl PointValue {
    /// The value, where there is one.
    pub const fn value(&self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::Failed | Self::Unknown(_) => None,
        }
    }
}

/// One run of a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunValue {
    /// Its id.
    pub run: String,
    /// Its value, in the metric's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Requests (or tokens) behind it.
    pub n: u64,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shift {
    /// Index in the track of the first session of the new level.
    pub sitting: usize,
    /// The level before, since the change before it, in the metric's unit.
    pub before: f64,
    /// The level after it, until the next change.
    pub after: f64,
    /// The change: a ratio minus 1, or a difference of shares.
    pub change: f64,
    /// Two-sided p-value of the t-test between the two stretches.
    pub p: f64,
    /// Whether it was for the worse.
    pub worse: bool,
    /// Whether an epoch begins within three sessions of it: it was accepted.
    pub accepted: bool,
}

/// Sessions between two changes of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stretch {
    /// Index in the track of its first session.
    pub from: usize,
    /// Index of its last.
    pub to: usize,
    /// The mean of those that count, in the metric's unit.
    pub mean: f64,
}

/// Where a series stands now.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Level {
    /// Index in the track of its first session: that of the last change, or the first that counts.
    pub since: usize,
    /// Sessions since then that count.
    pub sessions: usize,
    /// Their mean, in the metric's unit.
    pub mean: f64,
    /// The newest value.
    pub newest: f64,
    /// How far the newest is from the mean, as a ratio minus 1 or a difference of shares.
    pub change: f64,
}

/// How far a series is from its anchor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// Index of the anchor in the track.
    pub anchor: usize,
    /// The anchor's value.
    pub from: f64,
    /// The mean of the newest sessions since the last change, five at most.
    pub to: f64,
    /// The change, as a ratio minus 1 or a difference of shares.
    pub change: f64,
    /// Whether it is for the worse.
    pub worse: bool,
}

impl Series {
    /// Of a cell in the sessions of a track, oldest first, with the place of that which drift is held
    /// against; `None` where none holds it.
    pub(super) fn of(
        cell: &Cell,
        gated: bool,
        sittings: &[Sitting],
        sessions: &[&[Run]],
        anchor: Option<usize>,
    ) -> Option<Self> {
        let scale = Scale::of(cell.metric.metric());
        let points: Vec<Point> = sittings
            .iter()
            .zip(sessions)
            .enumerate()
            .map(|(at, (sitting, runs))| Point::of(cell, scale, at, sitting, runs))
            .collect();
        let has_any = points
            .iter()
            .any(|point| !matches!(point.value, PointValue::Unknown(_)));
        has_any.then(|| {
            let counting: Vec<(usize, f64)> = points
                .iter()
                .filter(|point| point.counts)
                .filter_map(|point| Some((point.sitting, scale.of_value(point.value.value()?))))
                .collect();
            let found = change_points(&ys_of(&counting), scale.smallest());
            let stretches = stretches(scale, &found, &counting);
            let shifts = shifts(cell, scale, sittings, &found, &stretches);
            let level = Level::of(scale, shifts.last(), &counting);
            let drift = anchor.and_then(|anchor| {
                Drift::of(
                    cell,
                    scale,
                    anchor,
                    &points,
                    since(shifts.last(), &counting),
                )
            });
            Self {
                cell: cell.clone(),
                gated,
                unit: cell.metric.metric().unit().word(),
                scale,
                points,
                stretches,
                shifts,
                level,
                drift,
            }
        })
    }

    /// Leaves out what lies before a session of the track, which becomes the first.
    pub(super) fn begin_at(&mut self, first: usize) {
        self.points.retain(|point| point.sitting >= first);
        self.shifts.retain(|shift| shift.sitting >= first);
        for point in &mut self.points {
            point.sitting -= first;
        }
        for shift in &mut self.shifts {
            shift.sitting -= first;
        }
        self.stretches.retain(|stretch| stretch.to >= first);
        for stretch in &mut self.stretches {
            stretch.from = stretch.from.saturating_sub(first);
            stretch.to -= first;
        }
        if let Some(level) = &mut self.level {
            level.since = level.since.saturating_sub(first);
        }
        self.drift = self.drift.take().and_then(|mut drift| {
            drift.anchor = drift.anchor.checked_sub(first)?;
            Some(drift)
        });
    }
}

impl Point {
    fn of(cell: &Cell, scale: Scale, at: usize, sitting: &Sitting, runs: &[Run]) -> Self {
        let all: Vec<&Run> = runs.iter().collect();
        let measured = measures(&all, cell);
        let ys: Vec<f64> = measured.iter().filter_map(|m| scale.y(m)).collect();
        let failed = measured.iter().any(|m| m.value == Value::Failed);
        let value = match mean(&ys) {
            _ if failed => PointValue::Failed,
            Some(mean) => PointValue::Value(scale.value(mean)),
            None => PointValue::Unknown(
                measured
                    .iter()
                    .find_map(|measure| why(&measure.value))
                    .unwrap_or_else(|| "it has no run".to_owned()),
            ),
        };
        Self {
            sitting: at,
            counts: sitting.stands() && value.value().is_some(),
            value,
            runs: all
                .iter()
                .zip(&measured)
                .map(|(run, measure)| RunValue::of(run, measure))
                .collect(),
        }
    }
}

impl RunValue {
    fn of(run: &Run, measure: &Measure) -> Self {
        Self {
            run: run.id.clone(),
            value: measure.measured(),
            n: measure.n,
            why: why(&measure.value),
        }
    }
}

fn why(value: &Value) -> Option<String> {
    match value {
        Value::Measured(_) => None,
        Value::Failed => Some("the target failed too many requests".to_owned()),
        Value::Invalid(why) | Value::Absent(why) | Value::Untold(why) => Some(why.clone()),
    }
}

fn ys_of(points: &[(usize, f64)]) -> Vec<f64> {
    points.iter().map(|(_, y)| *y).collect()
}

/// The stretches between changes: each change point's index is one in `counting`.
fn stretches(scale: Scale, found: &[ChangePoint], counting: &[(usize, f64)]) -> Vec<Stretch> {
    let mut begins: Vec<usize> = found.iter().map(|point| point.index).collect();
    begins.insert(0, 0);
    begins.push(counting.len());
    begins
        .windows(2)
        .filter_map(|ends| {
            let own = counting.get(ends[0]..ends[1])?;
            Some(Stretch {
                from: own.first()?.0,
                to: own.last()?.0,
                mean: scale.value(mean(&ys_of(own))?),
            })
        })
        .collect()
}

/// Each change between two stretches. What the split was found between is wider where it was split
/// again, so the levels are those of the stretches.
fn shifts(
    cell: &Cell,
    scale: Scale,
    sittings: &[Sitting],
    found: &[ChangePoint],
    stretches: &[Stretch],
) -> Vec<Shift> {
    let sign = cell.metric.metric().direction().sign();
    let between = stretches.windows(2).zip(found);
    between
        .map(|(levels, found)| {
            let (before, after) = (levels[0].mean, levels[1].mean);
            let sitting = levels[1].from;
            let near = sitting.saturating_sub(NEAR)..=sitting + NEAR;
            Shift {
                sitting,
                before,
                after,
                change: scale.change(scale.of_value(before), scale.of_value(after)),
                p: found.p,
                worse: sign * (after - before) > 0.0,
                accepted: sittings
                    .iter()
                    .enumerate()
                    .any(|(at, sitting)| near.contains(&at) && sitting.epoch.is_some()),
            }
        })
        .collect()
}

/// Those since the last change of level.
fn since<'a>(last: Option<&Shift>, counting: &'a [(usize, f64)]) -> &'a [(usize, f64)] {
    let first = last.map_or(0, |shift| shift.sitting);
    let at = counting.partition_point(|(sitting, _)| *sitting < first);
    &counting[at..]
}

fn mean_of(points: &[(usize, f64)]) -> Option<f64> {
    mean(&ys_of(points))
}

impl Level {
    fn of(scale: Scale, last: Option<&Shift>, counting: &[(usize, f64)]) -> Option<Self> {
        let points = since(last, counting);
        let ((first, _), (_, newest), mean) = (points.first()?, points.last()?, mean_of(points)?);
        Some(Self {
            since: *first,
            sessions: points.len(),
            mean: scale.value(mean),
            newest: scale.value(*newest),
            change: scale.change(mean, *newest),
        })
    }
}

impl Drift {
    fn of(
        cell: &Cell,
        scale: Scale,
        anchor: usize,
        points: &[Point],
        stretch: &[(usize, f64)],
    ) -> Option<Self> {
        let at = points.iter().find(|point| point.sitting == anchor)?;
        let from = scale.of_value(at.value.value()?);
        let newest = &stretch[stretch.len().saturating_sub(LEVEL)..];
        let to = mean_of(newest)?;
        let sign = cell.metric.metric().direction().sign();
        Some(Self {
            anchor,
            from: scale.value(from),
            to: scale.value(to),
            change: scale.change(from, to),
            worse: sign * (to - from) > 0.0,
        })
    }
}

fn as_text<S: serde::Serializer>(cell: &Cell, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cell)
}
