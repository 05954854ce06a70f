//! A machine with a GPU, as an `nvidia-smi` of the test's own has it.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::launch::{launch, spec};
use crate::support::{Port, Project, Ran, json};

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

/// Nobody holds that machine's GPU, which idles at 100 W.
fn idle(project: &Project) {
    let apps = std::fs::read_to_string(project.path("apps")).unwrap();
    let (fields, _) = apps.split_once('\n').unwrap();
    std::fs::write(project.path("apps"), format!("{fields}\n")).unwrap();
    let gpus = std::fs::read_to_string(project.path("gpus")).unwrap();
    let idle = gpus
        .replace("16959, 50,", "400, 0,")
        .replace("295.01", "100.00");
    assert_ne!(idle, gpus);
    std::fs::write(project.path("gpus"), idle).unwrap();
}

#[test]
fn a_free_gpu_is_taken() {
    let (project, _port) = on("h200");
    idle(&project);
    let ran = command(&project, &["run", "spec.yaml"]).output().unwrap();
    Ran::from(ran).exits(0);
}

#[test]
fn energy_is_what_the_gpus_draw_in_the_window_and_gates() {
    let (project, port) = on("h200");
    idle(&project);
    std::fs::write(project.path("goes-on"), "").unwrap();
    // Long enough for some looks of a tool that looks ten times a second.
    let text = spec(&port, &launch(&port, "--slower, 300%"));
    let text = text.replace("requests: 60", "requests: 600");
    let (head, _) = text.split_once("  cells:").unwrap();
    let cells = "    - {metric: tokens_per_joule, worse_by: 30%}\n    \
                 - {metric: joules_per_good, at_most: 1kJ}\n";
    let baseline = launch(&port, "--seed, 0");
    let text = format!("{head}  cells:\n{cells}baseline: {{launch: {baseline}}}\n");
    std::fs::write(project.path("spec.yaml"), text).unwrap();
    let ran = command(&project, &["ab", "spec.yaml"]).output().unwrap();
    Ran::from(ran).exits(1).shows("tokens_per_joule");

    let report = json(&project.sessions()[0].join("report.json"));
    let of = |metric: &str| {
        let findings = report["findings"].as_array().unwrap().iter();
        let mut found = findings.filter(|finding| finding["cell"]["metric"] == metric);
        found
            .next()
            .unwrap_or_else(|| panic!("no {metric} in {}", report["findings"]))
            .clone()
    };
    assert_eq!(of("tokens_per_joule")["state"], "regressed");
    assert_eq!(of("joules_per_good")["state"], "ok");
    let mut expected = std::collections::BTreeMap::<String, Vec<f64>>::new();
    for run in project.runs() {
        let run = json(&run);
        let stage = &run["stages"][0];
        let gpu = &stage["gpus"]["seen"][0];
        let watts = gpu["power_w"]["mean"].as_f64().unwrap();
        assert!((watts - 100.0).abs() < 1e-6, "{}", stage["gpus"]);
        let tokens_a_second = stage["pooled"]["rates"]["output_tps"].as_f64().unwrap();
        let side = run["side"].as_str().unwrap().to_owned();
        let per_joule = (tokens_a_second / 100.0).ln();
        expected.entry(side).or_default().push(per_joule);
    }
    for (side, logs) in expected {
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        let told = of("tokens_per_joule")[&side]["value"].as_f64().unwrap();
        assert!(
            (told / mean - 1.0).abs() < 1e-6,
            "{side}: {told} for {mean}"
        );
    }
}
