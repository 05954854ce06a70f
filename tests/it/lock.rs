//! One measurement at a time on a machine; each test's folder stands for one.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use crate::launch::{launch, spec};
use crate::support::{Port, Project, Ran, SMALL};

/// A project in whose folder a measurement without end has its lock, and a spec on another port.
fn held() -> (Project, [Port; 2], Child) {
    let ports = [Port::reserve(), Port::reserve()];
    let endless = spec(&ports[0], &launch(&ports[0], "--seed, 0"));
    let project = Project::with_spec(&endless.replace("requests: 60", "duration: 10m"));
    let other = spec(&ports[1], &launch(&ports[1], "--seed, 0"));
    std::fs::write(project.path("other.yaml"), other).unwrap();
    let mut child = project
        .command(&["run", "spec.yaml"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    project.wait_for_load(&mut child);
    (project, ports, child)
}

#[test]
fn a_second_measurement_is_refused_with_the_first_ones_pid() {
    let (project, _ports, mut child) = held();
    let holder = format!("pid {} (spec `small`) since ", child.id());
    project
        .run(&["run", "other.yaml", "--lock-wait", "1ms"])
        .exits(4)
        .says("holds `cpu` of this machine")
        .says(&holder);
    project.run(&["run", "other.yaml", "--no-lock"]).exits(0);
    let sim = SMALL.replace("SIM", "test");
    std::fs::write(project.path("sim.yaml"), sim).unwrap();
    project
        .run(&["run", "sim.yaml", "--lock-wait", "1ms"])
        .exits(0);
    // Whatever ends the holder ends its lock.
    child.kill().unwrap();
    child.wait().unwrap();
    project
        .run(&["run", "other.yaml", "--lock-wait", "1ms"])
        .exits(0);
}

#[test]
fn a_second_measurement_waits_for_the_first() {
    let (project, _ports, mut child) = held();
    let mut second = project
        .command(&["run", "other.yaml"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(second.stderr.take().unwrap());
    let waiting = format!("waiting for pid {} (spec `small`) since ", child.id());
    let mut lines = said.by_ref().lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with(&waiting)));
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    child.wait().unwrap();
    std::io::copy(&mut said, &mut std::io::sink()).unwrap();
    Ran::from(second.wait_with_output().unwrap()).exits(0);
}
