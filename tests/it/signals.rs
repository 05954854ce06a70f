//! Ctrl-C, SIGTERM and worse: what is measured is kept, and no engine outlives its parent.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use crate::support::{Project, Ran, SMALL, entries, json};

/// A command that measures until it is stopped, in a process group of its own as under a terminal.
fn start(project: &Project, words: &[&str]) -> Child {
    let mut child = project
        .command(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    project.wait_for_load(&mut child);
    child
}

/// A spec that only a signal ends.
fn endless() -> Project {
    let spec = SMALL.replace("SIM", "test");
    Project::with_spec(&spec.replace("requests: 60", "duration: 10m"))
}

fn signal(name: &str, target: &str) {
    let sent = Command::new("kill").args([name, "--", target]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn ctrl_c_in_a_terminal_drains_from_a_living_engine() {
    let project = endless();
    let child = start(&project, &["run", "spec.yaml"]);
    // A terminal sends it to the whole group.
    signal("-INT", &format!("-{}", child.id()));
    Ran::from(child.wait_with_output().unwrap())
        .exits(4)
        .shows("Interrupted");
    let run = json(&project.runs()[0]);
    assert_eq!(run["end"], "interrupted");
    assert_eq!(run["stages"][0]["invalid"][0], "interrupted");
    let pooled = &run["stages"][0]["pooled"];
    assert_eq!(
        pooled["outcomes"]["completed"], pooled["scheduled"],
        "nothing failed: {}",
        pooled["outcomes"]
    );
}

#[test]
fn sigterm_in_ab_leaves_a_report_and_never_a_pass() {
    let project = endless();
    let child = start(&project, &["ab", "spec.yaml"]);
    signal("-TERM", &child.id().to_string());
    Ran::from(child.wait_with_output().unwrap())
        .exits(4)
        .says("interrupted; what was measured is in");
    let report = json(&project.sessions()[0].join("report.json"));
    assert_ne!(report["verdict"], "pass");
    assert_eq!(entries(&project.sessions()[0].join("runs")).len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn an_engine_ends_with_a_parent_that_was_killed() {
    let project = endless();
    let mut child = start(&project, &["run", "spec.yaml"]);
    let pid = child.id();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let engines: Vec<&str> = children.split_whitespace().collect();
    assert_eq!(engines.len(), 1, "one engine: {children}");
    child.kill().unwrap();
    child.wait().unwrap();
    // Whoever inherits it may leave it a zombie.
    let alive = || {
        std::fs::read_to_string(format!("/proc/{}/stat", engines[0]))
            .is_ok_and(|stat| !stat.contains(") Z "))
    };
    while alive() {
        std::thread::yield_now();
    }
}

#[test]
fn it_stops_while_a_silent_target_is_asked_what_it_is() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let project = Project::with_spec(&SMALL.replace("sim: SIM", &format!("url: '{base}'")));
    let child = project
        .command(&["run", "spec.yaml"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let connection = listener.accept().unwrap();
    signal("-INT", &child.id().to_string());
    Ran::from(child.wait_with_output().unwrap())
        .exits(4)
        .says("interrupted before any request was sent");
    drop(connection);
}
