//! Figures in texts that are written for people, and what to doubt of clients that count answers.

use crate::importer::found::{Found, FoundStage, Reduced};
use crate::importer::notes::Code;
use crate::metric::Metric;

/// Puts in the one stage of a client to which any answer is a response: latencies where no error page is among
/// them, and what it does not see.
pub(super) fn of_answers(
    found: &mut Found,
    mut stage: FoundStage,
    latencies: Reduced,
    pages: u64,
    unseen: &str,
) {
    if pages == 0 {
        stage.reduced.insert(Metric::E2e, latencies);
    } else {
        found.notes.doubt(
            Code::FailedInLatencies,
            format!("{pages} error pages are among its latencies, which are not taken"),
        );
    }
    found.notes.doubt(
        Code::FailedInThroughput,
        "its requests per second count failed ones: ours are computed from its counts",
    );
    found.notes.doubt(Code::ErrorsCountedAsGood, unseen);
    found.notes.lossy("tokens", "the tool knows no tokens");
    found
        .notes
        .lossy("started", "the file does not say when it ran");
    found.stages = vec![stage];
}

/// What stands behind these words on their line.
pub(super) fn after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| Some(line.split_once(words)?.1.trim()))
}

/// `94.02ms`, `2.00s`, `3.3734 secs`, `152us` and `1.5m` in seconds.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim_start();
    let unit = unit
        .split(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or("");
    let scale = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" | "secs" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(number * scale).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_texts_are_seconds() {
        for (text, value) in [
            ("94.5ms", 0.0945),
            ("2.00s, 743KB read", 2.0),
            ("3.3 secs", 3.3),
            ("152us", 152e-6),
        ] {
            assert!((seconds(text).unwrap() - value).abs() < 1e-9, "{text}");
        }
        assert_eq!(seconds("many"), None);
        assert_eq!(seconds("12"), None);
    }
}
