//! `infergate check`, and what every command says of a wrong spec.

use crate::support::{Project, SMALL};

#[test]
fn a_right_spec_is_described_and_passes() {
    let project = Project::new("test");
    project
        .run(&["check", "spec.yaml"])
        .exits(0)
        .shows("steady")
        .shows("e2e.p50");
    let json = project.run(&["check", "--json", "spec.yaml"]).exits(0).out;
    serde_json::from_str::<serde_json::Value>(&json).unwrap();
}

#[test]
fn five_mistakes_are_five_diagnostics_with_places() {
    let spec = SMALL
        .replace("name: small", "nmae: small")
        .replace("seed: 7", "seed: seven")
        .replace("e2e: 2s", "e2e: 2")
        .replace("users: 2", "users: 0")
        .replace("e2e.p50", "e2e.q50");
    let ran = Project::with_spec(&spec)
        .run(&["check", "spec.yaml"])
        .exits(2);
    let errors = ran.err.matches("error[spec::").count();
    assert_eq!(errors, 5, "{}", ran.err);
    let ran = ran
        .says("5 mistakes in `spec.yaml`")
        .says("did you mean `name`?");
    for place in ["spec.yaml:2:1", "spec.yaml:6:9"] {
        assert!(ran.err.contains(place), "no {place} in\n{}", ran.err);
    }
}

#[test]
fn a_missing_spec_and_a_wrong_word_exit_2() {
    let project = Project::new("test");
    project
        .run(&["run", "gone.yaml"])
        .exits(2)
        .says("cannot read the spec `gone.yaml`");
    project.run(&["rnu"]).exits(2).says("rnu");
    project.run(&[]).exits(2);
    project.run(&["--help"]).exits(0).shows("Exit codes");
    project.run(&["--version"]).exits(0);
}

#[test]
fn an_unset_variable_is_named_and_a_set_one_never_shown() {
    let spec = SMALL.replace("{sim: SIM, api: chat}", "{url: '${SECRET_URL}', api: caht}");
    let project = Project::with_spec(&spec);
    project
        .run(&["check", "spec.yaml"])
        .exits(2)
        .says("SECRET_URL");
    let ran: crate::support::Ran = project
        .command(&["check", "spec.yaml"])
        .env("SECRET_URL", "http://user:hunter2@127.0.0.1:1")
        .output()
        .unwrap()
        .into();
    let ran = ran.exits(2).says("caht");
    assert!(
        !ran.err.contains("hunter2") && !ran.out.contains("hunter2"),
        "{}",
        ran.err
    );
}

#[test]
fn a_warm_cache_with_nothing_to_warm_is_a_warning() {
    let warm = SMALL.replace("SIM", "test");
    let warm = warm.replace("seed: 7", "seed: 7\n  cache: warm");
    assert!(warm.contains("cache: warm"));
    Project::with_spec(&warm)
        .run(&["check", "spec.yaml"])
        .exits(0)
        .says("warning[spec::nothing-shared]");
    let shared = warm.replace("output:", "prefix: {tokens: 16}, output:");
    assert_ne!(shared, warm);
    let ran = Project::with_spec(&shared).run(&["check", "spec.yaml"]);
    assert!(!ran.exits(0).err.contains("nothing-shared"));
}
