//! What values, noise and hypotheses are.

use super::*;

#[test]
fn rule_01_one_pair_passes_or_is_suspect_and_needs_an_archive() {
    let one = |d: f64| Pairs::new(1).shift(Metric::Ttft, &[d]);
    let quick = fixed(1, &TTFT_10);
    let passed = pairs(&one(0.01), &quick);
    assert_eq!(
        (passed.exit, state(&passed, "ttft.p95")),
        (Exit::Pass, CellState::Ok)
    );
    let evidence = finding(&passed, "ttft.p95").evidence.unwrap();
    let error = 1.0483 * 0.015 * 2.0_f64.sqrt();
    close(
        evidence.p_regression,
        crate::stats::student::sf(0.01 / error, 8.0),
    );
    let worse = pairs(&one(0.5), &quick);
    assert_eq!(
        (worse.exit, state(&worse, "ttft.p95")),
        (Exit::Undecided, CellState::Suspect)
    );
    let unknown = without_archive(&one(0.0), &fixed(1, &[("ttft.p95", worse_by(0.3))]));
    assert_eq!(state(&unknown, "ttft.p95"), CellState::Inconclusive);
    // Fewer pairs than the first look: inconclusive; none: invalid.
    let mut two = Pairs::new(3);
    two.candidate[1].stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.95 }];
    assert_eq!(
        state(&pairs(&two, &gate(&TTFT_10)), "ttft.p95"),
        CellState::Inconclusive
    );
    for run in &mut two.candidate {
        run.stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.95 }];
    }
    assert_eq!(pairs(&two, &gate(&TTFT_10)).exit, Exit::Invalid);
}

#[test]
fn rule_02_a_look_without_a_share_claims_no_regression() {
    let worse = pairs(
        &Pairs::new(1).shift(Metric::Ttft, &[0.5]),
        &fixed(1, &TTFT_10),
    );
    let evidence = finding(&worse, "ttft.p95").evidence.unwrap();
    close(evidence.p_adjusted, 1.0);
    assert!(evidence.p_regression < 1e-6);
}

#[test]
fn rule_03_type_7_has_a_last_value() {
    assert_eq!(quantile(&[3.0], 0.5), Some(3.0));
    assert_eq!(quantile(&[1.0, 2.0, 7.0], 1.0), Some(7.0));
}

#[test]
fn rule_04_runs_that_are_all_alike_still_scatter() {
    let alike = archive(&vec![vec![0.0, 0.0, 0.0]; 4]);
    let data = Pairs::new(3);
    let cells = [TTFT_10[0], ("attainment", Limit::WorseByPoints(0.02))];
    let latency = explained(&data, &alike, &gate(&cells), "ttft.p95");
    close(latency.noise.unwrap().sigma, 0.005);
    // Half a point would be the floor of a logarithm; chance is the floor of a share.
    let share = explained(&data, &alike, &gate(&cells), "attainment");
    let p = 1.0 / 6002.0;
    close(
        share.noise.unwrap().sigma,
        f64::sqrt(p * (1.0 - p) / 1000.0),
    );
}

#[test]
fn rule_05_sessions_of_one_run_are_no_archive() {
    let single = archive(&vec![vec![0.0]; 8]);
    let data = Pairs::new(3);
    let judged = of(&data.baseline, &data.candidate, &single, &gate(&TTFT_10));
    assert_eq!(
        judged.next,
        NextLook::Repeats(5),
        "the looks without an archive"
    );
}

#[test]
fn rule_06_without_an_archive_shares_scatter_three_times_as_chance_does() {
    let mut data = Pairs::new(5);
    requests(&mut data.baseline, 1000, 50);
    requests(&mut data.candidate, 1000, 50);
    let cells = [("attainment", Limit::WorseByPoints(0.05))];
    let noise = explained(&data, &[], &gate(&cells), "attainment")
        .noise
        .unwrap();
    let p = 501.0 / 10_002.0;
    close(noise.sigma, f64::sqrt(3.0 * p * (1.0 - p) / 1000.0));
    close(noise.df, 3.0);
    assert_eq!(noise.sessions, 0);
}

#[test]
fn rule_07_a_pair_that_lacks_one_gated_cell_counts_for_none() {
    let mut data = Pairs::new(3);
    data.candidate[1].stages[0]
        .pooled
        .distributions
        .remove(&Metric::Tpot);
    let got = pairs(&data, &gate(&GATES));
    assert!(matches!(got.design, Design::Interleaved { pairs: 2, .. }));
    assert_eq!(got.next, NextLook::Repeats(4), "it is taken again");
    for run in &mut data.candidate {
        run.stages[0].pooled.distributions.remove(&Metric::Tpot);
    }
    let missing = pairs(&data, &gate(&GATES));
    assert_eq!(state(&missing, "tpot.p95"), CellState::Missing);
    assert_eq!(missing.exit, Exit::Invalid);
    // Unless the target's failures are the cause.
    for run in &mut data.candidate {
        fail(run, 1000);
    }
    let failed = pairs(&data, &gate(&GATES));
    assert_eq!(state(&failed, "tpot.p95"), CellState::Regressed);
}

#[test]
fn rule_08_nothing_left_to_judge_is_no_pass() {
    let mut invalid = Pairs::new(3);
    for run in &mut invalid.baseline {
        run.stages[0].invalid = vec![InvalidReason::NoRequests];
    }
    assert_eq!(pairs(&invalid, &gate(&GATES)).exit, Exit::Invalid);
    let fine = [("ttft.p95", worse_by(0.001)), ("e2e.p95", worse_by(0.001))];
    let demoted = pairs(&Pairs::new(10), &gate(&fine));
    assert_eq!(state(&demoted, "ttft.p95"), CellState::NotResolvable);
    assert_eq!(demoted.exit, Exit::Undecided);
    // A spec without any gate is `spec::nothing-gated`, an error of `check`.
}

#[test]
fn rule_09_the_family_holds_what_could_not_be_tested_and_not_what_was_demoted() {
    let data = shifted(Metric::Ttft, 0.08);
    let adjusted = |cells: &[(&str, Limit)]| {
        let judged = pairs(&data, &gate(cells));
        finding(&judged, "ttft.p95").evidence.unwrap().p_adjusted
    };
    let alone = adjusted(&TTFT_10);
    let missing = adjusted(&[TTFT_10[0], ("itl.p95", worse_by(0.1))]);
    close(missing / alone, 2.0);
    let absolute = adjusted(&[TTFT_10[0], ("e2e.p95", Limit::AtMost(3.0))]);
    close(absolute / alone, 2.0);
    let demoted = adjusted(&[TTFT_10[0], ("e2e.p95", worse_by(0.001))]);
    close(demoted / alone, 1.0);
}

#[test]
fn rule_10_a_rate_of_zero_has_a_logarithm_and_a_latency_of_zero_is_invalid() {
    let throughput = [("output_throughput", worse_by(0.05))];
    let zero = |runs: &mut [Run]| {
        for run in runs {
            run.stages[0].pooled.rates.output_tps = Some(0.0);
        }
    };
    let mut data = Pairs::new(3);
    zero(&mut data.candidate[..1]);
    let once = pairs(&data, &gate(&throughput));
    assert_ne!(once.exit, Exit::Pass);
    assert!(
        finding(&once, "output_throughput").change.is_some(),
        "half an event in the window"
    );
    zero(&mut data.candidate);
    let always = pairs(&data, &gate(&throughput));
    assert_eq!(
        finding(&always, "output_throughput").reason,
        Some(Reason::FellToZero)
    );
    assert_eq!(always.exit, Exit::Regression);
    zero(&mut data.baseline);
    assert_eq!(pairs(&data, &gate(&throughput)).exit, Exit::Invalid);
    for value in [0.0, -1.0, f64::NAN] {
        let mut broken = Pairs::new(3);
        for run in &mut broken.candidate {
            set(run, Metric::Ttft, value);
        }
        let judged = pairs(&broken, &gate(&TTFT_10));
        assert_eq!(state(&judged, "ttft.p95"), CellState::Invalid, "{value}");
        assert_eq!(judged.exit, Exit::Invalid, "{value}");
        for run in &mut broken.candidate {
            run.stages[0].pooled.rates.output_tps = Some(value - f64::MIN_POSITIVE);
        }
        let judged = pairs(&broken, &gate(&throughput));
        assert_eq!(
            state(&judged, "output_throughput"),
            CellState::Invalid,
            "{value}"
        );
    }
}

#[test]
fn rule_11_worse_by_both_or_it_does_not_count() {
    let limit = Limit::WorseBy {
        ratio: 0.1,
        floor: Some(0.05),
    };
    // 50 ms of 200 ms are 25 %: the floor rules, in regression and in pass.
    let tolerance = |data: &Pairs| {
        explained(
            data,
            &reference_archive(),
            &gate(&[("ttft.p95", limit)]),
            "ttft.p95",
        )
        .tolerance
        .unwrap()
    };
    close(tolerance(&Pairs::new(3)), 0.25);
    let judged = |d: f64| pairs(&shifted(Metric::Ttft, d), &gate(&[("ttft.p95", limit)])).exit;
    assert_eq!(judged(0.15), Exit::Pass);
    assert_eq!(judged(0.35), Exit::Regression);
}

#[test]
fn rule_12_an_absolute_limit_is_a_one_sample_test_with_the_noise_of_one_run() {
    let data = Pairs::new(3).shift(Metric::Ttft, &[0.012, -0.008, 0.021]);
    let cells = [("ttft.p95", Limit::AtMost(0.21))];
    let found = finding(&pairs(&data, &gate(&cells)), "ttft.p95").clone();
    let sigma: f64 = 1.0483 * 0.015;
    let ys = [0.012, -0.008, 0.021].map(|d| 0.2_f64.ln() + d - 0.21_f64.ln());
    let mean = ys.iter().sum::<f64>() / 3.0;
    let variance = crate::stats::variance(&ys);
    let moderated = (8.0 * sigma.powi(2) + 2.0 * variance) / 10.0;
    let p = crate::stats::student::cdf(mean / (moderated / 3.0).sqrt(), 10.0);
    close(found.evidence.unwrap().p_pass, p);
    assert_eq!(found.state, CellState::Ok);
    // Both kinds in one line are two hypotheses, and one run alone is compared as it is.
    let both = [TTFT_10[0], ("ttft.p95", Limit::AtMost(0.21))];
    assert_eq!(pairs(&data, &gate(&both)).headline.gated, 2);
    let alone = |limit: f64| {
        of(
            &[],
            &[run("today", 600)],
            &[],
            &gate(&[("ttft.p95", Limit::AtMost(limit))]),
        )
    };
    assert_eq!(alone(0.19).exit, Exit::Regression);
    let kept = alone(0.21);
    assert_eq!(finding(&kept, "ttft.p95").reason, Some(Reason::OnThisRun));
    assert_eq!(kept.exit, Exit::Pass);
}
