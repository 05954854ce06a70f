//! The life of an engine that infergate launches, and what it says of itself, for whatever engine is
//! here. Off unless told how to start one; a port is added to the command:
//!
//! ```sh
//! INFERGATE_LAUNCH="vllm serve MODEL --max-num-seqs 4 --port" \
//!   cargo test --test any_engine -- --ignored --test-threads 1 --nocapture
//! ```
//!
//! Counts have to be equal and clocks in order; how long anything takes is printed and never asserted.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests: a panic is the failure")]
#![allow(
    clippy::print_stdout,
    reason = "what was measured is worth reading, with --nocapture"
)]

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

#[path = "it/support.rs"]
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod support;
#[path = "it/valid.rs"]
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod valid;

use support::{Port, Project, Ran, json};

/// How the engine is started, at this port.
#[expect(
    clippy::disallowed_methods,
    reason = "the switch of this suite is a variable"
)]
fn command(port: &Port) -> String {
    let words = std::env::var("INFERGATE_LAUNCH").expect(
        "set INFERGATE_LAUNCH to the command that starts an engine, up to the number of its port, as CONTRIBUTING.md says",
    );
    let number = port.number().to_string();
    let words: Vec<&str> = words.split_whitespace().chain([number.as_str()]).collect();
    serde_json::to_string(&words).unwrap()
}

/// A launched engine, by a mark in its environment that its children inherit.
struct Life {
    project: Project,
    mark: String,
}

impl Life {
    fn new(ready: &str, stage: &str) -> Self {
        let port = Port::reserve();
        let (number, command) = (port.number(), command(&port));
        let mark = format!("{}-{number}", std::process::id());
        let spec = format!(
            "\
infergate: 1
name: life
target:
  url: http://127.0.0.1:{number}
  launch:
    command: {command}
    env: {{INFERGATE_MARK: '{mark}'}}
    ready: {ready}
    stop: {{signal: SIGTERM, grace: 60s}}
request: {{temperature: 0}}
workload:
  classes:
    - {{name: chat, input: 100, output: 16}}
stages:
  - {stage}
"
        );
        let project = Project::with_spec(&spec);
        Self { project, mark }
    }

    /// Processes of the engine without its guard, with their names, the first one first.
    fn processes(&self) -> Vec<(u32, String)> {
        let mark = format!("INFERGATE_MARK={}", self.mark);
        let all = fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_marked = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
        };
        let name = |pid: u32| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            (pid, name.trim().to_owned())
        };
        let mut found: Vec<_> = pids.filter(is_marked).map(name).collect();
        found.retain(|(_, name)| name != "infergate");
        found.sort_unstable();
        found
    }

    fn run(&self) -> Value {
        json(&self.project.runs()[0])
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // What a failed test leaves behind would be in the next one's figures.
        for (pid, _) in self.processes() {
            let _ = Command::new("kill")
                .args(["-KILL", &pid.to_string()])
                .status();
        }
    }
}

const READY: &str = "{then: first request, within: 10m}";

#[test]
#[ignore = "needs an engine to launch, see CONTRIBUTING.md"]
fn what_client_and_engine_both_count_is_equal() {
    let stage = "{name: steady, closed: {users: 3}, requests: 90, warmup: 6}";
    let life = Life::new(READY, stage);
    let ran = life.project.run(&["run", "spec.yaml"]).exits(0);
    println!("{}\n{}", ran.out, ran.err);
    assert_eq!(life.processes(), [], "nothing is left");
    let run = life.run();
    for (path, pin) in run["pins"].as_object().unwrap() {
        println!("{path}: {pin}");
    }
    println!("cold start: {}", run["cold_start"]);
    for pin in ["engine.name", "model.name", "limits.max_model_len"] {
        let seen = &run["pins"][pin]["observed"]["seen"]["value"];
        assert!(seen.is_string(), "{pin} is {}", run["pins"][pin]);
    }
    let stage = &run["stages"][0];
    let engine = &stage["engine"]["seen"];
    println!("{}", serde_json::to_string_pretty(engine).unwrap());
    let check = &engine["cross_check"];
    let counts = check["counts"].as_array().unwrap();
    assert!(!counts.is_empty(), "{engine}");
    for both in counts {
        assert_eq!(both["client"], both["engine"], "{both}");
    }
    for both in check["times"].as_array().into_iter().flatten() {
        let seconds = |side: &str| both[side].as_f64().unwrap();
        assert!(seconds("client_s") >= seconds("engine_s"), "{both}");
    }
    let cold = |pointer: &str| {
        run["cold_start"]
            .pointer(pointer)
            .unwrap()
            .as_f64()
            .unwrap()
    };
    assert!(cold("/ready_s") > cold("/warm/answered/e2e_s"));
}

#[test]
#[ignore = "needs an engine to launch, see CONTRIBUTING.md"]
fn an_engine_that_is_killed_in_mid_run_leaves_its_last_words_and_no_process() {
    let stage = "{name: steady, closed: {users: 2}, duration: 10m, warmup: 6}";
    let life = Life::new(READY, stage);
    let mut child = life
        .project
        .command(&["run", "spec.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    life.project.wait_for_load(&mut child);
    let processes = life.processes();
    println!("{processes:?}");
    let (first, _) = processes[0];
    let sent = Command::new("kill")
        .args(["-KILL", &first.to_string()])
        .status();
    assert!(sent.unwrap().success());
    Ran::from(child.wait_with_output().unwrap()).exits(4);
    let end = life.run()["end"]["target-lost"]["error"].to_string();
    println!("{end}");
    assert!(end.contains("the launched engine ended"), "{end}");
    assert!(end.contains("its log ends: "), "{end}");
    assert_eq!(life.processes(), [], "nothing is left");
}

#[test]
#[ignore = "needs an engine to launch, see CONTRIBUTING.md"]
fn an_engine_that_never_gets_ready_is_ended_with_its_log_shown() {
    let stage = "{name: steady, closed: {users: 2}, requests: 90}";
    let life = Life::new("{http: /never, within: 15s}", stage);
    let ran = life.project.run(&["run", "spec.yaml"]).exits(4);
    println!("{}", ran.err);
    let ran = ran.says("/never").says("15s");
    assert!(ran.err.contains("log"), "{}", ran.err);
    assert_eq!(life.processes(), [], "nothing is left");
    assert_eq!(life.project.runs(), Vec::<std::path::PathBuf>::new());
}
