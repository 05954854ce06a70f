//! Tokens and rates over a window.

use serde::{Deserialize, Serialize};

use crate::sample::TokenSource;

/// Tokens of the window's requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TokenTotals {
    /// Input tokens that the plan wanted of requests whose usage was reported.
    pub input_planned: u64,
    /// Input tokens that the server reported.
    pub input_observed: u64,
    /// Output tokens that the plan wanted of completed requests; the most it allowed where their
    /// length is natural.
    pub output_planned: u64,
    /// Output tokens of completed requests.
    pub output_observed: u64,
    /// Input tokens that the server took from its prefix cache.
    pub cached: u64,
    /// The weakest source among the output counts; `None` without one completed request, and where nobody
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_source: Option<TokenSource>,
}

/// Rates over the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rates {
    /// Requests scheduled / window.
    pub offered_rps: f64,
    /// Requests sent / window.
    pub sent_rps: f64,
    /// Completions whose end lies in the window / window.
    pub completed_rps: f64,
    /// Good requests / window.
    pub goodput_rps: f64,
    /// Output tokens received in the window / window; `None` where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tps: Option<f64>,
    /// Input tokens of requests whose first token arrived in the window / window; `None` where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tps: Option<f64>,
}
