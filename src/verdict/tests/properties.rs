//! What must hold for any runs.

use proptest::prelude::*;

use super::*;
use crate::compare::synthetic::{fail, set};
use crate::stats::student;

/// What a user of the exit code sees, from good to bad.
const fn badness(exit: Exit) -> u8 {
    match exit {
        Exit::Pass => 0,
        Exit::Undecided | Exit::Invalid | Exit::Usage => 1,
        Exit::Regression => 2,
    }
}

fn random_pairs() -> impl Strategy<Value = Pairs> {
    let d = || prop::collection::vec(-0.3..0.3_f64, 10);
    (0..11_u32, d(), d(), d()).prop_map(|(count, ttft, tpot, e2e)| {
        Pairs::new(count)
            .shift(Metric::Ttft, &ttft)
            .shift(Metric::Tpot, &tpot)
            .shift(Metric::E2e, &e2e)
    })
}

/// The procedure for three gates, written down once more from the formulas, without the code under
/// test: states by gate, and the number of pairs used.
fn by_hand(d: &[Vec<f64>; 3]) -> ([CellState; 3], usize) {
    let (sigma, df0, tau) = (1.0483 * 0.015, 8.0, 1.1_f64.ln());
    let v0 = 2.0 * sigma * sigma;
    let (mut smallest, mut states) = ([1.0_f64; 3], [CellState::Inconclusive; 3]);
    let mut over = [false; 3];
    for (k, w) in [(3, 0.4), (5, 0.2), (7, 0.2), (10, 0.2)] {
        let n = k as f64;
        let moments = d.each_ref().map(|d| {
            let m = d[..k].iter().sum::<f64>() / n;
            let v = d[..k].iter().map(|x| (x - m) * (x - m)).sum::<f64>() / (n - 1.0);
            (m, v)
        });
        let mut ratios = moments.map(|(_, v)| v / v0);
        ratios.sort_unstable_by(f64::total_cmp);
        let noisy = ratios[1] > 4.0;
        let t = moments.map(|(m, v)| {
            let (vm, df) = if noisy {
                (v.max(v0), n - 1.0)
            } else {
                ((df0 * v0 + (n - 1.0) * v) / (df0 + n - 1.0), df0 + n - 1.0)
            };
            (m, (vm / n).sqrt(), df)
        });
        for (smallest, (m, se, df)) in smallest.iter_mut().zip(t) {
            *smallest = smallest.min(student::sf(m / se, df) / w);
        }
        let mut order = [0, 1, 2];
        order.sort_unstable_by(|&a, &b| smallest[a].total_cmp(&smallest[b]));
        let mut holm = 0.0_f64;
        let mut adjusted = [0.0; 3];
        for (rank, gate) in order.into_iter().enumerate() {
            holm = holm.max((3 - rank) as f64 * smallest[gate]);
            adjusted[gate] = holm;
        }
        for gate in 0..3 {
            let (m, se, df) = t[gate];
            over[gate] = m >= tau;
            if states[gate] != CellState::Inconclusive {
            } else if adjusted[gate] <= 0.05 && m >= tau {
                states[gate] = CellState::Regressed;
            } else if student::cdf((m - tau) / se, df) <= 0.05 * w {
                states[gate] = CellState::Ok;
            }
        }
        let open = states.contains(&CellState::Inconclusive);
        if states.contains(&CellState::Regressed) || !open || k == 10 {
            for (state, over) in states.iter_mut().zip(over) {
                if *state == CellState::Inconclusive {
                    *state = match (k, over) {
                        (10, true) => CellState::Suspect,
                        (10, false) => CellState::Inconclusive,
                        _ => CellState::NotFinished,
                    };
                }
            }
            return (states, k);
        }
    }
    unreachable!("the last look returns")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn comparing_with_itself_is_never_a_finding(data in random_pairs(), copies in 1..4_usize) {
        let x = &data.candidate[..copies.min(data.candidate.len())];
        let same = of(x, x, &[], &gate(&GATES));
        prop_assert!(same.findings.iter().all(|f| f.state != CellState::Regressed));
        prop_assert_eq!(same.exit, if x.is_empty() { same.exit } else { Exit::Undecided });
        // The same figures under other names are an A/A comparison without any noise.
        let twin = Pairs {
            baseline: data.candidate.iter().zip(&data.baseline).map(|(from, to)| Run {
                stages: from.stages.clone(),
                ..to.clone()
            }).collect(),
            candidate: data.candidate.clone(),
        };
        let got = pairs(&twin, &gate(&GATES));
        let worse = [CellState::Regressed, CellState::Suspect];
        prop_assert!(got.findings.iter().all(|f| !worse.contains(&f.state)));
    }

    #[test]
    fn the_judgement_follows_the_formulas(
        centre in prop::array::uniform3(-0.05..0.2_f64),
        noise in prop::array::uniform3(prop::collection::vec(-0.06..0.06_f64, 10)),
        calm in 0.1..1.0_f64,
    ) {
        let d: [Vec<f64>; 3] = std::array::from_fn(|gate| {
            noise[gate].iter().map(|x| centre[gate] + calm * x).collect()
        });
        let data = Pairs::new(10)
            .shift(Metric::Ttft, &d[0])
            .shift(Metric::Tpot, &d[1])
            .shift(Metric::E2e, &d[2]);
        let (expected, used) = by_hand(&d);
        // As a live comparison does: look after look until told to stop.
        let mut taken = 1;
        let got = loop {
            let so_far = Pairs {
                baseline: data.baseline[..taken].to_vec(),
                candidate: data.candidate[..taken].to_vec(),
            };
            let got = pairs(&so_far, &gate(&GATES));
            match got.next {
                NextLook::Repeats(more) => taken = more as usize,
                NextLook::Stop => break got,
            }
        };
        prop_assert_eq!(taken, used);
        for ((metric, _), expected) in GATES.iter().zip(expected) {
            let state = state(&got, metric);
            let same = state == expected || (state == CellState::Improved && expected == CellState::Ok);
            prop_assert!(same, "{metric}: {state:?}, expected {expected:?}");
        }
        // The same files offline, with pairs that were taken for nothing, say the same.
        prop_assert_eq!(pairs(&data, &gate(&GATES)).exit, got.exit);
    }

    #[test]
    fn scaling_both_sides_leaves_relative_verdicts_alone(data in random_pairs(), k in 0.1..10.0_f64) {
        let scaled = |runs: &[Run]| -> Vec<Run> {
            runs.iter().map(|run| {
                let mut run = run.clone();
                for metric in [Metric::Ttft, Metric::Tpot, Metric::E2e] {
                    let seconds = run.stages[0].pooled.distributions[&metric].mean_s.unwrap();
                    set(&mut run, metric, seconds * k);
                }
                run
            }).collect()
        };
        let both = Pairs { baseline: scaled(&data.baseline), candidate: scaled(&data.candidate) };
        let states = |judgement: &Judgement| -> Vec<CellState> {
            GATES.iter().map(|(metric, _)| state(judgement, metric)).collect()
        };
        let (plain, scaled) = (pairs(&data, &gate(&GATES)), pairs(&both, &gate(&GATES)));
        prop_assert_eq!(states(&plain), states(&scaled));
        prop_assert_eq!((plain.exit, plain.next), (scaled.exit, scaled.next));
    }

    #[test]
    fn a_worse_candidate_never_turns_a_fail_into_a_pass(
        data in random_pairs(), more in 0.0..1.0_f64,
    ) {
        let before = pairs(&data, &gate(&GATES));
        let worse = data
            .shift(Metric::Ttft, &[more; 10])
            .shift(Metric::Tpot, &[more; 10])
            .shift(Metric::E2e, &[more; 10]);
        let after = pairs(&worse, &gate(&GATES));
        prop_assert!(badness(after.exit) >= badness(before.exit), "{before:?} {after:?}");
    }

    #[test]
    fn a_worse_run_never_turns_a_fail_into_a_pass(
        data in random_pairs(), more in prop::collection::vec(0.0..1.0_f64, 10),
    ) {
        let before = pairs(&data, &gate(&GATES));
        let after = pairs(&data.shift(Metric::Ttft, &more), &gate(&GATES));
        prop_assert!((before.exit, after.exit) != (Exit::Regression, Exit::Pass));
    }

    #[test]
    fn more_failures_never_turn_a_fail_into_a_pass(
        failures in prop::collection::vec(0..60_u64, 10), more in 0..900_u64,
    ) {
        let cells = [
            ("goodput", worse_by(0.03)),
            ("error_ratio", Limit::AtMost(0.02)),
            ("attainment", Limit::AtLeast(0.97)),
            ("error_ratio", Limit::WorseByPoints(0.01)),
        ];
        let judged = |more: u64| {
            let mut data = Pairs::new(10);
            for (run, failures) in data.candidate.iter_mut().zip(&failures) {
                fail(run, failures + more);
            }
            pairs(&data, &gate(&cells))
        };
        let (before, after) = (judged(0), judged(more));
        prop_assert!(badness(after.exit) >= badness(before.exit), "{before:?} {after:?}");
    }
}
