//! How the client fared.

use serde::{Deserialize, Serialize};

/// How the client fared in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClientHealth {
    /// Median of `sent − scheduled`.
    pub lateness_p50_s: f64,
    /// 99th percentile of it.
    pub lateness_p99_s: f64,
    /// Largest.
    pub lateness_max_s: f64,
    /// CPU time as a share of the cores the client may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// 99th percentile of how late the event loop woke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_lag_p99_s: Option<f64>,
    /// Time-weighted mean of requests in flight.
    pub in_flight_mean: f64,
    /// Most requests in flight.
    pub in_flight_max: u32,
    /// Requests due while the in-flight cap was reached.
    pub cap_hits: u32,
    /// Requests that were sent again because a kept connection closed under them.
    #[serde(default)]
    pub resent: u64,
    /// Connections opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
    /// Bytes of response bodies.
    pub bytes: u64,
    /// Requests still in flight when the drain ended.
    pub backlog: u32,
}
