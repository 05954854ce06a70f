//! Why a stage is invalid.

use serde::{Deserialize, Serialize};

/// Why a stage is invalid: what the client or the harness did wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InvalidReason {
    /// Requests left too late.
    Late {
        /// 99th percentile of `sent − scheduled`.
        p99_s: f64,
        /// The most that is allowed.
        limit_s: f64,
    },
    /// Too few of the offered requests were sent while the in-flight cap was not reached.
    SentShort {
        /// Sent by offered.
        ratio: f64,
    },
    /// The client used too much of the CPU it may use.
    ClientCpu {
        /// Share of the cores it may use.
        share: f64,
    },
    /// Observed tokens are off the plan by more than the spec allows.
    TokensOffPlan {
        /// Observed input by planned input, minus one.
        input: f64,
        /// Observed output by planned output, minus one.
        output: f64,
        /// The most that is allowed, as a fraction.
        limit: f64,
    },
    /// The window held not one request.
    NoRequests,
    /// The run was interrupted before the window ended.
    Interrupted,
    /// An event of the stage did not happen, so what was measured is not what was asked for.
    Event {
        /// Its name.
        name: String,
        /// What became of it.
        why: String,
    },
    /// So was the part of the load that one shard sent.
    Shard {
        /// Which, from 1.
        index: u32,
        /// Why.
        reason: Box<Self>,
    },
}
