//! What a run knows of its target and machine, what it says it does not know, and what that means for a
//! comparison.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Engine, Project, Ran, SMALL, json};

/// Hands chat requests to an engine and knows no other path, as a bare server behind OpenAI's API.
fn bare(engine: &Engine) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let address = engine.address.clone();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, address) = (client.unwrap(), address.clone());
            std::thread::spawn(move || serve(client, &address));
        }
    });
    url
}

fn serve(mut client: TcpStream, engine: &str) {
    let mut first = vec![0; 65536];
    let n = client.read(&mut first).unwrap_or(0);
    if !first[..n].starts_with(b"POST /v1/chat/completions") {
        let body = "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        let _ = client.write_all(body.as_bytes());
        return;
    }
    let Ok(mut server) = TcpStream::connect(engine) else {
        return;
    };
    let _ = server.write_all(&first[..n]);
    let (mut back, mut out) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut back, &mut out));
    let _ = std::io::copy(&mut client, &mut server);
}

/// Nothing but a folder without programs, and a machine with these GPUs.
fn path(project: &Project, machine: Option<&str>) -> PathBuf {
    let folder = project.path("programs");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    if let Some(machine) = machine {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gpu");
        for entry in std::fs::read_dir(fixtures.join(machine)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
        std::os::unix::fs::symlink(fixtures.join("nvidia-smi"), folder.join("nvidia-smi")).unwrap();
    }
    folder
}

fn on(project: &Project, machine: Option<&str>, words: &[&str]) -> Ran {
    let own = path(project, machine);
    let path = match machine {
        // The fake tool is a script with programs of its own.
        Some(_) => format!("{}:/usr/bin:/bin", own.display()),
        None => own.display().to_string(),
    };
    let mut command = project.command(words);
    command.env("PATH", path).env_remove("CUDA_VISIBLE_DEVICES");
    command.output().unwrap().into()
}

fn pin(run: &Path, path: &str) -> Value {
    json(run)["pins"][path]["observed"].clone()
}

/// [`SMALL`] on a live engine, with further lines.
fn spec(url: &str, more: &str) -> String {
    let target = format!("url: '{url}', model: sim/test");
    SMALL.replace("sim: SIM", &target) + more
}

#[test]
fn a_bare_endpoint_is_measured_and_what_is_unknown_is_said() {
    let engine = Engine::start(&["test"]);
    let project = Project::with_spec(&spec(&bare(&engine), ""));
    let ran = on(&project, None, &["run", "spec.yaml"]).exits(0);
    let run = &project.runs()[0];
    assert_eq!(
        json(run)["stages"][0]["pooled"]["outcomes"]["completed"],
        60
    );
    assert_eq!(pin(run, "engine.version")["unknown"], "not-reported");
    assert_eq!(pin(run, "engine.name")["unknown"], "not-probed");
    assert_eq!(pin(run, "network.location")["seen"]["value"], "loopback");
    let gpu = pin(run, "hardware.gpu")["unknown"]["because"].clone();
    let gpu = gpu.as_str().unwrap().to_owned();
    assert!(
        gpu.contains("NVML") && gpu.contains("no `nvidia-smi`"),
        "{gpu}"
    );
    ran.shows("unknown, not reported: ")
        .shows("no `nvidia-smi` on the PATH")
        .shows("network: location loopback");
}

#[test]
fn gpus_are_pins_of_a_target_on_this_machine() {
    let engine = Engine::start(&["test"]);
    let project = Project::with_spec(&spec(&format!("http://{}", engine.address), ""));
    on(&project, Some("h200"), &["run", "spec.yaml"])
        .exits(0)
        .shows("NVIDIA H200");
    let run = &project.runs()[0];
    assert_eq!(pin(run, "hardware.gpu")["seen"]["value"], "NVIDIA H200");
    assert_eq!(pin(run, "hardware.power_limit")["seen"]["value"], "700 W");
    assert_eq!(pin(run, "hardware.topology")["seen"]["value"], "single GPU");
}

#[test]
fn a_declared_gpu_that_is_another_stops_the_run_before_any_load() {
    let engine = Engine::start(&["test"]);
    let url = format!("http://{}", engine.address);
    let project = Project::with_spec(&spec(&url, "pins: {hardware: {gpu: H100, count: 1}}\n"));
    on(&project, Some("h200"), &["run", "spec.yaml"])
        .exits(2)
        .says("`hardware.gpu` is declared `H100` and seen `NVIDIA H200`");
    assert_eq!(project.runs(), Vec::<PathBuf>::new());
    // Spelled otherwise it is the same.
    let project = Project::with_spec(&spec(&url, "pins: {hardware: {gpu: h200}}\n"));
    on(&project, Some("h200"), &["run", "spec.yaml"]).exits(0);
}

/// Runs of the same engine on two machines.
fn compared(more: &str, machines: [&str; 2], change: impl Fn(&Path)) -> Ran {
    let engine = Engine::start(&["test"]);
    let project = Project::with_spec(&spec(&format!("http://{}", engine.address), more));
    for machine in machines {
        on(&project, Some(machine), &["run", "spec.yaml"]).exits(0);
    }
    let runs = project.runs();
    change(&runs[1]);
    let [a, b] = [&runs[0], &runs[1]].map(|run| run.to_str().unwrap());
    project.run(&["compare", a, b])
}

#[test]
fn another_gpu_is_incomparable_and_named() {
    compared("", ["h200", "mixed"], |_| {})
        .exits(3)
        .shows("the sides are not comparable")
        .shows("Not comparable: hardware.gpu is NVIDIA H200 in the baseline");
}

/// Another driver on an equal machine.
fn other_driver(run: &Path) {
    let text = std::fs::read_to_string(run).unwrap();
    std::fs::write(run, text.replace("590.48.01", "595.80")).unwrap();
}

#[test]
fn another_driver_is_a_caveat_and_under_strict_pins_incomparable() {
    compared("", ["h200", "h200"], other_driver)
        .shows("Differs as well, a caveat: hardware.driver 590.48.01 → 595.80")
        .shows("Nothing under test differs: this is an A/A comparison");
    compared("pins: {strict: true}\n", ["h200", "h200"], other_driver)
        .exits(3)
        .shows("Not comparable: hardware.driver is 590.48.01 in the baseline, 595.80");
}
