//! How a launched engine came up: from the start of its process to its first warm answer.

use serde::{Deserialize, Serialize};

/// How a launched engine came up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ColdStart {
    /// From the start of its process to its first answer of 2xx to the ready probe.
    pub ready_s: f64,
    /// What became of the first request then, of a few tokens.
    pub first: EarlyAnswer,
    /// And of the one after it.
    pub warm: EarlyAnswer,
    /// What else used the machine when it was started, in words; empty where it idled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busy: Vec<String>,
}

/// What became of a request before any load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyAnswer {
    /// It was answered.
    Answered {
        /// From the send to the first token; `None` where the answer came whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ttft_s: Option<f64>,
        /// From the send to the answer's end.
        e2e_s: f64,
    },
    /// It was not.
    Failed {
        /// Why.
        error: String,
    },
}
