//! No lines after one of ours panic, and every row is accounted for.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../trace.rs"]
mod trace;

const FIRST: &str =
    "{\"at_s\": 0.5, \"input_tokens\": 600, \"output_tokens\": 9, \"class\": \"a\", \"prefix\": [0]}\n";

fuzz_target!(|input: &[u8]| {
    trace::survive(FIRST, input);
});
