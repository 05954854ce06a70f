//! `infergate ab --resume`: sessions that were cut off go on.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::support::{Engine, Port, Project, Ran, SMALL, entries, json};

/// Two engines launched in turn, and one look at five pairs.
fn launched(port: &Port) -> Project {
    let engine = |words: &str| {
        let (binary, number) = (env!("CARGO_BIN_EXE_infergate"), port.number());
        format!("launch: {{command: ['{binary}', sim, test, --port, {number}, {words}]}}")
    };
    let target = format!(
        "url: 'http://127.0.0.1:{}', {}",
        port.number(),
        engine("--slower, 2000%")
    );
    let spec = SMALL
        .replace("sim: SIM", &target)
        .replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:");
    Project::with_spec(&format!("{spec}baseline: {{{}}}\n", engine("--seed, 0")))
}

fn start(project: &Project, words: &[&str]) -> Child {
    project
        .command(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until so many runs of the first session are on disk.
fn wait_for_runs(project: &Project, child: &mut Child, least: usize) {
    while project.runs().len() < least {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
}

fn session(project: &Project) -> PathBuf {
    let sessions = project.sessions();
    assert_eq!(sessions.len(), 1, "one session: {sessions:?}");
    sessions[0].clone()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A session whose first pair, and perhaps more, is there; then it was killed.
fn killed(project: &Project, words: &[&str], least: usize) -> PathBuf {
    let mut child = start(project, words);
    wait_for_runs(project, &mut child, least);
    child.kill().unwrap();
    child.wait().unwrap();
    session(project)
}

#[test]
fn a_killed_session_goes_on_to_the_verdict_of_one_that_was_not() {
    let port = Port::reserve();
    let project = launched(&port);
    // A pair, and one run of the next.
    let session = killed(&project, &["ab", "spec.yaml"], 3);
    let before = project.runs();
    let ran = project.run(&["ab", "--resume", text(&session)]);
    let ran = ran.exits(1).says("going on with").shows("e2e.p50");
    assert_eq!(project.sessions().len(), 1, "it is the same session");

    let runs: Vec<_> = project.runs().iter().map(|run| json(run)).collect();
    let order: Vec<String> = runs
        .iter()
        .map(|run| format!("{}{}", run["pair"], &run["side"].as_str().unwrap()[..1]))
        .collect();
    let whole = ["0b", "0c", "1c", "1b", "2b", "2c", "3c", "3b", "4b", "4c"];
    assert_eq!(order, whole, "{}", ran.err);
    for field in ["session", "trace_digest", "prompt_calibration"] {
        assert!(
            runs.iter().all(|run| run[field] == runs[0][field]),
            "{field}"
        );
    }
    let aside = entries(&session.join("set-aside"));
    assert_eq!(aside.len(), before.len() % 2, "half a pair was set aside");
    assert!(
        before[..2].iter().all(|run| run.exists()),
        "what stood stands"
    );

    let report = json(&session.join("report.json"));
    let again = project.run(&["compare", text(&session), "--json"]).exits(1);
    let again: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["findings"], report["findings"]);

    // Nothing is left to do, and nothing is started for it.
    let logs = entries(&session.join("logs")).len();
    let name = session.file_name().unwrap().to_str().unwrap();
    project
        .run(&["ab", "spec.yaml", "--resume", name])
        .exits(1)
        .says("no pair is left to take");
    assert_eq!(entries(&session.join("logs")).len(), logs);
}

#[test]
fn an_interrupted_session_names_the_command_that_goes_on() {
    let spec = SMALL
        .replace("SIM", "test")
        .replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:");
    let project = Project::with_spec(&spec);
    let words = ["ab", "spec.yaml", "--candidate-sim", "test --slower 2000%"];
    let mut child = start(&project, &words);
    wait_for_runs(&project, &mut child, 2);
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap()).exits(4);
    let (_, command) = ran.err.rsplit_once("to go on: infergate ").unwrap();
    let words: Vec<&str> = command.split_whitespace().collect();
    assert_eq!(words[..2], ["ab", "--resume"]);
    project.run(&words).exits(1).shows("e2e.p50");
    let runs = project.runs();
    assert_eq!((runs.len(), project.sessions().len()), (10, 1));
    let candidate = json(&runs[9]);
    let args = &candidate["pins"]["engine.args"]["observed"]["seen"]["value"];
    assert_eq!(args, "test --slower 2000%", "sides are the session's own");
}

#[test]
fn another_spec_another_target_and_another_dataset_are_refused() {
    let port = Port::reserve();
    let project = launched(&port);
    let session = killed(&project, &["ab", "spec.yaml"], 2);
    let spec = std::fs::read_to_string(project.path("spec.yaml")).unwrap();
    std::fs::write(project.path("other.yaml"), spec.replace("60%", "50%")).unwrap();
    project
        .run(&["ab", "other.yaml", "--resume", text(&session)])
        .exits(2)
        .says("is not the spec of");
    project
        .run(&["ab", "--resume", text(&session), "--candidate-sim", "test"])
        .exits(2)
        .says("cannot be used with");

    let old = Engine::start(&["test"]);
    let new = Engine::start(&["test", "--slower", "10%"]);
    let spec = SMALL.replace("sim: SIM", "url: '${TARGET_URL}'");
    let project = Project::with_spec(&(spec + "baseline: {sim: test}\n"));
    let with = |engine: &Engine, words: &[&str]| {
        let mut command = project.command(words);
        command.env("TARGET_URL", format!("http://{}", engine.address));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let mut child = with(&old, &["ab", "spec.yaml"]).spawn().unwrap();
    wait_for_runs(&project, &mut child, 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let session = self::session(&project);
    let runs = project.runs().len();
    let ran: Ran = with(&new, &["ab", "--resume", text(&session)])
        .output()
        .unwrap()
        .into();
    ran.exits(3)
        .says("the candidate is not what it was")
        .says("`engine.args` was `test` and is `test --slower 10%`");
    assert!(project.runs().len() <= runs, "nothing was measured");
}

#[test]
fn a_changed_dataset_is_refused() {
    let spec = SMALL
        .replace("SIM", "test")
        .replace("input: 40, output: 6", "dataset: {file: prompts.jsonl}");
    let project = Project::with_spec(&spec);
    let prompts = "{\"prompt\": \"one two three\", \"output_tokens\": 6}\n";
    std::fs::write(project.path("prompts.jsonl"), prompts).unwrap();
    let session = killed(&project, &["ab", "spec.yaml"], 2);
    std::fs::write(project.path("prompts.jsonl"), prompts.replace('6', "7")).unwrap();
    project
        .run(&["ab", "--resume", text(&session)])
        .exits(3)
        .says("one of its traces or datasets changed");
}

#[test]
fn what_cannot_go_on_is_said() {
    let project = Project::new("test");
    project
        .run(&["ab", "--resume", "gone"])
        .exits(2)
        .says("name the folder of a session of `ab`");
    project.run(&["run", "spec.yaml"]).exits(0);
    let session = session(&project);
    project
        .run(&["ab", "--resume", text(&session)])
        .exits(2)
        .says("name the folder of a session of `ab`");
    project.run(&["ab"]).exits(2).says("SPEC");

    let endless = SMALL
        .replace("SIM", "test")
        .replace("requests: 60", "duration: 10m");
    let project = Project::with_spec(&endless);
    let mut child = start(&project, &["ab", "spec.yaml"]);
    project.wait_for_load(&mut child);
    let session = self::session(&project);
    project
        .run(&["ab", "--resume", text(&session)])
        .exits(2)
        .says("still running in another process");
    child.kill().unwrap();
    child.wait().unwrap();
}
