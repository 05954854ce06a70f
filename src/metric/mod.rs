//! The metrics: name, unit, direction and definition of each, and what a cell speaks about.

mod cell;
mod meaning;
mod scope;
mod source;
mod task;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use cell::{Cell, CellError, CellMetric, CellMetricError, Quantile, Statistic};
pub use meaning::{is_known, meaning};
pub use source::{Bad, Rate, Source};
pub use task::{TaskName, TaskNameError};

use crate::unit::scale::Unit;

/// Tag of the definitions in this file, stored in every run; figures with another tag are never
/// compared with ours.
pub const DEFINITION: &str = "infergate/1";

/// A quantity of a request or of a stage.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Time to first token.
    Ttft,
    /// Time to first answer token, that is after any reasoning.
    Ttfa,
    /// Time per output token after the first.
    Tpot,
    /// Gap between successive tokens.
    Itl,
    /// Gap between successive token-bearing events.
    ChunkGap,
    /// Largest chunk gap of a request.
    MaxStall,
    /// End-to-end latency.
    E2e,
    /// Requests per second that completed within every clause of their SLO.
    Goodput,
    /// The largest goodput over the steps of a sweep.
    MaxGoodput,
    /// Share of scheduled requests that were good.
    Attainment,
    /// Completions per second.
    RequestThroughput,
    /// Output tokens received per second.
    OutputThroughput,
    /// Input tokens of requests whose first token arrived, per second.
    InputThroughput,
    /// Output plus input token throughput.
    TotalThroughput,
    /// Output tokens received per joule that the GPUs drew.
    TokensPerJoule,
    /// Joules that the GPUs drew per good request: watts by good requests per second.
    JoulesPerGood,
    /// Share of scheduled requests that failed.
    ErrorRatio,
    /// Share of scheduled requests that were cut at their length limit though the spec pinned none.
    TruncatedRatio,
    /// From the start of a launched engine's process until it is ready.
    ColdReady,
    /// End-to-end latency of the first request to it.
    ColdFirstRequest,
    /// And of the second, which is the first that finds it warm.
    ColdWarmRequest,
    /// From a stage's event until attainment is back; of several the longest.
    RecoveryTime,
    /// From the end of a stage's event or burst until its backlog is gone; of several the longest.
    DrainTime,
    /// Share of a stage's requests that failed after an event of it began.
    LostToEvents,
    /// Share of answers that are JSON of their class's schema.
    QualityValidJson,
    /// Share of answers in which their class's pattern is found.
    QualityRegex,
    /// Share of answers that are the text they were to be.
    QualityExact,
    /// Share of answers that are those of another run to the same prompts.
    QualityAgreement,
    /// A share that another tool measured and a result file holds; one for each name.
    QualityImported,
}

/// What kind of number a metric is, which decides its statistics and how it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One value a request (or token); reduced by quantiles or a mean.
    Distribution,
    /// One rate a stage; compared as a ratio.
    Rate,
    /// One figure of energy a stage; compared as a ratio.
    Energy,
    /// One rate a sweep, of all its steps; compared as a ratio.
    OfSweep,
    /// One share a stage; compared in percentage points.
    Proportion,
    /// One time a run, of no stage; compared as a ratio.
    OfRun,
    /// One time a stage, of what happened in it on purpose; compared as a ratio.
    OfEvents,
}

/// Which way is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Larger values are worse, as with latencies.
    LowerIsBetter,
    /// Smaller values are worse, as with rates.
    HigherIsBetter,
}

impl Direction {
    /// +1 where larger is worse, −1 where smaller is worse (the `s` of the decision procedure).
    pub const fn sign(self) -> f64 {
        match self {
            Self::LowerIsBetter => 1.0,
            Self::HigherIsBetter => -1.0,
        }
    }
}

impl Metric {
    /// All metrics, in the order in which reports show them.
    pub const ALL: [Self; 29] = [
        Self::Goodput,
        Self::MaxGoodput,
        Self::Attainment,
        Self::ErrorRatio,
        Self::TruncatedRatio,
        Self::QualityValidJson,
        Self::QualityRegex,
        Self::QualityExact,
        Self::QualityAgreement,
        Self::QualityImported,
        Self::Ttft,
        Self::Ttfa,
        Self::Tpot,
        Self::Itl,
        Self::ChunkGap,
        Self::MaxStall,
        Self::E2e,
        Self::RequestThroughput,
        Self::OutputThroughput,
        Self::InputThroughput,
        Self::TotalThroughput,
        Self::TokensPerJoule,
        Self::JoulesPerGood,
        Self::ColdReady,
        Self::ColdFirstRequest,
        Self::ColdWarmRequest,
        Self::RecoveryTime,
        Self::DrainTime,
        Self::LostToEvents,
    ];

    /// The name in specs, run files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ttft => "ttft",
            Self::Ttfa => "ttfa",
            Self::Tpot => "tpot",
            Self::Itl => "itl",
            Self::ChunkGap => "chunk_gap",
            Self::MaxStall => "max_stall",
            Self::E2e => "e2e",
            Self::Goodput => "goodput",
            Self::MaxGoodput => "max_goodput",
            Self::Attainment => "attainment",
            Self::RequestThroughput => "request_throughput",
            Self::OutputThroughput => "output_throughput",
            Self::InputThroughput => "input_throughput",
            Self::TotalThroughput => "total_throughput",
            Self::TokensPerJoule => "tokens_per_joule",
            Self::JoulesPerGood => "joules_per_good",
            Self::ErrorRatio => "error_ratio",
            Self::TruncatedRatio => "truncated_ratio",
            Self::ColdReady => "cold_ready",
            Self::ColdFirstRequest => "cold_first_request",
            Self::ColdWarmRequest => "cold_warm_request",
            Self::RecoveryTime => "recovery_time",
            Self::DrainTime => "drain_time",
            Self::LostToEvents => "lost_to_events",
            Self::QualityValidJson => "quality.valid_json",
            Self::QualityRegex => "quality.regex",
            Self::QualityExact => "quality.exact",
            Self::QualityAgreement => "quality.agreement",
            Self::QualityImported => "quality.imported",
        }
    }

    /// The unit of its values.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Ttft
            | Self::Ttfa
            | Self::Tpot
            | Self::Itl
            | Self::ChunkGap
            | Self::MaxStall
            | Self::E2e
            | Self::ColdReady
            | Self::ColdFirstRequest
            | Self::ColdWarmRequest
            | Self::RecoveryTime
            | Self::DrainTime => Unit::Seconds,
            Self::Goodput | Self::MaxGoodput | Self::RequestThroughput => Unit::RequestsPerSecond,
            Self::OutputThroughput | Self::InputThroughput | Self::TotalThroughput => {
                Unit::TokensPerSecond
            }
            Self::TokensPerJoule => Unit::TokensPerJoule,
            Self::JoulesPerGood => Unit::Joules,
            Self::Attainment
            | Self::ErrorRatio
            | Self::TruncatedRatio
            | Self::LostToEvents
            | Self::QualityValidJson
            | Self::QualityRegex
            | Self::QualityExact
            | Self::QualityAgreement
            | Self::QualityImported => Unit::Proportion,
        }
    }

    /// Which way is worse.
    pub const fn direction(self) -> Direction {
        match self {
            Self::Ttft
            | Self::Ttfa
            | Self::Tpot
            | Self::Itl
            | Self::ChunkGap
            | Self::MaxStall
            | Self::E2e
            | Self::JoulesPerGood
            | Self::ErrorRatio
            | Self::TruncatedRatio
            | Self::ColdReady
            | Self::ColdFirstRequest
            | Self::ColdWarmRequest
            | Self::RecoveryTime
            | Self::DrainTime
            | Self::LostToEvents => Direction::LowerIsBetter,
            Self::Goodput
            | Self::MaxGoodput
            | Self::Attainment
            | Self::RequestThroughput
            | Self::OutputThroughput
            | Self::InputThroughput
            | Self::TotalThroughput
            | Self::TokensPerJoule
            | Self::QualityValidJson
            | Self::QualityRegex
            | Self::QualityExact
            | Self::QualityAgreement
            | Self::QualityImported => Direction::HigherIsBetter,
        }
    }

    /// The definition in one sentence, as printed in the glossary.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Ttft => "first token-bearing event − origin of latency",
            Self::Ttfa => "first token-bearing event that is not reasoning − origin of latency",
            Self::Tpot => "(last token − first token) / (output tokens − 1)",
            Self::Itl => {
                "gap between token-bearing events divided by, and weighted by, the tokens of the later one"
            }
            Self::ChunkGap => "raw gap between successive token-bearing events",
            Self::MaxStall => "largest chunk gap of a request",
            Self::E2e => {
                "last token − origin of latency; end of body where the answer is not streamed"
            }
            Self::Goodput => "completed requests within every clause of their SLO / window",
            Self::MaxGoodput => {
                "largest goodput over the steps of a sweep, those left out that refine it"
            }
            Self::Attainment => "good requests / (scheduled − cancelled)",
            Self::RequestThroughput => "completions in the window / window",
            Self::OutputThroughput => "output tokens received in the window / window",
            Self::InputThroughput => {
                "input tokens of requests whose first token arrived in the window / window"
            }
            Self::TotalThroughput => "input plus output token throughput",
            Self::TokensPerJoule => {
                "output tokens received in the window / (mean power of the target's GPUs × window)"
            }
            Self::JoulesPerGood => {
                "mean power of the target's GPUs / goodput: watts per good request a second"
            }
            Self::ErrorRatio => {
                "(http error, rejected, connect error, timeout, stream error, empty, unsent, unfinished) / (scheduled − cancelled)"
            }
            Self::TruncatedRatio => "truncated / (scheduled − cancelled)",
            Self::ColdReady => {
                "start of a launched engine's process to its first 2xx at the ready probe"
            }
            Self::ColdFirstRequest => {
                "end of the answer − send, of the first request to a launched engine, of 4 tokens"
            }
            Self::ColdWarmRequest => "the same of the second request",
            Self::RecoveryTime => {
                "start of a stage's event to the end of the last stretch with too few good requests, 0.1 s at least; the longest of its events"
            }
            Self::DrainTime => {
                "end of a stage's last event, or of a burst, until no more is in flight than usually, 0.1 s at least; the longest"
            }
            Self::LostToEvents => {
                "requests that failed after the stage's first event began / (scheduled − cancelled)"
            }
            Self::QualityValidJson => "answers that are JSON of their class's schema / answers",
            Self::QualityRegex => "answers in which their class's pattern is found / answers",
            Self::QualityExact => {
                "answers that are the expected text, but for white space at its ends / answers"
            }
            Self::QualityAgreement => {
                "answers equal to those of the pair's baseline run to the same requests / requests that both answered, of the first 1,000; the baseline's own figure is that of its runs among each other"
            }
            Self::QualityImported => {
                "the share that a result file of lm-evaluation-harness holds, with its standard error"
            }
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = CellMetricError;

    fn from_str(text: &str) -> Result<Self, CellMetricError> {
        Self::ALL
            .into_iter()
            .find(|metric| metric.name() == text)
            .ok_or_else(|| CellMetricError::UnknownMetric {
                name: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_found_by_its_name() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
        }
    }

    #[test]
    fn latencies_are_worse_when_larger() {
        assert!(Metric::Ttft.direction().sign() > 0.0);
        assert!(Metric::Goodput.direction().sign() < 0.0);
    }
}
