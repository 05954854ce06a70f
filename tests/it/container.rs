//! Engines in containers, which no process group holds: a `docker` of the test's own stands for one.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::launch::{BINARY, spec, wait_for_the_end_of};
use crate::support::{Port, Project, Ran, json};

/// `run` starts an engine in a session of its own and ends, `stop` ends it, `logs` prints what it wrote.
const DOCKER: &str = "\
#!/bin/sh
case \"$1\" in
run)
  shift
  setsid \"$@\" > container.log 2>&1 < /dev/null &
  echo $! > container.pid ;;
stop) echo \"$2\" >> stops; kill \"$(cat container.pid)\" ;;
logs) echo \"log of $2\"; cat container.log ;;
esac
";

struct Container {
    project: Project,
    _port: Port,
}

impl Container {
    /// With the embedded engine of these words in it.
    fn of(words: &str, more: &str) -> Self {
        let port = Port::reserve();
        let launch = format!(
            "{{command: [docker, run, '{BINARY}', sim, test, --port, {}, {words}], stop: [docker, stop, engine], \
             logs: [docker, logs, engine], image: 'engine:latest'{more}}}",
            port.number()
        );
        let project = Project::with_spec(&spec(&port, &launch));
        let docker = project.path("docker");
        std::fs::write(&docker, DOCKER).unwrap();
        std::fs::set_permissions(&docker, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self {
            project,
            _port: port,
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the path to the test's own docker goes before the others"
    )]
    fn command(&self, words: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap();
        let folder = self.project.path("");
        let mut command = self.project.command(words);
        command
            .env("PATH", format!("{}:{path}", folder.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }

    /// Waits until the engine is gone that nothing but the stop command ends.
    #[track_caller]
    fn is_stopped(&self) {
        wait_for_the_end_of(&self.project, &["container.pid"]);
        let stops = std::fs::read_to_string(self.project.path("stops")).unwrap();
        assert_eq!(stops, "engine\n");
    }
}

#[test]
fn a_container_is_stopped_and_its_image_is_a_pin() {
    let container = Container::of("--seed, 0", "");
    container.run(&["run", "spec.yaml"]).exits(0);
    container.is_stopped();
    let pin = &json(&container.project.runs()[0])["pins"]["host.container"]["observed"]["seen"];
    assert_eq!(pin["value"], "engine:latest");
    assert_eq!(pin["source"], "launch");
    container
        .run(&["check", "spec.yaml"])
        .exits(0)
        .says("`image` is no digest");
}

#[test]
fn a_container_that_dies_shows_its_own_log() {
    let container = Container::of("--die-after, 40", "");
    container.run(&["run", "spec.yaml"]).exits(4);
    let end = json(&container.project.runs()[0])["end"].to_string();
    for said in ["has not failed", "log of engine", "listening on"] {
        assert!(end.contains(said), "no {said:?} in {end}");
    }
    let stops = std::fs::read_to_string(container.project.path("stops")).unwrap();
    assert_eq!(stops, "engine\n");
}

#[test]
fn a_container_that_is_never_ready_is_stopped() {
    let container = Container::of("--seed, 0", ", ready: {http: /no-such-path, within: 1s}");
    container
        .run(&["run", "spec.yaml"])
        .exits(4)
        .says("  | log of engine")
        .says("  | listening on");
    container.is_stopped();
}

#[test]
fn no_signal_leaves_a_container_behind() {
    for name in ["-INT", "-TERM", "-KILL"] {
        let container = Container::of("--seed, 0", "");
        let project = &container.project;
        let endless = std::fs::read_to_string(project.path("spec.yaml")).unwrap();
        let endless = endless.replace("requests: 60", "duration: 10m");
        std::fs::write(project.path("spec.yaml"), endless).unwrap();
        let mut child = container.command(&["run", "spec.yaml"]).spawn().unwrap();
        project.wait_for_load(&mut child);
        let sent = Command::new("kill")
            .args([name, &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        child.wait().unwrap();
        container.is_stopped();
    }
}

#[test]
fn a_stop_command_that_is_not_there_is_in_the_log() {
    let container = Container::of("--seed, 0", "");
    let text = std::fs::read_to_string(container.project.path("spec.yaml")).unwrap();
    let text = text
        .replace("stop: [docker, stop, engine]", "stop: [no-such-program]")
        .replace("[docker, run, ", "[");
    std::fs::write(container.project.path("spec.yaml"), text).unwrap();
    container.run(&["run", "spec.yaml"]).exits(0);
    let log = container.project.sessions()[0].join("logs/target-1.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(
        log.contains("cannot run the stop command `no-such-program`"),
        "{log}"
    );
}
