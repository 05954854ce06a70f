//! Gaps, counts and instants against the distributions that they are to have.

use super::*;
use statrs::distribution::{ContinuousCDF as _, Exp, Gamma};

use crate::spec::{Arrival, Think, Warmup};
use crate::unit::Rps;

fn stage(extent: Extent, warmup: Warmup) -> Stage {
    Stage {
        name: "steady".to_owned(),
        arrival: Arrival::Closed {
            users: 1,
            ramp: None,
            think: Think::NONE,
        },
        extent,
        warmup,
        in_flight: 1000,
        drain_timeout: Nanos::from_secs(60),
        stop_when: None,
        refine: None,
        soak: None,
        events: Vec::new(),
        labels: Vec::new(),
    }
}

fn rps(per_second: f64) -> Rps {
    Rps::try_new(per_second).unwrap()
}

fn rate(per_second: f64) -> RateProfile {
    RateProfile::Steady(rps(per_second))
}

const NO_WARMUP: Warmup = Warmup {
    requests: 0,
    duration: Nanos::ZERO,
};

#[test]
fn constant_arrivals_are_evenly_spaced() {
    let stage = stage(Extent::Duration(Nanos::from_secs(1)), NO_WARMUP);
    let schedule = Schedule::new(1, &stage, (rate(4.0), 1.0), ArrivalProcess::Constant);
    assert_eq!(
        schedule.measured,
        [0, 250, 500, 750].map(Nanos::from_millis)
    );
    assert_eq!(schedule.window_end, Nanos::from_secs(1));
}

#[test]
fn poisson_arrivals_have_the_rate_and_exponential_gaps() {
    let stage = stage(Extent::Duration(Nanos::from_secs(1000)), NO_WARMUP);
    let schedule = Schedule::new(1, &stage, (rate(10.0), 1.0), ArrivalProcess::Poisson);
    let n = schedule.measured.len() as f64;
    assert!((n - 10_000.0).abs() < 300.0, "{n}");
    let gaps: Vec<f64> = schedule
        .measured
        .windows(2)
        .map(|w| w[1].since(w[0]).as_secs_f64())
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    let variation = variance.sqrt() / mean;
    assert!((variation - 1.0).abs() < 0.05, "{variation}");
}

#[test]
fn a_stage_by_requests_has_exactly_so_many() {
    let stage = stage(
        Extent::Requests(500),
        Warmup {
            requests: 20,
            duration: Nanos::ZERO,
        },
    );
    let schedule = Schedule::new(1, &stage, (rate(50.0), 1.0), ArrivalProcess::Poisson);
    assert_eq!(schedule.measured.len(), 500);
    assert_eq!(schedule.window_start, Nanos::from_millis(400));
    assert_eq!(schedule.window_end, Nanos::from_millis(10_400));
    assert!(schedule.measured.is_sorted());
    assert!(schedule.measured[0] >= schedule.window_start);
    assert!(schedule.measured[499] < schedule.window_end);
}

#[test]
fn the_warmup_lasts_as_long_as_its_longer_part() {
    let warmup = Warmup {
        requests: 20,
        duration: Nanos::from_secs(3),
    };
    let stage = stage(Extent::Requests(10), warmup);
    let schedule = Schedule::new(1, &stage, (rate(50.0), 1.0), ArrivalProcess::Constant);
    assert_eq!(schedule.window_start, Nanos::from_secs(3));
    assert_eq!(schedule.warmup.len(), 150);
}

/// Largest distance between the values' distribution and this one, times √n: above 1.63 in one of
/// a hundred samples (Kolmogorov and Smirnov).
fn distance(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let largest = values
        .iter()
        .enumerate()
        .map(|(rank, &value)| {
            let (p, rank) = (cdf(value), rank as f64);
            (p - rank / n).max((rank + 1.0) / n - p)
        })
        .fold(0.0, f64::max);
    largest * n.sqrt()
}

fn gaps(instants: &[f64]) -> Vec<f64> {
    instants.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn seconds(schedule: &Schedule) -> Vec<f64> {
    let start = schedule.window_start;
    let since = |at: &Nanos| at.since(start).as_secs_f64();
    schedule.measured.iter().map(since).collect()
}

const GAMMA: ArrivalProcess = ArrivalProcess::Gamma { burstiness: 0.4 };

#[test]
fn gaps_have_their_distribution() {
    let extents = [
        Extent::Duration(Nanos::from_secs(400)),
        Extent::Requests(4000),
    ];
    for extent in extents {
        let schedule =
            |process| Schedule::new(3, &stage(extent, NO_WARMUP), (rate(10.0), 1.0), process);
        let poisson = gaps(&seconds(&schedule(ArrivalProcess::Poisson)));
        let exponential = Exp::new(10.0).unwrap();
        let other = Gamma::new(0.4, 4.0).unwrap();
        let d = distance(poisson.clone(), |gap| exponential.cdf(gap));
        assert!(d < 1.63, "{d}");
        assert!(distance(poisson, |gap| other.cdf(gap)) > 5.0);
        for shape in [0.4, 1.0, 3.5] {
            let process = ArrivalProcess::Gamma { burstiness: shape };
            let gaps = gaps(&seconds(&schedule(process)));
            let gamma = Gamma::new(shape, shape * 10.0).unwrap();
            let d = distance(gaps.clone(), |gap| gamma.cdf(gap));
            assert!(d < 1.63, "{shape}: {d}");
            // CV = 1/√k.
            let n = gaps.len() as f64;
            let mean = gaps.iter().sum::<f64>() / n;
            let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n;
            let variation = variance.sqrt() / mean * shape.sqrt();
            assert!((variation - 1.0).abs() < 0.08, "{shape}: {variation}");
        }
    }
}

/// The rate at an instant, written once more.
fn rate_at(profile: RateProfile, at: f64, window: f64) -> f64 {
    match profile {
        RateProfile::Steady(rate) => rate.get(),
        RateProfile::Ramp { from, to, steps } => {
            let share = match steps {
                None => at / window,
                Some(n) => (at / window * f64::from(n)).floor() / f64::from(n - 1),
            };
            from.get() + (to.get() - from.get()) * share
        }
        RateProfile::Burst {
            base,
            added,
            every,
            lasting,
        } => {
            let every = every.as_secs_f64();
            let bursting = at >= every && at % every < lasting.as_secs_f64();
            base.get() + if bursting { added.get() } else { 0.0 }
        }
    }
}

/// Each instant as its cumulative count, by adding up the rate millisecond by millisecond.
fn counts(profile: RateProfile, instants: &[f64], window: f64) -> Vec<f64> {
    const STEP: f64 = 1e-3;
    let (mut at, mut count) = (0.0, 0.0);
    instants
        .iter()
        .map(|&instant| {
            while at + STEP <= instant {
                count += rate_at(profile, at + STEP / 2.0, window) * STEP;
                at += STEP;
            }
            count + rate_at(profile, at, window) * (instant - at)
        })
        .collect()
}

fn profiles() -> [RateProfile; 3] {
    [
        RateProfile::Ramp {
            from: rps(1.0),
            to: rps(40.0),
            steps: None,
        },
        RateProfile::Ramp {
            from: rps(30.0),
            to: rps(2.0),
            steps: Some(5),
        },
        RateProfile::Burst {
            base: rps(5.0),
            added: rps(100.0),
            every: Nanos::from_secs(20),
            lasting: Nanos::from_secs(2),
        },
    ]
}

#[test]
fn a_changing_rate_only_stretches_time() {
    for profile in profiles() {
        for extent in [
            Extent::Duration(Nanos::from_secs(200)),
            Extent::Requests(3000),
        ] {
            let stage = stage(extent, NO_WARMUP);
            for process in [ArrivalProcess::Poisson, GAMMA] {
                let schedule = Schedule::new(5, &stage, (profile, 1.0), process);
                let window = schedule.window_end.as_secs_f64();
                let counts = counts(profile, &seconds(&schedule), window);
                let shape = if process == GAMMA { 0.4 } else { 1.0 };
                let gamma = Gamma::new(shape, shape).unwrap();
                let d = distance(gaps(&counts), |gap| gamma.cdf(gap));
                assert!(d < 1.63, "{profile:?} {process:?}: {d}");
            }
            let schedule = Schedule::new(5, &stage, (profile, 1.0), ArrivalProcess::Constant);
            let window = schedule.window_end.as_secs_f64();
            let counts = counts(profile, &seconds(&schedule), window);
            for (number, count) in counts.iter().enumerate() {
                assert!((count - number as f64).abs() < 0.06, "{profile:?}: {count}");
            }
        }
    }
}

#[test]
fn every_process_keeps_its_count() {
    for profile in profiles() {
        for process in [ArrivalProcess::Constant, ArrivalProcess::Poisson, GAMMA] {
            let stage = stage(Extent::Requests(700), NO_WARMUP);
            let schedule = Schedule::new(1, &stage, (profile, 1.0), process);
            assert_eq!(schedule.measured.len(), 700, "{profile:?} {process:?}");
            assert!(schedule.measured.is_sorted());
            assert!(schedule.measured[699] < schedule.window_end);
        }
    }
}

#[test]
fn a_warmup_runs_at_the_first_rate() {
    let warmup = Warmup {
        requests: 20,
        duration: Nanos::ZERO,
    };
    let stage = stage(Extent::Duration(Nanos::from_secs(60)), warmup);
    for (profile, start) in profiles().into_iter().zip([20_000, 667, 4000]) {
        let schedule = Schedule::new(1, &stage, (profile, 1.0), ArrivalProcess::Constant);
        // Where the window is no whole number of nanoseconds, one more may fit.
        assert!((20..=21).contains(&schedule.warmup.len()));
        let off = schedule.window_start.as_secs_f64() * 1e3 - f64::from(start);
        assert!(off.abs() < 1.0, "{off}");
    }
}

#[test]
fn instants_are_pinned() {
    let stage = stage(Extent::Requests(4), NO_WARMUP);
    let instants = |profile, process| {
        Schedule::new(42, &stage, (profile, 1.0), process)
            .measured
            .iter()
            .map(|at| at.get())
            .collect::<Vec<_>>()
    };
    let [line, steps, burst] = profiles();
    let pinned = [
        instants(rate(10.0), GAMMA),
        instants(line, ArrivalProcess::Poisson),
        instants(steps, GAMMA),
        instants(burst, ArrivalProcess::Poisson),
    ];
    assert_eq!(pinned, PINNED);
}

/// Written down once: a change here orphans every baseline.
const PINNED: [[u64; 4]; 4] = [
    [2_407_935, 248_154_515, 277_052_215, 287_544_762],
    [55_523_525, 112_088_558, 127_897_248, 174_948_914],
    [802_645, 92_675_876, 107_532_634, 114_090_476],
    [72_723_406, 273_537_561, 352_529_098, 646_749_643],
];

#[test]
fn conversations_start_so_that_requests_come_at_the_rate() {
    // 40 requests a second in conversations of 2.5 are 16 conversations a second.
    let stage = stage(Extent::Duration(Nanos::from_secs(100)), NO_WARMUP);
    let steady = Schedule::new(1, &stage, (rate(40.0), 2.5), ArrivalProcess::Constant);
    assert_eq!(steady.measured.len(), 1600);
    assert_eq!(steady.measured[16], Nanos::from_secs(1));
    let poisson = Schedule::new(1, &stage, (rate(40.0), 2.5), ArrivalProcess::Poisson);
    assert!((1480..1720).contains(&poisson.measured.len()));
    // By requests, the window is as long as the rate takes for them.
    let stage = self::stage(Extent::Requests(400), NO_WARMUP);
    let counted = Schedule::new(1, &stage, (rate(40.0), 2.5), ArrivalProcess::Poisson);
    assert_eq!(counted.measured.len(), 160);
    assert_eq!(counted.window_end, Nanos::from_secs(10));
}
