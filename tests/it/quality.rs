//! Quality beside speed: checks of answers, agreement with the baseline, imported scores.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use crate::support::{Project, entries, json};

/// Prompts that are all different.
fn prompts(count: u32) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "{{\"prompt\": \"Give me object {number} as JSON.\"}}");
        text
    })
}

const CHECKED: &str = "\
infergate: 1
name: checked
target: {sim: test --answers json, api: chat}
under_test: [engine.args]
workload:
  seed: 7
  classes:
    - name: extract
      dataset: prompts.jsonl
      max_output: 40
      quality:
        - json_schema: {type: object, required: [n, word], properties: {n: {type: integer}}}
        - regex: '\"n\": \\d+'
stages:
  - {name: steady, closed: {users: 4}, requests: 60, warmup: 4}
gate:
  repeats: {min: 5, max: 5}
  cells:
    - {metric: e2e.p50, worse_by: 400%}
    - {metric: quality.valid_json, worse_by: 10pp}
    - {metric: quality.regex, worse_by: 10pp}
";

fn checked() -> Project {
    let project = Project::with_spec(CHECKED);
    fs::write(project.path("prompts.jsonl"), prompts(60)).unwrap();
    project
}

const AGREED: &str = "\
infergate: 1
name: agreed
target: {sim: test, api: chat}
under_test: [engine.args]
request: {temperature: 0}
workload:
  seed: 7
  classes:
    - {name: chat, input: 40, output: 12, quality: [{agreement: true}]}
stages:
  - {name: steady, closed: {users: 4}, requests: 60, warmup: 4}
gate:
  repeats: {min: 5, max: 5}
  cells:
    - {metric: e2e.p50, worse_by: 400%}
    - {metric: quality.agreement, worse_by: 5pp, at_least: 90%}
";

fn report(project: &Project) -> serde_json::Value {
    json(&project.sessions().last().unwrap().join("report.json"))
}

fn finding<'a>(report: &'a serde_json::Value, metric: &str, limit: &str) -> &'a serde_json::Value {
    let findings = report["findings"].as_array().unwrap();
    let is = |finding: &&serde_json::Value| {
        finding["cell"]["metric"] == metric && !finding["limit"][limit].is_null()
    };
    findings
        .iter()
        .find(is)
        .unwrap_or_else(|| panic!("no {metric} by {limit} in {findings:#?}"))
}

/// All records of a session as text.
fn records(session: &Path) -> String {
    let mut text = String::new();
    for path in entries(&session.join("records")) {
        let file = fs::File::open(path).unwrap();
        flate2::read::MultiGzDecoder::new(file)
            .read_to_string(&mut text)
            .unwrap();
    }
    text
}

#[test]
fn answers_that_are_no_json_any_more_are_a_regression_of_that_alone() {
    let project = checked();
    project
        .run(&[
            "ab",
            "spec.yaml",
            "--candidate-sim",
            "test --answers json --corrupt-share 50%",
        ])
        .exits(1);
    let report = report(&project);
    let valid = finding(&report, "quality.valid_json", "worse-by-points");
    assert_eq!(valid["state"], "regressed", "{valid:#}");
    assert_eq!(valid["baseline"]["value"], 1.0);
    let share = valid["candidate"]["value"].as_f64().unwrap();
    assert!((0.3..0.7).contains(&share), "{share}");
    assert_eq!(
        finding(&report, "quality.regex", "worse-by-points")["state"],
        "ok",
        "the number still stands in each answer"
    );
    assert_ne!(
        finding(&report, "e2e.p50", "worse-by")["state"],
        "regressed"
    );

    let session = project.sessions().remove(0);
    let candidate = entries(&session.join("runs"))
        .iter()
        .map(|path| json(path))
        .find(|run| run["side"] == "candidate")
        .unwrap();
    let pooled = &candidate["stages"][0]["pooled"];
    let checks = &pooled["quality"]["checks"]["valid_json"];
    assert_eq!(checks["of"], 60);
    let failed = 60 - checks["passed"].as_u64().unwrap();
    assert_eq!(pooled["outcomes"]["invalid_output"], failed);
    let records = records(&session);
    assert!(records.contains("\"failed\":[\"valid_json\"]"));
    assert!(!records.contains("\\\"word\\\""), "no text is kept unasked");
    // And the files alone say the same again.
    let again = project.run(&["compare", session.to_str().unwrap(), "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again.exits(1).out).unwrap();
    assert_eq!(again["findings"], report["findings"]);
}

#[test]
fn the_same_engine_agrees_with_itself() {
    let project = Project::with_spec(AGREED);
    project.run(&["ab", "spec.yaml"]).exits(0);
    let report = report(&project);
    let agreement = finding(&report, "quality.agreement", "worse-by-points");
    assert_eq!(agreement["state"], "ok", "{agreement:#}");
    assert_eq!(agreement["baseline"]["value"], 1.0);
    assert_eq!(agreement["candidate"]["value"], 1.0);
    assert_eq!(agreement["alike"]["compared"], 300);
    assert_eq!(agreement["alike"]["differing"], 0);
    let session = project.sessions().remove(0);
    for run in entries(&session.join("runs")) {
        assert!(run.metadata().unwrap().len() < 50_000);
    }
}

#[test]
fn other_weights_answer_otherwise_and_the_report_says_from_where() {
    let project = Project::with_spec(AGREED);
    project
        .run(&[
            "ab",
            "spec.yaml",
            "--candidate-sim",
            "test --corrupt-share 40%",
        ])
        .exits(1);
    let report = report(&project);
    for limit in ["worse-by-points", "at-least"] {
        let agreement = finding(&report, "quality.agreement", limit);
        assert_eq!(agreement["state"], "regressed", "{agreement:#}");
        let share = agreement["candidate"]["value"].as_f64().unwrap();
        assert!((0.4..0.8).contains(&share), "{share}");
        assert_eq!(
            agreement["baseline"]["value"], 1.0,
            "its runs among each other"
        );
        let until = agreement["alike"]["until"].as_u64().unwrap();
        assert!((12..=48).contains(&until), "half of twelve words: {until}");
    }
    let session = project.sessions().remove(0);
    let markdown = fs::read_to_string(session.join("report.md")).unwrap();
    assert!(markdown.contains("pairs of answers differ"), "{markdown}");
}

#[test]
fn texts_are_kept_where_the_spec_asks() {
    let spec = CHECKED.replace("workload:", "records: {text: all}\nworkload:");
    let project = Project::with_spec(&spec);
    fs::write(project.path("prompts.jsonl"), prompts(60)).unwrap();
    project.run(&["run", "spec.yaml"]).exits(0);
    let records = records(&project.sessions()[0]);
    assert!(records.contains("\\\"word\\\""), "answers");
    assert!(records.contains("Give me object 17 as JSON."), "and bodies");
}

/// A result file with one task.
fn scores(value: f64) -> String {
    serde_json::json!({
        "results": {"gsm8k": {"alias": "gsm8k", "exact_match,strict-match": value,
                              "exact_match_stderr,strict-match": 0.01}},
        "n-samples": {"gsm8k": {"original": 1319, "effective": 1319}},
    })
    .to_string()
}

fn imported() -> Project {
    let spec = AGREED
        .replace(
            "workload:",
            "quality: {import: {gsm8k: {baseline: base.json, candidate: head.json, metric: exact_match}}}\nworkload:",
        )
        .replace(
            "    - {metric: quality.agreement, worse_by: 5pp, at_least: 90%}",
            "    - {metric: quality.imported.gsm8k, worse_by: 5pp}",
        );
    Project::with_spec(&spec)
}

#[test]
fn scores_of_another_tool_are_judged_beside_speed() {
    for (head, code, state) in [(0.66, 1, "regressed"), (0.751, 0, "ok")] {
        let project = imported();
        fs::write(project.path("base.json"), scores(0.75)).unwrap();
        fs::write(project.path("head.json"), scores(head)).unwrap();
        project.run(&["ab", "spec.yaml"]).exits(code);
        let report = report(&project);
        let score = finding(&report, "quality.imported.gsm8k", "worse-by-points");
        assert_eq!(score["state"], state, "{score:#}");
        assert_eq!(score["baseline"]["value"], 0.75);
        assert_eq!(score["candidate"]["value"], head);
    }
}

#[test]
fn a_result_file_that_is_wrong_costs_no_run() {
    let project = imported();
    fs::write(project.path("base.json"), scores(0.75)).unwrap();
    project
        .run(&["ab", "spec.yaml"])
        .exits(2)
        .says("cannot import `gsm8k`")
        .says("head.json");
    fs::write(project.path("head.json"), "{\"results\": {}}").unwrap();
    project
        .run(&["ab", "spec.yaml"])
        .exits(2)
        .says("has no task `gsm8k`");
    assert!(project.runs().is_empty());
}
