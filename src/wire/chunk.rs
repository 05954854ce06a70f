//! JSON of one stream event, or of a whole answer, to what a load client needs of it.
//!
//! Text is never copied: a string is looked at for being empty and passed over, so a chunk costs
//! no allocation. Every field may be absent, `null` or of another type than expected, and unknown
//! fields are passed over; only text that is no JSON object is an error.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::key::Key;
use super::lenient::{Any, Lenient, any, skip};
use crate::sample::FinishReason;

/// What one event of a stream, or a whole answer, brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Chunk<'a> {
    /// Tokens, if it bears any.
    pub tokens: Option<TokenKind>,
    /// The text that bears them, where it is one string and stands in the JSON without escapes.
    pub text: Option<&'a str>,
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

impl<'a> Chunk<'a> {
    /// Reads one `data` value of a stream, or the body of a whole answer.
    pub fn parse(json: &'a [u8]) -> Result<Self, Malformed> {
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

impl<'de> Deserialize<'de> for Chunk<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Chunk<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Chunk<'de>, A::Error> {
                Chunk::object(map)
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl<'de> Lenient<'de> for Chunk<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut chunk = Self::default();
        let mut all = Tokens::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Choices => {
                    let Choices { tokens, finish } = any(&mut map)?;
                    all = all.and(tokens);
                    chunk.finish = finish.or(chunk.finish);
                }
                Key::Usage => chunk.usage = any::<Option<Usage>, A>(&mut map)?.or(chunk.usage),
                Key::Error => chunk.is_error |= any::<Present, A>(&mut map)?.0,
                // `{"object": "error", "message": …}` of older vLLM.
                Key::Object => chunk.is_error |= any::<ErrorWord, A>(&mut map)?.0,
                _ => skip(&mut map)?,
            }
        }
        chunk.tokens = all.kind;
        chunk.text = match all.text {
            Text::One(text) => Some(text),
            Text::None | Text::Unclear => None,
        };
        Ok(chunk)
    }
}

/// Tokens found so far, and the text that bears them.
#[derive(Clone, Copy, Default)]
struct Tokens<'a> {
    kind: Option<TokenKind>,
    text: Text<'a>,
}

#[derive(Clone, Copy, Default)]
enum Text<'a> {
    #[default]
    None,
    One(&'a str),
    /// Several, or one with escapes.
    Unclear,
}

impl<'a> Tokens<'a> {
    fn of(kind: TokenKind, Filled(text): Filled<'a>) -> Self {
        let kind = match text {
            Text::None => None,
            Text::One(_) | Text::Unclear => Some(kind),
        };
        Self { kind, text }
    }

    fn and(self, other: Self) -> Self {
        Self {
            kind: self.kind.max(other.kind),
            text: self.text.and(other.text),
        }
    }
}

impl Text<'_> {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, text) | (text, Self::None) => text,
            _ => Self::Unclear,
        }
    }
}

/// All choices of a chunk together, or one.
#[derive(Default)]
struct Choices<'a> {
    tokens: Tokens<'a>,
    finish: Option<FinishReason>,
}

impl<'de> Lenient<'de> for Choices<'de> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut all = Self::default();
        while let Some(Any(one)) = list.next_element::<Any<Self>>()? {
            all.tokens = all.tokens.and(one.tokens);
            all.finish = one.finish.or(all.finish);
        }
        Ok(all)
    }

    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut choice = Self::default();
        while let Some(key) = map.next_key::<Key>()? {
            let tokens = match key {
                Key::Delta | Key::Message => any::<Delta<'_>, A>(&mut map)?.0,
                Key::Text => Tokens::of(TokenKind::Answer, any(&mut map)?),
                Key::FinishReason => {
                    choice.finish = any::<Option<FinishReason>, A>(&mut map)?.or(choice.finish);
                    continue;
                }
                _ => {
                    skip(&mut map)?;
                    continue;
                }
            };
            choice.tokens = choice.tokens.and(tokens);
        }
        Ok(choice)
    }
}

/// The tokens of a `delta` or a `message`.
#[derive(Default)]
struct Delta<'a>(Tokens<'a>);

impl<'de> Lenient<'de> for Delta<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut tokens = Tokens::default();
        while let Some(key) = map.next_key::<Key>()? {
            tokens = tokens.and(match key {
                Key::Answer => Tokens::of(TokenKind::Answer, any(&mut map)?),
                Key::Reasoning => Tokens::of(TokenKind::Reasoning, any(&mut map)?),
                Key::ToolCalls => {
                    Tokens::of(TokenKind::Answer, any::<ToolCalls<'_>, A>(&mut map)?.0)
                }
                _ => {
                    skip(&mut map)?;
                    continue;
                }
            });
        }
        Ok(Self(tokens))
    }
}

/// The names and arguments of tool calls: the list, one call, or its `function`.
#[derive(Default)]
struct ToolCalls<'a>(Filled<'a>);

impl<'de> Lenient<'de> for ToolCalls<'de> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut all = Text::None;
        while let Some(Any(Self(Filled(call)))) = list.next_element()? {
            all = all.and(call);
        }
        Ok(Self(Filled(all)))
    }

    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut all = Text::None;
        while let Some(key) = map.next_key::<Key>()? {
            all = all.and(match key {
                Key::Function => any::<Self, A>(&mut map)?.0.0,
                Key::NameOrArguments => any::<Filled<'_>, A>(&mut map)?.0,
                _ => {
                    skip(&mut map)?;
                    continue;
                }
            });
        }
        Ok(Self(Filled(all)))
    }
}

impl<'de> Lenient<'de> for Option<Usage> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
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

impl Lenient<'_> for Option<FinishReason> {
    fn text(word: &str) -> Self {
        FinishReason::from_word(word)
    }
}

impl Lenient<'_> for Option<u32> {
    fn number(count: u64) -> Self {
        u32::try_from(count).ok()
    }
}

/// A string, if it is there and not empty.
#[derive(Clone, Copy, Default)]
struct Filled<'a>(Text<'a>);

impl<'de> Lenient<'de> for Filled<'de> {
    fn text(text: &str) -> Self {
        Self(if text.is_empty() {
            Text::None
        } else {
            Text::Unclear
        })
    }

    fn borrowed(text: &'de str) -> Self {
        Self(if text.is_empty() {
            Text::None
        } else {
            Text::One(text)
        })
    }
}

/// Whether there is anything but `null`, `false`, `0` and an empty string.
#[derive(Default)]
struct Present(bool);

impl<'de> Lenient<'de> for Present {
    fn boolean(value: bool) -> Self {
        Self(value)
    }

    fn number(value: u64) -> Self {
        Self(value != 0)
    }

    fn text(text: &str) -> Self {
        Self(!text.is_empty())
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(true))
    }

    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self(true))
    }
}

/// Whether a string is the word `error`.
#[derive(Default)]
struct ErrorWord(bool);

impl Lenient<'_> for ErrorWord {
    fn text(word: &str) -> Self {
        Self(word == "error")
    }
}

#[cfg(test)]
mod tests;
