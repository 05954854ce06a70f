use std::slice::from_ref;

use super::synthetic::{Pairs, archive, gate, run, stage, worse_by};
use super::*;
use crate::provenance::{Observation, Pin, PinPath, UnderTest, Why};
use crate::summary::{InvalidReason, RunEnd, Side};

fn pin(run: &mut Run, path: &str, value: Option<&str>) {
    let observed = match value {
        Some(value) => Observation::Seen {
            value: value.to_owned(),
            source: "test".to_owned(),
        },
        None => Observation::Unknown(Why::NotReported),
    };
    let pin = Pin {
        declared: None,
        observed,
    };
    run.pins.insert(path.parse().unwrap(), pin);
}

fn of(baseline: &[Run], candidate: &[Run], under_test: &[&str]) -> Comparison {
    let sides = Sides {
        baseline,
        candidate,
        archive: &[],
    };
    let under_test = UnderTest {
        pins: under_test
            .iter()
            .map(|path| path.parse().unwrap())
            .collect(),
        strict: false,
    };
    compare(&sides, &gate(&[("ttft.p95", worse_by(0.1))]), &under_test)
}

#[test]
fn a_hard_pin_blocks_unless_it_is_under_test() {
    let (mut a, mut b) = (run("x", 1), run("y", 2));
    pin(&mut a, "engine.version", Some("0.11"));
    pin(&mut b, "engine.version", Some("0.12"));
    let (a, b) = ([a], [b]);
    assert!(!of(&a, &b, &[]).is_comparable());
    let tested = of(&a, &b, &["engine.version"]);
    assert!(tested.is_comparable());
    assert!(tested.pins[0].under_test);
    assert!(of(&a, &a, &[]).pins.is_empty());
}

#[test]
fn a_soft_pin_is_named_and_does_not_block() {
    let (mut a, mut b) = (run("x", 1), run("y", 2));
    pin(&mut a, "hardware.driver", Some("1"));
    pin(&mut b, "hardware.driver", Some("2"));
    let got = of(&[a], &[b], &[]);
    assert!(got.is_comparable());
    assert_eq!(got.pins.len(), 1);
}

#[test]
fn under_strict_pins_a_soft_one_blocks() {
    let (mut a, mut b) = (run("x", 1), run("y", 2));
    pin(&mut a, "hardware.driver", Some("1"));
    pin(&mut b, "hardware.driver", Some("2"));
    let (a, b) = ([a], [b]);
    let sides = Sides {
        baseline: &a,
        candidate: &b,
        archive: &[],
    };
    let strict = UnderTest {
        strict: true,
        ..UnderTest::NOTHING
    };
    let got = compare(&sides, &gate(&[("ttft.p95", worse_by(0.1))]), &strict);
    assert!(!got.is_comparable());
}

#[test]
fn another_spelling_is_no_difference() {
    let (mut a, mut b) = (run("x", 1), run("y", 2));
    pin(&mut a, "precision.weights", Some("fp8"));
    pin(&mut b, "precision.weights", Some("FP8"));
    assert_eq!(of(&[a], &[b], &[]).pins, []);
}

#[test]
fn a_group_of_which_nothing_is_known_is_named_as_one() {
    let (mut a, mut b) = (run("x", 1), run("y", 2));
    for path in PinPath::covered_by("parallel") {
        pin(&mut a, path.as_str(), None);
    }
    pin(&mut b, "limits.block_size", None);
    pin(&mut b, "host.kernel", None);
    let got = of(&[a], &[b], &[]);
    assert_eq!(
        got.caveats[0],
        "unknown on both sides, so they may differ (declare under `pins` what you know): limits.block_size, parallel"
    );
}

#[test]
fn unknown_on_one_side_blocks_and_on_both_is_a_caveat() {
    let (mut a, mut b) = (run("x", 1), run("y", 2));
    pin(&mut a, "precision.kv_cache", Some("fp8"));
    pin(&mut b, "precision.kv_cache", None);
    assert!(!of(from_ref(&a), from_ref(&b), &[]).is_comparable());
    pin(&mut a, "precision.kv_cache", None);
    let got = of(&[a], &[b], &[]);
    assert!(got.is_comparable());
    assert!(
        got.caveats[0].contains("precision.kv_cache"),
        "{:?}",
        got.caveats
    );
}

#[test]
fn two_changed_pins_under_test_are_confounded() {
    let (mut a, mut b) = (run("x", 1), run("y", 2));
    for (run, value) in [(&mut a, "1"), (&mut b, "2")] {
        pin(run, "engine.version", Some(value));
        pin(run, "engine.args", Some(value));
    }
    let got = of(&[a], &[b], &["engine.version", "engine.args"]);
    assert!(got.is_comparable());
    assert!(
        got.caveats[0].starts_with("confounded"),
        "{:?}",
        got.caveats
    );
}

#[test]
fn a_side_that_changes_midway_blocks_even_under_test() {
    let mut pairs = Pairs::new(2);
    pin(&mut pairs.candidate[0], "engine.version", Some("1"));
    pin(&mut pairs.candidate[1], "engine.version", Some("2"));
    pin(&mut pairs.baseline[0], "engine.version", Some("1"));
    pin(&mut pairs.baseline[1], "engine.version", Some("1"));
    let got = of(&pairs.baseline, &pairs.candidate, &["engine.version"]);
    assert_eq!(got.pins[0].candidate.as_deref(), Some("1 | 2"));
    assert!(!got.is_comparable());
}

#[test]
fn other_traffic_is_not_comparable() {
    let (a, mut b) = (run("x", 1), run("y", 2));
    b.trace_digest = Digest::of(b"other");
    let got = of(from_ref(&a), from_ref(&b), &[]);
    assert!(matches!(got.mismatches[..], [Mismatch::Trace { .. }]));
    b.spec.workload_digest = Digest::of(b"other");
    let got = of(&[a], &[b], &[]);
    assert!(matches!(got.mismatches[..], [Mismatch::Workload { .. }]));
    assert!(!got.is_comparable());
}

#[test]
fn the_same_run_on_both_sides_is_recognised() {
    let a = [run("x", 1)];
    assert_eq!(of(&a, &a, &[]).arrangement, Arrangement::SameRun);
}

#[test]
fn a_run_on_both_sides_is_no_evidence() {
    let mut pairs = Pairs::new(3);
    pairs.candidate[1] = pairs.baseline[1].clone();
    let got = of(&pairs.baseline, &pairs.candidate, &[]);
    assert_eq!(got.cells[0].candidate.len(), 2);
    assert!(got.caveats[0].contains("on both sides"));
}

#[test]
fn pairs_are_found_by_their_numbers_and_the_last_attempt_counts() {
    let mut pairs = Pairs::new(3);
    let mut again = pairs.candidate[1].clone();
    again.id = "again".to_owned();
    again.started = "2026-03-01T11:00:00Z".to_owned();
    again.stages[0].window_s = 7.0;
    pairs.candidate.push(again);
    let got = of(&pairs.baseline, &pairs.candidate, &[]);
    assert_eq!(got.arrangement, Arrangement::Interleaved);
    let windows: Vec<f64> = got.cells[0].candidate.iter().map(|m| m.window_s).collect();
    assert_eq!(windows, [50.0, 7.0, 50.0]);
}

#[test]
fn files_without_numbers_are_paired_only_where_they_took_turns() {
    let side = |minutes: [u32; 4]| -> Vec<Run> {
        minutes
            .map(|minute| run(&format!("m{minute}"), minute))
            .into()
    };
    let turns = of(&side([1, 4, 5, 8]), &side([2, 3, 6, 7]), &[]);
    assert_eq!(turns.arrangement, Arrangement::Interleaved);
    // Four separate sessions, all before the candidate: stored.
    let blocked = of(&side([1, 2, 3, 4]), &side([5, 6, 7, 8]), &[]);
    assert_eq!(blocked.arrangement, Arrangement::Stored);
    let mut one_session = side([1, 2, 3, 4]);
    for run in &mut one_session {
        run.session = "one".to_owned();
    }
    let blocked = of(&one_session, &side([5, 6, 7, 8]), &[]);
    assert_eq!(blocked.arrangement, Arrangement::Unpaired);
}

#[test]
fn numbered_pairs_that_took_no_turns_are_no_pairs() {
    let mut pairs = Pairs::new(3);
    for (i, run) in pairs.candidate.iter_mut().enumerate() {
        run.started = format!("2026-03-01T20:0{i}:00Z");
    }
    let got = of(&pairs.baseline, &pairs.candidate, &[]);
    assert_eq!(got.arrangement, Arrangement::Unpaired);
}

#[test]
fn stored_sessions_and_their_age() {
    let stored = archive(&vec![vec![0.0, 0.01]; 4]);
    let mut head = run("today", 9);
    head.started = "2026-03-21T00:00:00Z".to_owned();
    let got = of(&stored, &[head], &[]);
    assert_eq!((got.arrangement, got.sessions), (Arrangement::Stored, 4));
    assert!((got.archive_age_days.unwrap() - 20.0).abs() < 0.01);
    assert!(
        got.cells[0]
            .sessions
            .iter()
            .all(|session| session.len() == 2)
    );
}

#[test]
fn noise_sessions_show_the_noise_of_stored_ones_and_stand_for_nothing() {
    let stored = archive(&vec![vec![0.0, 0.01]; 4]);
    let mut noise = archive(&vec![vec![1.0, 1.02, 1.04]; 2]);
    for run in &mut noise {
        run.session = format!("noise-{}", run.session);
        run.id = format!("noise-{}", run.id);
    }
    // A session that stands is no further one.
    noise.push(stored[0].clone());
    let head = [run("today", 90)];
    let sides = Sides {
        baseline: &stored,
        candidate: &head,
        archive: &noise,
    };
    let got = compare(
        &sides,
        &gate(&[("ttft.p95", worse_by(0.1))]),
        &UnderTest::NOTHING,
    );
    assert_eq!((got.arrangement, got.sessions), (Arrangement::Stored, 4));
    let cell = &got.cells[0];
    assert_eq!((cell.sessions.len(), cell.noise.len()), (4, 6));
    assert_eq!(cell.baseline.len(), 8);
}

#[test]
fn interrupted_runs_are_left_out_and_named() {
    let mut pairs = Pairs::new(2);
    pairs.candidate[1].end = RunEnd::Interrupted;
    let got = of(&pairs.baseline, &pairs.candidate, &[]);
    assert_eq!(got.cells[0].candidate.len(), 1);
    assert!(got.caveats[0].contains("interrupted"));
}

#[test]
fn cells_are_read_in_both_directions() {
    let mut pairs = Pairs::new(2);
    for run in &mut pairs.candidate {
        run.stages.push(stage("extra"));
    }
    let got = of(&pairs.baseline, &pairs.candidate, &[]);
    assert!(got.cells[0].gated, "declared cells come first");
    let extra = got
        .cells
        .iter()
        .find(|cell| cell.cell.stage.as_deref() == Some("extra"))
        .unwrap();
    assert!(extra.baseline.iter().all(|m| !m.is_usable()));
    assert!(extra.candidate.iter().all(Measure::is_usable));
}

#[test]
fn whose_fault_it_was_decides_what_a_run_says() {
    let declared = synthetic::cell("ttft.p95");
    let mut faulty = run("x", 1);
    faulty.stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.97 }];
    let got = measure::measure(&faulty, None, &declared);
    assert_eq!(
        got.value,
        Value::Invalid("the client used 97.0 % of its CPU".to_owned())
    );
    let mut lost = run("x", 1);
    lost.stages.clear();
    assert!(matches!(
        measure::measure(&lost, None, &declared).value,
        Value::Absent(_)
    ));
    lost.end = RunEnd::TargetLost {
        error: "connection refused".to_owned(),
    };
    assert_eq!(
        measure::measure(&lost, None, &declared).value,
        Value::Failed
    );
    let mut cut = faulty;
    cut.stages[0].invalid = vec![InvalidReason::Interrupted];
    cut.end = lost.end;
    assert_eq!(measure::measure(&cut, None, &declared).value, Value::Failed);
}

#[test]
fn proportions_pool_stages_and_count_bad_requests() {
    let mut both = run("x", 1);
    synthetic::fail(&mut both, 30);
    both.stages.push(stage("second"));
    let mut pooled = synthetic::cell("attainment");
    pooled.stage = None;
    let got = measure::measure(&both, None, &pooled);
    assert!((got.measured().unwrap() - 0.985).abs() < 1e-12);
    assert_eq!(
        got.bad.map(|bad| (bad.events, bad.trials)),
        Some((30, 2000))
    );
    pooled.metric = "ttft.p95".parse().unwrap();
    assert!(matches!(
        measure::measure(&both, None, &pooled).value,
        Value::Absent(_)
    ));
}

#[test]
fn other_work_is_seen_relative_to_the_plan() {
    let mut pairs = Pairs::new(2);
    for run in &mut pairs.candidate {
        // A slower server of a closed loop gets through half the requests: the same work.
        let tokens = &mut run.stages[0].pooled.tokens;
        tokens.output_planned /= 2;
        tokens.output_observed /= 2;
    }
    let got = of(&pairs.baseline, &pairs.candidate, &[]);
    assert_eq!(got.cells[0].work_changed, None);
    for run in &mut pairs.candidate {
        run.stages[0].pooled.tokens.output_observed /= 2;
    }
    let got = of(&pairs.baseline, &pairs.candidate, &[]);
    assert_eq!(
        got.cells[0].work_changed.as_deref(),
        Some("output tokens -50.0 %")
    );
}

#[test]
fn without_a_plan_on_one_side_the_tokens_of_an_answer_are_compared() {
    let mut pairs = Pairs::new(2);
    for run in &mut pairs.candidate {
        let tokens = &mut run.stages[0].pooled.tokens;
        (tokens.input_planned, tokens.output_planned) = (0, 0);
    }
    let got = of(&pairs.baseline, &pairs.candidate, &[]);
    assert_eq!(got.cells[0].work_changed, None);
    for run in &mut pairs.candidate {
        run.stages[0].pooled.tokens.output_observed /= 2;
    }
    let got = of(&pairs.baseline, &pairs.candidate, &[]);
    assert_eq!(
        got.cells[0].work_changed.as_deref(),
        Some("output tokens -50.0 %")
    );
}

#[test]
fn sides_of_the_archive_other_than_the_baseline_say_nothing_of_noise() {
    let pairs = Pairs::new(2);
    let mut archived = archive(&[vec![0.0, 0.01], vec![0.0, 0.5], vec![0.0, 0.01]]);
    archived[3].side = Some(Side::Candidate);
    archived[4].trace_digest = Digest::of(b"other");
    let sides = Sides {
        baseline: &pairs.baseline,
        candidate: &pairs.candidate,
        archive: &archived,
    };
    let got = compare(
        &sides,
        &gate(&[("ttft.p95", worse_by(0.1))]),
        &UnderTest::NOTHING,
    );
    let lengths: Vec<usize> = got.cells[0].sessions.iter().map(Vec::len).collect();
    assert_eq!(lengths, [2, 1, 1]);
}
