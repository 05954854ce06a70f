//! What the figures owe the reader: a stall shows where it can be seen, and is announced where it
//! can't; a client that could not keep up calls its own run invalid.

use serde_json::Value;

use crate::support::{Project, SMALL, json};

/// Freezes for 2 s once, some way into the window: calibration and warm-up take fewer requests.
const FREEZES: &str = "test --freeze-after 80 --freeze-for 2s";

fn stage(project: &Project) -> Value {
    json(&project.runs()[0])["stages"][0].clone()
}

fn e2e(stage: &Value) -> &Value {
    &stage["pooled"]["distributions"]["e2e"]
}

fn p99(stage: &Value) -> f64 {
    e2e(stage)["quantiles"]["p99"]["value_s"].as_f64().unwrap()
}

#[test]
fn an_open_loop_shows_a_stall_in_full() {
    let spec = SMALL
        .replace("SIM", FREEZES)
        .replace("requests: 60", "requests: 200")
        .replace(
            "closed: {users: 2}",
            "open: {rate: 100/s, arrivals: constant}",
        );
    let project = Project::with_spec(&spec);
    // The requests that are due in the stall are all sent, and wait.
    let ran = project.run(&["run", "spec.yaml"]);
    let stage = stage(&project);
    assert_eq!(stage["pooled"]["outcomes"]["completed"], 200, "{}", ran.out);
    let p99 = p99(&stage);
    assert!(p99 > 1.9, "a stall of 2 s is {p99} s at p99");
    let slow = |quantile: &str| e2e(&stage)["quantiles"][quantile]["value_s"].as_f64();
    // Half of the requests were due within it.
    assert!(slow("p50").unwrap() > 0.1, "{:?}", slow("p50"));
    assert!(!ran.out.contains("a closed loop waits"), "{}", ran.out);
}

#[test]
fn a_closed_loop_hides_a_stall_and_says_that_it_can() {
    let spec = SMALL
        .replace("SIM", FREEZES)
        .replace("requests: 60", "requests: 400");
    let project = Project::with_spec(&spec);
    project
        .run(&["run", "spec.yaml"])
        .shows("one stall, however long, touches at most 2 of these 400 requests")
        .shows("percentiles up to p99.4 can hide it");
    let stage = stage(&project);
    let (p99, most) = (p99(&stage), e2e(&stage)["max_s"].as_f64().unwrap());
    assert!(most > 1.9, "the longest took {most} s");
    assert!(p99 < most / 2.0, "two of 400 reach no p99: {p99} s");
    let path = project.runs()[0].display().to_string();
    let report = project.run(&["report", &path]);
    report.exits(0).shows("- Note: a closed loop waits");
}

#[test]
fn a_client_that_cannot_keep_up_calls_its_run_invalid() {
    // Long prompts at a rate that no machine writes them at: 200 of 100 kB within 2 ms.
    let spec = SMALL
        .replace("SIM", "'null'")
        .replace("input: 40", "input: 20000")
        .replace("requests: 60, warmup: 4", "requests: 200, warmup: 0")
        .replace(
            "closed: {users: 2}",
            "open: {rate: 100000/s, arrivals: constant}, in_flight: 1000",
        );
    let project = Project::with_spec(&spec);
    let ran = project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .shows("Invalid run of small: 1 stage of 1 can be neither baseline nor pass")
        .shows("invalid: ");
    let stage = stage(&project);
    let reasons = stage["invalid"].as_array().unwrap();
    let late = reasons.iter().find_map(|reason| reason.get("late"));
    let late = late.unwrap_or_else(|| panic!("{reasons:?}\n{}", ran.out));
    assert!(late["p99_s"].as_f64() > late["limit_s"].as_f64(), "{late}");
    // Nothing of it is the target's fault: all were sent, and all came back.
    assert_eq!(stage["health"]["cap_hits"], 0);
    assert_eq!(stage["pooled"]["outcomes"]["completed"], 200);
    // A run that spoilt itself is no baseline.
    let session = project.sessions()[0].display().to_string();
    let promoted = project.run(&["baseline", "promote", &session, "--reason", "x"]);
    assert_ne!(promoted.code, Some(0), "{}", promoted.out);
}
