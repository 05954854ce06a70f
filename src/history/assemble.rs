//! Kept sessions to tracks and series.

use std::collections::BTreeMap;

use super::instant;
use super::kept::{Kept, KeptSession};
use super::series::Series;
use super::track::{FORMAT, History, PinChange, Sitting, Track};
use crate::compare::{Reductions, held};
use crate::ident::Digest;
use crate::metric::{Cell, Quantile};
use crate::provenance::{PinPath, Pins};
use crate::summary::Run;

/// Hex digits of a digest that tell workloads apart.
const DIGITS: usize = 8;

/// What makes figures those of one line, beside the environment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    definition: String,
    workload: Digest,
    trace: Digest,
    select: Vec<String>,
}

impl Line {
    fn of(run: &Run) -> Self {
        Self {
            definition: run.definition.clone(),
            workload: run.spec.workload_digest,
            trace: run.trace_digest,
            select: run.spec.select.clone(),
        }
    }
}

/// The history of a spec; `gated` are the cells that its gate judges, `now` is RFC 3339.
pub fn assemble(name: &str, kept: &[Kept<'_>], gated: &[Cell], now: &str) -> History {
    let mut tracks = Vec::new();
    for environment in kept {
        let mut lines: BTreeMap<Line, Vec<&KeptSession<'_>>> = BTreeMap::new();
        for session in &environment.sessions {
            if let Some(run) = session.runs.first() {
                lines.entry(Line::of(run)).or_default().push(session);
            }
        }
        let mut own: Vec<Track> = lines
            .into_iter()
            .map(|(line, sessions)| track(environment, &line, sessions, gated, now))
            .collect();
        own.sort_by(|a, b| newest(a).cmp(newest(b)));
        let last = own.len().saturating_sub(1);
        for track in &mut own[..last] {
            track.superseded = true;
        }
        tracks.append(&mut own);
    }
    History {
        format: FORMAT,
        name: name.to_owned(),
        tracks,
    }
}

/// RFC 3339 in UTC, so that texts follow each other as instants do.
fn newest(track: &Track) -> &str {
    let started = track
        .sittings
        .iter()
        .map(|sitting| sitting.started.as_str());
    started.max().unwrap_or_default()
}

fn started<'a>(session: &KeptSession<'a>) -> &'a str {
    let started = session.runs.iter().map(|run| run.started.as_str());
    started.min().unwrap_or_default()
}

fn track(
    environment: &Kept<'_>,
    line: &Line,
    mut sessions: Vec<&KeptSession<'_>>,
    gated: &[Cell],
    now: &str,
) -> Track {
    sessions.sort_by(|a, b| started(a).cmp(started(b)).then_with(|| a.id.cmp(&b.id)));
    let mut sittings: Vec<Sitting> = Vec::with_capacity(sessions.len());
    let mut before: Option<&Pins> = None;
    for session in &sessions {
        let pins = session.runs.first().map(|run| &run.pins);
        sittings.push(Sitting {
            session: session.id.clone(),
            started: started(session).to_owned(),
            commit: session.commit.clone(),
            standing: session.standing.clone(),
            reason: session.reason.clone(),
            anchor: session.anchor.clone(),
            epoch: session.epoch.clone(),
            pins: before
                .zip(pins)
                .map_or_else(Vec::new, |(a, b)| changes(a, b)),
        });
        before = pins.or(before);
    }
    let runs: Vec<&[Run]> = sessions.iter().map(|session| session.runs).collect();
    let all: Vec<&Run> = runs.iter().copied().flatten().collect();
    let reductions = Reductions {
        quantiles: &[Quantile::P50, Quantile::P95, Quantile::P99],
        mean: false,
    };
    let mut cells: Vec<(Cell, bool)> = gated.iter().map(|cell| (cell.clone(), true)).collect();
    for cell in held(&all, reductions) {
        if !gated.contains(&cell) {
            cells.push((cell, false));
        }
    }
    let newest = sittings.iter().rfind(|sitting| sitting.stands());
    Track {
        environment: environment.environment.clone(),
        workload: [line.workload, line.trace]
            .map(|digest| digest.hex()[..DIGITS].to_owned())
            .join("-"),
        definition: line.definition.clone(),
        select: line.select.clone(),
        superseded: false,
        age_days: newest.and_then(|sitting| instant::days_between(&sitting.started, now)),
        series: cells
            .iter()
            .filter_map(|(cell, gated)| Series::of(cell, *gated, &sittings, &runs))
            .collect(),
        accepts: environment.accepts.clone(),
        sittings,
    }
}

/// Pins whose values differ but for their spelling.
fn changes(before: &Pins, after: &Pins) -> Vec<PinChange> {
    let mut paths: Vec<PinPath> = before.keys().chain(after.keys()).copied().collect();
    paths.sort_unstable();
    paths.dedup();
    let value = |pins: &Pins, path| -> Option<String> {
        let value = pins.get(&path)?.value()?;
        Some(value.to_owned())
    };
    paths
        .into_iter()
        .map(|pin| PinChange {
            pin,
            before: value(before, pin),
            after: value(after, pin),
        })
        .filter(|change| match (&change.before, &change.after) {
            (Some(before), Some(after)) => !change.pin.same(before, after),
            (before, after) => before != after,
        })
        .collect()
}
