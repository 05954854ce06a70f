//! Whether the client and the engine speak of the same requests.

use serde::{Deserialize, Serialize};

use super::looks::ReplicaScrapes;
use crate::sample::{Outcome, RequestRecord};
use crate::wire::engine_metrics::{Counter, Span};

/// Counts that differ by more than this share of the larger, and by more than [`SLACK`], disagree.
const COUNT_TOLERANCE: f64 = 0.01;

/// Counts that differ by this much or less agree: a token at the end is counted or not.
const SLACK: u64 = 2;

/// A client that is faster than the engine by more than this did not measure the same requests.
const FASTER_S: f64 = 0.001;

/// Both counts and times of a stage from before its warm-up to after its drain: of the same requests,
/// where nobody else uses the engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CrossCheck {
    /// Why the counts need not be equal; absent where they have to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inexact: Option<String>,
    /// What both counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<BothCounts>,
    /// What both timed, over the same number of requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<BothTimes>,
}

/// One thing by both counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BothCounts {
    /// What was counted.
    pub of: CountOf,
    /// By the client.
    pub client: u64,
    /// By the engine.
    pub engine: u64,
}

/// What both sides count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountOf {
    /// Tokens of answers.
    OutputTokens,
    /// Tokens of prompts; those that a prefix cache held are left out where the engine does so.
    InputTokens,
    /// Requests that ended.
    Requests,
}

/// One mean time by both clocks, the client's from the send.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BothTimes {
    /// Which.
    pub of: TimeOf,
    /// By the client.
    pub client_s: f64,
    /// By the engine.
    pub engine_s: f64,
}

/// What both sides time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeOf {
    /// To the first token.
    Ttft,
    /// To the end.
    E2e,
}

impl CrossCheck {
    /// Whether the engine ended more requests than the client sent: somebody else uses it, and nothing
    /// else that it counted is the client's alone.
    pub fn is_shared(&self) -> bool {
        let mut requests = self
            .counts
            .iter()
            .filter(|both| both.of == CountOf::Requests);
        self.inexact.is_none() && requests.any(|both| both.disagree() && both.engine > both.client)
    }
}

impl BothCounts {
    /// Whether they are further apart than 1 % of the larger and 2: of 1,000 and 989 is 11 and so it is,
    /// of 100 and 98 it is not.
    pub fn disagree(self) -> bool {
        let apart = self.client.abs_diff(self.engine);
        apart > SLACK && apart as f64 > COUNT_TOLERANCE * self.client.max(self.engine) as f64
    }
}

impl BothTimes {
    /// Time that went by outside the engine: network, gateway, server front and client.
    pub fn outside_s(self) -> f64 {
        self.client_s - self.engine_s
    }

    /// Whether the client claims less than the engine, which can't be.
    pub fn disagree(self) -> bool {
        self.outside_s() < -FASTER_S
    }
}

/// What the client saw of a stage, every phase of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientCounts {
    ended: u64,
    cut: u64,
    resent: u64,
    output: u64,
    input: u64,
    input_unknown: u64,
    cached: u64,
    cached_unknown: u64,
    ttft: Mean,
    e2e: Mean,
}

/// A mean in the making.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    n: u64,
    sum_s: f64,
}

impl Mean {
    fn add(&mut self, seconds: f64) {
        self.n += 1;
        self.sum_s += seconds;
    }
}

impl ClientCounts {
    /// Takes note of a record.
    pub fn see(&mut self, record: &RequestRecord) {
        let Some(sent) = record.sent else { return };
        self.resent += u64::from(record.resent > 0);
        match record.outcome {
            Outcome::Completed | Outcome::Truncated | Outcome::InvalidOutput => {}
            _ => {
                self.cut += 1;
                return;
            }
        }
        self.ended += 1;
        self.output += u64::from(record.output_tokens.unwrap_or(0));
        self.input += u64::from(record.input_tokens.unwrap_or(0));
        self.input_unknown += u64::from(record.input_tokens.is_none());
        self.cached += u64::from(record.cached_tokens.unwrap_or(0));
        self.cached_unknown += u64::from(record.cached_tokens.is_none());
        if let Some(first) = record.first_token() {
            self.ttft.add(first.since(sent).as_secs_f64());
        }
        if let Some(done) = record.done {
            self.e2e.add(done.since(sent).as_secs_f64());
        }
    }

    fn inexact(&self) -> Option<String> {
        if self.cut > 0 {
            let n = self.cut;
            return Some(format!("{n} requests were sent and did not end well"));
        }
        (self.resent > 0).then(|| format!("{} requests were sent again", self.resent))
    }

    /// The prompt tokens that an engine of this kind counts; `None` where nobody said.
    const fn input(&self, prompts_are_whole: bool) -> Option<u64> {
        match (self.input_unknown, prompts_are_whole, self.cached_unknown) {
            (0, true, _) => Some(self.input),
            (0, false, 0) => Some(self.input.saturating_sub(self.cached)),
            _ => None,
        }
    }

    /// Holds what the client saw against what the engines counted between the first look and the last.
    ///
    /// # Errors
    ///
    /// Why there is nothing to hold it against: an engine began anew, was not read twice, or counts none
    /// of it.
    pub fn against(&self, replicas: &[ReplicaScrapes]) -> Result<CrossCheck, String> {
        let silent = || "no replica was asked".to_owned();
        let first = replicas.first().ok_or_else(silent)?;
        let whole = |replica: &ReplicaScrapes| {
            let counted = replica.whole();
            counted.map_err(|why| format!("of the engine at {}: {why}", replica.url))
        };
        let mut counted = whole(first)?;
        for replica in &replicas[1..] {
            counted = counted.plus(&whole(replica)?);
        }
        let prompts_are_whole = first
            .first()
            .is_some_and(|reading| reading.prompts_are_whole);
        let counts = [
            (CountOf::Requests, Counter::Finished, Some(self.ended)),
            (
                CountOf::OutputTokens,
                Counter::OutputTokens,
                Some(self.output),
            ),
            (
                CountOf::InputTokens,
                Counter::PromptTokens,
                self.input(prompts_are_whole),
            ),
        ];
        let counts = counts.into_iter().filter_map(|(of, counter, client)| {
            let engine = counted.count(counter)?;
            let client = client?;
            Some(BothCounts { of, client, engine })
        });
        let times = [
            (TimeOf::Ttft, Span::Ttft, self.ttft),
            (TimeOf::E2e, Span::E2e, self.e2e),
        ];
        let times = times.into_iter().filter_map(|(of, span, mean)| {
            let time = counted.time(span)?;
            // Means of different requests say nothing of each other.
            (time.n == mean.n).then(|| BothTimes {
                of,
                client_s: mean.sum_s / mean.n as f64,
                engine_s: time.mean_s,
            })
        });
        let check = CrossCheck {
            inexact: self.inexact(),
            counts: counts.collect(),
            times: times.collect(),
        };
        if check.counts.is_empty() && check.times.is_empty() {
            return Err("its metrics count neither requests nor tokens".to_owned());
        }
        Ok(check)
    }
}

#[cfg(test)]
#[path = "cross_check_tests.rs"]
mod tests;
