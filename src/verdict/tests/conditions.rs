//! Runs that were not steady: overload, warm-up, steps that were not run.

use super::*;
use crate::sample::StopReason;
use crate::summary::{InvalidReason, LoadState, Saturation, Settling, SkippedStage};

fn load(run: &mut Run, state: Saturation) {
    run.stages[0].load_state = Some(LoadState {
        state,
        completed_by_due: 0.6,
        backlog_growth: 0.4,
    });
}

fn overload(runs: &mut [Run]) {
    for run in runs {
        load(run, Saturation::Overloaded);
    }
}

fn warm(runs: &mut [Run]) {
    for run in runs {
        run.stages[0].settling = Some(Settling {
            metric: Metric::Ttft,
            cut: 300,
            of: 1000,
            settled: false,
        });
    }
}

fn with_errors() -> Gate {
    gate(&[
        ("ttft.p95", worse_by(0.1)),
        ("error_ratio", Limit::AtMost(0.02)),
    ])
}

#[test]
fn rule_22_a_candidate_that_alone_is_overloaded_lost_capacity() {
    let mut data = Pairs::new(3);
    overload(&mut data.candidate[..2]);
    let got = pairs(&data, &with_errors());
    let ttft = finding(&got, "ttft.p95");
    assert_eq!(ttft.state, CellState::Regressed);
    let reason = Reason::CandidateOverloaded { completed: 0.6 };
    assert_eq!(ttft.reason, Some(reason));
    assert_eq!((got.exit, got.next), (Exit::Regression, NextLook::Stop));
    // One of three is chance: the values are judged.
    let mut data = Pairs::new(3);
    overload(&mut data.candidate[..1]);
    let got = pairs(&data, &with_errors());
    assert_eq!(state(&got, "ttft.p95"), CellState::Ok);
    // One pair alone is never enough.
    let mut data = Pairs::new(1);
    overload(&mut data.candidate);
    assert_ne!(pairs(&data, &with_errors()).exit, Exit::Regression);
    // Near overload is none.
    let mut data = Pairs::new(3);
    for run in &mut data.candidate {
        load(run, Saturation::NearOverload);
    }
    assert_eq!(
        state(&pairs(&data, &with_errors()), "ttft.p95"),
        CellState::Ok
    );
}

#[test]
fn where_the_baseline_is_overloaded_there_is_nothing_to_compare() {
    let mut both = Pairs::new(3);
    overload(&mut both.candidate);
    overload(&mut both.baseline[1..]);
    let got = pairs(&both, &with_errors());
    let ttft = finding(&got, "ttft.p95");
    assert_eq!(
        (ttft.state, &ttft.reason),
        (CellState::Invalid, &Some(Reason::BothOverloaded))
    );
    assert_eq!(got.exit, Exit::Invalid);
    assert!(
        got.advice
            .iter()
            .any(|advice| advice.text.contains("lower the rate"))
    );

    let mut base = Pairs::new(3);
    overload(&mut base.baseline);
    let got = pairs(&base, &with_errors());
    let ttft = finding(&got, "ttft.p95");
    assert_eq!(
        (ttft.state, &ttft.reason),
        (CellState::Inconclusive, &Some(Reason::BaselineOverloaded))
    );
    assert_eq!(got.exit, Exit::Undecided);
}

#[test]
fn latencies_that_had_not_settled_are_undecided_and_proportions_are_not() {
    let mut data = Pairs::new(3).shift(Metric::Ttft, &[0.3, 0.31, 0.29]);
    warm(&mut data.candidate[..2]);
    let got = pairs(&data, &with_errors());
    let ttft = finding(&got, "ttft.p95");
    let reason = Reason::NotSettled { cut: 300, of: 1000 };
    assert_eq!(
        (ttft.state, &ttft.reason),
        (CellState::Inconclusive, &Some(reason))
    );
    assert!(ttft.change.is_some(), "it is shown");
    assert_eq!(state(&got, "error_ratio"), CellState::Ok);
    assert_eq!(got.exit, Exit::Undecided);
    assert!(
        got.advice
            .iter()
            .any(|advice| advice.text.contains("`warmup` of stage `steady`"))
    );
    // Once in three is a false alarm.
    let mut data = Pairs::new(3);
    warm(&mut data.candidate[..1]);
    warm(&mut data.baseline[2..]);
    assert_eq!(pairs(&data, &with_errors()).exit, Exit::Pass);
}

#[test]
fn a_first_pair_that_had_not_settled_does_not_end_the_sampling() {
    let mut data = Pairs::new(1);
    warm(&mut data.candidate);
    let got = pairs(&data, &gate(&GATES));
    assert_eq!(got.next, NextLook::Repeats(3));
    let mut data = Pairs::new(3);
    warm(&mut data.candidate);
    assert_eq!(pairs(&data, &gate(&GATES)).next, NextLook::Stop);
}

/// The runs broke off before the stage `steady`, for a step before it failed.
fn skip(runs: &mut [Run], invalid: &[InvalidReason]) {
    for run in runs {
        let mut before = run.stages.remove(0);
        before.name = "step".to_owned();
        before.invalid = invalid.to_vec();
        run.stages.push(before);
        run.skipped.push(SkippedStage {
            name: "steady".to_owned(),
            after: "step".to_owned(),
            reason: StopReason::Errors {
                errors: 20,
                of: 100,
            },
        });
    }
}

#[test]
fn a_step_that_was_not_run_is_missing_unless_the_target_ended_the_sweep() {
    let mut data = Pairs::new(3);
    skip(&mut data.candidate, &[]);
    let got = pairs(&data, &gate(&GATES));
    let ttft = finding(&got, "ttft.p95");
    assert_eq!(
        (ttft.state, &ttft.reason),
        (CellState::Regressed, &Some(Reason::CandidateFailed))
    );
    let mut data = Pairs::new(3);
    skip(
        &mut data.candidate,
        &[InvalidReason::ClientCpu { share: 0.99 }],
    );
    let got = pairs(&data, &gate(&GATES));
    assert_eq!(state(&got, "ttft.p95"), CellState::Missing);
    assert_eq!(got.exit, Exit::Invalid);
}

#[test]
fn a_stage_that_failures_ended_has_no_latency() {
    let mut data = Pairs::new(3);
    for run in &mut data.candidate {
        run.stages[0].stopped = Some(StopReason::Errors {
            errors: 20,
            of: 100,
        });
    }
    let got = pairs(&data, &with_errors());
    assert_eq!(
        finding(&got, "ttft.p95").reason,
        Some(Reason::CandidateFailed)
    );
    assert_eq!(
        state(&got, "error_ratio"),
        CellState::Ok,
        "as it was counted"
    );
}
