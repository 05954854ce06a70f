//! The history for a terminal: a line a cell, and where levels changed; of one cell a line a session.

use super::marks;
use super::sparkline::{Bar, Glyphs, sparkline};
use crate::history::{History, PointValue, Series, Standing, Track};
use crate::report::model::Tone;
use crate::report::span::Text;
use crate::report::text::{self, Line};
use crate::unit::scale;
use crate::verdict::ARCHIVE_DAYS;

/// How the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Columns.
    pub width: usize,
    /// Whether it shows nothing but ASCII.
    pub ascii: bool,
    /// Whether cells that no gate judges are listed too.
    pub all: bool,
    /// Whether tracks are listed that a later one took the place of.
    pub superseded: bool,
}

/// Columns that a table takes beside its sparklines and names.
const FIGURES: usize = 52;
/// Sparklines are never wider, and never narrower.
const WIDEST: usize = 60;
const NARROWEST: usize = 8;
/// Runs' values that a table shows of a session.
const RUNS: usize = 5;

/// A line a cell, and below the table each change of level.
pub fn overview(history: &History, page: Page) -> Vec<Line> {
    let mut out = text::Page::default();
    for track in shown(history, page) {
        out.gap();
        head(&mut out, history, track);
        let series: Vec<&Series> = track
            .series
            .iter()
            .filter(|series| page.all || series.gated || !track.series.iter().any(|s| s.gated))
            .collect();
        table(&mut out, track, &series, page);
        changes(&mut out, track, &series);
        let hidden = track.series.len() - series.len();
        if hidden > 0 {
            out.line(
                Tone::Faint,
                format!("  {hidden} cells that no gate judges are not listed (--all)"),
            );
        }
    }
    left_out(&mut out, history, page);
    finish(out.lines, page)
}

/// A line a session of one cell, in each track that holds it.
pub fn cell(history: &History, cell: &str, page: Page) -> Vec<Line> {
    let mut out = text::Page::default();
    for track in shown(history, page) {
        let Some(series) = track.find(cell) else {
            continue;
        };
        out.gap();
        head(&mut out, history, track);
        table(&mut out, track, &[series], page);
        changes(&mut out, track, &[series]);
        if let Some(drift) = &series.drift {
            out.gap();
            let text = Text::of("drift ").then(marks::drift(track, series, drift));
            out.item(Tone::Neutral, &text);
        }
        out.gap();
        points(&mut out, track, series);
    }
    left_out(&mut out, history, page);
    finish(out.lines, page)
}

fn shown(history: &History, page: Page) -> impl Iterator<Item = &Track> {
    let tracks = history.tracks.iter();
    tracks.filter(move |track| page.superseded || !track.superseded)
}

fn left_out(out: &mut text::Page, history: &History, page: Page) {
    let hidden = history.tracks.iter().filter(|track| track.superseded);
    let hidden = hidden.count();
    if hidden > 0 && !page.superseded {
        out.gap();
        out.line(
            Tone::Faint,
            format!(
                "{hidden} earlier {} of {} that changed since {} left out, for {} can't be compared (--all)",
                if hidden == 1 { "line" } else { "lines" },
                if hidden == 1 { "a workload" } else { "workloads" },
                if hidden == 1 { "is" } else { "are" },
                if hidden == 1 { "it" } else { "they" },
            ),
        );
    }
}

fn head(out: &mut text::Page, history: &History, track: &Track) {
    let title = Text::value(&history.name)
        .words(" in ")
        .quoted(&track.environment);
    out.line(Tone::Neutral, title.plain());
    let stands = track.count(|standing| *standing == Standing::Stands);
    let noise = track.count(|standing| *standing == Standing::Noise);
    let void = track.count(|standing| matches!(standing, Standing::Void { .. }));
    let mut facts = Text::just(scale::count(stands as u64)).words(if stands == 1 {
        " session stands"
    } else {
        " sessions stand"
    });
    if noise > 0 {
        facts = facts
            .words(", ")
            .figure(scale::count(noise as u64))
            .words(" for noise");
    }
    if void > 0 {
        facts = facts
            .words(", ")
            .figure(scale::count(void as u64))
            .words(" void");
    }
    if let (Some(first), Some(last)) = (track.sittings.first(), track.sittings.last()) {
        facts = facts
            .words("; from ")
            .quoted(&first.day())
            .words(" to ")
            .quoted(&last.day());
    }
    facts = facts.words("; workload ").quoted(&track.workload);
    for label in &track.select {
        facts = facts.words(", ").quoted(label);
    }
    out.item(Tone::Faint, &facts);
    if let Some(days) = track.age_days.filter(|days| *days > ARCHIVE_DAYS) {
        let text = Text::of("stale: its newest session is ")
            .figure(scale::mean(days))
            .words(" days old, and verdicts against one older than ")
            .figure(scale::count(ARCHIVE_DAYS as u64))
            .words(" are advisory");
        out.item(Tone::Unsure, &text);
    }
    for accept in &track.accepts {
        let text = Text::of("accepted ")
            .quoted(&accept.made)
            .words(": ")
            .prose(&accept.reason);
        let text = match &accept.expires {
            Some(day) => text.words(", expires ").quoted(&day.to_string()),
            None => text,
        };
        out.item(Tone::Faint, &text);
    }
}

fn table(out: &mut text::Page, track: &Track, series: &[&Series], page: Page) {
    let names = series.iter().map(|series| series.cell.to_string().len());
    let taken = FIGURES + names.max().unwrap_or(0);
    let width = page.width.saturating_sub(taken).clamp(NARROWEST, WIDEST);
    let glyphs = if page.ascii {
        Glyphs::ASCII
    } else {
        Glyphs::BLOCKS
    };
    let anchored = series.iter().any(|series| series.drift.is_some());
    let mut header = vec!["cell", "history", "newest", "to its level", "level since"];
    if anchored {
        header.push("to the anchor");
    }
    let mut table = text::rows(&header, &[2, 3]);
    for series in series {
        let metric = series.cell.metric.metric();
        let mut row = vec![
            Text::value(&series.cell.to_string()).plain(),
            sparkline(&bars(series), width, glyphs),
        ];
        match &series.level {
            Some(level) => row.extend([
                scale::value(metric.unit(), level.newest),
                marks::size(series.scale, level.change),
                format!(
                    "{} ({})",
                    track.sittings[level.since].day(),
                    scale::count(level.sessions as u64)
                ),
            ]),
            None => row.extend(["–", "–", "no value that counts"].map(str::to_owned)),
        }
        if anchored {
            let drift = series.drift.as_ref();
            row.push(drift.map_or_else(
                || "–".to_owned(),
                |drift| {
                    let size = marks::size(series.scale, drift.change);
                    format!("{size} {}", if drift.worse { "worse" } else { "" })
                },
            ));
        }
        table.add_row(row);
    }
    out.gap();
    out.table(&table, |_| Tone::Neutral);
}

/// What counts, as it is drawn: voided sessions and those for noise are left out.
fn bars(series: &Series) -> Vec<Bar> {
    series
        .points
        .iter()
        .filter_map(|point| match &point.value {
            PointValue::Value(value) if point.counts => Some(Bar::Value(*value)),
            PointValue::Failed => Some(Bar::Failed),
            PointValue::Value(_) | PointValue::Unknown(_) => None,
        })
        .collect()
}

fn changes(out: &mut text::Page, track: &Track, series: &[&Series]) {
    let mut found: Vec<_> = series
        .iter()
        .flat_map(|series| series.shifts.iter().map(move |shift| (shift, series)))
        .collect();
    found.sort_by_key(|(shift, _)| shift.sitting);
    if !found.is_empty() {
        out.gap();
        out.line(Tone::Neutral, "  changes of level".to_owned());
    }
    for (shift, series) in found {
        let sitting = &track.sittings[shift.sitting];
        let mut text = Text::value(&sitting.day());
        if let Some(commit) = sitting.short_commit() {
            text = text.words(" ").quoted(commit);
        }
        let text = text
            .words("  ")
            .quoted(&series.cell.to_string())
            .words("  ")
            .then(marks::shift(series, shift));
        let tone = match (shift.worse, shift.accepted) {
            (true, false) => Tone::Bad,
            (true, true) => Tone::Neutral,
            (false, _) => Tone::Good,
        };
        out.line(tone, format!("    {}", text.plain()));
    }
}

fn points(out: &mut text::Page, track: &Track, series: &Series) {
    let metric = series.cell.metric.metric();
    let mut table = text::rows(
        &["day", "commit", "value", "of its runs", "session", ""],
        &[2],
    );
    for point in &series.points {
        let sitting = &track.sittings[point.sitting];
        let mut notes: Vec<Text> = series
            .shifts
            .iter()
            .filter(|shift| shift.sitting == point.sitting)
            .map(|shift| Text::of("change of level ").then(marks::shift(series, shift)))
            .collect();
        notes.extend(marks::sitting(sitting));
        let value = match &point.value {
            PointValue::Value(value) => scale::value(metric.unit(), *value),
            PointValue::Failed => "∞".to_owned(),
            PointValue::Unknown(why) => {
                notes.push(Text::default().prose(why));
                "–".to_owned()
            }
        };
        table.add_row([
            sitting.day(),
            Text::value(sitting.short_commit().unwrap_or("–")).plain(),
            value,
            of_runs(series, point),
            Text::value(&sitting.session).plain(),
            Text::join(notes, "; ").plain(),
        ]);
    }
    out.table(&table, |i| {
        let point = series.points.get(i);
        point.map_or(Tone::Neutral, |point| {
            let shift = series
                .shifts
                .iter()
                .find(|shift| shift.sitting == point.sitting);
            match shift {
                Some(shift) if shift.worse && !shift.accepted => Tone::Bad,
                _ if !point.counts => Tone::Faint,
                _ => Tone::Neutral,
            }
        })
    });
}

fn of_runs(series: &Series, point: &crate::history::Point) -> String {
    let metric = series.cell.metric.metric();
    let mut texts: Vec<String> = point
        .runs
        .iter()
        .take(RUNS)
        .map(|run| match run.value {
            Some(value) => scale::value(metric.unit(), value),
            None => "–".to_owned(),
        })
        .collect();
    if point.runs.len() > RUNS {
        texts.push(format!("… {} more", point.runs.len() - RUNS));
    }
    texts.join(", ")
}

/// In ASCII where the terminal knows nothing else.
fn finish(mut lines: Vec<Line>, page: Page) -> Vec<Line> {
    if page.ascii {
        for line in &mut lines {
            line.text = ascii(&line.text);
        }
    }
    lines
}

/// The signs of our own words in ASCII; others' letters become `?`.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            '→' => out.push_str("->"),
            '–' | '−' => out.push('-'),
            'µ' => out.push('u'),
            '×' => out.push('x'),
            '…' => out.push_str("..."),
            '∞' => out.push_str("inf"),
            _ => out.push('?'),
        }
    }
    out
}
