//! A real engine that refuses, and one that dies.

use std::process::Stdio;

use infergate::archive::RecordReader;
use infergate::sample::{Outcome, OutcomeKind};

use crate::engine::{Engine, SHORT, spec};
use crate::support::{Project, Ran, entries, json};

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn prompts_beyond_the_context_are_counted_with_the_engine_s_words() {
    let engine = Engine::start("f16");
    let workload = SHORT.replace("input: 96", "input: 3000");
    let stage = "stages:\n  - {name: long, closed: {users: 2}, requests: 20, warmup: 2}\n";
    let project = Project::with_spec(&spec(&engine, &[&workload, stage]));
    let ran = project.run(&["run", "spec.yaml"]);
    println!("{:?}\n{}\n{}", ran.code, ran.out, ran.err);
    let ran = ran
        .exits(4)
        .shows("http error 20")
        .shows("exceeds the available context size");
    assert!(!ran.err.contains("panic"), "{}", ran.err);
    let run = json(&project.runs()[0]);
    assert_eq!(run["end"], "complete");
    let pooled = &run["stages"][0]["pooled"];
    assert_eq!(pooled["outcomes"], serde_json::json!({"http_error": 20}));
    assert_eq!(pooled["good"], 0);
    let records = entries(&project.sessions()[0].join("records"));
    for record in RecordReader::open(&records[0]).unwrap() {
        let record = record.unwrap();
        assert_eq!(record.outcome, Outcome::HttpError { status: 400 });
        let error = record.error.unwrap();
        assert!(error.contains("context size (2048 tokens)"), "{error}");
    }
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn an_engine_that_is_killed_is_a_lost_target() {
    let mut engine = Engine::start("f16");
    // Long enough that only the engine's end ends it.
    let stage = "stages:\n  - {name: steady, closed: {users: 3}, duration: 10m, warmup: 4}\n";
    let project = Project::with_spec(&spec(&engine, &[SHORT, stage]));
    let child = project
        .command(&["run", "spec.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The calibration makes a dozen tokens, so this many mean that requests have ended.
    while engine.counters().output_tokens < 300.0 {
        std::thread::yield_now();
    }
    engine.kill();
    let ran: Ran = child.wait_with_output().unwrap().into();
    let ran = ran.exits(4).says("target was lost");
    assert!(!ran.err.contains("panic"), "{}", ran.err);
    let run = json(&project.runs()[0]);
    assert!(
        run["end"]["target-lost"]["error"].is_string(),
        "{}",
        run["end"]
    );
    let records = entries(&project.sessions()[0].join("records"));
    let records: Vec<_> = RecordReader::open(&records[0])
        .unwrap()
        .map(|record| record.unwrap())
        .collect();
    let ended = |kind| {
        records
            .iter()
            .filter(|record| record.outcome.kind() == kind)
            .count()
    };
    assert!(ended(OutcomeKind::Completed) >= 15, "{records:?}");
    assert!(ended(OutcomeKind::ConnectError) >= 20, "{records:?}");
}
