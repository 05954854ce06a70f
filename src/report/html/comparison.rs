//! A comparison as a page: the report's sections, changes with their intervals, curves of both sides.

use super::curves::{Curve, curves, knees};
use super::page::{Figure, Page};
use super::section::{Section, cells, render_sections, texts};
use super::table::{Cell, Column, Table};
use crate::plot::{Interval, Intervals};
use crate::report::build::{Sides, build_of};
use crate::report::capacity::CapacitySection;
use crate::report::facts::Facts;
use crate::report::json::ReportFile;
use crate::report::model::{ClauseRow, ReportModel};
use crate::report::span::Text;
use crate::spec::Limit;
use crate::summary::Side;
use crate::unit::scale;
use crate::verdict::{CellState, Change, Finding, Judgement};

/// Rows of a plot at most; the tables have them all.
const ROWS: usize = 24;

/// The page of a comparison; without runs it is that of the judgement alone.
pub fn comparison(judgement: &Judgement, sides: &Sides<'_>) -> String {
    page_of(judgement, sides.title, &Facts::of(sides))
}

/// The same of a report file.
pub fn of_file(report: &ReportFile) -> String {
    page_of(
        &report.clone().judgement(),
        &report.spec.name,
        &report.facts,
    )
}

fn page_of(judgement: &Judgement, title: &str, facts: &Facts) -> String {
    let model = build_of(judgement, title, facts, usize::MAX);
    let page = Page::new("comparison", model.headline.clone(), model.tone);
    let mut sections = vec![lead(&model)];
    sections.push(cells(Text::of("Beyond their limits"), false, &model.broken));
    let title = model.unmeasured_title.clone();
    sections.push(cells(title, false, &model.unmeasured));
    sections.push(cells(Text::of("Undecided"), false, &model.undecided));
    let title = Text::of("Changes against their limits");
    sections.push(Section::new(title).figures(changes(judgement)));
    let of_side = |side: Side| {
        let steps = facts.steps.iter().filter(move |step| step.side == side);
        let name = match side {
            Side::Baseline => "baseline",
            Side::Candidate => "candidate",
        };
        let capacity = facts.capacity.as_deref().and_then(|file| match side {
            Side::Baseline => file.against.as_ref().map(|against| &against.before),
            Side::Candidate => Some(&file.capacity),
        });
        Curve {
            name,
            steps: steps.cloned().collect(),
            knees: capacity.map_or_else(Vec::new, knees),
        }
    };
    let both = [of_side(Side::Baseline), of_side(Side::Candidate)];
    sections.extend(model.capacity.as_ref().map(capacity));
    let title = Text::of("Latency against throughput");
    sections.push(Section::new(title).figures(curves(&both, &facts.slo, "sweep")));
    let why = model.why.iter().map(|row| {
        let text = row.stage.clone().words(": ").then(row.cause.clone());
        if row.evidence.is_empty() {
            text
        } else {
            text.words(": ").then(row.evidence.clone())
        }
    });
    sections.push(Section::new(Text::of("Why")).texts(why));
    let title = Text::of("Why goodput moved");
    sections.push(Section::new(title).table(clauses(&model.goodput)));
    let advice = model.advice.iter().map(|row| match &row.command {
        Some(command) => row.text.clone().words(": ").then(command.clone()),
        None => row.text.clone(),
    });
    sections.push(Section::new(Text::of("What to do")).texts(advice));
    sections.push(cells(
        Text::of("Gated cells within their limits"),
        false,
        &model.within,
    ));
    sections.extend(folded(&model));
    render_sections(page, sections)
}

fn lead(model: &ReportModel) -> Section {
    let environment = &model.environment;
    let setup = Some(environment.setup.clone()).filter(|setup| !setup.is_empty());
    let texts = model.lead.iter().cloned().chain(setup);
    let texts = texts
        .chain([environment.design.clone()])
        .chain(environment.under_test.iter().cloned())
        .chain(environment.blocking.iter().cloned())
        .chain(environment.caveats.iter().cloned());
    Section::new(Text::default()).texts(texts)
}

/// Figures of capacity on both sides.
fn capacity(section: &CapacitySection) -> Section {
    let rows = section
        .rows
        .iter()
        .map(|row| [&row.what, &row.before, &row.after, &row.change].map(Clone::clone));
    let caption = Text::of("What a replica carries, how many a peak needs and what that costs");
    let names = ["Figure", "Baseline", "Candidate", "Change [95 % interval]"];
    Section::new(Text::of("Capacity"))
        .table(texts(caption, names, &[1, 2], rows))
        .texts(section.notes.iter().cloned())
}

fn clauses(rows: &[ClauseRow]) -> Table {
    let rows = rows
        .iter()
        .map(|row| [&row.stage, &row.clause, &row.baseline, &row.candidate].map(Clone::clone));
    let caption = Text::of("Requests that missed each clause of their SLO; one can miss several");
    texts(
        caption,
        ["Stage", "Missed", "Baseline", "Candidate"],
        &[2, 3],
        rows,
    )
}

fn folded(model: &ReportModel) -> Vec<Section> {
    let outcomes = model.outcomes.iter().map(|row| {
        [
            &row.stage,
            &row.side,
            &row.runs,
            &row.scheduled,
            &row.sent,
            &row.completed,
            &row.failed,
            &row.good,
        ]
        .map(Clone::clone)
    });
    let names = [
        "Stage",
        "Side",
        "Runs",
        "Scheduled",
        "Sent",
        "Completed",
        "Not completed",
        "Good",
    ];
    let outcomes = texts(
        Text::of("How requests ended"),
        names,
        &[2, 3, 4, 5, 7],
        outcomes,
    );
    let engines = model
        .engines
        .iter()
        .map(|row| [&row.stage, &row.figure, &row.baseline, &row.candidate].map(Clone::clone));
    let names = ["Stage", "Figure", "Baseline", "Candidate"];
    let engines = texts(Text::of("What the engines say"), names, &[2, 3], engines);
    let pins = model
        .pins
        .iter()
        .map(|row| [&row.pin, &row.baseline, &row.candidate, &row.role].map(Clone::clone));
    let names = ["Pin", "Baseline", "Candidate", "Role"];
    let pins = texts(Text::of("Pins that differ"), names, &[], pins);
    let shared = model
        .shared_pins
        .iter()
        .map(|pin| [pin.pin.clone(), pin.value.clone()]);
    let shared = texts(
        Text::of("Pins that are equal"),
        ["Pin", "Value"],
        &[],
        shared,
    );
    let method = model
        .caveats
        .iter()
        .map(|text| Text::of("Caveat: ").then(text.clone()));
    let method = method.chain(model.method.iter().cloned());
    vec![
        cells(Text::of("Cells that are not gated"), true, &model.observed)
            .texts(model.observed_broken.clone()),
        Section::folded(Text::of("How requests ended"))
            .table(outcomes)
            .table(clauses(&model.clauses)),
        Section::folded(Text::of("What the engines say")).table(engines),
        Section::folded(Text::of("Pins")).table(pins).table(shared),
        Section::folded(Text::of("Caveats and method")).texts(method),
        Section::folded(Text::of("How to reproduce")).texts(model.reproduce.iter().cloned()),
    ]
}

/// Relative changes of gated cells with their intervals.
fn changes(judgement: &Judgement) -> Option<Figure> {
    let gated = judgement.findings.iter().filter(|finding| finding.gated);
    let rows: Vec<Interval> = gated.filter_map(interval).take(ROWS).collect();
    if rows.is_empty() {
        return None;
    }
    let title = Text::of("Relative changes of gated cells, with 95 % intervals");
    let mut table = Table::new(
        title.clone(),
        ["Cell", "Change", "Low", "High", "Limit"]
            .into_iter()
            .enumerate()
            .map(|(i, name)| {
                if i == 0 {
                    Column::text(Text::of(name))
                } else {
                    Column::number(Text::of(name))
                }
            })
            .collect(),
    );
    for row in &rows {
        let number = |value: f64| Cell::number(Text::just(scale::change(value)), Some(value));
        table.rows.push(vec![
            Cell::text(Text::value(&row.name)),
            number(row.estimate),
            number(row.low),
            number(row.high),
            row.limit.map_or_else(|| Cell::text(Text::of("–")), number),
        ]);
    }
    let intervals = Intervals {
        title: title.plain(),
        description: "A point an estimate, a bar its interval, an upright line the limit; beyond it the point is a diamond. The values stand in the table below the plot."
            .to_owned(),
        axis: "change of the candidate against the baseline".to_owned(),
        rows,
    };
    let id = "changes";
    Some(Figure {
        id: id.to_owned(),
        label: title.plain(),
        title,
        gated: true,
        newest: false,
        svg: intervals.draw(scale::change_tick).svg(id),
        notes: vec![Text::of(
            "The upright line is the limit; a cell beyond it is a diamond, any other a dot",
        )],
        table,
    })
}

fn interval(finding: &Finding) -> Option<Interval> {
    let Some(Change::Ratio {
        estimate,
        low,
        high,
    }) = finding.change
    else {
        return None;
    };
    if ![estimate, low, high].iter().all(|value| value.is_finite()) {
        return None;
    }
    let sign = finding.cell.metric.metric().direction().sign();
    Some(Interval {
        name: finding.cell.to_string(),
        note: format!("{} {}", scale::change(estimate), finding.state.label()),
        estimate,
        low,
        high,
        limit: match finding.limit {
            Some(Limit::WorseBy { ratio, .. }) => Some(sign * ratio),
            Some(Limit::WorseByPoints(_) | Limit::AtMost(_) | Limit::AtLeast(_)) | None => None,
        },
        broken: finding.state == CellState::Regressed,
    })
}
