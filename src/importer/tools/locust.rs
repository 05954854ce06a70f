//! Locust: `_stats.csv` or `--json`. Percentiles are of rounded times, failed requests among them.
//!
//! Times are rounded to 1 ms below 100 ms, 10 ms below 1 s and so on, so that a percentile may lie above the
//! largest value. Scripts name their own entries; `TTFT`, `TPOT` and `E2E` are taken where they are there.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Read, Tool, own_names};
use crate::importer::document::Document;
use crate::importer::field::{as_num, at, count, num, text};
use crate::importer::found::{Found, FoundStage, Reduced};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::metric::{Metric, Quantile};
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "locust",
    tag: "locust/1",
    by: "a table that begins with `Type,Name,Request Count`, or a list with `num_none_requests`",
    is_own: |document| is_csv(&document.text) || is_json(document),
    read: Read::Whole(|document, options| {
        let mut entries = Vec::new();
        if is_csv(&document.text) {
            entries = of_csv(&document.text)?;
        } else {
            document.each_row(&mut |row| {
                entries.push(of_json(&row.value));
                Ok(())
            })?;
        }
        read(&entries, &options.metrics)
    }),
};

fn is_csv(text: &str) -> bool {
    text.starts_with("Type,Name,Request Count")
        || text.starts_with("\"Type\",\"Name\",\"Request Count\"")
}

fn is_json(document: &Document<'_>) -> bool {
    let rows = document.first_rows();
    !rows.is_empty()
        && rows.iter().all(|row| {
            row.get("num_none_requests").is_some() && row.get("response_times").is_some()
        })
}

/// One row, times in seconds.
#[derive(Debug, Default)]
struct Entry {
    method: String,
    name: String,
    requests: u64,
    failed: u64,
    rate: Option<f64>,
    span: Option<(f64, f64)>,
    times: Reduced,
}

fn of_csv(text: &str) -> Result<Vec<Entry>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let header: Vec<String> = reader
        .headers()
        .map_err(|error| error.to_string())?
        .iter()
        .map(str::to_owned)
        .collect();
    let mut entries = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| error.to_string())?;
        let field = |name: &str| row.get(header.iter().position(|column| column == name)?);
        let number = |name: &str| {
            field(name)?
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|n| n.is_finite() && *n >= 0.0)
        };
        let ms = |name: &str| number(name).map(|ms| ms / 1e3);
        let mut times = Reduced {
            mean: ms("Average Response Time"),
            min: ms("Min Response Time"),
            max: ms("Max Response Time"),
            ..Reduced::default()
        };
        for (name, quantile) in [
            ("50%", Quantile::P50),
            ("90%", Quantile::P90),
            ("95%", Quantile::P95),
            ("99%", Quantile::P99),
        ] {
            if let Some(value) = ms(name) {
                times.quantiles.insert(quantile, value);
            }
        }
        entries.push(Entry {
            method: field("Type").unwrap_or("").to_owned(),
            name: field("Name").unwrap_or("").to_owned(),
            requests: number("Request Count").unwrap_or(0.0) as u64,
            failed: number("Failure Count").unwrap_or(0.0) as u64,
            rate: number("Requests/s"),
            span: None,
            times,
        });
    }
    Ok(entries)
}

fn of_json(row: &Value) -> Entry {
    let requests = count(row, "num_requests").unwrap_or(0);
    let mut buckets: Vec<(f64, u64)> = at(row, "response_times")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(ms, n)| Some((as_num(&Value::String(ms.clone()))?, n.as_u64()?)))
        .collect();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: u64 = buckets.iter().map(|(_, n)| *n).fold(0, u64::saturating_add);
    let mut times = Reduced {
        mean: num(row, "total_response_time")
            .filter(|_| requests > 0)
            .map(|sum| sum / requests as f64 / 1e3),
        min: num(row, "min_response_time").map(|ms| ms / 1e3),
        max: num(row, "max_response_time").map(|ms| ms / 1e3),
        ..Reduced::default()
    };
    for quantile in Quantile::STANDARD {
        // As Locust does it: the first bucket that reaches the rank.
        let rank = (total as f64 * quantile.fraction()) as u64;
        let mut seen = 0_u64;
        let bucket = buckets.iter().find(|(_, n)| {
            seen = seen.saturating_add(*n);
            seen >= rank
        });
        if let Some((ms, _)) = bucket {
            times.quantiles.insert(quantile, ms / 1e3);
        }
    }
    let span = num(row, "start_time").zip(num(row, "last_request_timestamp"));
    Entry {
        method: text(row, "method").unwrap_or("").to_owned(),
        name: text(row, "name").unwrap_or("").to_owned(),
        requests,
        failed: count(row, "num_failures").unwrap_or(0),
        rate: None,
        span,
        times,
    }
}

/// Names of entries that are figures and no requests, and which.
const METRICS: [(&[&str], Metric); 4] = [
    (&["TTFT", "time_to_first_token"], Metric::Ttft),
    (&["TPOT"], Metric::Tpot),
    (&["ITL"], Metric::Itl),
    (&["E2E", "total_latency"], Metric::E2e),
];

fn read(entries: &[Entry], names: &BTreeMap<String, Metric>) -> Result<Found, String> {
    let known: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    own_names(names, &known, "entry")?;
    let mut found = Found {
        shape: if entries.iter().any(|entry| entry.span.is_some()) {
            "json"
        } else {
            "csv"
        },
        ..Found::default()
    };
    let named = |name: &str| {
        entries
            .iter()
            .find(|entry| entry.name.eq_ignore_ascii_case(name))
    };
    let is_request = |entry: &&Entry| {
        let is_metric = METRICS
            .iter()
            .flat_map(|(names, _)| names.iter())
            .chain(&["Aggregated"])
            .any(|name| entry.name.eq_ignore_ascii_case(name));
        // Some scripts count their figures as events of a type of its own.
        !is_metric
            && !entry.method.eq_ignore_ascii_case("METRIC")
            && !names.contains_key(&entry.name)
    };
    let requests: Vec<&Entry> = entries.iter().filter(is_request).collect();
    let aggregated = named("Aggregated");
    let sum = |of: fn(&Entry) -> u64| {
        requests
            .iter()
            .map(|entry| of(entry))
            .fold(0, u64::saturating_add)
    };
    // Without a request of its own the row of all stands for them.
    let (made, failed) = if requests.is_empty() {
        let all =
            aggregated.ok_or("it has neither requests nor a row `Aggregated`; was it cut off?")?;
        (all.requests, all.failed)
    } else {
        (sum(|entry| entry.requests), sum(|entry| entry.failed))
    };
    let rate: f64 = requests.iter().filter_map(|entry| entry.rate).sum();
    let span = requests
        .iter()
        .filter_map(|entry| entry.span)
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let mut stage = FoundStage {
        duration_s: match span {
            Some((from, to)) => Some(to - from),
            None => (rate > 0.0).then(|| made as f64 / rate),
        },
        requests: Some(made),
        completed: Some(made.saturating_sub(failed)),
        failed: Some(failed),
        method: Some(PercentileMethod::Bucketed),
        ..FoundStage::default()
    };
    found.started = span.and_then(|(from, _)| instant::of_seconds(from));
    for (own, metric) in METRICS {
        let mapped = names.iter().find(|(_, mapped)| **mapped == metric);
        let mut known = mapped
            .map(|(name, _)| name.as_str())
            .into_iter()
            .chain(own.iter().copied().filter(|own| !names.contains_key(*own)));
        if let Some(entry) = known.find_map(named) {
            stage.reduced.insert(
                metric,
                Reduced {
                    n: Some(entry.requests),
                    ..entry.times.clone()
                },
            );
        }
    }
    if !stage.reduced.contains_key(&Metric::E2e)
        && let [only] = requests.as_slice()
    {
        if failed == 0 && stage.reduced.is_empty() {
            stage.reduced.insert(Metric::E2e, only.times.clone());
        } else if failed > 0 {
            found.notes.doubt(
                Code::FailedInLatencies,
                format!(
                    "{failed} failed requests are among the times of `{} {}`, which are not taken",
                    only.method, only.name
                ),
            );
        }
    }
    found.notes.doubt(
        Code::Bucketed,
        "Locust's percentiles are of times that it rounds, by up to 5 %: one may lie above the largest value",
    );
    found.notes.doubt(
        Code::FailedInThroughput,
        "its requests per second count failed ones: ours are computed from its counts",
    );
    found.notes.lossy("tokens", "the table has none");
    found
        .notes
        .lossy("model, load and target", "the file does not tell them");
    if span.is_none() {
        found.notes.doubt(
            Code::NotWhole,
            "Locust writes its tables now and then: requests of the last seconds may be missing",
        );
        found
            .notes
            .lossy("started", "the table does not say when it ran");
    }
    found.stages = vec![stage];
    Ok(found)
}
