use proptest::prelude::*;

use super::*;

fn chunk(json: &str) -> Chunk<'_> {
    Chunk::parse(json.as_bytes()).unwrap()
}

fn tokens(delta: &str) -> Option<TokenKind> {
    chunk(&format!(
        r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#
    ))
    .tokens
}

const ANSWER: Option<TokenKind> = Some(TokenKind::Answer);
const REASONING: Option<TokenKind> = Some(TokenKind::Reasoning);

#[test]
fn only_a_string_with_text_bears_tokens() {
    for (delta, expected) in [
        (r#"{"role":"assistant"}"#, None),
        (r#"{"role":"assistant","content":null}"#, None),
        (r#"{"role":"assistant","content":""}"#, None),
        (r#"{"content":" "}"#, ANSWER),
        (r#"{"content":"\u00fc\n"}"#, ANSWER),
        (r#"{"content":["a"]}"#, None),
        (r#"{"content":7}"#, None),
        (r#"{"refusal":"no"}"#, ANSWER),
        (r#"{"reasoning_content":"hm","content":null}"#, REASONING),
        (r#"{"content":"","reasoning":"hm"}"#, REASONING),
        (r#"{"content":"a","reasoning":"hm"}"#, ANSWER),
        (r#"{"tool_calls":null}"#, None),
        (r#"{"tool_calls":[]}"#, None),
        (
            r#"{"tool_calls":[{"index":0,"id":"x","function":null}]}"#,
            None,
        ),
        (
            r#"{"tool_calls":[{"function":{"name":"","arguments":""}}]}"#,
            None,
        ),
        (
            r#"{"tool_calls":[{"function":{"name":"f","arguments":null}}]}"#,
            ANSWER,
        ),
        (r#"{"tool_calls":[{"function":{"arguments":"{"}}]}"#, ANSWER),
        ("null", None),
        ("{}", None),
    ] {
        assert_eq!(tokens(delta), expected, "{delta}");
    }
}

#[test]
fn the_one_text_is_told_where_it_stands_as_it_is() {
    let text = |delta: &str| {
        let json = format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#);
        chunk(&json).text.map(str::to_owned)
    };
    assert_eq!(text(r#"{"role":"","content":"日"}"#).as_deref(), Some("日"));
    assert_eq!(
        text(r#"{"tool_calls":[{"function":{"name":"","arguments":"{"}}]}"#).as_deref(),
        Some("{")
    );
    for delta in [
        r#"{"content":"\n"}"#,
        r#"{"content":""}"#,
        r#"{"content":"a","reasoning":"b"}"#,
        r#"{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}"#,
    ] {
        assert_eq!(text(delta), None, "{delta}");
    }
}

#[test]
fn completions_bear_text() {
    assert_eq!(chunk(r#"{"choices":[{"text":"a"}]}"#).tokens, ANSWER);
    assert_eq!(chunk(r#"{"choices":[{"text":""}]}"#).tokens, None);
}

#[test]
fn a_whole_answer_reads_like_a_chunk() {
    let whole = chunk(
        r#"{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],
            "usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#,
    );
    assert_eq!(whole.tokens, ANSWER);
    assert_eq!(whole.finish, Some(FinishReason::Stop));
    assert_eq!(whole.usage.unwrap().output, Some(2));
}

#[test]
fn absent_null_and_empty_choices_are_no_choices() {
    for json in [
        "{}",
        r#"{"choices":null}"#,
        r#"{"choices":[]}"#,
        r#"{"choices":{}}"#,
        r#"{"choices":[null]}"#,
        r#"{"choices":[{"delta":null,"text":null,"finish_reason":""}],"usage":null,"error":null}"#,
    ] {
        assert_eq!(chunk(json), Chunk::default(), "{json}");
    }
}

#[test]
fn finish_reasons() {
    for (word, expected) in [
        ("length", FinishReason::Length),
        ("stop", FinishReason::Stop),
        ("tool_calls", FinishReason::ToolCalls),
        ("function_call", FinishReason::ToolCalls),
        ("content_filter", FinishReason::ContentFilter),
        ("error", FinishReason::Failed),
        ("abort", FinishReason::Failed),
        ("eos", FinishReason::Other),
    ] {
        let json = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{word}"}}]}}"#);
        assert_eq!(chunk(&json).finish, Some(expected), "{word}");
    }
}

#[test]
fn usage_keeps_absent_apart_from_zero() {
    let usage = |json: &str| chunk(&format!(r#"{{"choices":[],"usage":{json}}}"#)).usage;
    assert_eq!(
        usage(
            r#"{"prompt_tokens":21,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":20}}"#
        ),
        Some(Usage {
            input: Some(21),
            output: Some(0),
            cached: Some(20)
        })
    );
    assert_eq!(
        usage(r#"{"prompt_tokens":21,"prompt_tokens_details":null}"#),
        Some(Usage {
            input: Some(21),
            ..Usage::default()
        })
    );
    assert_eq!(
        usage(r#"{"completion_tokens":-1,"prompt_tokens":1.5}"#),
        Some(Usage::default()),
        "what is no count is no count"
    );
}

#[test]
fn errors_in_every_shape() {
    for (json, text) in [
        (
            r#"{"error":{"message":"out of memory","code":500}}"#,
            "out of memory",
        ),
        (r#"{"error":"out of memory"}"#, "out of memory"),
        (
            r#"{"object":"error","message":"out of memory","code":400}"#,
            "out of memory",
        ),
        (r#"{"error":{"code":500}}"#, r#"{"error":{"code":500}}"#),
        (r#"{"choices":[],"error":{"message":"late"}}"#, "late"),
    ] {
        assert!(chunk(json).is_error, "{json}");
        assert_eq!(error_text(json.as_bytes()), text);
    }
    assert!(!chunk(r#"{"error":null,"object":"chat.completion.chunk"}"#).is_error);
    assert_eq!(error_text(b" <html>busy</html>\n"), "<html>busy</html>");
    assert_eq!(
        error_text(br#"{"detail":"no such model"}"#),
        "no such model"
    );
}

#[test]
fn what_is_no_object_is_malformed() {
    for json in [
        "",
        "{",
        "5",
        "null",
        "[]",
        "{} {}",
        "{\"a\":\"\u{1}\"}",
        "[DONE]",
    ] {
        assert!(Chunk::parse(json.as_bytes()).is_err(), "{json:?}");
    }
    assert!(Chunk::parse(b"{\"choices\":[{\"text\":\"\xff\"}]}").is_err());
}

#[test]
fn captured_streams_classify() {
    // llama-server, then vLLM.
    let role = chunk(
        r#"{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1795972564,"id":"chatcmpl-x","model":"tiny-f16","object":"chat.completion.chunk"}"#,
    );
    assert_eq!(role, Chunk::default());
    let end = chunk(
        r#"{"choices":[{"finish_reason":"length","index":0,"delta":{}}],"model":"tiny-f16"}"#,
    );
    assert_eq!((end.tokens, end.finish), (None, Some(FinishReason::Length)));
    let usage = chunk(
        r#"{"choices":[],"usage":{"completion_tokens":6,"prompt_tokens":21,"total_tokens":27,"prompt_tokens_details":{"cached_tokens":0}},"timings":{"cache_n":0,"prompt_ms":1.913}}"#,
    );
    assert_eq!(
        usage.usage,
        Some(Usage {
            input: Some(21),
            output: Some(6),
            cached: Some(0)
        })
    );
    let last = chunk(
        r#"{"id":"chatcmpl-9","choices":[{"index":0,"delta":{"content":"+"},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}]}"#,
    );
    assert_eq!(
        (last.tokens, last.finish),
        (ANSWER, Some(FinishReason::Length))
    );
}

proptest! {
    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in proptest::collection::vec(prop::num::u8::ANY, 0..200)) {
        let _ = Chunk::parse(&bytes);
        let _ = error_text(&bytes);
    }

    #[test]
    fn unknown_fields_change_nothing(
        key in "[a-z_]{1,12}\\.x",
        value in prop_oneof![
            Just("null"), Just("[1,[2]]"), Just("{\"content\":\"x\"}"), Just("-1.5e3"), Just("\"\\u00e4\""),
        ],
    ) {
        let json = format!(
            "{{\"{key}\":{value},\"choices\":[{{\"{key}\":{value},\"delta\":{{\"{key}\":{value},\"content\":\"a\"}}}}],\
             \"usage\":{{\"{key}\":{value},\"completion_tokens\":2}}}}"
        );
        let chunk = chunk(&json);
        prop_assert_eq!(chunk.tokens, ANSWER);
        prop_assert_eq!(chunk.usage.and_then(|usage| usage.output), Some(2));
        prop_assert!(!chunk.is_error);
    }
}
