//! No exposition panics, and a sample's text written anew reads as the same sample.

#![no_main]

use infergate::wire::engine_metrics::read;
use infergate::wire::prometheus::{Sample, samples, total};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let _ = read(&text);
    for sample in samples(&text) {
        let _ = total(&text, sample.name);
        let line = written(&sample);
        let mut again = samples(&line);
        let same = again.next().expect("a sample was written");
        assert_eq!((same.name, &same.labels), (sample.name, &sample.labels));
        assert!(same.value == sample.value || (same.value.is_nan() && sample.value.is_nan()));
        assert!(again.next().is_none());
    }
});

fn written(sample: &Sample<'_>) -> String {
    let labels: Vec<String> = sample
        .labels
        .iter()
        .map(|(name, value)| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            format!("{name}=\"{value}\"")
        })
        .collect();
    format!("{}{{{}}} {:?}", sample.name, labels.join(","), sample.value)
}
