use proptest::prelude::*;

use super::*;
use crate::stats::tests::close;

const A: [f64; 12] = [
    10.0, 10.4, 10.1, 10.9, 11.0, 10.7, 11.5, 11.9, 11.6, 12.3, 12.1, 12.8,
];
const B: [f64; 20] = [
    5.1, 5.3, 5.0, 5.6, 5.4, 5.9, 5.8, 6.2, 6.0, 6.5, 6.3, 6.1, 6.8, 6.6, 7.0, 6.9, 7.3, 7.1, 7.6,
    7.4,
];

fn steps(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

#[test]
fn reference_tests_and_slopes() {
    for (y, s, variance, z, slope, lower, upper) in [
        (&A[..], 56.0, 212.666_67, 3.771_490, 0.25, 0.20, 0.28),
        (
            &B[..],
            164.0,
            950.0,
            5.288_418,
            0.128_571_4,
            0.114_285_7,
            0.15,
        ),
    ] {
        let test = mann_kendall(y);
        close(test.s, s);
        close(test.variance, variance);
        close(test.z, z);
        let sen = sen(&steps(y.len()), y, 0.95).unwrap();
        close(sen.estimate, slope);
        close(sen.interval.lower, lower);
        close(sen.interval.upper, upper);
    }
}

#[test]
fn reference_batches() {
    let (x, y): (Vec<f64>, Vec<f64>) = batch(&B, &(0..20), 10).into_iter().unzip();
    let test = mann_kendall(&y);
    close(test.s, 43.0);
    close(test.variance, 125.0);
    close(test.z, 3.756_594);
    close(sen(&x, &y, 0.95).unwrap().estimate, 0.127_777_8);
    assert_eq!(x[..2], [0.5, 2.5]);
    assert_eq!(
        batch(&A, &(0..12), 5).len(),
        5,
        "uneven batches keep all windows"
    );
}

#[test]
fn ties_take_variance_away() {
    let tied = mann_kendall(&[1.0, 1.0, 2.0, 2.0, 2.0, 3.0]);
    // (6·5·17 − 2·1·9 − 3·2·11) / 18
    close(tied.variance, 426.0 / 18.0);
    close(tied.s, 11.0);
    let level = mann_kendall(&[4.0; 9]);
    close(level.p_rising, 0.5);
}

#[test]
fn growth_is_a_leak_and_a_plateau_is_none() {
    let rising = trend(&A).unwrap();
    assert_eq!(rising.batches, 12);
    close(rising.growth, 0.25 * 12.0 / 11.25);
    assert!(rising.is_leak(0.05));
    assert!(!rising.is_leak(0.3));
    let plateau: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i.min(25))).collect();
    let plateau = trend(&plateau).unwrap();
    assert!(
        plateau.p_rising < 0.01 && plateau.growth > 0.05,
        "{plateau:?}"
    );
    assert!(!plateau.is_leak(0.05), "{plateau:?}");
    let falling: Vec<f64> = (0..60).map(|i| 100.0 - f64::from(i)).collect();
    let falling = trend(&falling).unwrap();
    assert!(!falling.is_leak(0.05) && falling.is_decline(0.05));
    assert!(!plateau.is_decline(0.05) && !rising.is_decline(0.05));
}

#[test]
fn alike_neighbours_take_coarser_batches() {
    let zigzag: Vec<f64> = (0..96).map(|i| 10.0 + f64::from(i % 2)).collect();
    assert_eq!(trend(&zigzag).unwrap().batches, 24);
    let waves: Vec<f64> = (0..96).map(|i| 10.0 + (f64::from(i) / 8.0).sin()).collect();
    assert_eq!(trend(&waves).unwrap().batches, 12);
}

#[test]
fn too_little_says_nothing() {
    assert_eq!(trend(&A[..7]), None);
    assert_eq!(trend(&[0.0; 30]), None);
    assert_eq!(trend(&[f64::NAN; 30]), None);
    assert_eq!(sen(&[1.0], &[1.0], 0.95), None);
}

/// Normal noise around 100, each value alike to the one before by so much.
fn noise(seed: u64, windows: usize, alike: f64, sd: f64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut last = 0.0;
    (0..windows)
        .map(|_| {
            // SplitMix64, to a number between 0 and 1, to a normal one.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let uniform = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
            let fresh = normal_quantile(uniform.clamp(1e-12, 1.0 - 1e-12));
            last = alike * last + (1.0 - alike * alike).sqrt() * fresh;
            100.0 + sd * last
        })
        .collect()
}

/// How many of 500 seeded soaks of 240 windows are called a leak, and how many a decline.
fn called(alike: f64, sd: f64, drift: f64) -> (usize, usize) {
    let found = (0..500).map(|seed| {
        let mut windows = noise(seed, 240, alike, sd);
        for (i, value) in windows.iter_mut().enumerate() {
            *value += drift * i as f64 / 239.0;
        }
        trend(&windows).unwrap()
    });
    found.fold((0, 0), |(leaks, declines), trend| {
        let (leak, decline) = (trend.is_leak(0.05), trend.is_decline(0.05));
        (leaks + usize::from(leak), declines + usize::from(decline))
    })
}

/// One in a hundred is the nominal rate of each direction: 5 of 500, and 13 is its bound at three
/// standard deviations of chance (√(500 × .01 × .99) = 2.2). The tolerance keeps noise of 3 % below it.
#[test]
fn level_soaks_are_seldom_called_a_drift() {
    for alike in [0.0, 0.3, 0.6] {
        let (leaks, declines) = called(alike, 3.0, 0.0);
        assert_eq!((leaks, declines), (0, 0), "{alike}");
        // Noise so large that the tolerance is nothing beside it leaves the test alone.
        let (leaks, declines) = called(alike, 60.0, 0.0);
        assert!(leaks <= 13 && declines <= 13, "{alike}: {leaks} {declines}");
    }
}

/// A drift by two standard deviations, above the tolerance, is seen nearly always.
#[test]
fn drifts_are_found_with_the_power_that_they_have() {
    for (alike, least) in [(0.0, 495), (0.3, 480), (0.6, 430)] {
        let (leaks, _) = called(alike, 5.0, 10.0);
        assert!(leaks >= least, "{alike}: {leaks}");
        let (_, declines) = called(alike, 5.0, -10.0);
        assert!(declines >= least, "{alike}: {declines}");
    }
}

#[test]
fn a_plateau_is_no_leak_whatever_its_noise_says() {
    let (mut beyond_doubt, mut leaks) = (0, 0);
    for seed in 0..500 {
        let mut windows = noise(seed, 240, 0.3, 1.0);
        for (i, value) in windows.iter_mut().enumerate() {
            *value += 40.0 * (i.min(80) as f64) / 80.0;
        }
        let found = trend(&windows).unwrap();
        beyond_doubt += usize::from(found.p_rising <= P && found.growth > 0.05);
        leaks += usize::from(found.is_leak(0.05));
    }
    assert!(beyond_doubt > 250, "{beyond_doubt}: it did grow");
    assert_eq!(leaks, 0);
}

proptest! {
    #[test]
    fn turning_time_round_turns_the_trend_round(
        y in prop::collection::vec(1.0..9.0_f64, 8..60),
    ) {
        let (forward, back) = (mann_kendall(&y), {
            let mut y = y.clone();
            y.reverse();
            mann_kendall(&y)
        });
        prop_assert!((forward.s + back.s).abs() < 1e-9);
        prop_assert!((forward.p_rising + back.p_rising - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_slope_lies_in_its_interval_and_scales_with_the_values(
        y in prop::collection::vec(1.0..9.0_f64, 8..60),
        factor in 0.1..10.0_f64,
    ) {
        let found = trend(&y).unwrap();
        let interval = found.slope.interval;
        prop_assert!(interval.lower <= found.slope.estimate);
        prop_assert!(found.slope.estimate <= interval.upper);
        let scaled: Vec<f64> = y.iter().map(|y| y * factor).collect();
        let scaled = trend(&scaled).unwrap();
        prop_assert!((scaled.growth - found.growth).abs() < 1e-6);
    }
}

#[test]
fn what_happened_in_a_pause_is_no_slope() {
    // Level on both sides of a step: across it the pairs would rise.
    let step: Vec<f64> = (0..60)
        .map(|i| 100.0 + f64::from(i % 2) + if i < 38 { 0.0 } else { 40.0 })
        .collect();
    assert!(
        trend(&step).unwrap().p_rising <= 0.01,
        "as one stretch it rises"
    );
    let apart = trend_in(&step, &[38]).unwrap();
    assert!(!apart.is_leak(0.05) && apart.p_rising > 0.01, "{apart:?}");
    assert!(apart.growth.abs() < 0.02, "{apart:?}");
    // A leak that began anew with its engine, twice.
    let saw: Vec<f64> = (0..48).map(|i| 100.0 + f64::from(i % 24)).collect();
    let found = trend_in(&saw, &[24]).unwrap();
    assert!(found.is_leak(0.05), "{found:?}");
    close(found.slope.estimate, 1.0);
    // The blocks' scores add up: two of six that rise.
    let test = mann_kendall_in(&[
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    ]);
    close(test.s, 30.0);
    close(test.variance, 2.0 * 28.333_333);
}

#[test]
fn a_pause_at_an_edge_or_none_changes_nothing() {
    let windows = noise(5, 48, 0.3, 1.0);
    let plain = trend(&windows);
    assert!(plain.is_some());
    for pauses in [&[][..], &[0], &[48], &[99]] {
        assert_eq!(trend_in(&windows, pauses), plain, "{pauses:?}");
    }
    // A block of one window says nothing and takes nothing away.
    assert!(trend_in(&windows, &[1]).is_some());
}
