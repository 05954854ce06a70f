//! `hey`: text for people; any answer is a response, so that error pages are among its latencies.

use super::text::{after, of_answers, seconds};
use super::{Read, Tool};
use crate::importer::found::{Found, FoundStage, Reduced};
use crate::metric::Quantile;
use crate::summary::PercentileMethod;

pub(super) const TOOL: Tool = Tool {
    name: "hey",
    tag: "hey/1",
    by: "text with `Response time histogram:` and `Status code distribution:`",
    is_own: |document| {
        document.is_text()
            && document.text.contains("Response time histogram:")
            && document.text.contains("Requests/sec:")
    },
    read: Read::Text(|text| Ok(read(text))),
};

fn read(text: &str) -> Found {
    let mut found = Found {
        shape: "text",
        ..Found::default()
    };
    let mut stage = FoundStage {
        duration_s: after(text, "Total:").and_then(seconds),
        method: Some(PercentileMethod::Rank),
        ..FoundStage::default()
    };
    let mut reduced = Reduced {
        mean: after(text, "Average:").and_then(seconds),
        min: after(text, "Fastest:").and_then(seconds),
        max: after(text, "Slowest:").and_then(seconds),
        ..Reduced::default()
    };
    let (mut good, mut pages, mut lost) = (0_u64, 0_u64, Some(0_u64));
    let mut in_errors = false;
    for line in text.lines() {
        let line = line.trim();
        in_errors |= line.starts_with("Error distribution:");
        if let Some((percent, rest)) = line.split_once("% in ") {
            let quantile = match percent.trim() {
                "50" => Quantile::P50,
                "90" => Quantile::P90,
                "95" => Quantile::P95,
                "99" => Quantile::P99,
                _ => continue,
            };
            if let Some(value) = seconds(rest).filter(|value| *value > 0.0) {
                reduced.quantiles.insert(quantile, value);
            }
        } else if let Some((code, rest)) =
            line.strip_prefix('[').and_then(|line| line.split_once(']'))
        {
            let words = rest.trim();
            if in_errors {
                // A count that can't be read is none of 0: the failures are untold then.
                let n = code.parse::<u64>().ok();
                lost = lost.zip(n).map(|(lost, n)| lost.saturating_add(n));
                if let Some(n) = n {
                    stage.errors.insert(words.to_owned(), n);
                }
            } else if words.ends_with("responses") || words.ends_with("response") {
                let n = words
                    .split(' ')
                    .next()
                    .and_then(|n| n.parse().ok())
                    .unwrap_or(0_u64);
                if code.parse::<u16>().is_ok_and(|code| code < 400) {
                    good = good.saturating_add(n);
                } else {
                    pages = pages.saturating_add(n);
                    stage.errors.insert(format!("status {code}"), n);
                }
            }
        }
    }
    stage.completed = Some(good);
    stage.failed = lost.map(|lost| pages.saturating_add(lost));
    let unseen = "it does not look into answers: a stream that ends in an error event, or is cut off, counts as good";
    of_answers(&mut found, stage, reduced, pages, unseen);
    found
        .notes
        .lossy("model, load and target", "the text does not tell them");
    found
}
