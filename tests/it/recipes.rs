//! The recipes for other CIs, each as far as it runs without that CI: its own command, in a repository.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Project, Ran, SMALL};

fn recipe(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ci");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// A repository whose spec compares an engine with the embedded one.
fn repository(candidate: &str) -> Project {
    let spec = SMALL.replace("SIM", candidate) + "baseline: {sim: test}\n";
    let project = Project::with_spec(&spec);
    fs::create_dir(project.path("infergate")).unwrap();
    fs::rename(
        project.path("spec.yaml"),
        project.path("infergate/chat.yaml"),
    )
    .unwrap();
    for words in [
        &["init", "--quiet", "-b", "main"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.org",
            "commit",
            "--quiet",
            "-m",
            "x",
        ],
        &["fetch", "--quiet", ".", "main"],
    ] {
        let git = Command::new("git")
            .arg("-C")
            .arg(project.path("."))
            .args(words)
            .status();
        assert!(git.unwrap().success(), "{words:?}");
    }
    project
}

/// Runs a line of a recipe by a shell that finds this binary as `infergate`.
#[expect(clippy::disallowed_methods, reason = "the shell's own path")]
fn shell(project: &Project, line: &str) -> Ran {
    let programs = Path::new(env!("CARGO_BIN_EXE_infergate")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    // What the binary is given in tests, for the shell that starts it.
    let mut command = project.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(project.path("."));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    command.env_clear();
    shell.env("PATH", path).output().unwrap().into()
}

/// That the files which a recipe keeps are there.
fn leaves_its_files(project: &Project) {
    let session = project.sessions().pop().unwrap();
    for file in ["report.md", "report.json", "junit.xml", "metrics.txt"] {
        assert!(session.join(file).is_file(), "{file}");
    }
}

#[test]
fn gitlab() {
    let recipe: Value = serde_yaml::from_str(&recipe("gitlab-ci.yml")).unwrap();
    let line = recipe["inference gate"]["script"][0].as_str().unwrap();
    let project = repository("test");
    shell(&project, line)
        .exits(0)
        .says("nothing will be published");
    leaves_its_files(&project);
    let keeps = recipe["inference gate"]["artifacts"]["reports"]["junit"].as_str();
    assert_eq!(keeps, Some("infergate-out/*/junit.xml"));
}

#[test]
fn buildkite() {
    let recipe: Value = serde_yaml::from_str(&recipe("buildkite.yml")).unwrap();
    let line = recipe["steps"][0]["command"].as_str().unwrap();
    let project = repository("test --slower 2000%");
    shell(&project, line).exits(1);
    leaves_its_files(&project);
}

#[test]
fn jenkins() {
    let recipe = recipe("Jenkinsfile");
    let lines = recipe
        .lines()
        .filter_map(|line| line.trim().strip_prefix("sh '")?.strip_suffix('\''));
    let measures: Vec<&str> = lines
        .filter(|line| line.starts_with("infergate "))
        .collect();
    assert_eq!(measures.len(), 1, "{recipe}");
    let project = repository("test");
    shell(&project, measures[0]).exits(0).shows("Pass");
    leaves_its_files(&project);
}

#[test]
fn any_shell() {
    for (candidate, code, says) in [
        ("test", 0, "within its limits"),
        ("test --slower 2000%", 1, "a regression"),
    ] {
        let project = repository(candidate);
        fs::write(project.path("gate.sh"), recipe("gate.sh")).unwrap();
        shell(&project, "sh gate.sh infergate/chat.yaml main")
            .exits(code)
            .shows(says)
            .shows("report.md");
    }
    let project = repository("test");
    fs::write(project.path("gate.sh"), recipe("gate.sh")).unwrap();
    shell(&project, "sh gate.sh infergate/none.yaml")
        .exits(2)
        .shows("the spec or the command is wrong");
}
