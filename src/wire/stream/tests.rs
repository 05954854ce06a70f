use super::*;

const ROLE: &str =
    r#"{"choices":[{"delta":{"role":"assistant","content":null},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
const LENGTH: &str = r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#;
const DONE: &str = "[DONE]";

fn content(text: &str) -> String {
    format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}},"finish_reason":null}}]}}"#)
}

fn reasoning(text: &str) -> String {
    format!(r#"{{"choices":[{{"delta":{{"reasoning_content":"{text}","content":null}}}}]}}"#)
}

fn usage(output: u32) -> String {
    format!(
        r#"{{"choices":[],"usage":{{"prompt_tokens":21,"completion_tokens":{output},"prompt_tokens_details":{{"cached_tokens":16}}}}}}"#
    )
}

fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

/// An answer that got one event every 10 ms, and what the last read said.
fn fed(events: &[&str]) -> (Answer, Feed) {
    let mut answer = Answer::streamed(8);
    let mut feed = Feed::More;
    for (number, event) in events.iter().enumerate() {
        feed = answer.feed(
            ms(10 * (number as u64 + 1)),
            format!("data: {event}\n\n").as_bytes(),
        );
    }
    (answer, feed)
}

fn observed(events: &[&str]) -> Observed {
    fed(events).0.end(ms(1000), End::Eof, Some(2))
}

#[test]
fn an_answer_completes() {
    let (a, b) = (content("a"), content("b"));
    let (answer, feed) = fed(&[ROLE, &a, &b, LENGTH, &usage(2), DONE]);
    assert_eq!(feed, Feed::Done);
    let bytes = answer.seen.bytes;
    assert_eq!(
        answer.end(ms(1000), End::Eof, Some(2)),
        Observed {
            events: vec![ms(20), ms(30)],
            event_tokens: vec![],
            first_answer: Some(ms(20)),
            done: Some(ms(60)),
            output_tokens: Some(2),
            output_source: TokenSource::Usage,
            input_tokens: Some(21),
            cached_tokens: Some(16),
            bytes,
            reasoning_events: 0,
            said: None,
            outcome: Outcome::Completed,
            error: None,
        }
    );
}

#[test]
fn a_finish_reason_on_the_last_content_chunk_is_an_end() {
    let last = r#"{"choices":[{"delta":{"content":"+"},"finish_reason":"length"}]}"#;
    let observed = observed(&[&content("a"), last]);
    assert_eq!(observed.outcome, Outcome::Completed);
    assert_eq!(observed.events.len(), 2);
    assert_eq!(
        observed.done,
        Some(ms(1000)),
        "without `[DONE]` the body's end"
    );
}

#[test]
fn reasoning_is_a_first_token_but_no_first_answer() {
    let events = [&reasoning("hm"), &content("a"), STOP, DONE];
    let observed = observed(&events);
    assert_eq!(observed.events, [ms(10), ms(20)]);
    assert_eq!(observed.first_answer, Some(ms(20)));
    let observed = self::observed(&[&reasoning("hm"), STOP, DONE]);
    assert_eq!(
        (observed.outcome, observed.first_answer),
        (Outcome::Completed, None)
    );
}

#[test]
fn events_of_one_read_share_its_instant() {
    let mut answer = Answer::streamed(8);
    let read = format!(
        "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
        content("a"),
        content("b")
    );
    assert_eq!(answer.feed(ms(7), read.as_bytes()), Feed::Done);
    let observed = answer.end(ms(9), End::Eof, Some(2));
    assert_eq!(observed.events, [ms(7), ms(7)]);
    assert_eq!(observed.done, Some(ms(7)));
}

#[test]
fn every_cut_of_an_answer_gives_the_same_but_for_instants() {
    let text = format!(
        "\u{feff}: hi\r\n\r\ndata: {ROLE}\n\ndata:{}\r\n\r\nevent: x\ndata: {STOP}\n\ndata: {}\n\ndata: [DONE]\n\n",
        content("日本ü"),
        usage(1)
    );
    for cut in 0..=text.len() {
        let mut answer = Answer::streamed(8);
        let (start, rest) = text.as_bytes().split_at(cut);
        answer.feed(ms(1), start);
        answer.feed(ms(2), rest);
        let observed = answer.end(ms(3), End::Eof, Some(1));
        assert_eq!(observed.outcome, Outcome::Completed, "cut at {cut}");
        assert_eq!(observed.events.len(), 1);
        assert_eq!(observed.output_tokens, Some(1));
    }
}

#[test]
fn continuous_usage_counts_the_tokens_of_each_event() {
    let with = |text: &str, tokens: u32| {
        format!(
            r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}],"usage":{{"prompt_tokens":5,"completion_tokens":{tokens}}}}}"#
        )
    };
    let role = r#"{"choices":[{"delta":{"role":"assistant","content":""}}],"usage":{"completion_tokens":0}}"#;
    let events = [role, &with("a", 1), &with("b c", 4), STOP, &usage(4), DONE];
    let observed = observed(&events);
    assert_eq!(observed.event_tokens, [1, 4]);
    assert_eq!(observed.output_tokens, Some(4));
    // A server that says it for the last event only does not say it for each.
    let observed = self::observed(&[&content("a"), &with("b", 2), STOP, DONE]);
    assert!(observed.event_tokens.is_empty());
    assert_eq!(observed.output_tokens, Some(2));
    let observed = self::observed(&[&with("a", 2), &with("b", 1), STOP, DONE]);
    assert!(
        observed.event_tokens.is_empty(),
        "counts that fall are no counts"
    );
}

#[test]
fn usage_on_the_last_choice_chunk_counts() {
    let last = r#"{"choices":[{"text":"","finish_reason":"length"}],"usage":{"completion_tokens":2,"prompt_tokens":3}}"#;
    let observed = observed(&[r#"{"choices":[{"text":"a b"}]}"#, last, DONE]);
    assert_eq!(
        (observed.output_tokens, observed.input_tokens),
        (Some(2), Some(3))
    );
    assert_eq!(observed.outcome, Outcome::Completed);
}

#[test]
fn usage_may_come_first() {
    assert_eq!(
        observed(&[&usage(1), &content("a"), STOP, DONE]).output_tokens,
        Some(1)
    );
}

#[test]
fn without_usage_events_are_counted_and_named_as_the_source() {
    let observed = observed(&[&content("a"), &content("b"), &content("c"), STOP, DONE]);
    assert_eq!(observed.output_tokens, Some(3));
    assert_eq!(observed.output_source, TokenSource::Events);
}

#[test]
fn an_answer_short_of_its_pin_is_truncated_by_the_servers_count() {
    let at = |tokens| observed(&[&content("a"), LENGTH, &usage(tokens), DONE]).outcome;
    assert_eq!(at(1), Outcome::Truncated);
    assert_eq!(at(2), Outcome::Completed);
    // One event may carry all tokens, so events prove nothing.
    assert_eq!(
        observed(&[&content("a b"), LENGTH, DONE]).outcome,
        Outcome::Completed
    );
}

#[test]
fn errors_in_a_stream_are_no_success() {
    for (event, text) in [
        (r#"{"error":{"message":"out of memory"}}"#, "out of memory"),
        (r#"{"error":"out of memory"}"#, "out of memory"),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#,
            "the engine gave up: `finish_reason` is an error",
        ),
    ] {
        let (answer, feed) = fed(&[&content("a"), event, STOP, DONE]);
        assert_eq!(feed, Feed::Failed);
        let observed = answer.end(ms(1000), End::Eof, Some(1));
        assert_eq!(observed.outcome, Outcome::StreamError, "{event}");
        assert_eq!(observed.error.as_deref(), Some(text));
        assert_eq!(observed.done, Some(ms(20)));
        assert_eq!(
            observed.output_tokens,
            Some(1),
            "never credited what was asked for"
        );
    }
}

#[test]
fn an_event_named_error_fails_whatever_it_holds() {
    let mut answer = Answer::streamed(1);
    let feed = answer.feed(ms(5), b"event: error\ndata: overloaded\n\n");
    assert_eq!(feed, Feed::Failed);
    let observed = answer.end(ms(6), End::Eof, Some(1));
    assert_eq!(observed.error.as_deref(), Some("overloaded"));
}

#[test]
fn malformed_json_fails_and_keeps_its_beginning() {
    let observed = observed(&[&content("a"), "{\"choices\":[{\"del", DONE]);
    assert_eq!(observed.outcome, Outcome::StreamError);
    let error = observed.error.unwrap();
    assert!(error.starts_with("malformed JSON: "), "{error}");
    assert!(error.ends_with("{\"choices\":[{\"del"), "{error}");
}

#[test]
fn a_stream_without_done_and_finish_reason_is_cut() {
    let observed = observed(&[&content("a")]);
    assert_eq!(observed.outcome, Outcome::StreamError);
    assert!(observed.error.unwrap().contains("[DONE]"));
    let unfinished = self::observed(&[]);
    assert_eq!(unfinished.outcome, Outcome::StreamError);
    assert_eq!(unfinished.output_tokens, None);
}

#[test]
fn no_token_is_empty() {
    assert_eq!(
        observed(&[ROLE, STOP, &usage(0), DONE]).outcome,
        Outcome::Empty
    );
    assert_eq!(observed(&[DONE]).outcome, Outcome::Empty);
}

#[test]
fn a_broken_body_fails_unless_all_was_there() {
    let broken = || End::Broken("connection reset".to_owned());
    let observed = fed(&[&content("a"), STOP]).0.end(ms(99), broken(), Some(1));
    assert_eq!(observed.outcome, Outcome::StreamError);
    assert_eq!(observed.error.as_deref(), Some("connection reset"));
    assert_eq!(observed.done, Some(ms(99)));
    let observed = fed(&[&content("a"), STOP, DONE])
        .0
        .end(ms(99), broken(), Some(1));
    assert_eq!(observed.outcome, Outcome::Completed);
}

#[test]
fn timeouts_and_cuts_keep_what_came() {
    let phase = TimeoutPhase::Stall;
    let observed = fed(&[&content("a")])
        .0
        .end(ms(99), End::Timeout(phase), Some(2));
    assert_eq!(observed.outcome, Outcome::Timeout { phase });
    assert_eq!((observed.events.len(), observed.done), (1, Some(ms(99))));
    let observed = fed(&[&content("a")])
        .0
        .end(ms(99), End::Unfinished, Some(2));
    assert_eq!(
        (observed.outcome, observed.done),
        (Outcome::Unfinished, None)
    );
}

#[test]
fn keep_alives_bear_nothing() {
    let mut answer = Answer::streamed(1);
    answer.feed(ms(1), b": ping\n\ndata:\n\ndata: \n\n");
    assert!(answer.last_token().is_none());
    assert!(answer.seen.failure.is_none());
}

#[test]
fn whole_answers() {
    let whole = |json: &str| {
        let mut answer = Answer::whole();
        for byte in json.as_bytes() {
            assert_eq!(answer.feed(ms(1), &[*byte]), Feed::More);
        }
        answer.end(ms(50), End::Eof, Some(2))
    };
    let good = whole(
        r#"{"choices":[{"message":{"content":"a b"},"finish_reason":"length"}],"usage":{"completion_tokens":2}}"#,
    );
    assert_eq!(good.outcome, Outcome::Completed);
    assert_eq!((good.output_tokens, good.done), (Some(2), Some(ms(50))));
    assert!(good.events.is_empty() && good.first_answer.is_none());
    assert_eq!(whole(r#"{"choices":[]}"#).outcome, Outcome::Empty);
    assert_eq!(
        whole(r#"{"error":{"message":"x"}}"#).outcome,
        Outcome::StreamError
    );
    assert_eq!(whole("").outcome, Outcome::StreamError);
}

#[test]
fn without_a_pinned_length_any_cut_is_truncation() {
    let outcome = |finish: &str| {
        let (answer, _) = fed(&[&content("a"), finish, DONE]);
        answer.end(ms(9), End::Eof, None).outcome
    };
    assert_eq!(outcome(LENGTH), Outcome::Truncated);
    assert_eq!(outcome(STOP), Outcome::Completed);
}

#[test]
fn what_is_said_is_kept_where_it_is_wanted() {
    let mut answer = Answer::streamed(4).heard();
    for (at, event) in [
        (
            10,
            r#"{"choices":[{"delta":{"reasoning":"hm"}}]}"#.to_owned(),
        ),
        (20, content("a")),
        (20, content("\\n")),
        (30, content("b")),
        (40, DONE.to_owned()),
    ] {
        answer.feed(ms(at), format!("data: {event}\n\n").as_bytes());
    }
    let seen = answer.end(ms(50), End::Eof, None);
    assert_eq!(seen.said.as_deref(), Some("a\nb"));
    assert_eq!((seen.reasoning_events, seen.events.len()), (1, 4));
    let whole = br#"{"choices":[{"message":{"content":"whole"}}]}"#;
    let mut answer = Answer::streamed(4).heard().as_whole();
    answer.feed(ms(10), whole);
    let seen = answer.end(ms(20), End::Eof, None);
    assert_eq!(seen.said.as_deref(), Some("whole"));
}
