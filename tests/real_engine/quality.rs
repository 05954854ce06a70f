//! Quality beside speed: a quantization against F16, and F16 against itself, in one report each.

use serde_json::Value;

use crate::engine::{Engine, spec};
use crate::support::{Project, json};

const ASKED: &str = "\
under_test: [precision.weights]
workload:
  seed: 7
  classes:
    - {name: chat, input: 96, output: 24, quality: [{agreement: true}]}
stages:
  - {name: closed, closed: {users: 2}, requests: 60, warmup: 6}
gate:
  repeats: {min: 3, max: 3}
  cells:
    - {metric: e2e.p50, worse_by: 80%, floor: 20ms}
    - {metric: tpot.p50, worse_by: 80%, floor: 5ms}
    - {metric: quality.agreement, worse_by: 20pp}
    - {metric: quality.agreement, at_least: 60%}
";

/// The report of F16 against this quantization, and the shares of answers that agree: the baseline's
/// runs among each other, and the candidate's with the baseline's.
fn against_f16(candidate: Option<&'static str>) -> (Value, f64, f64) {
    let f16 = Engine::start("f16");
    let other = candidate.map(Engine::start);
    let project = Project::with_spec(&spec(&f16, &[ASKED]));
    let url = other.as_ref().unwrap_or(&f16).url();
    project.run(&["ab", "spec.yaml", "--candidate-url", url]);
    let session = project.sessions().remove(0);
    let report = json(&session.join("report.json"));
    println!(
        "{}",
        std::fs::read_to_string(session.join("report.md")).unwrap()
    );
    let findings = report["findings"].as_array().unwrap();
    let speed =
        |finding: &&Value| finding["gated"] == true && finding["cell"]["metric"] == "e2e.p50";
    assert!(findings.iter().any(|finding| speed(&finding)), "{report:#}");
    let agreement = relative(&report);
    let share = |side: &str| agreement[side]["value"].as_f64().unwrap();
    let shares = (share("baseline"), share("candidate"));
    println!("agreement: {shares:?}, {}", agreement["alike"]);
    (report, shares.0, shares.1)
}

/// The finding of agreement by its tolerance.
fn relative(report: &Value) -> &Value {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| {
            finding["cell"]["metric"] == "quality.agreement"
                && finding["limit"]["worse-by-points"].is_number()
        })
        .unwrap()
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn four_bits_answer_otherwise_and_the_verdict_says_so_beside_speed() {
    let (report, itself, other) = against_f16(Some("q4_0"));
    assert!(other < 0.5 && other < itself - 0.3, "{itself} {other}");
    assert_eq!(relative(&report)["state"], "regressed", "{report:#}");
    assert_eq!(report["verdict"], "regression");
    assert!(relative(&report)["alike"]["until"].is_u64());
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn f16_agrees_with_f16_as_it_does_with_itself() {
    let (report, itself, other) = against_f16(None);
    assert!((itself - other).abs() < 0.2, "{itself} {other}");
    assert_ne!(relative(&report)["state"], "regressed", "{report:#}");
}
