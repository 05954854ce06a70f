//! Engines that the spec launches: started, waited for, watched, ended with all that they started.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{Port, Project, Ran, SMALL, entries, json};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_infergate");

/// A launch of the embedded engine on this port, with further words.
pub(crate) fn launch(port: &Port, words: &str) -> String {
    let number = port.number();
    format!("{{command: ['{BINARY}', sim, test, --port, {number}, {words}]}}")
}

/// [`SMALL`] on an engine that is launched at this port; one look, at five pairs.
pub(crate) fn spec(port: &Port, launch: &str) -> String {
    let target = format!(
        "url: 'http://127.0.0.1:{}', launch: {launch}",
        port.number()
    );
    SMALL
        .replace("sim: SIM", &target)
        .replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:")
}

/// The same launched by a script that lies beside the spec; `$0` in it is our binary and `$1` the port.
pub(crate) fn scripted(port: &Port, script: &str, more: &str) -> Project {
    let number = port.number();
    let launch = format!("{{command: [sh, engine.sh, {number}]{more}}}");
    let project = Project::with_spec(&spec(port, &launch));
    let script = script.replace("ENGINE", &format!("'{BINARY}' sim test --port \"$1\""));
    std::fs::write(project.path("engine.sh"), script).unwrap();
    project
}

fn logs(project: &Project, session: usize) -> Vec<String> {
    let logs = entries(&project.sessions()[session].join("logs"));
    let name = |path: &std::path::PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    logs.iter().map(name).collect()
}

/// Whether the process lives whose number a script left in this file. Whoever inherits it may leave it a
/// zombie.
pub(crate) fn lives(pid_file: &Path) -> bool {
    let pid = std::fs::read_to_string(pid_file).unwrap();
    let state = Command::new("ps")
        .args(["-o", "stat=", "-p", pid.trim()])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

#[track_caller]
pub(crate) fn wait_for_the_end_of(project: &Project, pid_files: &[&str]) {
    for file in pid_files {
        while lives(&project.path(file)) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn an_engine_is_launched_anew_for_each_run_and_ended() {
    let port = Port::reserve();
    let project = Project::with_spec(&spec(&port, &launch(&port, "--slower, 5%")));
    project
        .run(&["run", "spec.yaml", "--repeats", "2"])
        .exits(0);
    assert_eq!(logs(&project, 0), ["target-1.log", "target-2.log"]);
    let run = json(&project.runs()[0]);
    assert_eq!(
        run["pins"]["engine.args"]["observed"]["seen"]["value"],
        "test --slower 5%"
    );
    // A second command would be refused if something still answered there.
    project.run(&["gate", "spec.yaml"]).exits(3).says("promote");
    project
        .run(&["doctor", "spec.yaml", "--quick", "--json"])
        .shows("those of vllm");
}

#[test]
fn what_answers_already_is_not_measured_in_its_place() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let number = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            drop(client);
        }
    });
    let target = format!("url: 'http://127.0.0.1:{number}', launch: {{command: [sleep, 1000]}}");
    let project = Project::with_spec(&SMALL.replace("sim: SIM", &target));
    project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .says("cannot launch `sleep 1000`: something answers at");
    assert!(project.runs().is_empty());
}

#[test]
fn an_engine_that_does_not_come_up_shows_the_end_of_its_log_without_secrets() {
    let port = Port::reserve();
    let script = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i; done\n\
                  echo \"no memory for $TOKEN\" >&2; exit 3";
    let project = scripted(&port, script, ", env: {TOKEN: '${SOME_TOKEN}'}");
    let output = project
        .command(&["run", "spec.yaml"])
        .env("SOME_TOKEN", "s3cr3t-token")
        .output()
        .unwrap();
    let ran = Ran::from(output)
        .exits(4)
        .says("ended (exit status: 3) before it was ready")
        .says("  | no memory for [masked]")
        .says("  | line 40");
    assert!(!ran.err.contains("line 20\n"), "20 lines: {}", ran.err);
    assert!(!ran.err.contains("s3cr3t"), "{}", ran.err);

    let project = Project::with_spec(&spec(&port, "{command: [no-such-engine-at-all]}"));
    project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .says("cannot launch `no-such-engine-at-all`: No such file");
    let project = Project::with_spec(&spec(&port, "{command: [sleep, 1], dir: nowhere}"));
    project.run(&["run", "spec.yaml"]).exits(4).says("`dir`");
}

#[test]
fn an_engine_that_is_never_ready_is_ended_with_its_children() {
    let port = Port::reserve();
    let script = "echo $$ > engine.pid\nsleep 1000 & echo $! > child.pid\nwait";
    let project = scripted(&port, script, ", ready: {within: 300ms}");
    project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .says("was not ready at `/health` within 300ms");
    wait_for_the_end_of(&project, &["engine.pid", "child.pid"]);
}

#[test]
fn an_engine_is_asked_to_end_before_it_is_killed() {
    let port = Port::reserve();
    let polite = "trap 'echo asked > asked; kill $child; exit 0' INT\nENGINE & child=$!\nwait";
    let project = scripted(&port, polite, ", stop: {signal: SIGINT}");
    project.run(&["run", "spec.yaml"]).exits(0);
    assert!(project.path("asked").exists());

    let deaf = "trap '' TERM\necho $$ > engine.pid\nENGINE & echo $! > child.pid\n\
                while :; do wait; done";
    let project = scripted(&port, deaf, ", stop: {grace: 50ms}");
    project.run(&["run", "spec.yaml"]).exits(0);
    wait_for_the_end_of(&project, &["engine.pid", "child.pid"]);
}

#[test]
fn two_launches_take_turns_on_one_port() {
    let port = Port::reserve();
    let spec = format!(
        "{}baseline: {{launch: {}}}\n",
        spec(&port, &launch(&port, "--slower, 2000%")),
        launch(&port, "--seed, 0")
    );
    let project = Project::with_spec(&spec);
    let ran = project.run(&["ab", "spec.yaml"]).exits(1).shows("e2e.p50");
    for said in [
        "time to a verdict: at most ",
        "; starts of the engines come on top",
        "pair 1 of at least 5, about ",
    ] {
        assert!(ran.err.contains(said), "no {said:?} in:\n{}", ran.err);
    }
    // The candidate was looked at once before any load.
    let logs = logs(&project, 0);
    let of = |side: &str| logs.iter().filter(|log| log.starts_with(side)).count();
    assert_eq!((of("baseline"), of("candidate")), (5, 6), "{logs:?}");
    let report = json(&project.sessions()[0].join("report.json"));
    assert_eq!(report["pins"][0]["pin"], "engine.args");
    assert_eq!(report["pins"][0]["candidate"], "test --slower 2000%");
}

#[test]
fn a_spec_with_a_baseline_gates_without_a_history() {
    let spec = SMALL
        .replace("SIM", "test --slower 2000%")
        .replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:")
        + "baseline: {sim: test}\n";
    let project = Project::with_spec(&spec);
    project
        .run(&["gate", "spec.yaml"])
        .exits(1)
        .shows("e2e.p50");
}

#[test]
fn a_launched_candidate_that_dies_is_a_regression_with_its_last_words() {
    let port = Port::reserve();
    let project = Project::with_spec(&format!(
        "{}baseline: {{launch: {}}}\n",
        spec(&port, &launch(&port, "--die-after, 40")),
        launch(&port, "--seed, 0")
    ));
    project.run(&["ab", "spec.yaml"]).exits(1);
    let ends: Vec<String> = project
        .runs()
        .iter()
        .map(|run| json(run)["end"].to_string())
        .collect();
    assert_eq!(ends.len(), 2, "{ends:?}");
    assert_eq!(ends[0], "\"complete\"");
    for said in [
        "the launched engine ended (exit status: ",
        "its log ends: listening on",
    ] {
        assert!(ends[1].contains(said), "no {said:?} in {}", ends[1]);
    }
}

#[test]
fn a_launch_that_fails_is_taken_again_twice_as_a_pair() {
    let port = Port::reserve();
    // The look before any load, both runs of the first pair, then never again.
    let script =
        "echo x >> starts\n[ $(wc -l < starts) -le 3 ] || { echo broken; exit 1; }\nexec ENGINE";
    let project = scripted(&port, script, "");
    let ran = project.run(&["ab", "spec.yaml"]).exits(4);
    let ran = ran
        .says("| broken")
        .says("1 whole pair is in")
        .says("infergate ab --resume ");
    assert_eq!(
        ran.err.matches("pair 2 is taken again").count(),
        2,
        "{}",
        ran.err
    );
    let starts = std::fs::read_to_string(project.path("starts")).unwrap();
    assert_eq!(
        starts.lines().count(),
        3 + 3,
        "the pair's first launch failed three times"
    );
    assert_eq!(project.runs().len(), 2);
}

#[test]
fn one_launched_side_is_warned_about() {
    let port = Port::reserve();
    let project = Project::with_spec(&spec(&port, &launch(&port, "--seed, 1")));
    project
        .run(&["ab", "spec.yaml", "--baseline-sim", "test"])
        .says("warning: only the candidate is started anew for each run");
}

/// The spec of the README's launch, on this port.
fn documented(port: &Port) -> String {
    let readme = include_str!("../../README.md");
    let (_, after) = readme.split_once("<!-- launch -->\n```yaml\n").unwrap();
    let (spec, _) = after.split_once("```").unwrap();
    spec.replace("[infergate,", &format!("['{BINARY}',"))
        .replace("8000", &port.number().to_string())
}

#[test]
fn the_readmes_two_engines_on_one_gpu_run() {
    let port = Port::reserve();
    let spec = documented(&port);
    let whole = Project::with_spec(&spec);
    let said = whole.run(&["check", "spec.yaml"]).exits(0).err;
    assert_eq!(said, "", "no warning");
    let project = Project::with_spec(
        &spec
            .replace("demo", "test")
            .replace("requests: 400}", "requests: 60, warmup: 4}"),
    );
    // So small a difference does not show on every machine.
    let ran = project.run(&["ab", "spec.yaml"]);
    let ran = ran.shows("engine.args test → test --slower 50%");
    assert_ne!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(project.runs().len(), 10, "{}", ran.err);
}

/// A command that measures an engine launched by a script which leaves its numbers.
fn measuring() -> (Project, Port, Child) {
    let port = Port::reserve();
    let script = "echo $PPID > guard.pid\necho $$ > engine.pid\nENGINE & echo $! > child.pid\nwait";
    let project = scripted(&port, script, "");
    let endless = std::fs::read_to_string(project.path("spec.yaml")).unwrap();
    let endless = endless.replace("requests: 60", "duration: 10m");
    std::fs::write(project.path("spec.yaml"), endless).unwrap();
    let mut child = project
        .command(&["run", "spec.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    project.wait_for_load(&mut child);
    (project, port, child)
}

fn signal(name: &str, process: &str) {
    let sent = Command::new("kill").args([name, process]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn no_signal_leaves_an_engine_behind() {
    for name in ["-INT", "-TERM", "-KILL"] {
        let (project, _port, child) = measuring();
        signal(name, &child.id().to_string());
        let ran = Ran::from(child.wait_with_output().unwrap());
        if name != "-KILL" {
            ran.exits(4);
            assert_eq!(json(&project.runs()[0])["end"], "interrupted");
        }
        wait_for_the_end_of(&project, &["engine.pid", "child.pid"]);
    }
}

#[test]
fn a_guard_that_is_killed_takes_the_engine_along_and_the_run_says_so() {
    let (project, _port, child) = measuring();
    let guard = std::fs::read_to_string(project.path("guard.pid")).unwrap();
    signal("-KILL", guard.trim());
    Ran::from(child.wait_with_output().unwrap()).exits(4);
    let end = json(&project.runs()[0])["end"]["target-lost"]["error"].to_string();
    assert!(end.contains("somebody killed the process"), "{end}");
    wait_for_the_end_of(&project, &["engine.pid", "child.pid"]);
}
