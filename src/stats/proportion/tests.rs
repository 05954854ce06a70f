//! The reference values, and the interval of Miettinen and Nurminen as a second opinion.

use super::*;

fn counts(events: &[u64]) -> Vec<Count> {
    let of_thousand = |&events| Count {
        events,
        trials: 1000,
    };
    events.iter().map(of_thousand).collect()
}

#[track_caller]
fn printed(got: f64, expected: f64) {
    assert!(
        (got - expected).abs() < 6e-8,
        "got {got}, expected {expected}"
    );
}

fn share(events: f64, trials: f64) -> Share {
    Share {
        p: events / trials,
        n: trials,
    }
}

#[test]
fn reference_wilson() {
    for (events, trials, lower, upper) in [
        (950.0, 1000.0, 0.934_686_2, 0.961_869_7),
        (0.0, 1000.0, 0.0, 0.003_826_8),
        (3.0, 1000.0, 0.001_020_8, 0.008_783_0),
        (0.0, 300.0, 0.0, 0.012_643_0),
    ] {
        let got = wilson(events / trials, trials, 0.95);
        printed(got.lower, lower);
        printed(got.upper, upper);
    }
    // 0 of 20 false alarms proves no rate under 16.11 %.
    assert!((wilson(0.0, 20.0, 0.95).upper - 0.1611).abs() < 5e-5);
}

#[test]
fn reference_newcombe() {
    for (first, second, lower, upper) in [
        (
            share(56.0, 70.0),
            share(48.0, 80.0),
            0.052_431_5,
            0.333_872_7,
        ),
        (
            share(950.0, 1000.0),
            share(962.0, 1000.0),
            -0.030_394_8,
            0.006_147_1,
        ),
        (
            share(3.0, 1000.0),
            share(0.0, 1000.0),
            -0.001_308_3,
            0.008_783_0,
        ),
        (
            share(0.0, 1000.0),
            share(0.0, 1000.0),
            -0.003_826_8,
            0.003_826_8,
        ),
        (
            share(12.0, 1000.0),
            share(3.0, 1000.0),
            0.001_274_6,
            0.018_075_7,
        ),
    ] {
        let got = newcombe(first, second, 0.95);
        printed(got.lower, lower);
        printed(got.upper, upper);
    }
}

/// Miettinen and Nurminen's interval of `first − second` at 95 %: the differences `δ` whose score test
/// doesn't reject, with the variance at the likeliest shares that differ by `δ`, times N / (N − 1).
fn miettinen_nurminen(first: Share, second: Share) -> [f64; 2] {
    let score = |delta: f64| {
        let (mut low, mut high) = (f64::max(0.0, -delta), f64::min(1.0, 1.0 - delta));
        for _ in 0..200 {
            // The likelihood is concave in the second share.
            let second_p = f64::midpoint(low, high);
            let slope =
                |share: Share, p: f64| share.n * (share.p / p - (1.0 - share.p) / (1.0 - p));
            if slope(first, second_p + delta) + slope(second, second_p) > 0.0 {
                low = second_p;
            } else {
                high = second_p;
            }
        }
        let second_p = f64::midpoint(low, high);
        let variance = |share: Share, p: f64| p * (1.0 - p) / share.n;
        let trials = first.n + second.n;
        let sum = variance(first, second_p + delta) + variance(second, second_p);
        (first.p - second.p - delta) / (sum * trials / (trials - 1.0)).sqrt()
    };
    let z = normal_quantile(0.975);
    [-1.0, 1.0].map(|end| {
        let (mut inside, mut outside) = (first.p - second.p, end);
        for _ in 0..200 {
            let delta = f64::midpoint(inside, outside);
            if score(delta).abs() < z {
                inside = delta;
            } else {
                outside = delta;
            }
        }
        inside
    })
}

#[test]
fn miettinen_and_nurminen_say_about_the_same_as_newcombe() {
    for (first, second, lower, upper, apart) in [
        (
            share(56.0, 70.0),
            share(48.0, 80.0),
            0.052_829_7,
            0.338_172_9,
            0.005,
        ),
        (
            share(950.0, 1000.0),
            share(962.0, 1000.0),
            -0.030_483_0,
            0.006_094_0,
            0.001,
        ),
        (
            share(3.0, 1000.0),
            share(0.0, 1000.0),
            -0.000_834_4,
            0.008_785_2,
            0.001,
        ),
        (
            share(0.0, 1000.0),
            share(0.0, 1000.0),
            -0.003_828_7,
            0.003_828_7,
            0.001,
        ),
        (
            share(12.0, 1000.0),
            share(3.0, 1000.0),
            0.001_652_5,
            0.018_198_7,
            0.001,
        ),
    ] {
        let got = miettinen_nurminen(first, second);
        printed(got[0], lower);
        printed(got[1], upper);
        let ours = newcombe(first, second, 0.95);
        assert!((ours.lower - lower).abs() < apart && (ours.upper - upper).abs() < apart);
    }
}

#[test]
fn reference_overdispersion() {
    let base = counts(&[961, 955, 970]);
    let candidate = counts(&[930, 948, 941]);
    printed(scatter(&base).unwrap(), 1.554_177_4);
    printed(scatter(&candidate).unwrap(), 1.449_535_2);
    let phi = overdispersion(&[&base, &candidate], ScatterPrior { phi: 2.0, df: 8.0 });
    printed(phi, 1.833_952_1);
    let (b, c) = (
        effective_share(&base, phi).unwrap(),
        effective_share(&candidate, phi).unwrap(),
    );
    assert!((b.n - 1635.8115).abs() < 6e-5);
    printed(c.p - b.p, -0.022_333_3);
    let got = newcombe(c, b, 0.95);
    printed(got.lower, -0.037_386_6);
    printed(got.upper, -0.007_525_7);
}

#[test]
fn reference_wilson_with_effective_trials() {
    let got = wilson(0.9476, 1598.6555, 0.95);
    printed(got.lower, 0.935_564_3);
    printed(got.upper, 0.957_489_7);
    // The reference takes the plain share where `scatter` adds half an event.
    let runs = counts(&[950, 962, 941, 955, 930]);
    let phi = scatter(&runs).unwrap();
    assert!((phi - 3.127_628_2).abs() < 0.01);
    let plain: f64 = runs
        .iter()
        .map(|run| (run.events as f64 - 947.6).powi(2))
        .sum();
    printed(plain / (1000.0 * 0.9476 * 0.0524) / 4.0, 3.127_628_2);
    assert!((effective_share(&runs, 3.127_628_2).unwrap().n - 1598.6555).abs() < 6e-5);
}

#[test]
fn the_archive_moderates_and_calm_runs_never_help() {
    let calm = counts(&[950, 950, 950]);
    assert!((overdispersion(&[&calm], ScatterPrior::NONE) - 1.0).abs() < 1e-12);
    let prior = ScatterPrior::from_sessions(&[counts(&[961, 955, 970]), counts(&[9])]);
    printed(prior.phi, 1.554_177_4);
    printed(prior.df, 2.0);
    assert_eq!(
        ScatterPrior::from_sessions(&[counts(&[9])]),
        ScatterPrior::NONE
    );
}

#[test]
fn fewest_trials_that_can_clear_a_limit() {
    for (limit, n) in [(0.002, 1917.0), (0.005, 765.0)] {
        assert!(score_test(share(0.0, n), limit).p_under <= 0.025, "{limit}");
        assert!(
            score_test(share(0.0, n - 1.0), limit).p_under > 0.025,
            "{limit}"
        );
    }
}

#[test]
fn a_limit_of_none_is_compared_as_it_is() {
    assert!(score_test(share(0.0, 100.0), 0.0).p_under < 1e-9);
    assert!(score_test(share(1.0, 100.0), 0.0).p_over < 1e-9);
}

#[test]
fn chance_sets_the_floor_of_a_share() {
    let sigma = chance_sigma(&counts(&[950, 950])).unwrap();
    let p: f64 = 1901.0 / 2002.0;
    printed(sigma, (p * (1.0 - p) / 1000.0).sqrt());
    assert_eq!(chance_sigma(&[]), None);
}

#[test]
fn same_trials_scatter_only_where_they_differ() {
    let two = |events, trials| vec![Count { events, trials }; 3];
    let sigma = paired_sigma(&two(2, 200), &two(100, 200)).unwrap();
    assert!((sigma - 0.005_392).abs() < 1e-6, "{sigma}");
    let chance = chance_sigma(&two(100, 200)).unwrap();
    assert!((chance - 0.035_355).abs() < 1e-4, "{chance}");
    assert_eq!(paired_sigma(&[], &two(1, 2)), None);
    assert_eq!(paired_sigma(&two(0, 0), &two(0, 0)), None);
}
