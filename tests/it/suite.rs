//! Several specs as one: a folder of them, a matrix, one verdict.

use std::fs;

use crate::support::{Project, Ran, SMALL, entries, json};

/// A folder of specs on the embedded engine, with a suite's file where there is one.
fn folder(specs: &[(&str, &str)], suite: Option<&str>) -> Project {
    let project = Project::new("test");
    fs::create_dir(project.path("specs")).unwrap();
    for (name, text) in specs {
        fs::write(project.path("specs").join(name), text).unwrap();
    }
    if let Some(suite) = suite {
        fs::write(project.path("specs/suite.yaml"), suite).unwrap();
    }
    project
}

fn spec(name: &str, more: &str) -> String {
    let spec = SMALL
        .replace("SIM", "test")
        .replace("name: small", &format!("name: {name}"));
    spec.replace("gate:\n", &format!("gate:\n{more}"))
}

const PASSES: &str = "  no_baseline: pass\n";

/// The suite's own folder, newest last.
fn suite_folder(project: &Project) -> std::path::PathBuf {
    let mut folders = project.sessions();
    folders.retain(|folder| folder.join("report.json").is_file());
    folders.pop().unwrap()
}

#[test]
fn a_folder_of_specs_is_one_verdict_the_worst_of_its_members() {
    let good = spec("good", PASSES);
    let bad = spec("bad", PASSES).replace("worse_by: 60%", "at_most: 1us");
    let wrong = spec("wrong", "").replace("requests: 60", "requests: many");
    let project = folder(
        &[
            ("a-good.yaml", &good),
            ("b-wrong.yaml", &wrong),
            ("c-bad.yaml", &bad),
            ("_shared.yaml", "no spec: at all\n"),
            ("notes.txt", "nor this"),
        ],
        None,
    );
    // A spec with a mistake ends by 2, and the others are measured all the same.
    let ran = project
        .run(&["gate", "specs"])
        .exits(2)
        .says("member 1 of 3: a-good")
        .says("member 2 of 3: b-wrong")
        .says("--> specs/b-wrong.yaml:")
        .says("member 3 of 3: c-bad")
        .shows("of 3 specs");
    drop(ran);
    let folder = suite_folder(&project);
    let report = json(&folder.join("report.json"));
    assert_eq!(report["format"], "infergate.suite/1");
    assert_eq!(report["exit_code"], 2);
    let exits: Vec<&serde_json::Value> = report["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["exit"])
        .collect();
    assert_eq!(exits, ["pass", "usage", "regression"]);
    let junit = fs::read_to_string(folder.join("junit.xml")).unwrap();
    assert_eq!(junit.matches("<testsuites").count(), 1);
    for name in ["good", "b-wrong", "bad"] {
        assert!(junit.contains(name), "{junit}");
    }
    assert!(junit.contains("<error type=\"invalid\""), "{junit}");
    let markdown = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(
        markdown.contains("`requests` of stage `steady`") || markdown.contains("requests"),
        "{markdown}"
    );
    assert_eq!(
        entries(&folder.join("members")).len(),
        3 - 1,
        "one was never measured"
    );
    // It can be rendered and published again from there.
    project
        .run(&[
            "report",
            folder.join("report.json").to_str().unwrap(),
            "--format",
            "text",
        ])
        .exits(0)
        .shows("of 3 specs");
    // Without the mistake the regression is what stands.
    let only = [
        "gate", "specs", "--only", "*-good", "--only", "c-*", "--json",
    ];
    let ran = project.run(&only).exits(1);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["reports"].as_array().unwrap().len(), 2);
    project
        .run(&["gate", "specs", "--only", "nobody"])
        .exits(2)
        .says("no member is `nobody`; there are `a-good`, `b-wrong`, `c-bad`");
    project.run(&["gate", "specs", "--only", "a-good"]).exits(0);
}

#[test]
fn several_specs_of_a_command_are_a_suite_and_nothing_measured_is_no_pass() {
    let gone = spec("gone", PASSES).replace("sim: test", "url: 'http://127.0.0.1:1'");
    let project = folder(
        &[("a.yaml", &spec("a", PASSES)), ("gone.yaml", &gone)],
        None,
    );
    let ran = project
        .run(&["gate", "specs/gone.yaml", "specs/a.yaml"])
        .exits(4);
    ran.says("cannot reach the target")
        .shows("nothing was judged");
    let report = json(&suite_folder(&project).join("report.json"));
    assert_eq!(report["reports"][0]["verdict"], "invalid");
    assert_eq!(report["reports"][1]["exit"], "pass");
    project
        .run(&["gate", "specs", "--candidate", "x.json"])
        .exits(2)
        .says("`--candidate` names runs of one spec");
}

const MATRIX: &str = "\
infergate-suite: 1
matrix:
  engine:
    quick: {target: {sim: test}}
    slow: {target: {sim: 'test --slower 20%'}}
  quantization: [fp8, awq]
exclude:
  - {engine: slow, quantization: awq}
include:
  - {engine: other, quantization: q4, with: {target: {sim: 'test --seed 3'}}}
";

#[test]
fn a_matrix_gives_each_cell_a_name_a_baseline_and_a_line() {
    let project = folder(&[("chat.yaml", &spec("chat", PASSES))], Some(MATRIX));
    project
        .run(&["check", "specs"])
        .exits(0)
        .shows("## chat-quick-fp8")
        .shows("chat-other-q4: 1 stage");
    project
        .run(&["check", "specs", "--only", "engine=other", "--explain"])
        .exits(0)
        .shows("sim: \"test --seed 3\"  # specs/suite.yaml:10");
    project
        .run(&["gate", "specs"])
        .exits(0)
        .says("member 4 of 4: chat-other-q4");
    let folder = suite_folder(&project);
    let report = json(&folder.join("report.json"));
    let names: Vec<&serde_json::Value> = report["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["spec"]["name"])
        .collect();
    assert_eq!(
        names,
        [
            "chat-quick-fp8",
            "chat-quick-awq",
            "chat-slow-fp8",
            "chat-other-q4"
        ]
    );
    // All of it becomes the baseline by one command.
    let session = folder.to_str().unwrap();
    project
        .run(&["baseline", "promote", session, "--reason", "the first"])
        .exits(0);
    let baselines: Vec<String> = entries(&project.path("baselines"))
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name.starts_with("chat"))
        .collect();
    assert_eq!(baselines.len(), 4, "{baselines:?}");
    // And that folder of promoted specs is itself one that can be checked, each spec whole; whether its noise
    // lets anybody resolve the tolerances is another matter.
    project
        .run(&["check", "baselines"])
        .exits_any()
        .shows("## chat-slow-fp8");
}

#[test]
fn a_budget_ends_a_suite_and_says_who_was_not_reached() {
    let suite = "infergate-suite: 1\nspecs: [a.yaml, b.yaml]\nlimits: {time: 1ms}\n";
    let project = folder(
        &[
            ("a.yaml", &spec("a", PASSES)),
            ("b.yaml", &spec("b", PASSES)),
        ],
        Some(suite),
    );
    let ran: Ran = project.run(&["gate", "specs"]).exits(3);
    ran.says("`b` was not measured: the suite was stopped by its budget");
    let report = json(&suite_folder(&project).join("report.json"));
    assert_eq!(report["reports"][0]["exit"], "pass");
    assert_eq!(report["reports"][1]["exit"], "undecided");
    let why = report["reports"][1]["unjudged"].as_str().unwrap();
    assert!(
        why.starts_with("not measured: the suite was stopped by its budget"),
        "{why}"
    );
}

#[test]
fn a_suite_that_is_wrong_or_empty_says_so() {
    let project = folder(&[], None);
    project
        .run(&["gate", "specs"])
        .exits(2)
        .says("there is no spec in `specs`: a folder stands for");
    let project = folder(
        &[("a.yaml", &spec("a", ""))],
        Some("infergate-suite: 1\nspecz: [a.yaml]\n"),
    );
    project
        .run(&["gate", "specs"])
        .exits(2)
        .says("did you mean `specs`?")
        .says("--> specs/suite.yaml:2:1");
}

/// Whether requests have ended somewhere below a folder: a file of records has grown past its header.
#[cfg(unix)]
fn has_load(folder: &std::path::Path) -> bool {
    entries(folder).iter().any(|path| {
        let is_records = path
            .to_str()
            .is_some_and(|name| name.ends_with(".jsonl.gz"));
        if path.is_dir() {
            has_load(path)
        } else {
            // It may have been renamed meanwhile.
            is_records && path.metadata().is_ok_and(|file| file.len() > 200)
        }
    })
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_all_of_a_suite_and_leaves_a_report_of_it() {
    let endless = |name| spec(name, PASSES).replace("requests: 60", "duration: 10m");
    let project = folder(
        &[("a.yaml", &endless("a")), ("b.yaml", &endless("b"))],
        None,
    );
    let mut child = project
        .command(&["gate", "specs"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !has_load(&project.path("infergate-out")) {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    let sent = std::process::Command::new("kill")
        .args(["-INT", "--", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    Ran::from(child.wait_with_output().unwrap())
        .exits(4)
        .says("interrupted; what was measured is in")
        .says("`b` was not measured: the suite was interrupted before it");
    let report = json(&suite_folder(&project).join("report.json"));
    assert_eq!(report["exit"], "invalid");
    let exits: Vec<&serde_json::Value> = report["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["exit"])
        .collect();
    assert_eq!(exits, ["invalid", "undecided"]);
}
