//! Why a model stopped generating.

use serde::{Deserialize, Serialize};

/// The `finish_reason` of an answer.
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
pub enum FinishReason {
    /// `stop`: the model ended its answer, or wrote a stop word.
    Stop,
    /// `length`: the token limit.
    Length,
    /// `tool_calls`, `function_call`: it wants a tool's answer.
    ToolCalls,
    /// `content_filter`: what followed was withheld.
    ContentFilter,
    /// `error`, `abort`: the engine gave up.
    Failed,
    /// Any other word.
    Other,
}

impl FinishReason {
    /// From the word of the protocol; `None` where it is empty, as some engines have it until the
    /// end.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "" => return None,
            "stop" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" | "function_call" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            "error" | "abort" => Self::Failed,
            _ => Self::Other,
        })
    }

    /// In words, for reports.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool calls",
            Self::ContentFilter => "content filter",
            Self::Failed => "failed",
            Self::Other => "other",
        }
    }
}
