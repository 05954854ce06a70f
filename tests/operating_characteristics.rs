//! Does the gate gate? False alarms and detections of the decision procedure on a seeded model.
//!
//! Expected rates come from 20,000 repetitions of an independent implementation. 2,000 here have a
//! standard error of at most 0.011; `infergate calibrate --model` does the whole table with more.

use infergate::rehearsal::{Model, Rates, Setting, rates, reference};
use infergate::stats::moderated::Evidence;

const REPETITIONS: u64 = 2000;
const SEED: u64 = 2024;
const BOUND: f64 = 0.03;

/// Shares in the order: first gate regresses, passes; report fails, passes.
#[track_caller]
fn check(rates: &Rates, expected: [f64; 4], repeats: f64) {
    let got = [
        rates.gate_regression(),
        rates.gate_pass(),
        rates.report_fail(),
        rates.report_pass(),
    ];
    for (got, expected) in got.into_iter().zip(expected) {
        assert!(
            (got.value - expected).abs() <= BOUND,
            "{rates:?}, expected {expected}"
        );
    }
    assert!(
        (rates.repeats() - repeats).abs() <= 0.15,
        "{rates:?}, {repeats}"
    );
}

/// The model of one row of the table, held against that row.
#[track_caller]
fn row(run_sd: f64, outliers: f64, effect: f64, evidence: Evidence) -> Rates {
    let alike = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let (model, expected) = reference()
        .find(|(model, _)| {
            alike(model.machine.run_sd, run_sd)
                && alike(model.machine.outliers, outliers)
                && alike(model.effect, effect)
                && model.evidence == evidence
        })
        .expect("the row is in the table");
    let found = rates(&model, 0..REPETITIONS, SEED);
    let shares = [
        expected.gate_regression,
        expected.gate_pass,
        expected.report_fail,
        expected.report_pass,
    ];
    check(&found, shares, expected.repeats);
    found
}

#[test]
fn two_versions_that_are_alike_pass() {
    let rates = row(0.02, 0.03, 0.0, Evidence::BeyondZero);
    assert!(rates.report_fail().value <= 0.005, "{rates:?}");
}

#[test]
fn a_noisy_machine_raises_no_false_alarms() {
    row(0.04, 0.03, 0.0, Evidence::BeyondZero);
}

#[test]
fn half_a_tolerance_rarely_fails() {
    row(0.02, 0.03, 0.5, Evidence::BeyondZero);
}

#[test]
fn a_change_of_the_tolerance_fails_two_times_of_three() {
    row(0.02, 0.03, 1.0, Evidence::BeyondZero);
}

#[test]
fn a_change_of_two_tolerances_is_found() {
    row(0.02, 0.03, 2.0, Evidence::BeyondZero);
}

#[test]
fn strict_evidence_convicts_only_beyond_the_tolerance() {
    row(0.02, 0.03, 1.5, Evidence::BeyondTolerance);
}

#[test]
fn stored_sessions_judge_more_carefully() {
    let stored = |effect| {
        let model = Model {
            effect,
            fewest: 1,
            most: 5,
            setting: Setting::Stored { session_sd: 0.015 },
            ..Model::default()
        };
        rates(&model, 0..REPETITIONS, SEED)
    };
    let alike = stored(0.0);
    check(
        &alike,
        [0.0005, 0.942, 0.0012, alike.report_pass().value],
        2.3,
    );
    let worse = stored(2.0);
    check(&worse, [0.996, 0.0, 0.996, 0.0], worse.repeats());
}
