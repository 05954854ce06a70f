//! Shares, what can be resolved, and the states.

use super::*;
use crate::summary::Network;

#[test]
fn rule_13_error_limits_are_score_tests_of_the_pooled_share() {
    for (limit, fewest) in [(0.002, 1917.0), (0.005, 765.0)] {
        let p = |n: f64| score_test(Share { p: 0.0, n }, limit).p_under;
        assert!(p(fewest) <= 0.025 && p(fewest - 1.0) > 0.025, "{limit}");
    }
    // 3,000 requests without an error clear 0.2 % at the first look, 1,500 don't.
    let cells = [("error_ratio", Limit::AtMost(0.002))];
    let mut data = Pairs::new(3);
    assert_eq!(pairs(&data, &gate(&cells)).exit, Exit::Pass);
    requests(&mut data.candidate, 500, 0);
    assert_eq!(pairs(&data, &gate(&cells)).next, NextLook::Repeats(5));
}

#[test]
fn rule_14_rare_errors_pass_by_their_interval_and_regress_by_a_limit_only() {
    let relative = [("error_ratio", Limit::WorseByPoints(0.005))];
    assert_eq!(pairs(&Pairs::new(3), &gate(&relative)).exit, Exit::Pass);
    let mut data = Pairs::new(3);
    requests(&mut data.candidate, 1000, 6);
    // 18 events in all: over the tolerance by estimate, and not convicted.
    let judged = pairs(&data, &gate(&relative));
    assert_eq!(state(&judged, "error_ratio"), CellState::Suspect);
    let limited = [relative[0], ("error_ratio", Limit::AtMost(0.001))];
    assert_eq!(pairs(&data, &gate(&limited)).exit, Exit::Regression);
}

#[test]
fn rule_15_tolerances_of_shares_resolve_in_points() {
    let mut data = Pairs::new(7);
    requests(&mut data.baseline, 192, 4);
    requests(&mut data.candidate, 192, 4);
    let cells = |points: f64| [("attainment", Limit::WorseByPoints(points))];
    let resolvable = |points: f64| {
        let judged = pairs(&data, &fixed(7, &cells(points)));
        let found = finding(&judged, "attainment").clone();
        (found.state, found.evidence.unwrap().resolvable.unwrap())
    };
    let p: f64 = (56.0 + 1.0) / (2688.0 + 2.0);
    let t = crate::stats::student::quantile;
    let expected =
        (t(0.95, 14.0) + t(0.9, 14.0)) * (p * (1.0 - p) / 192.0).sqrt() * (2.0_f64 / 7.0).sqrt();
    let (demoted, smallest) = resolvable(0.01);
    close(smallest, expected);
    assert_eq!(demoted, CellState::NotResolvable);
    assert_eq!(resolvable(0.03).0, CellState::Ok);
}

#[test]
fn rule_16_what_is_resolvable_without_an_archive_and_against_a_stored_one() {
    // (t.985,12 + t.9,12) · 3 % · √(2/10): 5.2 % at ten pairs.
    let t = crate::stats::student::quantile;
    let smallest = ((t(0.985, 12.0) + t(0.9, 12.0)) * 0.03 * 0.2_f64.sqrt()).exp_m1();
    let judged = |tolerance: f64| {
        state(
            &without_archive(&Pairs::new(10), &gate(&[("ttft.p95", worse_by(tolerance))])),
            "ttft.p95",
        )
    };
    assert_eq!(judged(smallest - 0.001), CellState::NotResolvable);
    assert_eq!(judged(smallest + 0.001), CellState::Ok);
    // Stored: the error of 2.7 with the variance of one run, J − 1 degrees of freedom.
    let stored = archive(&[
        vec![0.0, 0.02],
        vec![0.03, 0.01],
        vec![-0.02, 0.0],
        vec![0.01, 0.03],
        vec![0.0, 0.02],
    ]);
    let heads: Vec<Run> = (0..5)
        .map(|i| {
            let mut head = run("today", 900 + i);
            set(&mut head, Metric::Ttft, 1.01);
            head
        })
        .collect();
    let found = of(&stored, &heads, &[], &gate(&[("ttft.p95", worse_by(0.3))]));
    let means = [0.01, 0.02, -0.01, 0.02, 0.01];
    let sigma = 1.0483 * 0.02;
    let session = f64::max(0.0, crate::stats::variance(&means) - sigma * sigma / 2.0);
    // It passes at the first look, of one run and 0.4 of the error.
    let error = session * 1.2 + sigma * sigma + sigma * sigma / 10.0;
    let expected = ((t(1.0 - 0.05 * 0.4, 4.0) + t(0.9, 4.0)) * error.sqrt()).exp_m1();
    close(
        finding(&found, "ttft.p95")
            .evidence
            .unwrap()
            .resolvable
            .unwrap(),
        expected,
    );
}

#[test]
fn rule_17_only_log_cells_say_whether_a_session_is_noisy_and_of_few_the_noisiest() {
    let wild = [0.3, -0.3, 0.02];
    let noisy = |data: &Pairs, cells: &[(&str, Limit)]| {
        let judged = pairs(data, &gate(cells));
        judged
            .caveats
            .iter()
            .any(|caveat| caveat.contains("noisier than the archive"))
    };
    let one = Pairs::new(3).shift(Metric::Ttft, &wild);
    assert!(noisy(&one, &GATES[..2]), "of two the noisier one decides");
    assert!(!noisy(&one, &GATES), "of three the one in the middle does");
    let mut shares = Pairs::new(3);
    for (run, failed) in shares.candidate.iter_mut().zip([0, 300, 20]) {
        fail(run, failed);
    }
    assert!(!noisy(
        &shares,
        &[("attainment", Limit::WorseByPoints(0.02))]
    ));
}

#[test]
fn rule_18_an_improvement_never_ends_the_sampling_and_needs_firm_sessions() {
    let data = Pairs::new(3)
        .shift(Metric::Ttft, &[-0.2, -0.21, -0.19])
        .shift(Metric::E2e, &[0.06, 0.10, 0.04]);
    let judged = pairs(&data, &gate(&GATES));
    assert_eq!(state(&judged, "ttft.p95"), CellState::Improved);
    assert_eq!(judged.next, NextLook::Repeats(5), "E2E is still open");
    let heads: Vec<Run> = (0..3)
        .map(|i| {
            let mut head = run("today", 900 + i);
            set(&mut head, Metric::Ttft, 0.75);
            head
        })
        .collect();
    let of_sessions = |sessions: usize| {
        let stored = archive(&vec![vec![0.0, 0.01, 0.005]; sessions]);
        state(&of(&stored, &heads, &[], &gate(&TTFT_10)), "ttft.p95")
    };
    assert_eq!(of_sessions(6), CellState::Improved);
    assert_eq!(of_sessions(4), CellState::Inconclusive);
}

#[test]
fn rule_19_half_the_time_or_other_work_is_implausible() {
    let at = |d: f64| state(&pairs(&shifted(Metric::Ttft, d), &gate(&GATES)), "ttft.p95");
    assert_eq!(at(-0.65), CellState::Improved);
    assert_eq!(at(-0.75), CellState::Implausible);
    let mut lazy = Pairs::new(3);
    for run in &mut lazy.candidate {
        run.stages[0].pooled.tokens.output_observed = 47_000;
    }
    let judged = pairs(&lazy, &gate(&GATES));
    assert_eq!(state(&judged, "e2e.p95"), CellState::Implausible);
    assert_eq!(judged.exit, Exit::Undecided);
}

#[test]
fn rule_19_a_latency_below_the_round_trip_is_implausible() {
    let over = |rtt_s: f64, runs: usize| {
        let mut far = Pairs::new(3);
        for run in &mut far.candidate[..runs] {
            run.network = Some(Network {
                connect_s: rtt_s,
                rtt_s,
            });
        }
        pairs(&far, &gate(&GATES))
    };
    let near = over(1e-4, 3);
    assert_eq!(
        (near.exit, state(&near, "ttft.p95")),
        (Exit::Pass, CellState::Ok)
    );
    let ttft = finding(&near, "ttft.p95").candidate.unwrap().value.unwrap();
    let far = over(2.0 * ttft, 3);
    assert_eq!(state(&far, "ttft.p95"), CellState::Implausible);
    assert_eq!(
        finding(&far, "ttft.p95").reason,
        Some(Reason::BelowRoundTrip)
    );
    assert_eq!(far.exit, Exit::Undecided);
    // One run's network may have hung.
    assert_eq!(state(&over(2.0 * ttft, 1), "ttft.p95"), CellState::Ok);
}

#[test]
fn rule_20_over_the_tolerance_without_proof_is_suspect_and_below_it_inconclusive() {
    let last = |d: [f64; 3]| {
        let judged = pairs(&Pairs::new(3).shift(Metric::Ttft, &d), &fixed(3, &TTFT_10));
        (judged.exit, finding(&judged, "ttft.p95").clone())
    };
    let (exit, suspect) = last([0.5, -0.2, 0.1]);
    assert_eq!((exit, suspect.state), (Exit::Undecided, CellState::Suspect));
    let (exit, open) = last([0.2, -0.1, 0.1]);
    assert_eq!(
        (exit, open.state),
        (Exit::Undecided, CellState::Inconclusive)
    );
    assert!(
        open.evidence.unwrap().resolvable.unwrap() > 0.1,
        "what these repeats can show"
    );
}

#[test]
fn rule_21_not_resolvable_is_known_from_the_archive_and_advice_is_capped() {
    let judged = pairs(
        &Pairs::new(10),
        &gate(&[("ttft.p95", worse_by(0.02)), GATES[1]]),
    );
    assert_eq!(state(&judged, "ttft.p95"), CellState::NotResolvable);
    assert_eq!(
        judged.exit,
        Exit::Pass,
        "named, not counted, for the estimate is below it"
    );
    let worse = pairs(
        &shifted(Metric::Ttft, 0.05),
        &gate(&[("ttft.p95", worse_by(0.02)), GATES[1]]),
    );
    assert_eq!(worse.exit, Exit::Undecided, "its estimate is over it");
    let mut head = run("today", 600);
    set(&mut head, Metric::Ttft, 5.0);
    let advisory = of(
        &archive(&vec![vec![0.0, 0.01, 0.005]; 4]),
        &[head],
        &[],
        &gate(&TTFT_10),
    );
    assert_eq!(state(&advisory, "ttft.p95"), CellState::Suspect);
    assert_eq!(advisory.exit, Exit::Undecided);
}

#[test]
fn rule_23_pairs_begin_with_the_baseline_and_a_drift_is_left_in_one_of_them() {
    // 0.5 % more a run: +0.5 %, −0.5 %, +0.5 % between candidate and baseline.
    let data = Pairs::new(3).shift(Metric::Ttft, &[0.005, -0.005, 0.005]);
    assert!(data.baseline[0].started < data.candidate[0].started);
    let judged = pairs(&data, &gate(&TTFT_10));
    let Some(Change::Ratio { estimate, .. }) = finding(&judged, "ttft.p95").change else {
        panic!("a ratio");
    };
    close(estimate, (0.005_f64 / 3.0).exp_m1());
}

#[test]
fn rule_24_informational_cells_are_held_to_a_false_discovery_rate() {
    let data = Pairs::new(3).shift(Metric::Ttft, &[0.14, 0.17, 0.12]);
    let judged = pairs(&data, &gate(&GATES[1..]));
    let informational: Vec<&Finding> = judged.findings.iter().filter(|f| !f.gated).collect();
    let raw: Vec<f64> = informational
        .iter()
        .map(|f| f.evidence.map_or(1.0, |evidence| evidence.p_regression))
        .collect();
    let expected = crate::stats::multiple::benjamini_hochberg(&raw);
    for (finding, expected) in informational.iter().zip(expected) {
        if let Some(evidence) = finding.evidence {
            close(evidence.p_adjusted, expected);
        }
        let over = finding.cell.metric.metric() == Metric::Ttft;
        assert_eq!(finding.state == CellState::Suspect, over, "{finding:?}");
    }
    assert_eq!(
        judged.exit,
        Exit::Pass,
        "worth a look, and never in the exit code"
    );
}
