//! What a tool's file holds, in our terms: seconds, counts, and nothing where it does not tell.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::field::num;
use super::notes::Notes;
use super::packed::Gaps;
use crate::metric::{Metric, Quantile};
use crate::provenance::PinPath;
use crate::sample::Outcome;
use crate::summary::PercentileMethod;

/// One run of a tool.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The tool's version.
    pub(super) version: Option<String>,
    /// By whose definitions its figures are, where not by the tool's own.
    pub(super) definition: Option<String>,
    /// Its id, where its stages stand in rows of their own.
    pub(super) run: Option<String>,
    /// Its session, where the file tells.
    pub(super) session: Option<String>,
    /// The shape of the file, in words.
    pub(super) shape: &'static str,
    /// When it started.
    pub(super) started: Option<Timestamp>,
    /// Its stretches of load, in order.
    pub(super) stages: Vec<FoundStage>,
    /// Pins that it tells.
    pub(super) pins: BTreeMap<PinPath, String>,
    /// What it tells of the workload.
    pub(super) settings: BTreeMap<String, String>,
    /// Where it sent its requests.
    pub(super) target: Option<String>,
    /// What it does not tell, and what to doubt.
    pub(super) notes: Notes,
}

impl Found {
    /// A pin that the file tells; a path that does not exist is left out.
    pub(super) fn pin(&mut self, path: &str, value: Option<String>) {
        if let (Ok(path), Some(value)) = (path.parse(), value) {
            self.pins.insert(path, value);
        }
    }

    /// A setting of the workload that the file tells.
    pub(super) fn setting(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.settings.insert(name.to_owned(), value);
        }
    }
}

/// One stretch of load.
#[derive(Debug, Default)]
pub(super) struct FoundStage {
    /// Its name; empty where it is the only one.
    pub(super) name: String,
    /// How long it took, in seconds.
    pub(super) duration_s: Option<f64>,
    /// Requests in flight at most, of a closed loop.
    pub(super) users: Option<u32>,
    /// Requests a second, of an open loop.
    pub(super) rate_rps: Option<f64>,
    /// Whether latencies count from the scheduled instant.
    pub(super) from_schedule: bool,
    /// Output tokens that every request was made to have, where the file tells.
    pub(super) asked_output: Option<u32>,
    /// Requests that the tool says it made.
    pub(super) requests: Option<u64>,
    /// Those that it counts as good.
    pub(super) completed: Option<u64>,
    /// Those that it counts as failed.
    pub(super) failed: Option<u64>,
    /// Those that it cut off at its end.
    pub(super) unfinished: u64,
    /// Input tokens of completed requests.
    pub(super) input_tokens: Option<u64>,
    /// Output tokens of completed requests.
    pub(super) output_tokens: Option<u64>,
    /// Completed requests a second.
    pub(super) completed_rps: Option<f64>,
    /// Output tokens a second.
    pub(super) output_tps: Option<f64>,
    /// Input tokens a second.
    pub(super) input_tps: Option<f64>,
    /// Requests a second that kept the tool's own objective.
    pub(super) goodput_rps: Option<f64>,
    /// Reduced distributions.
    pub(super) reduced: BTreeMap<Metric, Reduced>,
    /// How the tool makes percentiles.
    pub(super) method: Option<PercentileMethod>,
    /// Each request, where the file has them: they count then, and what is above does not.
    pub(super) each: Vec<FoundRequest>,
    /// Error texts with their counts.
    pub(super) errors: BTreeMap<String, u64>,
}

/// A distribution as a tool reduced it, in seconds.
#[derive(Debug, Default, Clone)]
pub(super) struct Reduced {
    /// Arithmetic mean.
    pub(super) mean: Option<f64>,
    /// Smallest value.
    pub(super) min: Option<f64>,
    /// Largest value.
    pub(super) max: Option<f64>,
    /// Percentiles.
    pub(super) quantiles: BTreeMap<Quantile, f64>,
    /// Values behind it.
    pub(super) n: Option<u64>,
}

/// How a tool calls the figures of a distribution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    /// The mean.
    pub(super) mean: &'static str,
    /// The smallest value.
    pub(super) min: &'static str,
    /// The largest value.
    pub(super) max: &'static str,
    /// The percentiles 50, 90, 95 and 99.
    pub(super) quantiles: [&'static str; 4],
}

impl Reduced {
    /// From a block of figures; `scale` makes seconds of them. `None` without one.
    pub(super) fn read(block: &Value, names: Names, scale: f64) -> Option<Self> {
        let figure = |name: &str| num(block, name).map(|value| value * scale);
        let quantiles = Quantile::STANDARD.into_iter().zip(names.quantiles);
        let reduced = Self {
            mean: figure(names.mean),
            min: figure(names.min),
            max: figure(names.max),
            quantiles: quantiles
                .filter_map(|(quantile, name)| Some((quantile, figure(name)?)))
                .collect(),
            n: None,
        };
        (reduced.mean.is_some() || !reduced.quantiles.is_empty()).then_some(reduced)
    }
}

/// One request as a tool saw it, in seconds.
#[derive(Debug, Clone)]
pub(super) struct FoundRequest {
    /// When it was sent, since any zero that all requests of the stage share.
    pub(super) start_s: Option<f64>,
    /// Time to first token.
    pub(super) ttft_s: Option<f64>,
    /// End-to-end latency.
    pub(super) e2e_s: Option<f64>,
    /// Gaps between events after the first; `None` where only the ends are known.
    pub(super) gaps_s: Option<Gaps>,
    /// Input tokens.
    pub(super) input: Option<u32>,
    /// Output tokens.
    pub(super) output: Option<u32>,
    /// How it ended.
    pub(super) outcome: Outcome,
    /// The tool's words for that.
    pub(super) error: Option<String>,
}

impl FoundRequest {
    /// One that ended so, with nothing else known.
    pub(super) const fn new(outcome: Outcome) -> Self {
        Self {
            start_s: None,
            ttft_s: None,
            e2e_s: None,
            gaps_s: None,
            input: None,
            output: None,
            outcome,
            error: None,
        }
    }
}

/// The last line of a Python traceback says what happened.
pub(super) fn last_line(error: &str) -> Option<String> {
    let line = error.trim().lines().last()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The API that a tool's word for it stands for, as our own runs call it.
pub(super) fn api_of(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    if lower.contains("chat") {
        "chat".to_owned()
    } else if lower.contains("completion")
        || matches!(lower.as_str(), "vllm" | "openai" | "sglang-oai")
    {
        "completions".to_owned()
    } else {
        lower
    }
}

/// How a failed request ended, by the status or words that a tool keeps of it.
pub(super) fn outcome_of(status: Option<u16>, words: &str) -> Outcome {
    let words = words.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    let status = status.filter(|status| *status >= 400).or_else(|| {
        let known = [
            (429, "too many requests"),
            (503, "service unavailable"),
            (502, "bad gateway"),
            (504, "gateway timeout"),
            (500, "internal server error"),
            (401, "unauthorized"),
            (404, "not found"),
            (400, "bad request"),
        ];
        known
            .into_iter()
            .find(|(_, text)| words.starts_with(text))
            .map(|(status, _)| status)
    });
    match status {
        Some(status @ (429 | 503)) => Outcome::Rejected { status },
        Some(status) => Outcome::HttpError { status },
        None if has(&["timeout", "timed out"]) => Outcome::Timeout {
            phase: crate::sample::TimeoutPhase::Total,
        },
        None if has(&[
            "connection refused",
            "cannot connect",
            "connect call failed",
            "dns",
        ]) =>
        {
            Outcome::ConnectError
        }
        None => Outcome::StreamError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::OutcomeKind;

    #[test]
    fn a_failure_is_named_by_status_first_and_words_then() {
        for (status, words, kind) in [
            (Some(503), "", OutcomeKind::Rejected),
            (None, "Too Many Requests: {…}", OutcomeKind::Rejected),
            (None, "Internal Server Error", OutcomeKind::HttpError),
            (None, "TimeoutError()", OutcomeKind::Timeout),
            (None, "Cannot connect to host", OutcomeKind::ConnectError),
            (None, "payload is not completed", OutcomeKind::StreamError),
        ] {
            assert_eq!(outcome_of(status, words).kind(), kind, "{words}");
        }
    }
}
