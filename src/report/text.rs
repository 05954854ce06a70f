//! Reports for a terminal or a log: short lines with a tone each, which the terminal may colour.

use crate::lang::{Lang, label, say};
use crate::unit::scale;

use super::capacity::CapacitySection;
use super::lines::small;
pub use super::lines::{Line, plain};
pub(super) use super::lines::{Page, rows, table};
use super::model::{CellRow, LatencyRow, ReportModel, RunModel, StageView, TenantTable, Tone};
use super::span::Text;
use super::suite::SuiteModel;

/// Most rows of cells within their limits; the Markdown report has them all.
const WITHIN: usize = 12;

/// Most tenants of a stage; the Markdown report has the others that are kept apart.
const TENANTS: usize = 5;

/// A comparison: headline, gated cells worst first, what to do.
pub fn report(model: &ReportModel, lang: Lang) -> Vec<Line> {
    let mut out = Page::new(lang);
    let plain = |text: &Text| text.plain_in(lang);
    let colon = label::colon.text(lang);
    out.line(model.tone, plain(&model.headline));
    for text in &model.lead {
        out.item(Tone::Neutral, text);
    }
    out.gap();
    out.item(Tone::Faint, &model.environment.design);
    for text in &model.environment.under_test {
        out.item(Tone::Neutral, text);
    }
    for text in &model.environment.blocking {
        out.item(Tone::Unsure, text);
    }
    for text in &model.environment.caveats {
        out.item(Tone::Faint, text);
    }
    let shown = model.within.rows.len().min(WITHIN);
    let urgent = [&model.broken, &model.unmeasured, &model.undecided];
    let rows: Vec<&CellRow> = urgent
        .iter()
        .flat_map(|table| &table.rows)
        .chain(&model.within.rows[..shown])
        .collect();
    if !rows.is_empty() {
        out.gap();
        out.cells(&rows);
        if shown < model.within.rows.len() {
            let rest = model.within.rows.len() - shown;
            out.line(
                Tone::Faint,
                plain(&Text::of("  ").then(Text::say(
                    say::MORE_WITHIN,
                    [Text::just(scale::count(rest as u64))],
                ))),
            );
        }
    }
    out.gap();
    for reason in urgent.iter().flat_map(|table| &table.reasons) {
        let (cells, why) = (plain(&reason.cells), plain(&reason.why));
        out.line(Tone::Unsure, format!("  {cells}{colon}{why}"));
    }
    if !model.why.is_empty() {
        out.gap();
        out.line(Tone::Neutral, format!("  {}", small(label::why, lang)));
        for row in &model.why {
            let (stage, cause) = (plain(&row.stage), plain(&row.cause));
            out.line(Tone::Neutral, format!("    {stage}{colon}{cause}"));
            if !row.evidence.is_empty() {
                out.line(Tone::Faint, format!("      {}", plain(&row.evidence)));
            }
        }
    }
    if !model.goodput.is_empty() {
        out.gap();
        out.line(Tone::Neutral, format!("  {}", label::missed_slo.text(lang)));
        let mut table = out.table_of(
            [
                label::stage,
                label::missed,
                label::baseline,
                label::candidate,
            ],
            &[2, 3],
        );
        for row in &model.goodput {
            table.add_row([&row.stage, &row.clause, &row.baseline, &row.candidate].map(plain));
        }
        out.table(&table, |_| Tone::Neutral);
    }
    if let Some(section) = &model.capacity {
        out.capacity(section);
    }
    if !model.caveats.is_empty() {
        out.gap();
        for text in &model.caveats {
            out.line(
                Tone::Faint,
                format!("  {}{colon}{}", small(label::caveat, lang), plain(text)),
            );
        }
    }
    if !model.advice.is_empty() {
        out.gap();
        for row in &model.advice {
            out.item(Tone::Neutral, &row.text);
            if let Some(command) = &row.command {
                out.line(Tone::Neutral, format!("    $ {}", plain(command)));
            }
        }
    }
    out.lines
}

/// Several comparisons: the headline, a line a spec, then the gated cells of all that are not within
/// their limits.
pub fn suite(model: &SuiteModel, lang: Lang) -> Vec<Line> {
    let mut out = Page::new(lang);
    let plain = |text: &Text| text.plain_in(lang);
    let colon = label::colon.text(lang);
    out.line(model.tone, plain(&model.headline));
    for spec in &model.specs {
        out.item(spec.tone, &spec.text);
    }
    let urgent = [&model.broken, &model.unmeasured, &model.undecided];
    let rows: Vec<&CellRow> = urgent.iter().flat_map(|table| &table.rows).collect();
    if !rows.is_empty() {
        out.gap();
        out.cells(&rows);
        out.gap();
    }
    for reason in urgent.iter().flat_map(|table| &table.reasons) {
        let (cells, why) = (plain(&reason.cells), plain(&reason.why));
        out.line(Tone::Unsure, format!("  {cells}{colon}{why}"));
    }
    out.lines
}

/// One run: headline, then each stage.
pub fn run(model: &RunModel) -> Vec<Line> {
    let mut out = Page::default();
    out.line(model.tone, model.headline.plain());
    if !model.setup.is_empty() {
        out.item(Tone::Faint, &model.setup);
    }
    for text in &model.facts {
        out.item(Tone::Faint, text);
    }
    for stage in &model.stages {
        out.gap();
        out.stage(stage);
    }
    if !model.scores.is_empty() {
        out.gap();
        let header = ["imported score", "value", "standard error", "questions"];
        let mut table = table(header, &[1, 2, 3]);
        for row in &model.scores {
            let cells = [&row.score, &row.value, &row.standard_error, &row.questions];
            table.add_row(cells.map(Text::plain));
        }
        out.table(&table, |_| Tone::Neutral);
    }
    if !model.skipped.is_empty() {
        out.gap();
        for text in &model.skipped {
            out.item(Tone::Unsure, text);
        }
    }
    for lines in [&model.notes, &model.provenance] {
        if !lines.is_empty() {
            out.gap();
        }
        for text in lines {
            out.item(Tone::Faint, text);
        }
    }
    out.lines
}

impl Page {
    fn capacity(&mut self, section: &CapacitySection) {
        self.gap();
        self.line(
            Tone::Neutral,
            format!("  {}", small(label::capacity, self.lang())),
        );
        if !section.rows.is_empty() {
            let heads = [label::baseline, label::candidate, label::short_change];
            self.difference(&section.rows, heads);
        }
        for text in &section.notes {
            self.item(Tone::Faint, text);
        }
    }

    fn cells(&mut self, rows: &[&CellRow]) {
        let header = [
            label::cell,
            label::baseline,
            label::candidate,
            label::short_change,
            label::limit,
            label::state,
        ];
        let mut table = self.table_of(header, &[1, 2]);
        let plain = |text: &Text| text.plain_in(self.lang());
        for row in rows {
            let state = match &row.resolvable {
                None => row.state.clone(),
                Some(size) => Text::say(say::VISIBLE_FROM, [row.state.clone(), size.clone()]),
            };
            let CellRow {
                cell,
                baseline,
                candidate,
                change,
                limit,
                ..
            } = row;
            table.add_row([cell, baseline, candidate, change, limit, &state].map(plain));
        }
        self.table(&table, |i| {
            rows.get(i).map_or(Tone::Neutral, |row| row.tone)
        });
    }

    fn stage(&mut self, stage: &StageView) {
        self.line(
            Tone::Neutral,
            format!("{}: {}", stage.name.plain(), stage.load.plain()),
        );
        for text in &stage.invalid {
            self.line(Tone::Unsure, format!("  invalid: {}", text.plain()));
        }
        for text in &stage.conditions {
            self.item(Tone::Unsure, text);
        }
        self.line(
            Tone::Neutral,
            format!("  requests    {}", stage.counts.plain()),
        );
        if let Some(text) = &stage.failed {
            self.line(Tone::Unsure, format!("  incomplete  {}", text.plain()));
        }
        if let Some(text) = &stage.finish {
            self.line(Tone::Faint, format!("  ended by    {}", text.plain()));
        }
        if let Some(text) = &stage.goodput {
            self.line(Tone::Neutral, format!("  goodput     {}", text.plain()));
        }
        for text in &stage.clauses {
            self.line(Tone::Neutral, format!("  slo         {}", text.plain()));
        }
        self.line(
            Tone::Neutral,
            format!("  throughput  {}", stage.throughput.plain()),
        );
        if let Some(text) = &stage.cache {
            self.line(Tone::Neutral, format!("  cache       {}", text.plain()));
        }
        for text in &stage.engine {
            self.line(Tone::Faint, format!("  engine      {}", text.plain()));
        }
        for text in &stage.gpus {
            self.line(Tone::Faint, format!("  gpu         {}", text.plain()));
        }
        self.line(
            Tone::Faint,
            format!("  client      {}", stage.client.plain()),
        );
        for text in &stage.soak {
            self.line(Tone::Unsure, format!("  soak        {}", text.plain()));
        }
        for text in &stage.events {
            self.line(Tone::Neutral, format!("  event       {}", text.plain()));
        }
        for text in &stage.remarks {
            self.line(Tone::Faint, format!("  note        {}", text.plain()));
        }
        if !stage.latencies.is_empty() {
            let header = ["latency", "n", "p50", "p90", "p95", "p99"];
            let mut table = table(header, &[1, 2, 3, 4, 5]);
            for row in &stage.latencies {
                let LatencyRow {
                    metric,
                    n,
                    p50,
                    p90,
                    p95,
                    p99,
                } = row;
                table.add_row([metric, n, p50, p90, p95, p99].map(Text::plain));
            }
            self.table(&table, |_| Tone::Neutral);
        }
        if !stage.quality.is_empty() {
            let mut table = table(["quality", "answers", "passed", "share"], &[1, 2, 3]);
            for row in &stage.quality {
                table.add_row([&row.check, &row.answers, &row.passed, &row.share].map(Text::plain));
            }
            self.table(&table, |_| Tone::Neutral);
        }
        if let Some(tenants) = &stage.tenants {
            self.tenants(tenants);
        }
        for row in &stage.errors {
            self.line(
                Tone::Unsure,
                format!("  error × {}: {}", row.count.plain(), row.text.plain()),
            );
        }
    }

    fn tenants(&mut self, tenants: &TenantTable) {
        let header = [
            "tenant",
            "requests",
            "completed",
            "failed",
            "TTFT p50",
            "p95",
            "E2E p50",
            "p95",
            "good",
        ];
        let mut table = table(header, &[1, 2, 3, 4, 5, 6, 7, 8]);
        for row in tenants.rows.iter().take(TENANTS) {
            let cells = [
                &row.tenant,
                &row.requests,
                &row.completed,
                &row.failed,
                &row.ttft_p50,
                &row.ttft_p95,
                &row.e2e_p50,
                &row.e2e_p95,
                &row.good,
            ];
            table.add_row(cells.map(Text::plain));
        }
        self.table(&table, |_| Tone::Neutral);
        let more = tenants.rows.len().saturating_sub(TENANTS);
        if more > 0 {
            let more = format!("  … and {more} more in the Markdown report and the run file");
            self.line(Tone::Faint, more);
        }
        for text in &tenants.rest {
            self.item(Tone::Faint, text);
        }
    }
}
