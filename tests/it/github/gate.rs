//! `--publish` of commands that measure.

use std::fs;

use serde_json::{Value, json};

use super::fake::{Fake, Viewer};
use super::job::{Job, report};

#[test]
fn a_comparison_is_announced_measured_and_told() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    let out = job
        .command(&["ab", "spec.yaml", "--publish", "github"])
        .output()
        .unwrap();
    let ran = crate::support::Ran::from(out).exits_any();
    let writes = fake.writes();
    assert_eq!(writes.len(), 3, "{writes:?}\n{}", ran.err);
    assert_eq!(writes[0], "POST /check-runs → 201");
    assert!(writes[1].starts_with("PATCH /check-runs/"), "{writes:?}");
    assert_eq!(writes[2], "POST /issues/7/comments → 201");
    let begun = &fake.exchanges()[0];
    assert_eq!(begun.body["status"], "in_progress");
    let state = fake.state();
    let expected = match ran.code {
        Some(0) => "success",
        Some(3) => "action_required",
        _ => "failure",
    };
    assert_eq!(state.checks[0]["status"], "completed");
    assert_eq!(state.checks[0]["conclusion"], expected);
    drop(state);
    assert!(fake.reports()[0].contains("key=small"));
    // What was published is what lies in the session's folder.
    let session = job.project.sessions().pop().unwrap();
    assert!(session.join("report.json").exists() && session.join("report.md").exists());
}

#[test]
fn a_gate_without_a_baseline_leaves_no_check_in_progress() {
    for (viewer, state) in [(Viewer::Job, "action_required"), (Viewer::Person, "error")] {
        let fake = Fake::start();
        fake.state().viewer = viewer;
        let job = Job::of(&fake);
        let out = job
            .command(&["gate", "spec.yaml", "--publish", "github"])
            .output()
            .unwrap();
        crate::support::Ran::from(out).exits(3);
        let at = fake.state();
        match viewer {
            Viewer::Job => {
                assert_eq!(at.checks.len(), 1);
                assert_eq!(at.checks[0]["conclusion"], state);
                assert!(
                    at.checks[0]["output"]["summary"]
                        .as_str()
                        .unwrap()
                        .contains("baseline")
                );
            }
            Viewer::Person => {
                let states: Vec<&Value> =
                    at.statuses.iter().map(|status| &status["state"]).collect();
                assert_eq!(states, ["pending", state]);
            }
        }
        drop(at);
        let comments = fake.reports();
        assert_eq!(comments.len(), 1, "{comments:?}");
        assert!(comments[0].contains("there is no baseline"), "{comments:?}");
        assert!(
            comments[0].contains("infergate baseline promote"),
            "{comments:?}"
        );
    }
}

#[test]
fn a_commit_that_was_pushed_over_while_it_was_measured_is_not_judged_aloud() {
    let fake = Fake::start();
    fake.after("POST", "/check-runs", |state| {
        state.pulls[0]["head"]["sha"] = json!("1234567890abcdef1234567890abcdef12345678");
    });
    let job = Job::of(&fake);
    let out = job
        .command(&["gate", "spec.yaml", "--publish", "github"])
        .output()
        .unwrap();
    crate::support::Ran::from(out)
        .exits(3)
        .says("is not the head of `acme/engine#7` any more");
    let state = fake.state();
    assert_eq!(state.checks[0]["conclusion"], "cancelled");
    assert!(state.comments.is_empty());
}

#[test]
fn where_nothing_can_be_published_is_known_before_the_load() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    let run = |words: &[&str]| {
        let words = [&["gate", "spec.yaml", "--publish", "github"], words].concat();
        let mut command = job.command(&words);
        crate::support::Ran::from(command.env_remove("GITHUB_TOKEN").output().unwrap())
    };
    run(&["--require-publish"])
        .exits(2)
        .says("there is no token");
    run(&[])
        .exits(3)
        .says("warning: nothing will be published: there is no token");
    assert!(fake.exchanges().is_empty());
}

#[test]
fn a_required_post_that_fails_is_invalid_and_not_the_verdict() {
    let fake = Fake::start();
    fake.state().may = vec![];
    let job = Job::of(&fake);
    let words = [
        "gate",
        "spec.yaml",
        "--publish",
        "github",
        "--require-publish",
    ];
    let required = job.command(&words).output().unwrap();
    // There is no baseline, and that could not be told.
    crate::support::Ran::from(required)
        .exits(4)
        .says("checks: write");
    let mut regressed = report("regression");
    regressed["caveats"] = json!([]);
    fs::write(job.path("report.json"), regressed.to_string()).unwrap();
    job.publish(&["--require-publish"]).exits(4);
}

/// A report of so many broken cells whose limits stand in the spec.
fn many(job: &Job, cells: usize) {
    let mut report = report("regression");
    let mut finding = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f["gated"] == true)
        .unwrap()
        .clone();
    finding["state"] = json!("regressed");
    let limit = if finding["limit"]["at-most"].is_null() {
        "worse_by"
    } else {
        "at_most"
    };
    let places = json!([{
        "cell": finding["cell"], "limit": limit, "path": "bench/./spec.yaml", "line": 17, "column": 5, "end_line": 17,
        "end_column": 20,
    }]);
    report["findings"] = json!(vec![finding; cells]);
    report["places"] = places;
    fs::write(job.path("report.json"), report.to_string()).unwrap();
}

fn noted(fake: &Fake) -> Vec<Value> {
    fake.state().checks[0]["annotations"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn broken_cells_are_annotated_at_their_limits_in_batches() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    many(&job, 120);
    job.publish(&["--skip", "comment"]).exits(0);
    let writes = fake.writes();
    assert_eq!(writes.len(), 3, "{writes:?}");
    let noted = noted(&fake);
    assert_eq!(noted.len(), 120);
    assert_eq!(noted[0]["path"], "bench/spec.yaml");
    assert_eq!(noted[0]["start_line"], 17);
    assert_eq!(noted[0]["annotation_level"], "failure");
}

#[test]
fn a_batch_that_arrived_before_the_server_failed_is_not_sent_again() {
    for fault in [
        super::fake::Fault::DoneThen(502),
        super::fake::Fault::DoneThenCut,
    ] {
        let fake = Fake::start();
        let job = Job::of(&fake);
        many(&job, 70);
        fake.fails("PATCH", "/check-runs/", fault);
        job.publish(&["--skip", "comment"])
            .exits(0)
            .says("check run concluded");
        assert_eq!(noted(&fake).len(), 70);
    }
    let fake = Fake::start();
    let job = Job::of(&fake);
    many(&job, 70);
    fake.fails(
        "PATCH",
        "/check-runs/",
        super::fake::Fault::Says(502, "Bad gateway", vec![]),
    );
    job.publish(&["--skip", "comment"]).exits(0);
    assert_eq!(noted(&fake).len(), 70);
}

#[test]
fn without_a_check_run_the_log_has_the_remarks() {
    let fake = Fake::start();
    fake.state().viewer = Viewer::Person;
    let job = Job::of(&fake);
    many(&job, 12);
    let ran = job.publish(&["--skip", "comment"]).exits(0);
    assert_eq!(
        ran.err
            .matches("::error file=bench/spec.yaml,line=17,title=")
            .count(),
        10,
        "{}",
        ran.err
    );
}
