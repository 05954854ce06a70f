//! JSON of one stream event, or of a whole answer, to what a load client needs of it.
//!
//! Text is never kept: a string is looked at for being empty and passed over, so a chunk costs no
//! allocation. Every field may be absent, `null` or of another type than expected, and unknown
//! fields are passed over; only text that is no JSON object is an error.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::lenient::{Any, Lenient, any, skip};

/// What one event of a stream, or a whole answer, brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Chunk {
    /// Tokens, if it bears any.
    pub tokens: Option<TokenKind>,
    /// Why generation ended, if it says so.
    pub finish: Option<FinishReason>,
    /// Token counts, if it has them.
    pub usage: Option<Usage>,
    /// Whether it is an error; [`error_text`] has its words.
    pub is_error: bool,
}

/// What kind of tokens an event bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenKind {
    /// Reasoning only: `reasoning_content` or `reasoning`.
    Reasoning,
    /// Anything of the answer: `content`, `refusal`, `tool_calls`, `text`.
    Answer,
}

/// Why generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// `length`: the token limit.
    Length,
    /// `error` or `abort`: the engine gave up.
    Failed,
    /// `stop`, `tool_calls`, `content_filter` and any other word.
    Other,
}

/// Token counts; each absent where the server did not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// `prompt_tokens`.
    pub input: Option<u32>,
    /// `completion_tokens`; cumulative where it comes with each chunk.
    pub output: Option<u32>,
    /// `prompt_tokens_details.cached_tokens`.
    pub cached: Option<u32>,
}

/// Why bytes are not a chunk.
#[derive(Debug, thiserror::Error)]
#[error("malformed JSON: {0}")]
pub struct Malformed(#[from] serde_json::Error);

impl Chunk {
    /// Reads one `data` value of a stream, or the body of a whole answer.
    pub fn parse(json: &[u8]) -> Result<Self, Malformed> {
        Ok(serde_json::from_slice(json)?)
    }
}

/// The words of an error object: `error.message`, `error`, `message` or `detail`, else all of it.
pub fn error_text(json: &[u8]) -> String {
    use serde_json::Value;
    let whole = || String::from_utf8_lossy(json).trim().to_owned();
    let Ok(value) = serde_json::from_slice::<Value>(json) else {
        return whole();
    };
    let places = [
        value.pointer("/error/message"),
        value.get("error"),
        value.get("message"),
        value.get("detail"),
    ];
    places
        .into_iter()
        .flatten()
        .find_map(|place| place.as_str().filter(|text| !text.is_empty()))
        .map_or_else(whole, str::to_owned)
}

impl<'de> Deserialize<'de> for Chunk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Chunk;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Chunk, A::Error> {
                Chunk::object(map)
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl Lenient for Chunk {
    fn object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut chunk = Self::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Choices => {
                    let Choices { tokens, finish } = any(&mut map)?;
                    chunk.tokens = chunk.tokens.max(tokens);
                    chunk.finish = finish.or(chunk.finish);
                }
                Key::Usage => chunk.usage = any::<Option<Usage>, A>(&mut map)?.or(chunk.usage),
                Key::Error => chunk.is_error |= any::<Present, A>(&mut map)?.0,
                // `{"object": "error", "message": …}` of older vLLM.
                Key::Object => chunk.is_error |= any::<ErrorWord, A>(&mut map)?.0,
                _ => skip(&mut map)?,
            }
        }
        Ok(chunk)
    }
}

/// All choices of a chunk together, or one.
#[derive(Default)]
struct Choices {
    tokens: Option<TokenKind>,
    finish: Option<FinishReason>,
}

impl Lenient for Choices {
    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut all = Self::default();
        while let Some(Any(one)) = list.next_element::<Any<Self>>()? {
            all.tokens = all.tokens.max(one.tokens);
            all.finish = one.finish.or(all.finish);
        }
        Ok(all)
    }

    fn object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut choice = Self::default();
        while let Some(key) = map.next_key::<Key>()? {
            let tokens = match key {
                Key::Delta | Key::Message => any::<Delta, A>(&mut map)?.0,
                Key::Text => any::<Filled, A>(&mut map)?.of(TokenKind::Answer),
                Key::FinishReason => {
                    choice.finish = any::<Option<FinishReason>, A>(&mut map)?.or(choice.finish);
                    None
                }
                _ => skip(&mut map).map(|()| None)?,
            };
            choice.tokens = choice.tokens.max(tokens);
        }
        Ok(choice)
    }
}

/// The tokens of a `delta` or a `message`.
#[derive(Default)]
struct Delta(Option<TokenKind>);

impl Lenient for Delta {
    fn object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut tokens = None;
        while let Some(key) = map.next_key::<Key>()? {
            tokens = tokens.max(match key {
                Key::Answer => any::<Filled, A>(&mut map)?.of(TokenKind::Answer),
                Key::Reasoning => any::<Filled, A>(&mut map)?.of(TokenKind::Reasoning),
                Key::ToolCalls => any::<ToolCalls, A>(&mut map)?.0.of(TokenKind::Answer),
                _ => skip(&mut map).map(|()| None)?,
            });
        }
        Ok(Self(tokens))
    }
}

/// Whether any tool call has a `function` with a name or arguments: the list, or one call.
#[derive(Default)]
struct ToolCalls(Filled);

impl Lenient for ToolCalls {
    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut filled = false;
        while let Some(Any(Self(Filled(call)))) = list.next_element()? {
            filled |= call;
        }
        Ok(Self(Filled(filled)))
    }

    fn object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut filled = false;
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Function => filled |= any::<Self, A>(&mut map)?.0.0,
                Key::NameOrArguments => filled |= any::<Filled, A>(&mut map)?.0,
                _ => skip(&mut map)?,
            }
        }
        Ok(Self(Filled(filled)))
    }
}

impl Lenient for Option<Usage> {
    fn object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut usage = Usage::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::PromptTokens => usage.input = any(&mut map)?,
                Key::CompletionTokens => usage.output = any(&mut map)?,
                Key::CachedTokens => usage.cached = any(&mut map)?,
                // The details have the one key that is wanted of them, so they read as a usage.
                Key::PromptDetails => {
                    usage.cached = any::<Self, A>(&mut map)?.and_then(|details| details.cached);
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(Some(usage))
    }
}

impl Lenient for Option<FinishReason> {
    fn text(word: &str) -> Self {
        match word {
            "" => None,
            "length" => Some(FinishReason::Length),
            "error" | "abort" => Some(FinishReason::Failed),
            _ => Some(FinishReason::Other),
        }
    }
}

impl Lenient for Option<u32> {
    fn number(count: u64) -> Self {
        u32::try_from(count).ok()
    }
}

/// Whether a string is there and not empty.
#[derive(Default, Clone, Copy)]
struct Filled(bool);

impl Filled {
    fn of(self, kind: TokenKind) -> Option<TokenKind> {
        self.0.then_some(kind)
    }
}

impl Lenient for Filled {
    fn text(text: &str) -> Self {
        Self(!text.is_empty())
    }
}

/// Whether there is anything but `null`, `false`, `0` and an empty string.
#[derive(Default)]
struct Present(bool);

impl Lenient for Present {
    fn boolean(value: bool) -> Self {
        Self(value)
    }

    fn number(value: u64) -> Self {
        Self(value != 0)
    }

    fn text(text: &str) -> Self {
        Self(!text.is_empty())
    }

    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(true))
    }

    fn object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self(true))
    }
}

/// Whether a string is the word `error`.
#[derive(Default)]
struct ErrorWord(bool);

impl Lenient for ErrorWord {
    fn text(word: &str) -> Self {
        Self(word == "error")
    }
}

/// The keys that are looked at, at whatever depth, without keeping their text.
enum Key {
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

#[cfg(test)]
mod tests;
