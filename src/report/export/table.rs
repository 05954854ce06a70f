//! Runs as a long table: a line a cell.

use super::cells;
use crate::compare::Value;
use crate::summary::{Run, Side};

const HEADER: [&str; 17] = [
    "spec",
    "session",
    "run",
    "started",
    "side",
    "pair",
    "cell",
    "stage",
    "class",
    "metric",
    "statistic",
    "unit",
    "value",
    "n",
    "state",
    "why",
    "definition",
];

/// A line for each cell of each run, RFC 4180 with line feeds.
///
/// `value` is the one that gates judge: in percentiles every failed request counts as infinitely slow.
/// It is empty where there is none, and `state` and `why` say which way.
pub fn csv(runs: &[Run]) -> String {
    let mut rows = Vec::new();
    for run in runs {
        for (cell, measure) in cells::of(run) {
            let (state, why) = match &measure.value {
                Value::Measured(_) => ("measured", ""),
                Value::Failed => ("failed", "the target failed too many requests"),
                Value::Invalid(why) => ("invalid", why.as_str()),
                Value::Absent(why) | Value::Untold(why) => ("absent", why.as_str()),
            };
            let side = run.side.map_or("", |side| match side {
                Side::Baseline => "baseline",
                Side::Candidate => "candidate",
            });
            rows.push([
                run.spec.name.clone(),
                run.session.clone(),
                run.id.clone(),
                run.started.clone(),
                side.to_owned(),
                run.pair.map_or_else(String::new, |pair| pair.to_string()),
                cell.to_string(),
                cell.stage.clone().unwrap_or_default(),
                cell.class.clone().unwrap_or_default(),
                cell.metric.metric().to_string(),
                cells::statistic(&cell),
                cell.metric.metric().unit().word().to_owned(),
                measure
                    .measured()
                    .map_or_else(String::new, |value| value.to_string()),
                measure.n.to_string(),
                state.to_owned(),
                why.to_owned(),
                run.definition.clone(),
            ]);
        }
    }
    write_table(&HEADER, rows)
}

/// A table with its header.
///
/// A text that a spreadsheet would run as a formula has an apostrophe before it, so that it stays text.
pub(in crate::report) fn write_table<const N: usize>(
    header: &[&str; N],
    rows: Vec<[String; N]>,
) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer.write_record(header).and_then(|()| {
        rows.into_iter()
            .try_for_each(|row| writer.write_record(row.map(inert)))
    });
    written.expect("rows are as long as their header, and memory takes every write");
    let bytes = writer.into_inner().expect("memory takes every write");
    String::from_utf8(bytes).expect("what went in was text")
}

fn inert(text: String) -> String {
    let starts = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if starts && text.parse::<f64>().is_err() {
        format!("'{text}")
    } else {
        text
    }
}
