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
    let ran = project.run(&["gate", "spec.yaml"]).exits(3);
    // It measures all the same, and says how there comes to be a baseline.
    let session = project.sessions().pop().unwrap();
    let session = session.strip_prefix(project.path(".")).unwrap();
    let promote = format!("infergate baseline promote {} --reason", session.display());
    let ran = ran
        .says("no baseline for `small`")
        .shows("there is no baseline, so 1 of 2 gated cells was not judged, 1 is within its limit")
        .shows(&promote);
    drop(ran);
    let report = json(&project.path(".").join(session).join("report.json"));
    assert_eq!(report["verdict"], "undecided");
    assert_eq!(report["candidate"].as_array().unwrap().len(), 2);
    assert!(
        report["unjudged"]
            .as_str()
            .unwrap()
            .contains("no baseline for `small`")
    );
    let session = session.to_str().unwrap();
    project
        .run(&["baseline", "promote", session, "--reason", "the first"])
        .exits(0)
        .says("1 session stands there now");
    project
        .run(&["gate", "spec.yaml"])
        .exits(3)
        .says("promote 2 more");
}

#[test]
fn a_first_run_passes_only_where_the_policy_says_so_and_breaks_what_it_breaks() {
    let with = |policy: &str, limit: &str| {
        let spec = SMALL
            .replace("SIM", "test")
            .replace("worse_by: 60%", limit)
            .replace("gate:\n", &format!("gate:\n{policy}"));
        Project::with_spec(&spec)
    };
    let gate = ["--quiet", "gate", "spec.yaml"];
    // Even where every limit is absolute and kept.
    with("", "at_most: 10s").run(&gate).exits(3);
    with("  no_baseline: pass\n", "worse_by: 60%")
        .run(&gate)
        .exits(0)
        .shows("Undecided in small")
        .says("`no_baseline: pass` makes this exit 0");
    with("  no_baseline: fail\n", "worse_by: 60%")
        .run(&gate)
        .exits(1);
    // What it breaks by itself is a regression, whatever the policy.
    with("  no_baseline: pass\n", "at_most: 1us")
        .run(&gate)
        .exits(1)
        .shows("Regression in small");
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
fn gate_names_a_changed_spec_and_environment_and_its_session_replays_anywhere() {
    let project = Project::new("test");
    for _ in 0..3 {
        promote_new_session(&project, "2");
    }
    let ran = project.run(&["gate", "spec.yaml"]);
    let ran = ran.exits(3).shows("3 of the 5 sessions");
    let session = project.sessions().pop().unwrap();
    let report = json(&session.join("report.json"));

    // Neither the place nor the baselines matter any more.
    std::fs::rename(&session, project.path("moved")).unwrap();
    std::fs::rename(project.path("baselines"), project.path("elsewhere")).unwrap();
    let again = project.run(&["compare", "moved", "--json"]);
    assert_eq!(again.code, ran.code);
    let again: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["findings"], report["findings"]);
    project
        .run(&["report", "moved"])
        .exits(0)
        .shows("Undecided");
    std::fs::rename(project.path("elsewhere"), project.path("baselines")).unwrap();

    let write = |spec: &str| std::fs::write(project.path("spec.yaml"), spec).unwrap();
    let sessions = project.sessions().len();
    let longer = SMALL
        .replace("SIM", "test")
        .replace("requests: 60", "requests: 80");
    write(&longer);
    project
        .run(&["gate", "spec.yaml"])
        .exits(3)
        .says("the spec changed");
    write(&longer.replace("gate:\n", "gate:\n  incomparable: pass\n"));
    project
        .run(&["--quiet", "gate", "spec.yaml"])
        .exits(0)
        .says("`incomparable: pass` makes this exit 0");
    write(
        &SMALL
            .replace("SIM", "test")
            .replace("api: chat", "api: completions"),
    );
    project
        .run(&["gate", "spec.yaml"])
        .exits(3)
        .says("`request.api` (chat there, completions here)");
    // Each of them is a session that could be promoted.
    assert_eq!(project.sessions().len(), sessions + 3);
}

#[test]
fn gate_judges_runs_that_were_measured_before_as_it_would_have_judged_them_then() {
    let project = Project::with_spec(&SMALL.replace("sim: SIM", "url: '${TARGET_URL}'"));
    let engine = crate::support::Engine::start(&["test"]);
    let url = format!("http://{}", engine.address);
    let at_target = |words: &[&str]| -> crate::support::Ran {
        let mut command = project.command(words);
        command.env("TARGET_URL", &url).output().unwrap().into()
    };
    for _ in 0..3 {
        at_target(&["--quiet", "run", "spec.yaml", "--repeats", "2"]).exits(0);
        let session = project.sessions().pop().unwrap();
        let session = session.to_str().unwrap();
        project
            .run(&["baseline", "promote", session, "--reason", "a test"])
            .exits(0);
    }
    let live = at_target(&["gate", "spec.yaml"]).exits_any();
    let measured = project.sessions().pop().unwrap();
    let measured = measured.to_str().unwrap();
    drop(engine);

    // Nobody is asked: no variable names a target, and none is there.
    let gate = ["gate", "spec.yaml", "--candidate", measured];
    let again = project.run(&gate);
    assert_eq!(again.code, live.code, "{}", again.err);
    let judged = project.sessions().pop().unwrap();
    assert_ne!(judged.to_str().unwrap(), measured, "a session of its own");
    let findings =
        |session: &std::path::Path| json(&session.join("report.json"))["findings"].clone();
    assert_eq!(findings(&judged), findings(std::path::Path::new(measured)));
    project
        .run(&[&gate[..], &["--baseline-url", "http://127.0.0.1:1"]].concat())
        .exits(2)
        .says("cannot be used with");

    // Another gate than the runs were measured under is the judge, and its session says so by itself.
    let spec = std::fs::read_to_string(project.path("spec.yaml")).unwrap();
    let write = |spec: &str| std::fs::write(project.path("spec.yaml"), spec).unwrap();
    write(&spec.replace("worse_by: 60%", "worse_by: 45%"));
    project.run(&gate).exits_any().shows("worse by 45 %");
    let judged = project.sessions().pop().unwrap();
    let judged = judged.to_str().unwrap();
    write(&spec);
    let replayed = project.run(&["compare", judged]).exits_any();
    replayed.shows("worse by 45 %");
    // Another workload is not what was measured.
    write(&spec.replace("requests: 60", "requests: 80"));
    project
        .run(&gate)
        .exits(3)
        .says("ran another workload than `spec.yaml`");
}

#[test]
fn a_damaged_reference_is_named() {
    let project = Project::new("test");
    promote_new_session(&project, "2");
    let environment = entries(&project.path("baselines/small"))
        .into_iter()
        .find(|path| path.is_dir())
        .unwrap();
    for (text, says) in [
        ("{}", "missing field `format`"),
        (
            r#"{"format": "infergate.reference/2", "sessions": []}"#,
            "this version reads `infergate.reference/1`",
        ),
    ] {
        std::fs::write(environment.join("reference.json"), text).unwrap();
        project
            .run(&["gate", "spec.yaml"])
            .exits(2)
            .says("reference.json")
            .says(says);
    }
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
fn a_session_in_which_nothing_completed_is_refused() {
    let project = Project::new("test --error-share 100%");
    project
        .run(&["run", "spec.yaml", "--repeats", "2"])
        .exits(4);
    let session = project.sessions()[0].to_str().unwrap().to_owned();
    project
        .run(&["baseline", "promote", &session, "--reason", "x"])
        .exits(2)
        .says("no request of its gated stage `steady` completed");
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

#[test]
fn a_run_whose_port_has_a_default_is_reported_and_promoted_without_that_variable() {
    let target = "url: 'http://127.0.0.1:${PORT:-1}'";
    let project = Project::with_spec(&SMALL.replace("sim: SIM", target));
    let engine = crate::support::Engine::start(&["test"]);
    let port = engine.address.rsplit(':').next().unwrap();
    let mut command = project.command(&["--quiet", "run", "spec.yaml", "--repeats", "2"]);
    let ran = command.env("PORT", port).output().unwrap();
    crate::support::Ran::from(ran).exits(0);
    let session = project.sessions().pop().unwrap();
    let session = session.to_str().unwrap();
    let promote = ["baseline", "promote", session, "--reason", "a test"];
    project.run(&promote).exits(0);
    project.run(&["report", session]).exits(0);
}
