//! `infergate baseline` and `gate`: from sessions to a verdict against them.

use crate::support::{Project, SMALL, entries, json};

fn promote_new_session(project: &Project, runs: &str) {
    project
        .run(&["--quiet", "run", "spec.yaml", "--repeats", runs])
        .exits(0);
    let session = project.sessions().pop().unwrap();
    let session = session.to_str().unwrap();
    project
        .run(&["baseline", "promote", session, "--reason", "a test"])
        .exits(0);
}

#[test]
fn gate_says_how_many_sessions_are_missing() {
    let project = Project::new("test");
    project
        .run(&["gate", "spec.yaml"])
        .exits(3)
        .says("no baseline for `small`");
    promote_new_session(&project, "2");
    project
        .run(&["gate", "spec.yaml"])
        .exits(3)
        .says("promote 2 more");
    assert_eq!(
        project.sessions().len(),
        1,
        "a refused gate leaves nothing behind"
    );
}

#[test]
fn gate_judges_against_stored_sessions() {
    // Steps of 6 ms, beside which a busy machine's own scatter is small.
    let spec = SMALL
        .replace("SIM", "h100-8b")
        .replace("users: 2", "users: 6");
    let project = Project::with_spec(&spec);
    for _ in 0..5 {
        promote_new_session(&project, "2");
    }
    let environment = entries(&project.path("baselines/small"))
        .into_iter()
        .find(|path| path.is_dir())
        .unwrap();
    assert_eq!(
        json(&environment.join("reference.json"))["sessions"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    assert_eq!(entries(&environment.join("runs")).len(), 10);
    project
        .run(&["baseline", "list"])
        .exits(0)
        .shows("5 sessions, 10 runs");
    project
        .run(&["baseline", "show", "small"])
        .exits(0)
        .shows("a test");

    let ran = project.run(&["gate", "spec.yaml"]);
    assert!(matches!(ran.code, Some(0 | 3)), "{}\n{}", ran.out, ran.err);
    project
        .run(&[
            "gate",
            "spec.yaml",
            "--candidate-sim",
            "h100-8b --slower 300%",
        ])
        .exits(1);
}

#[test]
fn a_session_of_one_run_and_one_without_a_reason_are_refused() {
    let project = Project::new("test");
    project.run(&["run", "spec.yaml"]).exits(0);
    let session = project.sessions()[0].to_str().unwrap().to_owned();
    project
        .run(&["baseline", "promote", &session, "--reason", "x"])
        .exits(2)
        .says("at least 2")
        .says("--repeats");
    project
        .run(&["baseline", "promote", &session, "--reason", " "])
        .exits(2)
        .says("reason");
    project
        .run(&["baseline", "promote", &session])
        .exits(2)
        .says("--reason");
    project
        .run(&["baseline", "list"])
        .exits(2)
        .says("no baselines");
}

#[test]
fn a_session_is_promoted_once() {
    let project = Project::new("test");
    promote_new_session(&project, "2");
    let session = project.sessions()[0].to_str().unwrap().to_owned();
    project
        .run(&["baseline", "promote", &session, "--reason", "x"])
        .exits(2)
        .says("already");
}
