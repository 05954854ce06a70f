//! `infergate ab`: two quantizations of one model, and an engine against itself.

use serde_json::Value;

use crate::engine::{Engine, SHORT, WORKLOAD, spec};
use crate::support::{Project, Ran, entries, json};

const STATES: [&str; 12] = [
    "regressed",
    "invalid",
    "missing",
    "incomparable",
    "suspect",
    "implausible",
    "inconclusive",
    "not-resolvable",
    "not-finished",
    "new",
    "improved",
    "ok",
];

/// Asserts that a comparison came to an end: each gated cell has a state, and what could not be
/// measured is the client's fault, as on a machine that is busy with something else.
fn assert_complete(ran: &Ran, report: &Value, gated: usize) {
    let said = format!("{}\n{}\n{report:#}", ran.out, ran.err);
    let findings: Vec<&Value> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["gated"] == true)
        .collect();
    assert_eq!(findings.len(), gated, "{said}");
    let verdict = report["verdict"].as_str().unwrap();
    match ran.code {
        Some(0) => assert_eq!(verdict, "pass", "{said}"),
        Some(1) => assert_eq!(verdict, "regression", "{said}"),
        Some(3) => assert_eq!(verdict, "undecided", "{said}"),
        Some(4) => assert_eq!(verdict, "invalid", "{said}"),
        _ => panic!("{said}"),
    }
    for finding in findings {
        let state = finding["state"].as_str().unwrap();
        assert!(STATES.contains(&state), "{said}");
        assert!(
            !["missing", "incomparable", "new"].contains(&state),
            "{said}"
        );
        if state == "invalid" {
            assert!(finding["reason"]["client-fault"].is_object(), "{said}");
        } else {
            assert!(finding["baseline"]["n"].as_u64().unwrap() > 0, "{said}");
            assert!(finding["candidate"]["n"].as_u64().unwrap() > 0, "{said}");
        }
    }
}

fn compare_quantizations(candidate: &'static str, name: &str) {
    let f16 = Engine::start("f16");
    let other = Engine::start(candidate);
    let project = Project::with_spec(&spec(
        &f16,
        &[
            "under_test: [precision.weights]\n",
            WORKLOAD,
            "\
stages:
  - {name: closed, closed: {users: 2}, requests: 60, warmup: 6}
gate:
  repeats: {min: 3, max: 5}
  cells:
    - {metric: ttft.p50, worse_by: 30%, floor: 2ms}
    - {metric: tpot.p50, worse_by: 30%}
    - {metric: e2e.p50, worse_by: 30%}
    - {metric: error_ratio, at_most: 5%}
",
        ],
    ));
    let ran = project.run(&["ab", "spec.yaml", "--candidate-url", other.url()]);
    let session = &project.sessions()[0];
    let report = json(&session.join("report.json"));
    assert_complete(&ran, &report, 4);
    let pins: Vec<&Value> = report["pins"].as_array().unwrap().iter().collect();
    assert_eq!(pins.len(), 1, "nothing but the weights differs: {pins:?}");
    assert_eq!(pins[0]["pin"], "precision.weights");
    let pin = pins[0].to_string();
    assert!(pin.contains("F16") && pin.contains(name), "{pin}");
    // Same plan, same prompts: the engine's answers differ in their text and in nothing we count.
    for run in entries(&session.join("runs")) {
        let run = json(&run);
        let pooled = &run["stages"][0]["pooled"];
        assert_eq!(pooled["outcomes"]["completed"], 60, "{pooled}");
        assert_eq!(
            pooled["tokens"]["output_observed"],
            pooled["tokens"]["output_planned"]
        );
    }
    let markdown = std::fs::read_to_string(session.join("report.md")).unwrap();
    assert!(markdown.contains("precision.weights"), "{markdown}");
    println!("{markdown}");

    let again = project.run(&["compare", session.to_str().unwrap(), "--json"]);
    assert_eq!(again.code, ran.code);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["findings"], report["findings"]);
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn f16_against_q8_0_differs_in_its_weights() {
    compare_quantizations("q8_0", "Q8_0");
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn f16_against_q4_0_differs_in_its_weights() {
    compare_quantizations("q4_0", "Q4_0");
}

/// Tolerances of 80 % on medians of one server: a regression needs the geometric mean over the
/// pairs to be shown above that, and two interleaved halves of the same load do not differ by
/// nearly as much, however busy the machine is, as both halves meet the same neighbours.
#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn the_engine_is_no_regression_of_itself() {
    let engine = Engine::start("q8_0");
    let project = Project::with_spec(&spec(
        &engine,
        &[
            SHORT,
            "\
stages:
  - {name: closed, closed: {users: 2}, requests: 60, warmup: 6}
gate:
  repeats: {min: 3, max: 5}
  cells:
    - {metric: ttft.p50, worse_by: 80%, floor: 20ms}
    - {metric: e2e.p50, worse_by: 80%, floor: 20ms}
    - {metric: error_ratio, at_most: 5%}
",
        ],
    ));
    let ran = project.run(&["ab", "spec.yaml"]);
    let session = &project.sessions()[0];
    let report = json(&session.join("report.json"));
    assert_complete(&ran, &report, 3);
    assert_ne!(report["verdict"], "regression", "{report:#}");
    assert_eq!(report["pins"], serde_json::json!([]));
    let markdown = std::fs::read_to_string(session.join("report.md")).unwrap();
    assert!(
        markdown.contains("Nothing under test differs"),
        "{markdown}"
    );
}
