//! `infergate doctor`: what it finds on this machine, and what it makes of a spec.
//!
//! How much the machine drives is its own affair, so nothing here depends on that: where a stage is
//! to fit or not, the headroom comes from a file.

use serde_json::Value;

use crate::support::{Project, SMALL, json};

/// What a machine of 4,000 req/s, 1,000 streams and 972 connections prints.
pub(crate) const HERE: &str = r#"{
  "format": "infergate.doctor/1",
  "headroom": {
    "requests": {
      "best": {"load": 4000.0, "events_per_s": 64000.0, "lateness_p50_s": 6e-5, "lateness_p99_s": 0.0012},
      "broke": {"load": 5657.0, "events_per_s": 80000.0, "lateness_p50_s": 0.002, "lateness_p99_s": 0.02,
                "strain": {"late": {"p99_s": 0.02, "limit_s": 0.005}}}
    },
    "streams": {
      "best": {"load": 1000.0, "events_per_s": 100000.0, "lateness_p50_s": 0.0, "lateness_p99_s": 0.0}
    },
    "machine": {"cores": 2.0, "open_files": {"soft": 1024, "hard": 4096, "used": 20}, "release": true}
  }
}"#;

fn project(spec: &str) -> Project {
    let project = Project::with_spec(spec);
    std::fs::write(project.path("here.json"), HERE).unwrap();
    project
}

fn with_stage(stage: &str) -> String {
    let from = SMALL.find("  - {name: steady").unwrap();
    let to = SMALL.find("gate:\n").unwrap();
    format!("{}  - {stage}\n{}", &SMALL[..from], &SMALL[to..]).replace("SIM", "test")
}

const JUDGE: [&str; 4] = ["doctor", "spec.yaml", "--headroom", "here.json"];

#[test]
fn a_machine_is_measured_and_what_it_prints_judges_later() {
    let project = Project::new("test");
    let ran = project.run(&["doctor", "--quick", "--json"]).exits(0);
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(found["format"], "infergate.doctor/1");
    let headroom = &found["headroom"];
    for search in ["requests", "streams"] {
        let readings = headroom[search].as_object().unwrap();
        assert!(!readings.is_empty(), "{search} was tried: {headroom}");
        for (name, reading) in readings {
            let broke = reading["strain"].is_object() || reading["strain"].is_string();
            assert_eq!(broke, name == "broke", "{reading}");
            assert!(reading["load"].as_f64().unwrap() >= 1.0);
        }
    }
    assert!(headroom["machine"]["cores"].as_f64().unwrap() > 0.0);
    assert!(
        ran.err.contains("trying 250 requests a second"),
        "{}",
        ran.err
    );
    assert!(
        !project.path("infergate-out").exists(),
        "trials leave nothing"
    );

    std::fs::write(project.path("here.json"), &ran.out).unwrap();
    let again = project.run(&["doctor", "--headroom", "here.json", "--json"]);
    let again: Value = serde_json::from_str(&again.exits(0).out).unwrap();
    assert_eq!(again, found);
}

#[test]
fn stages_that_fit_pass() {
    let project = project(&with_stage(
        "{name: steady, open: {rate: 40/s, arrivals: constant}, duration: 10s, warmup: 1s, in_flight: 100}",
    ));
    project
        .run(&JUDGE)
        .exits(0)
        .shows("4,000 req/s in an open loop, and at least 1,000 streams")
        .shows("1 of 1 stage of small fits")
        // 972 connections for 100.
        .shows("steady: fits × 9.7");
}

#[test]
fn a_stage_beyond_the_headroom_is_named_with_what_to_do() {
    let project = project(&with_stage(
        "{name: peak, open: {rate: 9000/s, arrivals: constant}, requests: 9000, warmup: 0, in_flight: 2000}",
    ));
    project
        .run(&JUDGE)
        .exits(4)
        .shows("0 of 1 stage of small fit")
        .shows("peak: does not fit: it asks for 9,000 req/s at its peak, there is room for 4,000 req/s")
        .shows("drive it from 3 machines")
        .shows("it may open 2,000 connections, there is room for 972")
        .shows("ulimit -n 2052");
    let ran = project.run(&[&JUDGE[..], &["--json"]].concat()).exits(4);
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    let stage = &found["stages"][0];
    assert_eq!(stage["fits"], false);
    assert_eq!(stage["demand"]["peak_rps"], 9000.0);
    assert_eq!(stage["demand"]["events_per_s"], 54_000.0);
    assert_eq!(stage["checks"][0]["aspect"], "rate");
}

#[test]
fn a_target_is_asked() {
    let project = Project::new("test");
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let silent = SMALL.replace("sim: SIM", &format!("url: 'http://127.0.0.1:{port}'"));
    std::fs::write(project.path("spec.yaml"), silent).unwrap();
    std::fs::write(project.path("here.json"), HERE).unwrap();
    // The headroom is judged all the same: the server may be started later.
    project
        .run(&JUDGE)
        .exits(4)
        .shows("1 of 1 stage of small fits")
        .shows("does not answer")
        .shows("start the server, or correct `target.url`");

    let mut engine = project
        .command(&["sim", "test", "--parent-watch"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = engine.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap();
    let spec = SMALL.replace("sim: SIM", &format!("url: '{url}'"));
    std::fs::write(project.path("spec.yaml"), spec).unwrap();
    project
        .run(&JUDGE)
        .exits(0)
        .shows("`sim/test`, the only one")
        .shows("Nothing is in the way of a run");
    drop(engine.stdin.take());
    engine.wait().unwrap();
}

#[test]
fn a_bad_spec_and_a_bad_headroom_exit_2_before_anything_is_measured() {
    let broken = project(&SMALL.replace("infergate: 1", "infergate: 9"));
    let ran = broken.run(&["doctor", "spec.yaml"]).exits(2);
    assert!(!ran.err.contains("trying"), "{}", ran.err);
    let project = project(&SMALL.replace("SIM", "test"));
    for text in ["{}", "not JSON", &HERE.replace("doctor/1", "doctor/9")] {
        std::fs::write(project.path("here.json"), text).unwrap();
        project
            .run(&JUDGE)
            .exits(2)
            .says("cannot read the headroom `here.json`")
            .says("write it with `infergate doctor --json`");
    }
    let kept = json(&project.path("spec.yaml").with_file_name("here.json"));
    assert_eq!(kept["format"], "infergate.doctor/9");
}
