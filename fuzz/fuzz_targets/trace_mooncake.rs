//! No lines after one of Mooncake's panic, and every row is accounted for.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../trace.rs"]
mod trace;

const FIRST: &str =
    "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 9, \"hash_ids\": [0, 1]}\n";

fuzz_target!(|input: &[u8]| {
    trace::survive(FIRST, input);
});
