//! A capacity, or two of them → their view model, and that as text and Markdown. All prose stands in
//! `words`, `state`, `money`, `reasons`, `advice` and `difference`.

mod advice;
mod chart;
mod difference;
mod money;
mod reasons;
mod section;
mod state;
mod table;
mod words;

pub(super) use advice::sequences;

#[cfg(test)]
mod tests;

use serde::Serialize;

pub use section::CapacitySection;
pub(super) use section::{lead, section};

use super::engine::{self, Template};
use super::lines::small;
use super::model::Tone;
use super::span::Text;
use super::sweep::Chart;
use super::text::{Line, Page, rows};
use crate::capacity::{Capacity, Compared};
use crate::lang::{Label, Lang, label, say};

/// A capacity, ready to print.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapacityModel {
    /// The whole message.
    pub headline: Text,
    /// What the figures hold for: workload, SLO, window, runs.
    pub facts: Vec<Text>,
    /// What changed from one side to the other; empty of one side.
    pub difference: Vec<DifferenceRow>,
    /// What follows: the largest load within the SLO, the knee, replicas, the bottleneck.
    pub conclusion: Vec<Text>,
    /// What it costs.
    pub cost: Vec<Text>,
    /// What could go wrong.
    pub risks: Vec<Text>,
    /// What to try next.
    pub next: Vec<Text>,
    /// The steps of each sweep and side.
    pub tables: Vec<StepTable>,
    /// Latency over the steps, both sides.
    pub charts: Vec<CapacityChart>,
    /// What the runs can't say.
    pub no_claims: Vec<Text>,
    /// How to read it.
    pub method: Vec<Text>,
}

/// One figure of both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DifferenceRow {
    /// What it is.
    pub what: Text,
    /// Before.
    pub before: Text,
    /// After.
    pub after: Text,
    /// What may be said of the change.
    pub change: Text,
}

/// The steps of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepTable {
    /// Whose they are.
    pub title: Text,
    /// The steps.
    pub rows: Vec<StepRow>,
}

/// One step of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepRow {
    /// Its load.
    pub load: Text,
    /// Completed requests.
    pub completed: Text,
    /// Output tokens.
    pub output: Text,
    /// Median TTFT.
    pub ttft_p50: Text,
    /// Its 99th percentile.
    pub ttft_p99: Text,
    /// 95th percentile of gaps between tokens.
    pub itl_p95: Text,
    /// The 99th.
    pub itl_p99: Text,
    /// Good requests.
    pub goodput: Text,
    /// Share of good ones.
    pub attainment: Text,
    /// What its load is, and why.
    pub class: Text,
}

/// Latency over the steps of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapacityChart {
    /// What is drawn.
    pub title: Text,
    /// The chart.
    pub chart: Chart,
}

/// The view model of one side. The same capacity gives the same model.
pub fn of_one(capacity: &Capacity) -> CapacityModel {
    CapacityModel {
        headline: words::headline(capacity),
        facts: words::facts(capacity),
        difference: Vec::new(),
        conclusion: words::conclusion(capacity),
        cost: money::cost(capacity),
        risks: advice::risks(capacity),
        next: advice::next(capacity),
        tables: table::tables(&[(None, capacity)]),
        charts: chart::charts(capacity, None),
        no_claims: reasons::no_claims(capacity),
        method: words::method(),
    }
}

/// The view model of both sides: what changed, and what follows from the later one.
pub fn of_both(compared: &Compared) -> CapacityModel {
    let (before, after) = (&compared.before, &compared.after);
    let sides = [
        (Some(say::CAP_BEFORE), before),
        (Some(say::CAP_AFTER), after),
    ];
    CapacityModel {
        headline: difference::headline(compared),
        difference: difference::rows(difference::Sides::of(compared), false),
        tables: table::tables(&sides),
        charts: chart::charts(after, Some(before)),
        ..of_one(after)
    }
}

/// For a job summary.
pub fn markdown(model: &CapacityModel, lang: Lang) -> String {
    engine::render(Template::Capacity, lang, model)
}

/// For a terminal.
pub fn text(model: &CapacityModel, lang: Lang) -> Vec<Line> {
    let mut out = Page::new(lang);
    let plain = |text: &Text| text.plain_in(lang);
    out.line(Tone::Neutral, plain(&model.headline));
    for text in &model.facts {
        out.item(Tone::Faint, text);
    }
    if !model.difference.is_empty() {
        out.gap();
        let heads = [label::before, label::after, label::short_change];
        out.difference(&model.difference, heads);
    }
    for step_table in &model.tables {
        out.gap();
        out.line(Tone::Neutral, plain(&step_table.title));
        let header = words::header(lang);
        let header = header.each_ref().map(String::as_str);
        let mut table = rows(&header, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        for row in &step_table.rows {
            table.add_row(row.cells().map(plain));
        }
        out.table(&table, |_| Tone::Neutral);
    }
    let parts = [
        (label::follows, &model.conclusion),
        (label::cost, &model.cost),
        (label::risks, &model.risks),
        (label::try_next, &model.next),
        (label::cant_say, &model.no_claims),
    ];
    for (title, lines) in parts {
        if !lines.is_empty() {
            out.gap();
            out.line(Tone::Neutral, small(title, lang));
        }
        for text in lines {
            out.item(Tone::Neutral, text);
        }
    }
    out.gap();
    for text in &model.method {
        out.item(Tone::Faint, text);
    }
    out.lines
}

impl Page {
    /// Figures of both sides, under what the sides are called.
    pub(super) fn difference(&mut self, rows: &[DifferenceRow], heads: [Label; 3]) {
        let [before, after, change] = heads.map(|head| small(head, self.lang()));
        let mut table = self::rows(&["", &before, &after, &change], &[1, 2]);
        for row in rows {
            let cells = [&row.what, &row.before, &row.after, &row.change];
            table.add_row(cells.map(|text| text.plain_in(self.lang())));
        }
        self.table(&table, |_| Tone::Neutral);
    }
}

impl StepRow {
    fn cells(&self) -> [&Text; 10] {
        [
            &self.load,
            &self.completed,
            &self.output,
            &self.ttft_p50,
            &self.ttft_p99,
            &self.itl_p95,
            &self.itl_p99,
            &self.goodput,
            &self.attainment,
            &self.class,
        ]
    }
}
