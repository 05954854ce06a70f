//! The rules beside the test itself: failures, faults, limits, policies.

use super::*;
use crate::compare::synthetic::{fail, run, set};
use crate::ident::Digest;
use crate::provenance::{Observation, Pin};
use crate::spec::Policy;
use crate::summary::InvalidReason;

#[test]
fn a_candidate_that_collapses_is_a_regression_and_both_sides_are_invalid() {
    let mut one = Pairs::new(3);
    for run in &mut one.candidate {
        set(run, Metric::Ttft, f64::INFINITY);
    }
    let got = pairs(&one, &gate(&GATES));
    assert_eq!(got.exit, Exit::Regression);
    assert_eq!(
        finding(&got, "ttft.p95").reason,
        Some(Reason::CandidateFailed)
    );
    assert_eq!(finding(&got, "ttft.p95").candidate.unwrap().value, None);
    let mut both = one.clone();
    for run in &mut both.baseline {
        set(run, Metric::Ttft, f64::INFINITY);
    }
    let got = pairs(&both, &gate(&GATES));
    assert_eq!(state(&got, "ttft.p95"), CellState::Invalid);
    assert_eq!((got.exit, got.next), (Exit::Invalid, NextLook::Stop));
    let mut once = Pairs::new(3);
    set(&mut once.candidate[1], Metric::Ttft, f64::INFINITY);
    let got = pairs(&once, &gate(&GATES));
    assert_eq!(state(&got, "ttft.p95"), CellState::Suspect);
    assert_eq!(got.next, NextLook::Repeats(5));
}

#[test]
fn goodput_zero_on_the_candidate_alone_is_a_regression_without_a_test() {
    let limit = [("goodput", worse_by(0.05))];
    let mut one = Pairs::new(3);
    for run in &mut one.candidate {
        fail(run, 1000);
    }
    let got = pairs(&one, &gate(&limit));
    assert_eq!(state(&got, "goodput"), CellState::Regressed);
    assert_eq!(finding(&got, "goodput").reason, Some(Reason::FellToZero));
    for run in &mut one.baseline {
        fail(run, 1000);
    }
    assert_eq!(pairs(&one, &gate(&limit)).exit, Exit::Invalid);
}

#[test]
fn goodput_near_full_attainment_is_judged_in_points() {
    let limit = [("goodput", worse_by(0.03))];
    let mut data = Pairs::new(3);
    for (run, bad) in data.candidate.iter_mut().zip([60, 65, 62]) {
        fail(run, bad);
    }
    let got = pairs(&data, &gate(&limit));
    assert_eq!(got.exit, Exit::Regression);
    let Some(Change::Points { estimate, .. }) = finding(&got, "goodput").change else {
        panic!("points");
    };
    close(estimate, -0.187 / 3.0);
    assert_eq!(pairs(&Pairs::new(3), &gate(&limit)).exit, Exit::Pass);
}

#[test]
fn a_fault_of_the_client_drops_the_pair_and_asks_for_another() {
    let mut data = Pairs::new(3);
    data.candidate[1].stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.95 }];
    let got = pairs(&data, &gate(&GATES));
    assert_eq!(got.next, NextLook::Repeats(4));
    assert!(matches!(got.design, Design::Interleaved { pairs: 2, .. }));
    for run in &mut data.candidate {
        run.stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.95 }];
    }
    let got = pairs(&data, &gate(&GATES));
    assert_eq!((got.exit, got.next), (Exit::Invalid, NextLook::Stop));
    assert_eq!(got.headline.unmeasured, 3);
    let first = Pairs {
        baseline: data.baseline[..1].to_vec(),
        candidate: data.candidate[..1].to_vec(),
    };
    assert_eq!(pairs(&first, &gate(&GATES)).next, NextLook::Repeats(4));
}

#[test]
fn a_declared_cell_that_no_run_holds_is_missing_and_the_others_are_judged() {
    let cells = [GATES[0], ("itl.p95", worse_by(0.1))];
    let mut data = Pairs::new(3);
    for run in &mut data.candidate {
        let values = &mut run.stages[0].pooled.distributions;
        let e2e = values[&Metric::E2e].clone();
        values.insert(Metric::Ttfa, e2e);
    }
    let got = pairs(&data, &gate(&cells));
    assert_eq!(state(&got, "itl.p95"), CellState::Missing);
    assert_eq!(state(&got, "ttft.p95"), CellState::Ok);
    assert_eq!(got.exit, Exit::Invalid);
    let new = got
        .findings
        .iter()
        .find(|f| f.cell.metric.metric() == Metric::Ttfa);
    assert_eq!(new.unwrap().state, CellState::New);
}

#[test]
fn an_absolute_limit_needs_no_baseline_and_names_what_it_inherits() {
    let limit = [("ttft.p95", Limit::AtMost(0.25))];
    assert_eq!(pairs(&Pairs::new(3), &gate(&limit)).exit, Exit::Pass);
    let broken = pairs(&shifted(Metric::Ttft, 0.5), &gate(&limit));
    assert_eq!(broken.exit, Exit::Regression);
    assert_eq!(finding(&broken, "ttft.p95").reason, None);
    let mut both = shifted(Metric::Ttft, 0.5);
    for run in &mut both.baseline {
        set(run, Metric::Ttft, 0.4);
    }
    let inherited = pairs(&both, &gate(&limit));
    assert_eq!(
        finding(&inherited, "ttft.p95").reason,
        Some(Reason::Inherited)
    );
    assert_eq!(inherited.exit, Exit::Regression);
    let at_least = [("output_throughput", Limit::AtLeast(900.0))];
    assert_eq!(pairs(&Pairs::new(3), &gate(&at_least)).exit, Exit::Pass);
}

#[test]
fn one_run_alone_is_compared_with_its_limits_as_it_is() {
    let limits = [
        ("ttft.p95", Limit::AtMost(0.25)),
        ("error_ratio", Limit::AtMost(0.005)),
    ];
    let mut alone = run("today", 600);
    let got = of(&[], &[alone.clone()], &[], &gate(&limits));
    assert_eq!(got.exit, Exit::Pass);
    assert_eq!(finding(&got, "ttft.p95").reason, Some(Reason::OnThisRun));
    fail(&mut alone, 6);
    let got = of(&[], &[alone], &[], &gate(&limits));
    assert_eq!(state(&got, "error_ratio"), CellState::Regressed);
    assert_eq!(got.exit, Exit::Regression);
}

#[test]
fn error_ratios_against_a_limit_pool_the_runs() {
    let limit = [("error_ratio", Limit::AtMost(0.005))];
    assert_eq!(pairs(&Pairs::new(3), &gate(&limit)).exit, Exit::Pass);
    let mut data = Pairs::new(3);
    for run in &mut data.candidate {
        fail(run, 20);
    }
    assert_eq!(pairs(&data, &gate(&limit)).exit, Exit::Regression);
    for run in &mut data.candidate {
        fail(run, 5);
    }
    let at_limit = pairs(&data, &gate(&limit));
    assert_eq!(at_limit.exit, Exit::Undecided);
    assert_eq!(at_limit.next, NextLook::Repeats(5));
}

#[test]
fn rare_failures_pass_by_their_interval_and_never_regress() {
    let limit = [("error_ratio", Limit::WorseByPoints(0.005))];
    let healthy = pairs(&Pairs::new(3), &gate(&limit));
    assert_eq!(healthy.exit, Exit::Pass);
    let mut data = Pairs::new(3);
    for run in &mut data.candidate {
        fail(run, 6);
    }
    let got = pairs(&data, &gate(&limit));
    assert_eq!(state(&got, "error_ratio"), CellState::Suspect);
    for run in &mut data.candidate {
        fail(run, 40);
    }
    assert_eq!(pairs(&data, &gate(&limit)).exit, Exit::Regression);
}

#[test]
fn an_absolute_floor_widens_the_tolerance() {
    let limit = Limit::WorseBy {
        ratio: 0.1,
        floor: Some(0.1),
    };
    let data = shifted(Metric::Ttft, 0.2);
    assert_eq!(pairs(&data, &gate(&[("ttft.p95", limit)])).exit, Exit::Pass);
    let plain = pairs(&data, &gate(&[("ttft.p95", worse_by(0.1))]));
    assert_eq!(plain.exit, Exit::Regression);
}

#[test]
fn improvements_are_named_and_wonders_are_looked_at() {
    let better = pairs(&shifted(Metric::Ttft, -0.2), &gate(&GATES));
    assert_eq!(state(&better, "ttft.p95"), CellState::Improved);
    assert_eq!((better.exit, better.headline.improved), (Exit::Pass, 1));
    let wonder = pairs(&shifted(Metric::Ttft, -0.8), &gate(&GATES));
    assert_eq!(state(&wonder, "ttft.p95"), CellState::Implausible);
    assert_eq!(wonder.exit, Exit::Undecided);
    let mut lazy = shifted(Metric::Ttft, -0.2);
    for run in &mut lazy.candidate {
        run.stages[0].pooled.tokens.output_observed /= 2;
    }
    let lazy = pairs(&lazy, &gate(&GATES));
    assert_eq!(finding(&lazy, "ttft.p95").reason, Some(Reason::WorkChanged));
    assert_eq!(lazy.exit, Exit::Undecided);
}

#[test]
fn incomparable_sides_are_not_judged_and_limits_still_are() {
    let cells = [GATES[0], ("e2e.p95", Limit::AtMost(1.0))];
    let mut data = Pairs::new(3);
    for (run, name) in data.baseline.iter_mut().zip(["a100"; 3]) {
        let observed = Observation::Seen {
            value: name.to_owned(),
            source: "test".to_owned(),
        };
        let pin = Pin {
            declared: None,
            observed,
        };
        run.pins.insert("hardware.gpu".parse().unwrap(), pin);
    }
    let got = pairs(&data, &gate(&cells));
    assert_eq!(state(&got, "ttft.p95"), CellState::Incomparable);
    assert_eq!(state(&got, "e2e.p95"), CellState::Regressed);
    assert_eq!(got.exit, Exit::Regression);
    let only = pairs(&data, &gate(&cells[..1]));
    assert_eq!((only.exit, only.next), (Exit::Undecided, NextLook::Stop));
}

#[test]
fn policies_map_what_is_undecided_and_say_so() {
    let mut data = Pairs::new(3);
    data.candidate[0].trace_digest = Digest::of(b"other");
    let mut gate = gate(&GATES);
    gate.incomparable = Policy::Pass;
    let got = pairs(&data, &gate);
    assert_eq!((got.verdict, got.exit), (Verdict::Undecided, Exit::Pass));
    assert_eq!(
        got.policy.as_deref(),
        Some("`incomparable: pass` in the spec decides")
    );
    gate.no_baseline = Policy::Fail;
    let got = of(&[], &data.candidate, &[], &gate);
    assert_eq!(state(&got, "ttft.p95"), CellState::New);
    assert_eq!(got.exit, Exit::Regression);
}

#[test]
fn blocked_runs_are_never_convicted_or_acquitted() {
    let side = |session: &str, start: u32, y: f64| -> Vec<Run> {
        (0..3)
            .map(|i| {
                let mut run = run(session, start + i);
                set(&mut run, Metric::Ttft, (y + 0.003 * f64::from(i)).exp());
                run
            })
            .collect()
    };
    let base = side("a", 1, 0.0);
    for (y, expected) in [(0.0, CellState::Inconclusive), (0.5, CellState::Suspect)] {
        let got = of(&base, &side("b", 10, y), &[], &gate(&GATES[..1]));
        assert_eq!(state(&got, "ttft.p95"), expected);
        assert_eq!((got.exit, got.next), (Exit::Undecided, NextLook::Stop));
    }
}

#[test]
fn a_noisy_session_drops_the_archive() {
    let wild = [0.3, -0.3, 0.02];
    let data = Pairs::new(3)
        .shift(Metric::Ttft, &wild)
        .shift(Metric::Tpot, &wild)
        .shift(Metric::E2e, &wild);
    let got = pairs(&data, &gate(&GATES));
    assert!(got.caveats.iter().any(|text| text.contains("noisier")));
    assert_eq!(got.exit, Exit::Undecided);
}

#[test]
fn a_proven_regression_is_not_hidden_by_a_missing_cell() {
    let cells = [GATES[0], ("itl.p95", worse_by(0.1))];
    let got = pairs(&shifted(Metric::Ttft, 0.5), &gate(&cells));
    assert_eq!(state(&got, "itl.p95"), CellState::Missing);
    assert_eq!(
        (got.exit, got.verdict),
        (Exit::Regression, Verdict::Regression)
    );
}

#[test]
fn a_judgement_survives_json() {
    let got = pairs(&shifted(Metric::Ttft, 0.2), &gate(&GATES));
    let json = serde_json::to_string(&got).unwrap();
    assert_eq!(serde_json::from_str::<Judgement>(&json).unwrap(), got);
}

#[test]
fn strict_evidence_convicts_only_what_is_beyond_the_tolerance() {
    // 11.6 % worse, tolerance 10 %, standard error 1.2 %: over it, but not beyond doubt.
    let data = shifted(Metric::Ttft, 0.11);
    let default = gate(&[("ttft.p95", worse_by(0.1))]);
    assert_eq!(
        state(&pairs(&data, &default), "ttft.p95"),
        CellState::Regressed
    );
    let strict = Gate {
        evidence: crate::stats::moderated::Evidence::BeyondTolerance,
        ..fixed(3, &[("ttft.p95", worse_by(0.1))])
    };
    let judged = pairs(&data, &strict);
    assert_eq!(state(&judged, "ttft.p95"), CellState::Suspect);
    assert_eq!(judged.exit, Exit::Undecided);
    let far = pairs(&shifted(Metric::Ttft, 0.2), &strict);
    assert_eq!(state(&far, "ttft.p95"), CellState::Regressed);
    let evidence = |judgement: &Judgement| finding(judgement, "ttft.p95").evidence.unwrap();
    assert!(evidence(&far).beyond_tolerance);
    assert!(!evidence(&judged).beyond_tolerance);
}
