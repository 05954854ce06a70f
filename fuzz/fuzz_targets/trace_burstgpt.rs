//! No rows below `BurstGPT`'s header panic, and every row is accounted for.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../trace.rs"]
mod trace;

fuzz_target!(|input: &[u8]| {
    trace::survive("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n", input);
});
