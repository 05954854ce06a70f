//! No answers of an engine panic, and no pin that was seen is empty.
//!
//! A line is a path's number and its body: `K{"build_info": "b1"}`.

#![no_main]

use infergate::probe::engine::{Source, pins};
use infergate::provenance::Observation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let sources: Vec<Source> = Source::ASKED
        .into_iter()
        .chain([Source::Models, Source::OllamaModel, Source::Metrics])
        .collect();
    let answer = |line: &str| {
        let number = line.bytes().next()?;
        let source = sources[usize::from(number) % sources.len()];
        Some((source, line.get(1..)?.to_owned()))
    };
    for model in ["m", ""] {
        for (pin, observation) in pins(text.lines().filter_map(answer), model) {
            if let Observation::Seen { value, source } = observation {
                assert!(!value.is_empty() && !source.is_empty(), "{pin}");
            }
        }
    }
});
