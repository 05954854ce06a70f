//! The way to the target.

use serde::{Deserialize, Serialize};

/// What the way to the target takes, measured before the load. It is in every latency and never
/// taken out of one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Network {
    /// Median of five TCP connects.
    pub connect_s: f64,
    /// Fastest of five small GETs, from the send to the answer's headers, whatever they say: a round
    /// trip with the server's least work.
    pub rtt_s: f64,
}
