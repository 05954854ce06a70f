//! The text of an answer, for those who send it back: its content, without reasoning and tool calls.

use std::borrow::Cow;

use serde::de::{MapAccess, SeqAccess};

use super::key::Key;
use super::lenient::{Any, Lenient, any, skip};

/// What one event of a stream, or a whole answer, has the model say; nothing where it is no JSON.
///
/// The text of the first choice that has any: requests ask for one.
pub(super) fn spoken(json: &[u8]) -> Cow<'_, str> {
    serde_json::from_slice::<Any<Event<'_>>>(json).map_or(Cow::Borrowed(""), |Any(event)| event.0)
}

#[derive(Default)]
struct Event<'a>(Cow<'a, str>);

impl<'de> Lenient<'de> for Event<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut event = Self::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Choices => event.0 = any::<Choice<'_>, A>(&mut map)?.0,
                _ => skip(&mut map)?,
            }
        }
        Ok(event)
    }
}

/// The list of choices, or one of them.
#[derive(Default)]
struct Choice<'a>(Cow<'a, str>);

impl<'de> Lenient<'de> for Choice<'de> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut first = Self::default();
        while let Some(Any(choice)) = list.next_element::<Any<Self>>()? {
            if first.0.is_empty() {
                first = choice;
            }
        }
        Ok(first)
    }

    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut choice = Self::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Delta | Key::Message => choice.0 = any::<Content<'_>, A>(&mut map)?.0,
                Key::Text => choice.0 = any::<Text<'_>, A>(&mut map)?.0,
                _ => skip(&mut map)?,
            }
        }
        Ok(choice)
    }
}

/// The content of a `delta` or a `message`; a refusal is what it says then.
#[derive(Default)]
struct Content<'a>(Cow<'a, str>);

impl<'de> Lenient<'de> for Content<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut content = Self::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Answer => {
                    let text = any::<Text<'_>, A>(&mut map)?.0;
                    if !text.is_empty() {
                        content.0 = text;
                    }
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(content)
    }
}

#[derive(Default)]
struct Text<'a>(Cow<'a, str>);

impl<'de> Lenient<'de> for Text<'de> {
    fn text(text: &str) -> Self {
        Self(Cow::Owned(text.to_owned()))
    }

    fn borrowed(text: &'de str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

#[cfg(test)]
mod tests {
    use super::spoken;

    #[test]
    fn only_what_the_user_sees_is_spoken() {
        for (json, said) in [
            (
                r#"{"choices":[{"delta":{"content":"a \"b\"\n"}}]}"#,
                "a \"b\"\n",
            ),
            (
                r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":" ü"}}]}"#,
                " ü",
            ),
            (
                r#"{"choices":[{"delta":{"reasoning_content":"hm","content":null}}]}"#,
                "",
            ),
            (
                r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}"#,
                "",
            ),
            (
                r#"{"choices":[{"delta":{"refusal":"no","content":null}}]}"#,
                "no",
            ),
            (
                r#"{"choices":[{"text":"abc"}],"usage":{"prompt_tokens":3}}"#,
                "abc",
            ),
            (r#"{"choices":[{"message":{"content":"whole"}}]}"#, "whole"),
            (r#"{"choices":[]}"#, ""),
            (r#"{"choices":"x"}"#, ""),
            ("[1]", ""),
            ("nonsense", ""),
        ] {
            assert_eq!(spoken(json.as_bytes()), said, "{json}");
        }
    }
}
