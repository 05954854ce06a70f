//! How fast event streams are read, beside a splitter that only looks for line ends.
//!
//! Three readers take turns on the same bytes, cut as sockets cut them: our parser; our parser with
//! what a load client does besides, which is to read each chunk's JSON and keep its instant; and a
//! splitter that finds line ends, looks whether a line begins with `data:` and knows nothing of
//! carriage returns, comments, events in several lines or cuts. `N` repeats (9 unless given).
//!
//! ```sh
//! cargo bench --bench sse -- 9
//! ```

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

#[allow(dead_code, reason = "each bench uses its part")]
mod rig;

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use infergate::unit::Nanos;
use infergate::wire::sse::Parser;
use infergate::wire::{Answer, End};
use rig::{count, head, is_bench, machine, median, row};

/// Events of a stream, as many as a long answer has.
const EVENTS: u32 = 4096;
/// Streams that are read in one go.
const STREAMS: u32 = 16;

/// How a stream is cut into reads.
struct Cut {
    label: &'static str,
    /// Bytes in a read; `None` cuts behind each event, as a paced server does.
    bytes: Option<usize>,
}

const CUTS: [Cut; 3] = [
    Cut {
        label: "reads of 16 KiB",
        bytes: Some(16 << 10),
    },
    Cut {
        label: "an event a read",
        bytes: None,
    },
    Cut {
        label: "reads of 1,000 bytes",
        bytes: Some(1000),
    },
];

const READERS: [&str; 3] = ["line splitter", "parser", "parser, JSON and instants"];

/// A chat as engines stream it, with some text that needs no ASCII and some that needs escapes.
fn stream() -> Vec<u8> {
    let words = [
        " the", " gate", " für", " 日本", ",", " holds", "\\n", " what",
    ];
    let mut text = String::new();
    for number in 0..EVENTS {
        let word = words[number as usize % words.len()];
        let _ = write!(
            text,
            "data: {{\"id\":\"chatcmpl-6f3a9d2e\",\"object\":\"chat.completion.chunk\",\"created\":1795972564,\
             \"model\":\"acme/8b\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{word}\"}},\
             \"logprobs\":null,\"finish_reason\":null}}]}}\n\n"
        );
    }
    text.push_str("data: [DONE]\n\n");
    text.into_bytes()
}

fn pieces<'a>(stream: &'a [u8], cut: &Cut) -> Vec<&'a [u8]> {
    match cut.bytes {
        Some(bytes) => stream.chunks(bytes).collect(),
        None => stream
            .split_inclusive(|byte| *byte == b'\n')
            .collect::<Vec<_>>()
            .chunks(2)
            .map(|lines| {
                let start = lines[0].as_ptr().addr() - stream.as_ptr().addr();
                let length: usize = lines.iter().map(|line| line.len()).sum();
                &stream[start..start + length]
            })
            .collect(),
    }
}

/// Lines that begin with `data:`, where a read begins or a line does; what a cut hides it loses.
fn split(pieces: &[&[u8]]) -> u64 {
    let mut events = 0;
    for piece in pieces {
        let mut rest = *piece;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            events += u64::from(black_box(&rest[..end]).starts_with(b"data:"));
            rest = &rest[end + 1..];
        }
    }
    events
}

fn parse(pieces: &[&[u8]]) -> u64 {
    let mut parser = Parser::new();
    let mut events = 0;
    for piece in pieces {
        let taken = parser.push(piece, |event| {
            black_box(event.data);
            events += 1;
        });
        taken.unwrap();
    }
    events
}

fn answer(pieces: &[&[u8]]) -> u64 {
    let mut answer = Answer::streamed(EVENTS);
    for (number, piece) in pieces.iter().enumerate() {
        answer.feed(Nanos::new(number as u64), piece);
    }
    let observed = answer.end(Nanos::new(u64::MAX), End::Eof, None);
    // `[DONE]` is an event too.
    observed.events.len() as u64 + 1
}

/// Seconds that one go of a reader takes.
fn go(reader: usize, pieces: &[&[u8]]) -> f64 {
    let read = [split, parse, answer][reader];
    let began = Instant::now();
    let events: u64 = (0..STREAMS).map(|_| read(black_box(pieces))).sum();
    let took = Nanos::from(began.elapsed()).as_secs_f64();
    let all = u64::from(STREAMS) * u64::from(EVENTS + 1);
    // The splitter loses what a cut hides, which is its own affair.
    assert!(
        events == all || (reader == 0 && events <= all),
        "{events} of {all}"
    );
    took
}

fn measure(cut: &Cut, stream: &[u8], repeats: u32) {
    let pieces = pieces(stream, cut);
    let mut goes: [Vec<f64>; 3] = Default::default();
    for repeat in 0..repeats {
        for turn in 0..READERS.len() {
            let reader = (turn + repeat as usize) % READERS.len();
            goes[reader].push(go(reader, &pieces));
        }
    }
    let megabytes = stream.len() as f64 * f64::from(STREAMS) / 1e6;
    let events = f64::from(EVENTS + 1) * f64::from(STREAMS);
    for (reader, name) in READERS.iter().enumerate() {
        let seconds = median(goes[reader].clone());
        let ratios = goes[reader].iter().zip(&goes[0]);
        let ratio = median(ratios.map(|(ours, splitter)| ours / splitter).collect());
        row(&[
            cut.label.to_owned(),
            (*name).to_owned(),
            format!("{:.0}", megabytes / seconds),
            format!("{:.2}", events / seconds / 1e6),
            format!("{ratio:.2}"),
        ]);
    }
}

fn main() {
    if !is_bench() {
        return;
    }
    let repeats = count(9);
    let stream = stream();
    println!(
        "{EVENTS} events of {} bytes in {STREAMS} streams, one core; medians of {repeats} interleaved \
         repeats. {}.\n",
        stream.len() / EVENTS as usize,
        machine()
    );
    head(
        &[
            "Cut",
            "Reader",
            "MB/s",
            "M events/s",
            "time, this by splitter",
        ],
        2,
    );
    for cut in &CUTS {
        measure(cut, &stream, repeats);
    }
}
