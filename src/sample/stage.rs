//! What the load client saw of a stage as a whole, beside the records of its requests.

use serde::{Deserialize, Serialize};

use super::happened::Happened;
use crate::unit::Nanos;

/// What the load client saw of one stage. Instants are nanoseconds since the stage's start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StageObservation {
    /// Start of the measured window; equal to `window_end` where the stage ended before it.
    pub window_start: Nanos,
    /// End of the measured window.
    pub window_end: Nanos,
    /// Time-weighted mean of requests in flight in the window.
    pub in_flight_mean: f64,
    /// Most requests in flight in the window.
    pub in_flight_max: u32,
    /// Requests of the window that were due while the in-flight cap was reached.
    pub cap_hits: u32,
    /// CPU time of the client's process over the window, as a share of the cores it may use.
    pub cpu_share: Option<f64>,
    /// 99th percentile of how late the client's event loop woke from a timer, in the window.
    pub loop_lag_p99: Option<Nanos>,
    /// Connections opened during the stage; `None` where the client stack does not say.
    pub connections: Option<u64>,
    /// Bytes of response bodies during the stage.
    pub bytes: u64,
    /// Requests still in flight when the drain ended.
    pub backlog: u32,
    /// How it ended.
    pub end: StageEnd,
    /// How each client fared in the window, piece by piece in order; of one client, one list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pulses: Vec<Vec<Pulse>>,
    /// What became of its events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Happened>,
}

/// How a client fared in a piece of the window, of about a second or, in long stages, longer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Pulse {
    /// Where the piece starts.
    #[serde(rename = "start_ns")]
    pub start: Nanos,
    /// Where it ends.
    #[serde(rename = "end_ns")]
    pub end: Nanos,
    /// CPU time of the client's process in it, as a share of the cores it may use.
    pub cpu_share: Option<f64>,
    /// How late the client's event loop woke from a timer at most; `None` where no timer was due.
    #[serde(rename = "loop_lag_max_ns")]
    pub loop_lag_max: Option<Nanos>,
    /// Connections opened in it.
    pub connections: u64,
    /// Bytes of the client's process in memory at its end.
    #[serde(
        rename = "memory_bytes",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub memory: Option<u64>,
}

impl Pulse {
    /// The instant half way.
    pub fn middle(&self) -> Nanos {
        self.start + Nanos::new(self.end.since(self.start).get() / 2)
    }

    /// This one and a later one as one: the larger lag, and the CPU share by length.
    ///
    /// 0.2 over 1 s and 0.5 over 2 s are 0.4 over both.
    #[must_use]
    pub fn joined(self, later: Self) -> Self {
        let length = |pulse: Self| pulse.end.since(pulse.start).as_secs_f64();
        let (first, second) = (length(self), length(later));
        let shares = self.cpu_share.zip(later.cpu_share);
        let cpu_share = shares
            .filter(|_| first + second > 0.0)
            .map(|(one, other)| (one * first + other * second) / (first + second));
        Self {
            start: self.start,
            end: later.end,
            cpu_share,
            loop_lag_max: self.loop_lag_max.max(later.loop_lag_max),
            connections: self.connections + later.connections,
            memory: later.memory.or(self.memory),
        }
    }
}

/// How a stage ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StageEnd {
    /// As planned.
    Complete,
    /// Stopped by a signal.
    Interrupted,
    /// Stopped by the spec's `stop_when`.
    Stopped(StopReason),
    /// The target stopped answering.
    TargetLost {
        /// The last error.
        error: String,
    },
}

/// Why a stage ended early, or was not run after another that did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// Too many of the latest requests failed.
    Errors {
        /// Requests that failed.
        errors: u32,
        /// Of so many.
        of: u32,
    },
    /// The target completed less than it was sent, and its backlog grew.
    Overload,
}

/// What the engine itself still held after a stage's drain, by its own metrics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EngineQueue {
    /// Nothing: the next stage starts on an idle engine.
    Empty,
    /// Requests, when the drain timeout had passed.
    Backlog {
        /// Under way.
        running: u64,
        /// Waiting.
        waiting: u64,
    },
    /// It does not say.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// How far a client's clock is ahead of the target's, in seconds: between the two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClockSkew {
    /// At least.
    pub least_s: f64,
    /// At most.
    pub most_s: f64,
}
