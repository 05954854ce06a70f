//! `wrk`: text for people, latencies of all answers, errors among them.

use super::text::{after, of_answers, seconds};
use super::{Read, Tool};
use crate::importer::found::{Found, FoundStage, Reduced};
use crate::metric::Quantile;
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "wrk",
    tag: "wrk/1",
    by: "text with `Running … test @`, `Thread Stats` and `requests in`",
    is_own: |document| {
        document.is_text()
            && document.text.contains("Thread Stats")
            && document.text.contains(" requests in ")
    },
    read: Read::Text(read),
};

fn read(text: &str) -> Result<Found, String> {
    let mut found = Found {
        shape: "text",
        target: after(text, "test @").map(str::to_owned),
        ..Found::default()
    };
    let line = text.lines().find(|line| line.contains(" requests in "));
    let (requests, rest) = line
        .and_then(|line| line.trim().split_once(" requests in "))
        .ok_or("it has no line `… requests in …`; was it cut off?")?;
    let requests: u64 = requests
        .trim()
        .parse()
        .map_err(|_| "its number of requests is none")?;
    let number = |name: &str| -> u64 {
        let value = after(text, name).unwrap_or("");
        value
            .split([',', ' '])
            .next()
            .and_then(|n| n.parse().ok())
            .unwrap_or(0)
    };
    let pages = number("Non-2xx or 3xx responses:");
    let sockets = after(text, "Socket errors:").map_or(0, |line| {
        line.split(',')
            .filter_map(|part| part.trim().rsplit(' ').next()?.parse::<u64>().ok())
            .fold(0, u64::saturating_add)
    });
    let mut stage = FoundStage {
        duration_s: rest.split(',').next().and_then(seconds),
        users: text.lines().find_map(|line| {
            line.trim()
                .strip_suffix(" connections")?
                .rsplit(' ')
                .next()?
                .parse()
                .ok()
        }),
        completed: Some(requests.saturating_sub(pages)),
        failed: Some(pages.saturating_add(sockets)),
        method: Some(PercentileMethod::Bucketed),
        ..FoundStage::default()
    };
    if pages > 0 {
        stage
            .errors
            .insert("non-2xx or 3xx responses".to_owned(), pages);
    }
    if sockets > 0 {
        stage.errors.insert("socket errors".to_owned(), sockets);
    }
    let mut reduced = Reduced::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Latency", average, _, max, _] => {
                reduced.mean = seconds(average);
                reduced.max = seconds(max);
            }
            [percent, value] => {
                let quantile = match *percent {
                    "50%" => Quantile::P50,
                    "90%" => Quantile::P90,
                    "99%" => Quantile::P99,
                    _ => continue,
                };
                if let Some(value) = seconds(value) {
                    reduced.quantiles.insert(quantile, value);
                }
            }
            _ => {}
        }
    }
    let unseen = "it does not look into answers, and those in flight at its end are in no count";
    of_answers(&mut found, stage, reduced, pages, unseen);
    found.notes.lossy("model", "the text does not tell it");
    Ok(found)
}
