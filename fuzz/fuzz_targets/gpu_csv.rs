//! No output of `nvidia-smi` panics, and what is read of it is numbers that mean something.
//!
//! What follows an empty line is the listing of instances.

#![no_main]

use infergate::probe::gpu::Gpu;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (csv, listing) = text.split_once("\n\n").unwrap_or((&text, ""));
    let gpus = Gpu::read(csv, listing);
    assert!(gpus.len() <= csv.lines().count());
    for gpu in &gpus {
        let numbers = [
            gpu.utilization,
            gpu.power_limit_w,
            gpu.max_clock_mhz,
            gpu.set_clock_mhz,
        ];
        assert!(numbers.iter().flatten().all(|number| number.is_finite()));
        let texts = [&gpu.name, &gpu.driver];
        assert!(texts.iter().all(|text| text.as_deref() != Some("")));
    }
    // A line that is no row changes nothing.
    assert_eq!(Gpu::read(&format!("{csv}\nno row"), listing), gpus);
});
