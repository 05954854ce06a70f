//! No file of any tool panics; what is imported is a run that can be read again, the same each time, with figures
//! that can be counted with.

#![no_main]

use infergate::importer::{Options, import};
use infergate::summary::Run;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input).into_owned();
    let runs = match import("file", &text, &Options::default()) {
        Ok(runs) => runs,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for run in &runs {
        let json = serde_json::to_string(run).expect("a run is JSON");
        assert_eq!(&serde_json::from_str::<Run>(&json).expect("it can be read again"), run);
        for stage in &run.stages {
            assert!(stage.window_s.is_finite() && stage.window_s >= 0.0);
            assert!(stage.pooled.ended_well() <= stage.pooled.scheduled);
            for distribution in stage.pooled.distributions.values() {
                for value in distribution.quantiles.values() {
                    assert!(value.value_s.is_finite() && value.value_s >= 0.0, "{value:?}");
                }
            }
        }
    }
    assert_eq!(import("file", &text, &Options::default()).as_ref(), Ok(&runs));
});
