//! What the engine's own metrics say of a stage's window, in one vocabulary for all engines.

use serde::{Deserialize, Serialize};

use super::cross_check::CrossCheck;
use crate::sample::CacheTokens;

/// The engine's side of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EngineView {
    /// Its metrics were read.
    Seen(Box<EngineFigures>),
    /// They were not.
    Unknown {
        /// Why not.
        why: String,
    },
}

impl EngineView {
    /// Adds what makes its figures less than the whole window.
    pub fn caution(&mut self, caveat: String) {
        if let Self::Seen(figures) = self {
            figures.caveats.push(caveat);
        }
    }

    /// With what client and engine both counted, or why they can't be held against each other.
    #[must_use]
    pub fn beside(mut self, check: Result<CrossCheck, String>) -> Self {
        if let Self::Seen(figures) = &mut self {
            match check {
                Ok(check) => figures.cross_check = Some(check),
                Err(why) => figures.unchecked = Some(why),
            }
        }
        self
    }
}

/// What the metrics of all replicas together say of the measured window. A figure that the engine
/// does not have is absent, never 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EngineFigures {
    /// Whose names were found: `vllm`, `sglang`, `llama.cpp`, `tensorrt-llm`, `tgi`.
    pub engine: String,
    /// Scrapes that the figures rest on.
    pub scrapes: u32,
    /// What makes them less than the whole window: restarts, gaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// From a request's arrival to its first scheduling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<EngineTime>,
    /// From its scheduling to its first token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefill: Option<EngineTime>,
    /// From its first token to its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decode: Option<EngineTime>,
    /// Time to first token by the engine's own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft: Option<EngineTime>,
    /// Time per output token by the engine's own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpot: Option<EngineTime>,
    /// Gap between tokens by the engine's own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itl: Option<EngineTime>,
    /// End-to-end latency by the engine's own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e2e: Option<EngineTime>,
    /// Requests under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Gauge>,
    /// Requests that waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Gauge>,
    /// Share of the KV cache in use; of several replicas the mean, and the largest of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv_usage: Option<Gauge>,
    /// Requests that were thrown out of the KV cache and computed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u64>,
    /// What the prefix cache found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_cache: Option<CacheTokens>,
    /// What speculative decoding proposed, and how much of it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speculation: Option<Speculation>,
    /// Prompt tokens that were processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens that were generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Requests that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<u64>,
    /// What client and engine both counted of the whole stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_check: Option<CrossCheck>,
    /// Why that could not be; absent where it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
}

/// A time that an engine measured of many requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EngineTime {
    /// Observations.
    pub n: u64,
    /// Their mean: exact, for histograms carry the sum.
    pub mean_s: f64,
    /// Median, interpolated in the engine's buckets; absent where it has no buckets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_s: Option<f64>,
    /// 95th percentile, the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_s: Option<f64>,
}

/// A level over the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Gauge {
    /// Its mean over time.
    pub mean: f64,
    /// The largest seen.
    pub max: f64,
}

/// What speculative decoding did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Speculation {
    /// Tokens that were proposed.
    pub drafted: u64,
    /// Of those, taken.
    pub accepted: u64,
}

impl Speculation {
    /// The share that was taken: 60 of 80 are 0.75. `None` where nothing was proposed.
    pub fn ratio(self) -> Option<f64> {
        (self.drafted > 0).then(|| self.accepted as f64 / self.drafted as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acceptance_is_a_share_of_what_was_drafted() {
        let of = |drafted, accepted| Speculation { drafted, accepted };
        assert_eq!(of(80, 60).ratio(), Some(0.75));
        assert_eq!(of(0, 0).ratio(), None);
    }
}
