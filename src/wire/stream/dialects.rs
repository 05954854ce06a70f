//! What servers send beside the plain case: every kind of event, cut anywhere, with anything
//! missing.

use serde_json::{Value, json};

use super::*;

fn at(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

fn event(json: &Value) -> String {
    format!("data: {json}\n\n")
}

fn delta(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn end(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage(output: u32) -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": output}})
}

/// The events of an answer, one every 10 ms, and what came of it.
fn answered(events: &[Value]) -> Observed {
    let mut answer = Answer::streamed(8);
    for (number, json) in events.iter().enumerate() {
        answer.feed(at(10 * (number as u64 + 1)), event(json).as_bytes());
    }
    answer.feed(at(10 * (events.len() as u64 + 1)), b"data: [DONE]\n\n");
    answer.end(at(9999), End::Eof, Some(3))
}

/// One of everything.
fn transcript() -> String {
    let mut text = "\u{feff}: welcome\r\n\r\nretry: 3000\r\nid: 1\r\n".to_owned();
    text.push_str(&event(&delta(
        &json!({"role": "assistant", "content": null}),
    )));
    text.push_str(&event(&delta(&json!({"reasoning_content": "hm 日本"}))));
    text.push_str("event: message\rdata:");
    text.push_str(&delta(&json!({"content": "ü"})).to_string());
    text.push_str("\r\r");
    // One value in two fields.
    text.push_str("data: {\"choices\":[{\"delta\":\ndata: {\"refusal\":\"no\"}}]}\n\n: ping\n\n");
    text.push_str(&event(&delta(
        &json!({"tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}),
    )));
    text.push_str(&event(&end("tool_calls")));
    text.push_str(&event(&usage(9)));
    text + "data: [DONE]\n\n"
}

#[test]
fn every_event_cut_at_every_byte_is_the_same_event() {
    let text = transcript();
    let bytes = text.as_bytes();
    let read = |cuts: &[usize]| {
        let mut answer = Answer::streamed(8);
        let mut from = 0;
        for &cut in cuts.iter().chain([&bytes.len()]) {
            answer.feed(at(5), &bytes[from..cut]);
            from = cut;
        }
        answer.end(at(6), End::Eof, Some(9))
    };
    let whole = read(&[]);
    assert_eq!(whole.outcome, Outcome::Completed, "{:?}", whole.error);
    assert_eq!((whole.events.len(), whole.output_tokens), (4, Some(9)));
    assert_eq!(whole.finish, Some(FinishReason::ToolCalls));
    for cut in 0..bytes.len() {
        assert_eq!(read(&[cut]), whole, "cut at {cut}");
        assert_eq!(read(&[cut, cut + 1]), whole, "{cut} alone");
    }
}

#[test]
fn any_field_may_be_null_absent_or_another_type() {
    let full = json!({
        "id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{
            "index": 0, "logprobs": {"content": []}, "finish_reason": "stop", "text": "a",
            "delta": {
                "role": "assistant", "content": "a", "reasoning_content": "b", "reasoning": "c",
                "refusal": "d", "tool_calls": [{"index": 0, "id": "t", "type": "function",
                    "function": {"name": "f", "arguments": "{"}}]
            }
        }],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 0}},
        "error": null
    });
    let mut tried = 0;
    for pointer in pointers(&full) {
        for other in [json!(null), json!(7), json!(""), json!([]), json!({})] {
            // Anything there is an error, which is another test's.
            if pointer == "/error" && other != json!(null) {
                continue;
            }
            let mut changed = full.clone();
            *changed.pointer_mut(&pointer).unwrap() = other;
            let observed = answered(&[changed.clone()]);
            assert_eq!(observed.error, None, "{pointer}: {changed}");
            tried += 1;
        }
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let mut changed = full.clone();
        if let Some(Value::Object(fields)) = changed.pointer_mut(parent) {
            fields.remove(key);
            assert_eq!(answered(&[changed]).error, None, "without {pointer}");
        }
    }
    assert!(tried > 100, "{tried}");
}

/// The place of every value below a value, as JSON pointers.
fn pointers(value: &Value) -> Vec<String> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, v)| (key.clone(), v)).collect(),
        Value::Array(items) => (0..).map(|i: u32| i.to_string()).zip(items).collect(),
        _ => Vec::new(),
    };
    let below = |(key, child): (String, &Value)| {
        let deeper = pointers(child);
        std::iter::once(String::new())
            .chain(deeper)
            .map(move |rest| format!("/{key}{rest}"))
            .collect::<Vec<_>>()
    };
    children.into_iter().flat_map(below).collect()
}

#[test]
fn usage_may_come_at_any_place_and_bears_no_token() {
    let events = [
        delta(&json!({"role": "assistant", "content": ""})),
        delta(&json!({"content": "a"})),
        delta(&json!({"content": "b"})),
        end("length"),
    ];
    for place in 0..=events.len() {
        let mut with = events.to_vec();
        with.insert(place, usage(3));
        let observed = answered(&with);
        assert_eq!(observed.outcome, Outcome::Completed, "at {place}");
        assert_eq!(
            (observed.events.len(), observed.output_tokens),
            (2, Some(3))
        );
        let first = if place < 2 { 30 } else { 20 };
        assert_eq!(observed.first_answer, Some(at(first)), "at {place}");
        // Usage behind the last token is no part of the latency.
        let last = if place < 3 { 40 } else { 30 };
        assert_eq!(observed.events[1], at(last), "at {place}");
    }
}

#[test]
fn an_error_at_any_place_fails_and_credits_nothing() {
    let events = [
        delta(&json!({"role": "assistant"})),
        delta(&json!({"content": "a"})),
        delta(&json!({"content": "b"})),
        end("stop"),
    ];
    for error in [
        json!({"error": {"message": "out of memory"}}),
        json!({"object": "error", "message": "out of memory"}),
        json!({"choices": [], "error": "out of memory"}),
    ] {
        for place in 0..=events.len() {
            let mut with = events.to_vec();
            with.insert(place, error.clone());
            let observed = answered(&with);
            assert_eq!(observed.outcome, Outcome::StreamError, "{error} at {place}");
            assert_eq!(observed.error.as_deref(), Some("out of memory"));
            let came = place.saturating_sub(1).min(2) as u32;
            assert_eq!(observed.output_tokens, (came > 0).then_some(came));
            assert_eq!(observed.done, Some(at(10 * (place as u64 + 1))));
        }
    }
}

#[test]
fn an_answer_may_be_all_reasoning_all_tool_call_or_all_refusal() {
    let call = |arguments| json!({"tool_calls": [{"function": {"arguments": arguments}}]});
    for (deltas, first_answer) in [
        ([json!({"reasoning": "a"}), json!({"reasoning": "b"})], None),
        ([call("{"), call("}")], Some(at(10))),
        (
            [json!({"refusal": "I"}), json!({"refusal": " can't"})],
            Some(at(10)),
        ),
        (
            [json!({"reasoning_content": "a"}), call("{}")],
            Some(at(20)),
        ),
    ] {
        let observed = answered(&[delta(&deltas[0]), delta(&deltas[1]), end("stop")]);
        assert_eq!(observed.outcome, Outcome::Completed, "{deltas:?}");
        assert_eq!(observed.events, [at(10), at(20)]);
        assert_eq!(observed.first_answer, first_answer, "{deltas:?}");
    }
}
