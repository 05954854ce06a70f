//! Engines that are killed while they are measured, and engines that never come up, in `ab`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::launch::{BINARY, lives, spec};
use crate::support::{Port, Project, Ran, json};

/// A launch of the embedded engine by a script that leaves its number in `NAME.pid`.
fn launch(port: &Port, name: &str, words: &str) -> String {
    let number = port.number();
    format!("{{command: [sh, engine.sh, {name}, {number}, {words}]}}")
}

/// `ab` of two launches on one port: the side of this name freezes in the middle of its run.
fn comparing(port: &Port, freezes: &str) -> Project {
    let words = |name: &str| {
        if name == freezes {
            "--freeze-after, 30, --freeze-for, 10m"
        } else {
            "--seed, 0"
        }
    };
    let project = Project::with_spec(&format!(
        "{}baseline: {{launch: {}}}\n",
        spec(port, &launch(port, "candidate", words("candidate"))),
        launch(port, "baseline", words("baseline")),
    ));
    let script = format!(
        "echo $$ > $1.pid; echo \"i am the $1\"; port=$2; shift 2\n\
         exec '{BINARY}' sim test --port \"$port\" \"$@\""
    );
    std::fs::write(project.path("engine.sh"), script).unwrap();
    project
}

/// Requests that an engine has answered by its own count; 0 where nothing answers.
fn answered(port: &Port) -> f64 {
    let ask = || -> std::io::Result<String> {
        let mut server = TcpStream::connect(("127.0.0.1", port.number()))?;
        server.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
        let mut text = String::new();
        server.read_to_string(&mut text)?;
        Ok(text)
    };
    let text = ask().unwrap_or_default();
    let counts = text
        .lines()
        .filter(|line| line.starts_with("vllm:request_success_total"));
    counts
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .sum()
}

/// Kills the side that freezes when it has answered some requests of its run, and gives what `ab` says.
fn killed(side: &str) -> (Project, Ran) {
    let port = Port::reserve();
    let project = comparing(&port, side);
    let mut child = project
        .command(&["ab", "spec.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = project.path(&format!("{side}.pid"));
    // Two answers of the start, the warm-up of four, then some of the window. The other side has ended
    // with its run, and of its own it answers more.
    let frozen = || (20.0..40.0).contains(&answered(&port)) && pid.exists();
    let records = if side == "baseline" { 1 } else { 2 };
    let runs = || {
        let sessions = project.sessions();
        let of = |session: &std::path::PathBuf| crate::support::entries(&session.join("records"));
        sessions
            .iter()
            .map(|session| of(session).len())
            .sum::<usize>()
    };
    while runs() < records || !frozen() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    let number = std::fs::read_to_string(&pid).unwrap();
    let kill = Command::new("kill").args(["-KILL", number.trim()]).status();
    assert!(kill.unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    for side in ["baseline", "candidate"] {
        assert!(!lives(&project.path(&format!("{side}.pid"))), "{side}");
    }
    (project, ran)
}

fn report(project: &Project) -> String {
    std::fs::read_to_string(project.sessions()[0].join("report.md")).unwrap()
}

#[test]
fn a_candidate_that_is_killed_in_mid_run_is_a_regression_with_the_end_of_its_log() {
    let (project, ran) = killed("candidate");
    ran.exits(1)
        .shows("caveat: candidate run 1 lost its target: ")
        .shows(
            "; the launched engine ended (signal: 9 (SIGKILL)); its log ends: i am the candidate",
        );
    assert_eq!(project.runs().len(), 2, "it ends with that pair");
    assert!(report(&project).contains("i am the candidate"));
    let run = project
        .runs()
        .iter()
        .map(|run| json(run))
        .find(|run| run["side"] == "candidate");
    let run = run.unwrap();
    assert_ne!(run["end"], "complete");
    // The report of the run itself says it too.
    let path = project
        .runs()
        .into_iter()
        .find(|path| json(path)["side"] == "candidate");
    project
        .run(&["report", path.unwrap().to_str().unwrap()])
        .shows("i am the candidate");
}

#[test]
fn a_baseline_that_is_killed_in_mid_run_makes_the_comparison_invalid() {
    let (project, ran) = killed("baseline");
    ran.exits(4)
        .shows("caveat: baseline run 1 lost its target: ")
        .shows(
            "; the launched engine ended (signal: 9 (SIGKILL)); its log ends: i am the baseline",
        );
    assert!(report(&project).contains("i am the baseline"));
}

#[test]
fn a_side_that_is_never_ready_says_what_was_waited_for_and_how_its_log_ends() {
    let port = Port::reserve();
    let number = port.number();
    let never = "{command: [sh, never.sh], ready: {http: /health, within: 300ms}}";
    let project = Project::with_spec(&format!(
        "{}baseline: {{launch: {never}}}\n",
        spec(
            &port,
            &format!("{{command: ['{BINARY}', sim, test, --port, {number}]}}")
        ),
    ));
    let script = "echo $$ > never.pid; echo loading the weights; sleep 1000 & wait";
    std::fs::write(project.path("never.sh"), script).unwrap();
    project
        .run(&["ab", "spec.yaml"])
        .exits(4)
        .says("the launched engine `sh never.sh` was not ready at `/health` within 300ms")
        .says("| loading the weights");
    assert!(!lives(&project.path("never.pid")));
    assert!(project.runs().is_empty(), "no load before both were seen");
}
