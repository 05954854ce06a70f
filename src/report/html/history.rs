//! The archive as a page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::forge::Forge;
use super::page::{Figure, Page};
use super::plots::{figure, groups};
use super::section::{Section, render_sections};
use super::table::{Cell, Column, Table};
use crate::history::{History, Standing, Track};
use crate::lang::Lang;
use crate::report::engine::{Template, render};
use crate::report::history::marks;
use crate::report::model::Tone;
use crate::report::span::Text;
use crate::unit::scale;
use crate::verdict::ARCHIVE_DAYS;

#[derive(Debug, Serialize)]
struct Model {
    page: Page,
    links: Vec<Link>,
    tracks: Vec<TrackView>,
    key: Vec<Text>,
}

#[derive(Debug, Serialize)]
struct Link {
    id: String,
    text: Text,
}

#[derive(Debug, Serialize)]
struct TrackView {
    id: String,
    title: Text,
    facts: Vec<Text>,
    warnings: Vec<Text>,
    summary: Table,
    changes: Vec<Text>,
    epochs: Vec<Text>,
    figures: Vec<Figure>,
    others: Vec<Figure>,
    others_title: Text,
    sessions: Table,
}

/// The page of one or several specs: a section a track, those that a later one took the place of last.
/// `forge` makes links of commits, `now` is RFC 3339.
pub fn history(histories: &[History], forge: Option<&Forge>, now: &str) -> String {
    let mut all: Vec<(&str, &Track)> = histories
        .iter()
        .flat_map(|history| {
            let tracks = history.tracks.iter();
            tracks.map(|track| (history.name.as_str(), track))
        })
        .collect();
    all.sort_by_key(|(_, track)| track.superseded);
    let tracks: Vec<TrackView> = all
        .iter()
        .zip(1_u32..)
        .map(|((name, track), number)| track_view(name, track, number, forge, now))
        .collect();
    let links = tracks.iter().map(|track| Link {
        id: track.id.clone(),
        text: track.title.clone(),
    });
    let links: Vec<Link> = links.collect();
    let headline = histories.iter().map(|history| Text::value(&history.name));
    let headline = Text::of("History of ").then(Text::join(headline, ", "));
    let model = Model {
        page: Page::new("archive", headline, Tone::Neutral),
        links: if links.len() > 1 { links } else { Vec::new() },
        tracks,
        key: key(),
    };
    render(Template::History, Lang::En, &model)
}

/// The page that leads to those of several specs: `NAME.html` beside it.
pub fn index(histories: &[History]) -> String {
    let columns = vec![
        Column::text(Text::of("Spec")),
        Column::text(Text::of("Environment")),
        Column::number(Text::of("Sessions that stand")),
        Column::text(Text::of("Newest")),
        Column::number(Text::of("Changes of level in gated cells")),
    ];
    let mut table = Table::new(Text::of("Specs and environments in the archive"), columns);
    for history in histories {
        let current = history.tracks.iter().filter(|track| !track.superseded);
        for track in current {
            let stands = track.count(|standing| *standing == Standing::Stands);
            let gated = track.series.iter().filter(|series| series.gated);
            let shifts: usize = gated.map(|series| series.shifts.len()).sum();
            let number =
                |n: usize| Cell::number(Text::just(scale::count(n as u64)), Some(n as f64));
            let newest = track.sittings.last();
            table.rows.push(vec![
                Cell::text(Text::value(&history.name))
                    .linked(Some(format!("{}.html", history.name))),
                Cell::text(Text::value(&track.environment)),
                number(stands),
                Cell::text(newest.map_or_else(|| Text::of("–"), |s| Text::value(&s.day()))),
                number(shifts),
            ]);
        }
    }
    let page = Page::new("archive", Text::of("Archive"), Tone::Neutral);
    render_sections(page, vec![Section::new(Text::of("Specs")).table(table)])
}

fn key() -> Vec<Text> {
    [
        "Each point is a session: the mean of its runs, by logarithms except for shares. Filled dots count; hollow ones are kept for their noise; crosses are void, and one at the edge lies beyond it",
        "A triangle is the first session after a change of level, and points the way that the value went; a wide band is a level between two changes",
        "A diamond is an anchor, which drift is held against. Dotted vertical lines, E1, E2, …, begin an epoch: a change that was accepted",
        "A change of level is found by an E-divisive split that a t-test confirms (p < 0.001, 2 % or half a point at least). It is advice, and no verdict",
        "Gated percentiles count every failed request as infinitely slow; a session without a finite value has no point",
    ]
    .into_iter()
    .map(Text::of)
    .collect()
}

fn track_view(
    name: &str,
    track: &Track,
    number: u32,
    forge: Option<&Forge>,
    now: &str,
) -> TrackView {
    let id = format!("track-{number}");
    let mut figures = Vec::new();
    let mut others = Vec::new();
    let mut changed = 0_u32;
    for (place, series) in groups(track).into_iter().zip(1_u32..).map(|(g, i)| (i, g)) {
        let figure = figure(track, &series, &format!("{id}-f{place}"), forge);
        changed += u32::from(!figure.gated && series.iter().any(|s| !s.shifts.is_empty()));
        if figure.gated || !track.series.iter().any(|series| series.gated) {
            figures.push(figure);
        } else {
            others.push(figure);
        }
    }
    TrackView {
        id,
        title: Text::value(name).words(" in ").quoted(&track.environment),
        facts: facts(track),
        warnings: warnings(track, now),
        summary: summary(track),
        changes: changes(track),
        epochs: epochs(track),
        figures,
        others_title: Text::of("Figures that no gate judges (")
            .figure(scale::count(others.len() as u64))
            .words(", with a change of level ")
            .figure(scale::count(changed.into()))
            .words(")"),
        others,
        sessions: sessions(track, forge),
    }
}

fn facts(track: &Track) -> Vec<Text> {
    let count = |of: fn(&Standing) -> bool| scale::count(track.count(of) as u64);
    let mut counts = Text::just(count(|standing| *standing == Standing::Stands))
        .words(" sessions stand, ")
        .figure(count(|standing| *standing == Standing::Noise))
        .words(" are kept for their noise, ")
        .figure(count(|standing| matches!(standing, Standing::Void { .. })))
        .words(" are void");
    if let (Some(first), Some(last)) = (track.sittings.first(), track.sittings.last()) {
        counts = counts
            .words("; from ")
            .quoted(&first.day())
            .words(" to ")
            .quoted(&last.day());
    }
    let mut lines = vec![
        counts,
        Text::of("Workload ")
            .quoted(&track.workload)
            .words(", definitions ")
            .quoted(&track.definition),
    ];
    if !track.select.is_empty() {
        let labels = track.select.iter().map(|label| Text::value(label));
        lines.push(Text::of("Selected: ").then(Text::join(labels, ", ")));
    }
    lines
}

fn warnings(track: &Track, now: &str) -> Vec<Text> {
    let mut out = Vec::new();
    if track.superseded {
        out.push(Text::of(
            "The workload has changed since: these figures can't be compared with later ones.",
        ));
    } else if let Some(days) = track.age_days.filter(|days| *days > ARCHIVE_DAYS) {
        out.push(
            Text::of("Stale: the newest session is ")
                .figure(scale::mean(days))
                .words(" days old, and verdicts against one older than ")
                .figure(scale::count(ARCHIVE_DAYS as u64))
                .words(" days are advisory."),
        );
    }
    for accept in &track.accepts {
        let Some(last) = accept.over(now) else {
            continue;
        };
        out.push(
            Text::of("An acceptance has expired, its last day was ")
                .quoted(&last.to_string())
                .words(": ")
                .prose(&accept.reason),
        );
    }
    out
}

/// The gated cells, or all where none is: newest, level, drift.
fn summary(track: &Track) -> Table {
    let anchored = track.series.iter().any(|series| series.drift.is_some());
    let mut columns = vec![
        Column::text(Text::of("Cell")),
        Column::number(Text::of("Newest")),
        Column::number(Text::of("To its level")),
        Column::text(Text::of("Level since")),
        Column::number(Text::of("Sessions")),
    ];
    if anchored {
        columns.push(Column::text(Text::of("Drift")));
    }
    let any = track.series.iter().any(|series| series.gated);
    let mut table = Table::new(Text::of("Where each gated cell stands"), columns);
    for series in track.series.iter().filter(|series| series.gated || !any) {
        let metric = series.cell.metric.metric();
        let mut row = vec![Cell::text(Text::value(&series.cell.to_string()))];
        match &series.level {
            Some(level) => row.extend([
                Cell::number(
                    Text::just(scale::value(metric.unit(), level.newest)),
                    Some(level.newest),
                ),
                Cell::number(
                    Text::just(marks::size(series.scale, level.change)),
                    Some(level.change),
                ),
                Cell::text(Text::value(&track.sittings[level.since].day())),
                Cell::number(
                    Text::just(scale::count(level.sessions as u64)),
                    Some(level.sessions as f64),
                ),
            ]),
            None => row.extend((0..4).map(|_| Cell::text(Text::of("–")))),
        }
        if anchored {
            let drift = series.drift.as_ref();
            let text = drift.map_or_else(|| Text::of("–"), |d| marks::drift(track, series, d));
            row.push(Cell::wide(text));
        }
        table.rows.push(row);
    }
    table
}

fn changes(track: &Track) -> Vec<Text> {
    let mut found: Vec<_> = track
        .series
        .iter()
        .filter(|series| series.gated || !track.series.iter().any(|series| series.gated))
        .flat_map(|series| series.shifts.iter().map(move |shift| (shift, series)))
        .collect();
    found.sort_by_key(|(shift, _)| shift.sitting);
    found
        .into_iter()
        .map(|(shift, series)| {
            at(track, shift.sitting)
                .words(": ")
                .quoted(&series.cell.to_string())
                .words(" ")
                .then(marks::shift(series, shift))
        })
        .collect()
}

/// `2026-03-01 (a1b2c3d4e)`.
pub(super) fn at(track: &Track, sitting: usize) -> Text {
    let sitting = &track.sittings[sitting];
    let text = Text::value(&sitting.day());
    match sitting.short_commit() {
        Some(commit) => text.words(" (").quoted(commit).words(")"),
        None => text,
    }
}

/// Sessions with an epoch's tag, in order.
pub(super) fn tags(track: &Track) -> BTreeMap<usize, String> {
    let sittings = track.sittings.iter().enumerate();
    let epochs = sittings.filter(|(_, sitting)| sitting.epoch.is_some());
    epochs
        .zip(1_u32..)
        .map(|((at, _), number)| (at, format!("E{number}")))
        .collect()
}

fn epochs(track: &Track) -> Vec<Text> {
    let tags = tags(track);
    let mut out = Vec::new();
    for (i, sitting) in track.sittings.iter().enumerate() {
        let mut add = |text: Text| out.push(at(track, i).words(": ").then(text));
        if let (Some(tag), Some(reason)) = (tags.get(&i), &sitting.epoch) {
            add(Text::just(tag.clone()).words(" begins, ").prose(reason));
        }
        if let Some(name) = &sitting.anchor {
            add(Text::of("anchor ").quoted(name));
        }
        if let Standing::Void { reason } = &sitting.standing {
            add(Text::of("void, ").prose(reason));
        }
    }
    for accept in &track.accepts {
        let cells = accept.cells.iter().map(|cell| Text::value(cell));
        let text = Text::value(&accept.made)
            .words(": accepted ")
            .then(Text::join(cells, ", "))
            .words(", ")
            .prose(&accept.reason);
        out.push(match &accept.expires {
            Some(day) => text.words("; expires ").quoted(&day.to_string()),
            None => text,
        });
    }
    out
}

pub(super) fn commit(track: &Track, sitting: usize, forge: Option<&Forge>) -> Cell {
    let sitting = &track.sittings[sitting];
    let href = sitting
        .commit
        .as_deref()
        .and_then(|commit| forge?.commit(commit));
    let text = sitting
        .short_commit()
        .map_or_else(|| Text::of("–"), Text::value);
    Cell::text(text).linked(href)
}

fn sessions(track: &Track, forge: Option<&Forge>) -> Table {
    let columns = [
        "Day",
        "Commit",
        "Session",
        "Why it was kept",
        "Remarks and pins that changed",
    ];
    let columns = columns.map(|name| Column::text(Text::of(name)));
    let mut table = Table::new(Text::of("Sessions, oldest first"), columns.to_vec());
    for (i, sitting) in track.sittings.iter().enumerate() {
        let reason = sitting.reason.as_deref();
        table.rows.push(vec![
            Cell::text(Text::value(&sitting.day())),
            commit(track, i, forge),
            Cell::text(Text::value(&sitting.session)),
            Cell::wide(reason.map_or_else(|| Text::of("–"), |r| Text::default().prose(r))),
            Cell::wide(Text::join(marks::sitting(sitting), "; ")),
        ]);
    }
    table
}
