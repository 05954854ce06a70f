//! Events that differ from an earlier one in nothing but their text need no parser.
//!
//! Engines write each token's event by one pattern: id, model, time stamp to the second and a
//! choice with its text. If an event starts and ends as one that was parsed, and what lies where
//! that one had its text can stand inside a JSON string as it is, then it is the same JSON but for
//! that text, and means the same. Two comparisons of bytes replace the parser, which would be a
//! third of the client's time for a stream that comes as fast as it can.

use std::ops::Range;

use super::chunk::{Chunk, TokenKind};

/// The latest event with nothing but text.
#[derive(Debug, Default)]
pub(super) struct Repeat(Option<Learnt>);

#[derive(Debug)]
struct Learnt {
    json: Vec<u8>,
    /// Where its text lies, without the quotes.
    text: Range<usize>,
    kind: TokenKind,
}

impl Repeat {
    /// Remembers an event, if it has one plain text and says nothing else.
    pub(super) fn learn(&mut self, json: &[u8], chunk: &Chunk<'_>) {
        let Chunk {
            tokens: Some(kind),
            text: Some(text),
            finish: None,
            usage: None,
            is_error: false,
        } = *chunk
        else {
            return;
        };
        let Some(text) = place(json, text) else {
            return;
        };
        let mut kept = self.0.take().map(|learnt| learnt.json).unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(json);
        self.0 = Some(Learnt {
            json: kept,
            text,
            kind,
        });
    }

    /// What an event says that is a repeat; `None` where it is none and has to be parsed.
    pub(super) fn chunk(&self, json: &[u8]) -> Option<Chunk<'static>> {
        let Learnt {
            json: known,
            text,
            kind,
        } = self.0.as_ref()?;
        let text = json
            .strip_prefix(&known[..text.start])?
            .strip_suffix(&known[text.end..])?;
        stands_in_string(text).then(|| Chunk {
            tokens: (!text.is_empty()).then_some(*kind),
            ..Chunk::default()
        })
    }
}

/// Where a part lies in its whole.
fn place(whole: &[u8], part: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start + part.len();
    (end <= whole.len()).then_some(start..end)
}

/// Whether bytes are the inside of a JSON string without escapes.
fn stands_in_string(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|&byte| byte >= b' ' && byte != b'"' && byte != b'\\')
        && str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CHAT: &str = r#"{"id":"x","choices":[{"index":0,"delta":{"content":"TEXT"},"finish_reason":null}],"created":1}"#;
    const PATTERNS: [&str; 4] = [
        CHAT,
        r#"{"choices":[{"delta":{"reasoning_content":"TEXT","content":""}}]}"#,
        r#"{"choices":[{"text":"TEXT"}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"TEXT"}}]}}]}"#,
    ];

    fn learnt(json: &str) -> Repeat {
        let mut repeat = Repeat::default();
        repeat.learn(json.as_bytes(), &Chunk::parse(json.as_bytes()).unwrap());
        repeat
    }

    fn with(text: &str) -> String {
        CHAT.replace("TEXT", text)
    }

    #[test]
    fn another_text_is_known() {
        let repeat = learnt(&with("a"));
        for text in ["b", "日本", " more than one", "{}", "a"] {
            let chunk = repeat.chunk(with(text).as_bytes()).unwrap();
            assert_eq!(chunk.tokens, Some(TokenKind::Answer), "{text}");
        }
        assert_eq!(repeat.chunk(with("").as_bytes()), Some(Chunk::default()));
    }

    #[test]
    fn anything_else_is_parsed() {
        let repeat = learnt(&with("a"));
        for json in [
            with("\\n"),
            with("\\\""),
            with("a\",\"role\":\"b"),
            with("\u{1}"),
            with("a").replace("null", "\"length\""),
            with("a").replace(":1}", ":2}"),
            "{}".to_owned(),
            String::new(),
        ] {
            assert_eq!(repeat.chunk(json.as_bytes()), None, "{json}");
        }
        let mut cut = with("a").into_bytes();
        let at = cut.iter().position(|byte| *byte == b'a').unwrap();
        cut[at] = 0xff;
        assert_eq!(repeat.chunk(&cut), None);
    }

    #[test]
    fn only_events_with_one_plain_text_are_learnt() {
        for json in [
            with("\\n"),
            with(""),
            with("a").replace("null", "\"stop\""),
            with("a").replace("\"created\":1", "\"usage\":{}"),
            r#"{"choices":[{"delta":{"content":"a","reasoning":"b"}}]}"#.to_owned(),
        ] {
            assert!(learnt(&json).0.is_none(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn what_is_known_is_what_the_parser_says(
            pattern in prop::sample::select(&PATTERNS[..]),
            first in "[a-z ]{1,5}",
            second in proptest::collection::vec(prop_oneof![
                4 => prop::num::u8::ANY.prop_map(|byte| vec![byte]),
                2 => Just("ü".as_bytes().to_vec()),
                1 => Just(b"\",\"".to_vec()),
                1 => Just(b"\\u00".to_vec()),
            ], 0..6),
            change in prop::option::of((prop::num::usize::ANY, prop::num::u8::ANY)),
        ) {
            let repeat = learnt(&pattern.replace("TEXT", &first));
            prop_assert!(repeat.0.is_some());
            let (before, after) = pattern.split_once("TEXT").unwrap();
            let mut json = [before.as_bytes(), &second.concat(), after.as_bytes()].concat();
            if let Some((at, byte)) = change {
                let at = at % json.len();
                json[at] = byte;
            }
            if let Some(chunk) = repeat.chunk(&json) {
                let parsed = Chunk::parse(&json).unwrap();
                prop_assert_eq!(Chunk { text: None, ..parsed }, chunk);
            }
        }
    }
}
