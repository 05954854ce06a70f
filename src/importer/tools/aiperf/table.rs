//! `profile_export_aiperf.csv`: the figures of the summary, rounded, in two tables.

use serde_json::{Map, Value};

use super::summary;
use crate::importer::found::Found;

/// Whether it is its table: GenAI-Perf's has no duration.
pub(super) fn is_own(text: &str) -> bool {
    text.trim_start().starts_with("Metric,avg,min,max") && text.contains("Benchmark Duration (")
}

/// What it says, as the blocks of the summary say it.
pub(super) fn read(text: &str) -> Result<Found, String> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut header: Vec<String> = Vec::new();
    let mut blocks = Map::new();
    for row in reader.records() {
        let row = row.map_err(|error| error.to_string())?;
        let Some(name) = row.get(0) else { continue };
        if name == "Metric" {
            header = row.iter().map(str::to_owned).collect();
            continue;
        }
        // What follows are tables of GPUs and servers.
        if header.len() < 2 || row.len() > header.len() {
            break;
        }
        let (name, unit) = parts(name);
        let mut block = Map::new();
        block.insert("unit".to_owned(), Value::from(unit));
        for (column, value) in header.iter().zip(&row).skip(1) {
            if let Ok(number) = value.trim().parse::<f64>() {
                let column = if column == "Value" { "avg" } else { column };
                block.insert(column.to_owned(), Value::from(number));
            }
        }
        blocks.insert(key(name), Value::Object(block));
    }
    let mut found = summary(&Value::Object(blocks));
    found.shape = "csv";
    found.notes.lossy(
        "digits",
        "the table is rounded to two decimals: `profile_export_aiperf.json` beside it is not",
    );
    found.notes.lossy(
        "started, model, load and target",
        "the table does not tell them: give `--pin model.name=…`",
    );
    Ok(found)
}

/// `Time to First Token` and `ms` of `Time to First Token (ms)`.
fn parts(name: &str) -> (&str, &str) {
    let parts = name
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once(" ("));
    parts.unwrap_or((name, ""))
}

/// As the summary calls it.
fn key(name: &str) -> String {
    match name {
        "Total Input Sequence Length" => "total_isl".to_owned(),
        "Total Output Sequence Length" => "total_osl".to_owned(),
        _ => name.to_lowercase().replace(' ', "_"),
    }
}
