//! No result file panics, and a score that is read of one is a share with an error.

#![no_main]

use infergate::quality::{Score, ScoreAsk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    for filter in [None, Some("none")] {
        let ask = ScoreAsk {
            task: "gsm8k",
            metric: "exact_match",
            filter,
        };
        match Score::read(&text, ask) {
            Ok(score) => {
                assert!((0.0..=1.0).contains(&score.value), "{score:?}");
                assert!(score.standard_error.is_finite() && score.standard_error > 0.0);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});
