//! The parts of a gap between two layers, each with the figures that it is named by.

use serde::Serialize;

use super::gap::Gap;
use crate::metric::Metric;
use crate::sample::OutcomeKind;

/// One part of the gap in a stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "part", rename_all = "kebab-case")]
pub enum Part {
    /// The first token comes later by about the same for every request: round trips, routing, checks.
    PerRequest {
        /// TTFT; E2E where answers are held back.
        by: Metric,
        /// Of its median.
        gap: Gap,
    },
    /// The slow requests' first tokens come later by much more than the usual ones'.
    Tail {
        /// Of TTFT's median.
        middle: Gap,
        /// Of its 95th percentile.
        tail: Gap,
    },
    /// No gap before the first token that counts.
    NothingPerRequest {
        /// TTFT; E2E where answers are held back.
        by: Metric,
        /// Of its median.
        gap: Gap,
    },
    /// Each token takes longer.
    PerToken {
        /// Of TPOT's median.
        gap: Gap,
        /// Tokens of an answer after the first.
        tokens: f64,
        /// The same over an answer.
        answer: Gap,
    },
    /// No gap between tokens that counts.
    NothingPerToken {
        /// Of TPOT's median.
        gap: Gap,
    },
    /// Answers are held back until they are whole, or nearly.
    Buffered {
        /// From an answer's first token to its last at the engine, mean.
        engine_s: f64,
        /// The same at the front.
        front_s: f64,
        /// How much later the first token comes.
        first: Gap,
    },
    /// Tokens come together, then none for a while.
    Clumped {
        /// About so many together.
        tokens: f64,
        /// Median gap between tokens at the engine.
        engine_s: f64,
        /// 99th percentile of it at the front.
        front_s: f64,
    },
    /// Events are put together on the way.
    Merged {
        /// Events of an answer at the engine, mean.
        engine: f64,
        /// At the front.
        front: f64,
    },
    /// Requests fail at the front that don't at the engine.
    Failures {
        /// How they end.
        kind: OutcomeKind,
        /// Of so many at the engine.
        engine: Tally,
        /// Of so many at the front.
        front: Tally,
    },
    /// Connections are not kept, so each request sets one up.
    Connections {
        /// Opened per request at the engine.
        engine: f64,
        /// At the front.
        front: f64,
    },
}

/// Requests of one end among those that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// So many.
    pub requests: u64,
    /// Of so many.
    pub of: u64,
}

/// Why an attribution is not sure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Unsure {
    /// In so many pairs the client spoilt the stage; they are left out.
    Invalid {
        /// Pairs.
        pairs: u32,
    },
    /// Too few pairs to tell a gap from what runs differ by anyway.
    FewPairs {
        /// Pairs.
        pairs: u32,
    },
    /// Answers have no token instants.
    NoTokens,
    /// A closed loop sends less through the slower layer, so the engine behind it has less to do.
    LessLoad {
        /// Completions a second at the engine.
        engine_rps: f64,
        /// At the front.
        front_rps: f64,
    },
}

/// What stages of different load show together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Across {
    /// The gap before the first token grows with the load: the front queues.
    Queueing {
        /// The stage of least load.
        from: String,
        /// The stage of most.
        to: String,
        /// The gap there.
        low: Gap,
        /// The gap here.
        high: Gap,
    },
    /// It does not.
    Steady {
        /// The stage of least load.
        from: String,
        /// The stage of most.
        to: String,
        /// The gap there.
        low: Gap,
        /// The gap here.
        high: Gap,
    },
    /// There is one load, which shows no growth.
    OneLoad,
}
