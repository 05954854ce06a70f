//! No exposition panics; what is read of one is numbers that can be counted with, whatever else it has.

#![no_main]

use infergate::wire::engine_metrics::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let Ok(reading) = read(&text) else { return };
    for count in reading.counters.values() {
        assert!(count.is_finite() && *count >= 0.0, "{count}");
    }
    for level in reading.levels.values() {
        assert!(level.value.is_finite() && level.largest.is_finite(), "{level:?}");
    }
    for span in reading.spans.values() {
        assert!(span.sum_s.is_finite() && span.count.is_finite() && span.count >= 0.0);
        let buckets = span.buckets.as_slice();
        assert!(buckets.is_sorted_by(|one, next| one.at_most_s < next.at_most_s));
    }
    // What is not known changes nothing.
    let more = format!("# HELP another_metric x\nanother_metric{{a=\"b\"}} 1\n{text}");
    assert_eq!(read(&more).as_ref(), Ok(&reading));
});
