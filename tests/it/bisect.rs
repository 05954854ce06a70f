//! `infergate bisect`: the commit or version that made an engine slow.

use std::fs;
use std::process::Command;

use crate::launch::BINARY;
use crate::support::{Port, Project, Ran, SMALL, json};

/// [`SMALL`] on an engine that is launched by this command, judged at three pairs by E2E alone. The noise
/// is assumed, so the effect is large.
fn spec(port: &Port, command: &str) -> String {
    let number = port.number();
    let target = format!("url: 'http://127.0.0.1:{number}', launch: {{command: {command}}}");
    SMALL
        .replace("sim: SIM", &target)
        .replace("users: 2", "users: 6")
        .replace("worse_by: 60%", "worse_by: 20%")
        .replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:")
}

/// A repository of an engine whose words lie in a file, and which knows a word that does not work.
struct Engine {
    folder: tempfile::TempDir,
}

impl Engine {
    fn new() -> Self {
        let engine = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        engine.git(&["init", "--quiet", "-b", "main"]);
        engine.git(&["config", "user.name", "Tester"]);
        engine.git(&["config", "user.email", "tester@example.org"]);
        engine
    }

    #[track_caller]
    fn git(&self, words: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.folder.path())
            .args(["-c", "commit.gpgSign=false"])
            .args(words)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {words:?}: {err}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// A commit at which the engine has these words.
    fn commit(&self, subject: &str, words: &str) -> String {
        fs::write(self.folder.path().join("words"), words).unwrap();
        fs::write(self.folder.path().join("notes"), subject).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", subject]);
        self.git(&["rev-parse", "HEAD"])
    }
}

/// What `bisect` says, and its steps as it keeps them.
fn answer(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.out).unwrap()
}

fn marks(answer: &serde_json::Value) -> Vec<&str> {
    let steps = answer["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|step| step["mark"].as_str().unwrap())
        .collect()
}

const FAST: &str = "h100-8b";
const SLOW: &str = "h100-8b --slower-decode 150%";

#[test]
fn the_slow_commit_of_eight_is_found_beside_the_users_tree() {
    let port = Port::reserve();
    let engine = Engine::new();
    let good = engine.commit("good", FAST);
    let mut commits = Vec::new();
    for number in 1..=8 {
        let words = if number < 6 { FAST } else { SLOW };
        commits.push(engine.commit(&format!("change {number}"), words));
    }
    fs::write(engine.folder.path().join("words"), "the user's own").unwrap();
    let launched = format!(
        "[sh, -c, 'exec \"$0\" sim $(cat words) --port {}', '{BINARY}']",
        port.number()
    );
    let project = Project::with_spec(&spec(&port, &launched));
    let repository = engine.folder.path().to_str().unwrap();
    let words = [
        "bisect",
        &good,
        &commits[7],
        "--cell",
        "steady/e2e.p50",
        "--repository",
        repository,
        "--json",
        "--build",
        "test",
        "-s",
        "words",
    ];
    let ran = project.run(&words).exits(0);
    let found = answer(&ran);
    let first = format!("{} change 6", &commits[5][..12]);
    assert_eq!(found["answer"]["first-bad"], first.as_str(), "{}", ran.err);
    let steps = found["steps"].as_array().unwrap();
    assert!((2..=4).contains(&steps.len()), "{steps:?}");
    assert_eq!(steps[0]["state"], 8, "the bad end is seen to be bad first");
    for step in steps {
        let bad = step["state"].as_u64().unwrap() >= 6;
        assert_eq!(step["mark"], if bad { "bad" } else { "good" }, "{step}");
        let why = step["why"].as_str().unwrap();
        assert!(why.contains("E2E p50") && why.contains('['), "{why}");
    }
    let command = found["command"].as_str().unwrap();
    assert!(command.starts_with("infergate bisect ") && command.contains("--build test -s words"));

    // The user's tree is as it was, and nothing is left checked out.
    let own = fs::read_to_string(engine.folder.path().join("words")).unwrap();
    assert_eq!(own, "the user's own");
    assert_eq!(
        engine
            .git(&["worktree", "list", "--porcelain"])
            .matches("worktree ")
            .count(),
        1
    );

    // The same command has nothing left to do.
    let again = project.run(&words).exits(0).says("going on after");
    assert_eq!(answer(&again), found);
}

#[test]
fn what_does_not_build_is_skipped_and_leaves_a_range() {
    let port = Port::reserve();
    let engine = Engine::new();
    let good = engine.commit("good", FAST);
    engine.commit("broken", "");
    let bad = engine.commit("slow", SLOW);
    let launched = format!(
        "[sh, -c, 'exec \"$0\" sim $(cat words) --port {}', '{BINARY}']",
        port.number()
    );
    let project = Project::with_spec(&spec(&port, &launched));
    let repository = engine.folder.path().to_str().unwrap();
    let common = ["--cell", "steady/e2e.p50", "--repository", repository];
    let build = ["--json", "--build", "test", "-s", "words"];
    let words = [&["bisect", &good, &bad], &common[..], &build[..]].concat();
    let ran = project.run(&words).exits(3);
    let found = answer(&ran);
    assert_eq!(marks(&found), ["bad", "skip"]);
    let why = found["steps"][1]["why"].as_str().unwrap();
    assert!(why.contains("`test -s words` failed"), "{why}");
    assert_eq!(found["answer"]["one-of"].as_array().unwrap().len(), 2);

    // What was asked wrongly is said before anything is started.
    let mistyped = [
        "bisect",
        &good,
        &bad,
        "--cell",
        "steady/e2e.p5",
        "--repository",
        repository,
    ];
    project
        .run(&mistyped)
        .exits(2)
        .says("did you mean `steady/e2e.p50`?");
    let turned = [&["bisect", &bad, &good], &common[..]].concat();
    project.run(&turned).exits(2).says("GOOD is the older one");
    let plain = Project::new("test");
    plain
        .run(&[&["bisect", &good, &bad], &common[..]].concat())
        .exits(2)
        .says("the spec launches no engine");
}

#[test]
fn versions_are_put_into_the_launch_command() {
    let port = Port::reserve();
    let script = format!(
        "case $1 in 1.*) w='{FAST}';; *) w='{SLOW}';; esac; exec \"$0\" sim $w --port {}",
        port.number()
    );
    let command = "[sh, engine.sh, '{version}', '${VERSION}']".to_owned();
    let project = Project::with_spec(&spec(&port, &command));
    let script = script.replace("\"$0\"", &format!("'{BINARY}'"));
    fs::write(
        project.path("engine.sh"),
        format!("test \"$1\" = \"$2\" || exit 1\n{script}\n"),
    )
    .unwrap();
    fs::write(project.path("versions"), "0.9\n1.0\n1.1\n2.0\n2.1\n3.0\n").unwrap();
    let words = [
        "bisect",
        "1.0",
        "2.1",
        "--cell",
        "steady/e2e.p50",
        "--versions",
        "versions",
    ];
    let ran = project.run(&words).exits(0);
    let ran = ran.shows("`steady/e2e.p50` is worse from here on: 2.0");
    ran.shows("once more:   infergate bisect 1.0 2.1 --cell steady/e2e.p50");
    let folder = crate::support::entries(&project.path("infergate-out"))
        .pop()
        .unwrap();
    assert_eq!(marks(&json(&folder.join("bisect.json"))).len(), 3);
}
