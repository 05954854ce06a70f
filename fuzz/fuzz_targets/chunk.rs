//! An answer says of its events what the full parser says of each, whichever way they were read.
//!
//! A line that begins with `{` is an event. Any other stands in for the text of the latest event
//! that had a plain one, so that the path for repeated events is taken as often as the parser.

#![no_main]

use infergate::unit::Nanos;
use infergate::wire::chunk::{Chunk, FinishReason, TokenKind, error_text};
use infergate::wire::{Answer, End, Feed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let events = events(input);
    let mut answer = Answer::streamed(8);
    let mut expected = Expected::default();
    for (number, event) in events.iter().enumerate() {
        let at = Nanos::new(number as u64 + 1);
        let read = [b"data: ".as_slice(), event, b"\n\n"].concat();
        let failed = answer.feed(at, &read) == Feed::Failed;
        assert_eq!(failed, expected.fails_with(at, event));
        if failed {
            break;
        }
    }
    let end = Nanos::new(events.len() as u64 + 1);
    let observed = answer.end(end, End::Eof, None);
    assert_eq!(observed.events, expected.tokens);
    assert_eq!(observed.first_answer, expected.first_answer);
    assert!(observed.event_tokens.len() <= observed.events.len());
    if let Some(tokens) = expected.output {
        assert_eq!(observed.output_tokens, Some(tokens));
    }
});

/// What single parsed chunks add up to.
#[derive(Default)]
struct Expected {
    tokens: Vec<Nanos>,
    first_answer: Option<Nanos>,
    output: Option<u32>,
}

impl Expected {
    fn fails_with(&mut self, at: Nanos, event: &[u8]) -> bool {
        let Ok(chunk) = Chunk::parse(event) else {
            return true;
        };
        if chunk.is_error {
            assert!(!error_text(event).is_empty());
            return true;
        }
        self.output = chunk.usage.and_then(|usage| usage.output).or(self.output);
        if let Some(kind) = chunk.tokens {
            self.tokens.push(at);
            if kind == TokenKind::Answer {
                self.first_answer.get_or_insert(at);
            }
        }
        chunk.finish == Some(FinishReason::Failed)
    }
}

fn events(input: &[u8]) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    let mut pattern: Option<(Vec<u8>, Vec<u8>)> = None;
    for line in input.split(|byte| matches!(byte, b'\n' | b'\r')) {
        let event = match &pattern {
            Some((before, after)) if !line.starts_with(b"{") => {
                [before.as_slice(), line, after].concat()
            }
            _ => line.trim_ascii().to_vec(),
        };
        if event.is_empty() || event == b"[DONE]" {
            continue;
        }
        if let Ok(Chunk {
            text: Some(text), ..
        }) = Chunk::parse(&event)
        {
            let start = text.as_ptr().addr() - event.as_ptr().addr();
            let after = event[start + text.len()..].to_vec();
            pattern = Some((event[..start].to_vec(), after));
        }
        events.push(event);
    }
    events
}
