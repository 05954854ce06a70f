//! The keys of chunks.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};

/// The keys that are looked at, at whatever depth, without keeping their text.
pub(super) enum Key {
    Choices,
    Usage,
    Error,
    Object,
    Delta,
    Message,
    Text,
    FinishReason,
    Answer,
    Reasoning,
    ToolCalls,
    Function,
    NameOrArguments,
    PromptTokens,
    CompletionTokens,
    PromptDetails,
    CachedTokens,
    Unknown,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E>(self, key: &str) -> Result<Key, E> {
                Ok(match key {
                    "choices" => Key::Choices,
                    "usage" => Key::Usage,
                    "error" => Key::Error,
                    "object" => Key::Object,
                    "delta" => Key::Delta,
                    "message" => Key::Message,
                    "text" => Key::Text,
                    "finish_reason" => Key::FinishReason,
                    "content" | "refusal" => Key::Answer,
                    "reasoning_content" | "reasoning" => Key::Reasoning,
                    "tool_calls" => Key::ToolCalls,
                    "function" => Key::Function,
                    "name" | "arguments" => Key::NameOrArguments,
                    "prompt_tokens" => Key::PromptTokens,
                    "completion_tokens" => Key::CompletionTokens,
                    "prompt_tokens_details" => Key::PromptDetails,
                    "cached_tokens" => Key::CachedTokens,
                    _ => Key::Unknown,
                })
            }
        }

        deserializer.deserialize_identifier(KeyVisitor)
    }
}
