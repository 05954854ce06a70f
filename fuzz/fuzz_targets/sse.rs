//! Any cutting of the same bytes gives the same events, and no bytes panic.
//!
//! The first byte of the input says where the rest is cut.

#![no_main]

use infergate::wire::chunk::{Chunk, error_text};
use infergate::wire::sse::Parser;
use libfuzzer_sys::fuzz_target;

/// Small, so that the fuzzer reaches it.
const LIMIT: usize = 64;

fuzz_target!(|input: &[u8]| {
    let Some((&step, bytes)) = input.split_first() else {
        return;
    };
    let whole = parse([bytes].into_iter());
    assert_eq!(parse(bytes.chunks(1)), whole);
    assert_eq!(parse(bytes.chunks(usize::from(step).max(1))), whole);
    for (_, data) in &whole.events {
        if Chunk::parse(data).is_ok_and(|chunk| chunk.is_error) {
            assert!(!error_text(data).is_empty());
        }
    }
});

#[derive(Debug, PartialEq)]
struct Parsed {
    events: Vec<(Vec<u8>, Vec<u8>)>,
    too_large: bool,
    cut: bool,
}

fn parse<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Parsed {
    let mut parser = Parser::with_limit(LIMIT);
    let mut events = Vec::new();
    let mut too_large = false;
    for piece in pieces {
        too_large |= parser
            .push(piece, |event| {
                events.push((event.name.to_vec(), event.data.to_vec()));
            })
            .is_err();
    }
    let cut = !too_large && parser.finish();
    Parsed {
        events,
        too_large,
        cut,
    }
}
