//! A machine with a GPU, as an `nvidia-smi` of the test's own has it.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::launch::{launch, spec};
use crate::support::{Port, Project, Ran};

/// A project with that tool in its folder, which answers as on the machine of this name.
fn on(machine: &str) -> (Project, Port) {
    let port = Port::reserve();
    let project = Project::with_spec(&spec(&port, &launch(&port, "--seed, 0")));
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gpu");
    for entry in std::fs::read_dir(fixtures.join(machine)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        std::fs::copy(entry.path(), project.path(&name.to_string_lossy())).unwrap();
    }
    symlink(fixtures.join("nvidia-smi"), project.path("nvidia-smi")).unwrap();
    (project, port)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the path to the test's own tool goes before the others"
)]
fn command(project: &Project, words: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap();
    let mut command = project.command(words);
    command.env("PATH", format!("{}:{path}", project.path("").display()));
    command
}

#[test]
fn a_gpu_that_somebody_holds_is_refused_with_pid_and_name() {
    let (project, _port) = on("h200");
    let ran = command(&project, &["run", "spec.yaml"]).output().unwrap();
    Ran::from(ran)
        .exits(4)
        .says("process 12249 (`/usr/bin/python3`) holds GPU 0 and 2194 MiB of its memory");
    assert!(project.runs().is_empty());
    // The GPU is what was locked, beside the target.
    let locks = crate::support::entries(&project.path("locks"));
    let names: Vec<_> = locks.iter().filter_map(|lock| lock.file_stem()).collect();
    assert!(
        names
            .iter()
            .any(|name| name.to_string_lossy().starts_with("GPU-")),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| *name == "cpu"), "{names:?}");
}

#[test]
fn a_free_gpu_is_taken() {
    let (project, _port) = on("h200");
    let apps = std::fs::read_to_string(project.path("apps")).unwrap();
    let (fields, _) = apps.split_once('\n').unwrap();
    std::fs::write(project.path("apps"), format!("{fields}\n")).unwrap();
    let gpus = std::fs::read_to_string(project.path("gpus")).unwrap();
    let idle = gpus.replace("16959, 50,", "400, 0,");
    assert_ne!(idle, gpus);
    std::fs::write(project.path("gpus"), idle).unwrap();
    let ran = command(&project, &["run", "spec.yaml"]).output().unwrap();
    Ran::from(ran).exits(0);
}
