//! Runs as a page: figures of each stage, curves of its sweeps, the course of its window.

use super::curves::{Curve, curves, knees};
use super::page::{Figure, Page};
use super::section::{Section, render_sections, texts};
use super::table::{Cell, Column, Table};
use crate::capacity;
use crate::plot::{Axis, Dot, Ground, Line, Lines, Shape};
use crate::report::facts::{limits_of, steps};
use crate::report::model::{RunModel, StageView, Tone};
use crate::report::run::build;
use crate::report::span::Text;
use crate::summary::{Run, Side, StageSummary};
use crate::unit::scale::{self, Unit};

/// The page of one run, or of several one after the other.
pub fn run(runs: &[Run]) -> String {
    let models: Vec<RunModel> = runs.iter().map(build).collect();
    let (headline, tone) = match models.as_slice() {
        [only] => (only.headline.clone(), only.tone),
        several => (
            Text::just(scale::count(several.len() as u64)).words(" runs"),
            Tone::Neutral,
        ),
    };
    let page = Page::new(if runs.len() == 1 { "run" } else { "runs" }, headline, tone);
    let mut sections = Vec::new();
    for (number, (run, model)) in runs.iter().zip(&models).enumerate() {
        if runs.len() > 1 {
            let title = Text::of("Run ").quoted(&run.id);
            sections.push(Section::new(title).texts([model.headline.clone()]));
        }
        add(&mut sections, run, model, &format!("run-{number}"));
    }
    render_sections(page, sections)
}

fn add(sections: &mut Vec<Section>, run: &Run, model: &RunModel, id: &str) {
    let setup = Some(model.setup.clone()).filter(|setup| !setup.is_empty());
    let facts = setup.into_iter().chain(model.facts.iter().cloned());
    sections.push(Section::new(Text::default()).texts(facts));
    let own = std::slice::from_ref(run);
    // The side is not told of a single run.
    let curve = Curve {
        name: "run",
        steps: steps(Side::Candidate, own),
        knees: knees(&capacity::read(own, None)),
    };
    let sweeps = curves(&[curve], &limits_of(own.iter()), &format!("{id}-sweep"));
    sections.push(Section::new(Text::of("Latency against throughput")).figures(sweeps));
    for (number, (stage, view)) in run.stages.iter().zip(&model.stages).enumerate() {
        let course = course(stage, &format!("{id}-course-{number}"));
        sections.push(stage_section(view).figures(course));
    }
    let rest = model.skipped.iter().chain(&model.notes).cloned();
    sections.push(Section::new(Text::of("Notes")).texts(rest));
    let provenance = model.provenance.iter().cloned();
    let title = Text::of("What was measured, and on what");
    sections.push(Section::folded(title).texts(provenance));
    let pins = model
        .pins
        .iter()
        .map(|pin| [pin.pin.clone(), pin.value.clone()]);
    let pins = texts(Text::of("Pins"), ["Pin", "Value"], &[], pins);
    sections.push(Section::folded(Text::of("Pins")).table(pins));
}

fn stage_section(view: &StageView) -> Section {
    let line = |name: &'static str, text: &Text| Text::of(name).then(text.clone());
    let mut lines: Vec<Text> = Vec::new();
    lines.extend(view.invalid.iter().map(|text| line("Invalid: ", text)));
    lines.extend(
        view.conditions
            .iter()
            .map(|text| line("Not steady: ", text)),
    );
    lines.push(line("Load: ", &view.load));
    lines.push(line("Requests: ", &view.counts));
    lines.extend(view.failed.iter().map(|text| line("Not completed: ", text)));
    lines.extend(
        view.finish
            .iter()
            .map(|text| line("Answers ended by: ", text)),
    );
    lines.extend(view.goodput.iter().map(|text| line("Goodput: ", text)));
    lines.extend(view.clauses.iter().map(|text| line("SLO: ", text)));
    lines.push(line("Throughput: ", &view.throughput));
    lines.extend(view.cache.iter().map(|text| line("Prefix cache: ", text)));
    lines.extend(view.engine.iter().map(|text| line("Engine: ", text)));
    lines.extend(view.gpus.iter().map(|text| line("GPU: ", text)));
    lines.push(line("Client: ", &view.client));
    lines.extend(view.soak.iter().map(|text| line("Soak: ", text)));
    lines.extend(view.events.iter().map(|text| line("Event: ", text)));
    lines.extend(view.remarks.iter().map(|text| line("Note: ", text)));
    let rows = view
        .latencies
        .iter()
        .map(|row| [&row.metric, &row.n, &row.p50, &row.p90, &row.p95, &row.p99].map(Clone::clone));
    let names = ["Latency", "n", "p50", "p90", "p95", "p99"];
    let latencies = texts(Text::of("Latencies"), names, &[1, 2, 3, 4, 5], rows);
    let errors = view
        .errors
        .iter()
        .map(|row| [row.text.clone(), row.count.clone()]);
    let errors = texts(Text::of("First errors"), ["Error", "Count"], &[1], errors);
    let mut section = Section::new(Text::of("Stage ").then(view.name.clone()))
        .texts(lines)
        .table(latencies)
        .table(errors);
    if let Some(tenants) = &view.tenants {
        let names = [
            "Tenant",
            "Requests",
            "Completed",
            "Failed",
            "TTFT p50",
            "TTFT p95",
            "E2E p50",
            "E2E p95",
            "Good",
        ];
        let rows = tenants.rows.iter().map(|row| {
            [
                &row.tenant,
                &row.requests,
                &row.completed,
                &row.failed,
                &row.ttft_p50,
                &row.ttft_p95,
                &row.e2e_p50,
                &row.e2e_p95,
                &row.good,
            ]
            .map(Clone::clone)
        });
        let columns = [1, 2, 3, 4, 5, 6, 7, 8];
        let table = texts(Text::of("Tenants"), names, &columns, rows);
        section = section.table(table).texts(tenants.rest.iter().cloned());
    }
    section
}

/// Median TTFT over the stage's window, where there are windows to join.
fn course(stage: &StageSummary, id: &str) -> Option<Figure> {
    let known = stage
        .windows
        .iter()
        .filter(|window| window.ttft_p50_s.is_some());
    if known.count() < 2 {
        return None;
    }
    let title = Text::of("TTFT over the window of ").quoted(&stage.name);
    let write_x = |ticks: &[f64]| {
        let texts = ticks.iter().map(|tick| format!("{tick}"));
        (texts.collect(), " s".to_owned())
    };
    let write_y = |ticks: &[f64]| scale::axis(Unit::Seconds, ticks);
    let columns = [
        "Since the window's start",
        "TTFT p50",
        "Scheduled",
        "Completed",
    ];
    let columns = columns.map(|name| Column::number(Text::of(name)));
    let mut table = Table::new(title.clone(), columns.to_vec());
    let mut dots = Vec::new();
    for window in &stage.windows {
        let at = format!("{:.1} s", window.start_s);
        let value = window
            .ttft_p50_s
            .map(|value| scale::value(Unit::Seconds, value));
        table.rows.push(vec![
            Cell::number(Text::just(at.clone()), Some(window.start_s)),
            Cell::number(
                value.clone().map_or_else(|| Text::of("–"), Text::just),
                window.ttft_p50_s,
            ),
            Cell::number(
                Text::just(scale::count(window.scheduled)),
                Some(window.scheduled as f64),
            ),
            Cell::number(
                Text::just(scale::count(window.completed)),
                Some(window.completed as f64),
            ),
        ]);
        dots.push(Dot {
            x: window.start_s,
            y: window.ttft_p50_s,
            shape: Shape::Dot,
            hint: format!("{at}: {}", value.unwrap_or_default()),
        });
    }
    let lines = Lines {
        title: title.plain(),
        description: "Median of the requests that were scheduled in each slice of the window; the values stand in the table below the plot."
            .to_owned(),
        ground: Ground::Numbers(Axis {
            write: &write_x,
            name: "since the window's start",
            zero: true,
        }),
        axis: Axis {
            write: &write_y,
            name: "TTFT p50",
            zero: true,
        },
        lines: vec![Line {
            name: String::new(),
            dots,
            levels: Vec::new(),
            joined: true,
        }],
        marks: Vec::new(),
    };
    Some(Figure {
        id: id.to_owned(),
        label: title.plain(),
        title,
        gated: false,
        newest: false,
        svg: lines.draw().svg(id),
        notes: Vec::new(),
        table,
    })
}
