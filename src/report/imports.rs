//! Runs that other tools measured: what was read from their files, and what was not.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets};

use crate::metric::{Metric, Quantile};
use crate::summary::{Distribution, Run, StageSummary};
use crate::unit::scale::{self, Unit};

use super::model::Tone;
use super::span::Text;
use super::text::{Line, Page};

/// Where a run came from and what to know of that, a line each; none of our own.
pub(super) fn facts(run: &Run) -> Vec<Text> {
    let Some(origin) = &run.origin else {
        return Vec::new();
    };
    let version = origin
        .version
        .as_ref()
        .map_or_else(Text::default, |version| Text::of(" ").quoted(version));
    let mut facts = vec![
        Text::of("Imported from ")
            .quoted(&origin.file)
            .words(" of ")
            .prose(&origin.tool)
            .then(version)
            .words(" (")
            .prose(&origin.shape)
            .words("), SHA-256 ")
            .quoted(origin.sha256.get(..12).unwrap_or(&origin.sha256)),
    ];
    if let Some(text) = own_figures(run) {
        facts.push(text);
    }
    facts.extend(origin.caveats.iter().map(|caveat| {
        Text::of("caveat ")
            .quoted(&caveat.code)
            .words(": ")
            .prose(&caveat.message)
    }));
    facts.extend(origin.lossy.iter().map(|(what, why)| {
        Text::of("Not told: ")
            .prose(what)
            .words(" (")
            .prose(why)
            .words(")")
    }));
    facts
}

/// Which figures are the tool's own.
fn own_figures(run: &Run) -> Option<Text> {
    let mut methods = BTreeMap::new();
    for stage in &run.stages {
        for (metric, distribution) in &stage.pooled.distributions {
            if let Some(method) = distribution.summary {
                methods.insert(metric.name(), method.label());
            }
        }
    }
    let method = *methods.values().next()?;
    let names: Vec<Text> = methods.keys().copied().map(Text::of).collect();
    Some(
        Text::of("From the tool's summary, not from requests: ")
            .then(Text::join(names, ", "))
            .words(" (percentiles: ")
            .words(method)
            .words(")"),
    )
}

/// A line a stage of each run, then what to doubt and what is not told, a file each.
pub fn text(runs: &[Run]) -> Vec<Line> {
    let mut out = Page::default();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "run", "stage", "requests", "good", "failed", "TTFT p50", "p99", "TPOT p50", "p99",
        "E2E p50", "p99", "req/s",
    ]);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for run in runs {
        for stage in &run.stages {
            table.add_row(row(run, stage));
        }
    }
    for line in table.to_string().lines() {
        out.line(Tone::Neutral, line.trim_end().to_owned());
    }
    for run in runs {
        out.gap();
        for (index, fact) in facts(run).iter().enumerate() {
            let tone = match index {
                0 => Tone::Neutral,
                _ if fact.plain().starts_with("caveat") => Tone::Unsure,
                _ => Tone::Faint,
            };
            out.item(tone, fact);
        }
    }
    out.lines
}

fn row(run: &Run, stage: &StageSummary) -> Vec<String> {
    let pooled = &stage.pooled;
    let dash = || "–".to_owned();
    let failed = if pooled.untold.contains_key(&Metric::ErrorRatio) {
        "not told".to_owned()
    } else {
        scale::count(pooled.errors())
    };
    let mut cells = vec![
        Text::value(&run.id).plain(),
        Text::value(&stage.name).plain(),
        scale::count(pooled.scheduled),
        scale::count(pooled.ended_well()),
        failed,
    ];
    for metric in [Metric::Ttft, Metric::Tpot, Metric::E2e] {
        for quantile in [Quantile::P50, Quantile::P99] {
            let value =
                |distribution: &Distribution| Some(distribution.quantiles.get(&quantile)?.value_s);
            let value = pooled.distributions.get(&metric).and_then(value);
            cells.push(value.map_or_else(dash, |seconds| scale::value(Unit::Seconds, seconds)));
        }
    }
    let rate = pooled.rates.completed_rps;
    cells.push(if pooled.untold.contains_key(&Metric::RequestThroughput) {
        dash()
    } else {
        scale::value(Unit::RequestsPerSecond, rate)
    });
    cells
}
