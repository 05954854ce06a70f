//! The largest goodput of a sweep as a gated cell, and goodput at one of its loads.

use super::*;
use crate::capacity::tests::{SWEEP, run as sweep};
use crate::compare::Value;
use crate::metric::Cell;
use crate::sample::StopReason;
use crate::spec::GateCell;
use crate::summary::{InvalidReason, RunEnd, Side, SkippedStage};

fn cell(text: &str) -> Cell {
    text.parse().unwrap()
}

fn gated(cells: &[&str]) -> Gate {
    let of = |text: &&str| GateCell {
        cell: cell(text),
        limit: worse_by(0.1),
        informational: false,
        trade: None,
        place: None,
    };
    Gate {
        cells: cells.iter().map(of).collect(),
        ..gate(&[])
    }
}

/// Pairs whose runs scatter by a percent, the candidate at so much of the baseline's rates.
fn sweeps(factor: f64) -> Pairs {
    let scatter = [1.0, 1.01, 0.99, 1.005, 0.995];
    let side = |side: Side, factor: f64| -> Vec<Run> {
        let each = scatter.iter().zip(0_u32..).map(|(own, pair)| {
            let rows = SWEEP.map(|(users, rps, good)| (users, rps * own * factor, good));
            let second = (side == Side::Candidate) == (pair % 2 == 0);
            let mut run = sweep(&rows, 600 + 2 * pair + u32::from(second));
            (run.pair, run.side) = (Some(pair), Some(side));
            run
        });
        each.collect()
    };
    Pairs {
        baseline: side(Side::Baseline, 1.0),
        candidate: side(Side::Candidate, factor),
    }
}

fn judged(pairs: &Pairs, gate: &Gate) -> Judgement {
    of(&pairs.baseline, &pairs.candidate, &[], gate)
}

fn value(run: &Run, text: &str) -> Value {
    let measures = crate::compare::measures(&[run], &cell(text));
    measures[0].value.clone()
}

#[test]
fn it_is_the_largest_of_the_steps_that_the_spec_has() {
    let mut run = sweep(&SWEEP, 1);
    // 8.9 × 0.99 at 16 users.
    let Value::Measured(best) = value(&run, "sweep/max_goodput") else {
        panic!("{:?}", value(&run, "sweep/max_goodput"));
    };
    close(best, 8.811);
    // A step that refines the sweep is in one pair alone, and would find more.
    let mut added = run.stages[3].clone();
    added.name = "sweep@23".to_owned();
    added.pooled.rates.goodput_rps = 9.5;
    added.refined = true;
    run.stages.push(added);
    assert_eq!(value(&run, "sweep/max_goodput"), Value::Measured(best));
    run.stages[6].refined = false;
    assert_eq!(value(&run, "sweep/max_goodput"), Value::Measured(9.5));
    assert!(matches!(value(&run, "burst/max_goodput"), Value::Absent(_)));
}

#[test]
fn a_fifth_less_regresses_it_and_the_same_again_does_not() {
    let gate = gated(&["sweep/max_goodput", "sweep@8/goodput"]);
    let slower = judged(&sweeps(0.8), &gate);
    assert_eq!(slower.verdict, Verdict::Regression);
    let found = slower
        .findings
        .iter()
        .find(|finding| finding.cell == cell("sweep/max_goodput"))
        .unwrap();
    assert_eq!(found.state, CellState::Regressed);
    let Some(Change::Ratio {
        estimate,
        low,
        high,
    }) = found.change
    else {
        panic!("{found:?}");
    };
    close(estimate, -0.2);
    assert!(low < -0.19 && high > -0.21 && high < -0.1, "{low} {high}");

    let same = judged(&sweeps(1.0), &gate);
    assert_eq!(same.verdict, Verdict::Pass, "{:?}", same.findings);
    let more = judged(&sweeps(1.25), &gate);
    assert_eq!(more.verdict, Verdict::Pass);
}

#[test]
fn it_is_shown_where_nobody_gates_it() {
    let judgement = judged(&sweeps(0.8), &gated(&["sweep@8/ttft.p50"]));
    let shown = judgement
        .findings
        .iter()
        .find(|finding| finding.cell == cell("sweep/max_goodput"))
        .unwrap();
    assert!(!shown.gated);
}

#[test]
fn without_an_slo_there_is_no_value_and_no_pass() {
    let mut pairs = sweeps(1.0);
    for run in pairs.baseline.iter_mut().chain(&mut pairs.candidate) {
        run.spec.slos.clear();
        for stage in &mut run.stages {
            stage.pooled.attainment = None;
        }
    }
    let Value::Absent(why) = value(&pairs.candidate[0], "sweep/max_goodput") else {
        panic!("it has a value");
    };
    assert!(why.contains("no class has an SLO"), "{why}");
    let judgement = judged(&pairs, &gated(&["sweep/max_goodput"]));
    assert_ne!(judgement.verdict, Verdict::Pass);
    let found = &judgement.findings[0];
    assert_eq!(found.state, CellState::Missing);
    // Nor is it shown.
    let judgement = judged(&pairs, &gated(&["sweep@8/ttft.p50"]));
    let shown = judgement.findings.iter();
    assert!(
        !shown
            .map(|found| found.cell.to_string())
            .any(|name| name == "sweep/max_goodput")
    );
}

#[test]
fn a_step_that_the_client_spoilt_may_have_been_the_best() {
    let mut run = sweep(&SWEEP, 1);
    run.stages[1].invalid = vec![InvalidReason::NoRequests];
    let Value::Invalid(why) = value(&run, "sweep/max_goodput") else {
        panic!("it has a value");
    };
    assert!(why.starts_with("`sweep@4`: "), "{why}");
}

#[test]
fn what_the_target_failed_brings_nothing() {
    // Failures ended the last step that was run, and the others were not run.
    let mut run = sweep(&SWEEP[..4], 1);
    run.stages[3].stopped = Some(StopReason::Errors {
        errors: 60,
        of: 100,
    });
    run.skipped = vec![SkippedStage {
        name: "sweep@32".to_owned(),
        after: "sweep@16".to_owned(),
        reason: StopReason::Errors {
            errors: 60,
            of: 100,
        },
    }];
    assert_eq!(value(&run, "sweep/max_goodput"), Value::Measured(6.4));
    run.end = RunEnd::TargetLost {
        error: "refused".to_owned(),
    };
    assert_eq!(value(&run, "sweep/max_goodput"), Value::Failed);
    let mut none = sweep(&SWEEP, 1);
    for stage in &mut none.stages {
        stage.pooled.rates.goodput_rps = 0.0;
    }
    assert_eq!(value(&none, "sweep/max_goodput"), Value::Measured(0.0));
}

#[test]
fn a_gate_of_it_repeats_every_step() {
    let gate = gated(&["sweep/max_goodput"]);
    assert!(gate.repeats_stage("sweep@2") && gate.repeats_stage("sweep@64"));
    assert!(!gate.repeats_stage("steady") && !gate.repeats_stage("sweep"));
}

#[test]
fn a_class_has_its_own() {
    let mut run = sweep(&SWEEP, 1);
    for stage in &mut run.stages {
        let mut half = stage.pooled.clone();
        half.rates.goodput_rps /= 2.0;
        stage.classes.insert("chat".to_owned(), half.clone());
        half.attainment = None;
        stage.classes.insert("batch".to_owned(), half);
    }
    let Value::Measured(best) = value(&run, "sweep/chat/max_goodput") else {
        panic!("no value");
    };
    close(best, 8.811 / 2.0);
    assert!(matches!(
        value(&run, "sweep/batch/max_goodput"),
        Value::Absent(_)
    ));
    assert!(matches!(
        value(&run, "sweep/mail/max_goodput"),
        Value::Absent(_)
    ));
}
