//! Soaks that are cut off, by a signal or by what leaves no time for anything, and go on.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::{Engine, Project, Ran, SMALL, entries, json as read};

/// Eighteen windows of a second under a load of eight users, against this target.
fn soak(target: &str) -> Project {
    let spec = SMALL
        .replace("sim: SIM", target)
        .replace("input: 40, output: 6", "input: 540, output: 40")
        .replace("slo: {ttft: 1s, e2e: 2s}", "slo: {ttft: 20s, e2e: 60s}")
        .replace(
            "  - {name: steady, closed: {users: 2}, requests: 60, warmup: 4}",
            "  - {name: first, closed: {users: 8}, requests: 60, warmup: 8}\n  \
             - {name: soak, closed: {users: 4}, duration: 18s, warmup: 8, soak: {window: 1s, tolerance: 15%}}",
        )
        .replace("e2e.p50, worse_by", "e2e.p50, stages: [first], worse_by")
        .replace("error_ratio, at_most", "error_ratio, stages: [first], at_most");
    Project::with_spec(&spec)
}

fn start(project: &Project) -> Child {
    project
        .command(&["run", "spec.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until so many windows of the soak are kept on the disk.
fn wait_for_windows(project: &Project, child: &mut Child, least: u64) {
    let windows = || {
        let journals = project
            .sessions()
            .into_iter()
            .flat_map(|session| entries(&session.join("journal")));
        let texts = journals.filter_map(|path| std::fs::read_to_string(path).ok());
        texts
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|line| {
                serde_json::from_str::<Value>(&line).ok()?["mark"]["windows"].as_u64()
            })
            .max()
            .unwrap_or(0)
    };
    while windows() < least {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn resume(project: &Project) -> Ran {
    let session = project.sessions()[0].clone();
    project.run(&["run", "--resume", session.to_str().unwrap()])
}

fn codes(soak: &Value) -> Vec<&str> {
    let findings = soak["findings"].as_array().map_or(&[][..], Vec::as_slice);
    findings
        .iter()
        .map(|found| found["code"].as_str().unwrap())
        .collect()
}

/// Measured requests of each stage in a file of records: how often each number is there, and when the first
/// and the last were due.
fn measured(path: &Path) -> BTreeMap<u64, (BTreeMap<u64, u32>, u64, u64)> {
    let file = flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap());
    let mut stages: BTreeMap<u64, (BTreeMap<u64, u32>, u64, u64)> = BTreeMap::new();
    for line in BufReader::new(file).lines().skip(1) {
        let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if record["phase"] != "measured" {
            continue;
        }
        let at = record["scheduled_ns"].as_u64().unwrap();
        let stage = record["stage"].as_u64().unwrap();
        let (numbers, first, last) = stages.entry(stage).or_insert((BTreeMap::new(), at, at));
        *numbers
            .entry(record["index"].as_u64().unwrap())
            .or_default() += 1;
        (*first, *last) = ((*first).min(at), (*last).max(at));
    }
    stages
}

/// The one run of a session that went on, with its records, which hold each request once.
fn whole(project: &Project) -> Value {
    let session = project.sessions()[0].clone();
    let runs: Vec<PathBuf> = project.runs();
    assert_eq!(runs.len(), 1, "what was cut off is set aside: {runs:?}");
    let run = read(&runs[0]);
    assert_eq!(run["end"], "complete");
    assert!(entries(&session.join("journal")).is_empty());
    let id = run["id"].as_str().unwrap();
    let records = measured(&session.join("records").join(format!("{id}.jsonl.gz")));
    for (index, stage) in run["stages"].as_array().unwrap().iter().enumerate() {
        let (numbers, first, last) = &records[&(index as u64)];
        assert!(numbers.values().all(|count| *count == 1), "{numbers:?}");
        let count = numbers.len() as u64;
        assert_eq!(numbers.keys().max(), Some(&(count - 1)), "none is missing");
        assert_eq!(stage["pooled"]["scheduled"].as_u64(), Some(count));
        assert_eq!(stage["pooled"]["outcomes"]["completed"], count, "{stage}");
        let window = stage["window_s"].as_f64().unwrap();
        assert!((last - first) as f64 / 1e9 <= window, "within the window");
    }
    let soak = &run["stages"][1];
    assert!((soak["window_s"].as_f64().unwrap() - 18.0).abs() < 1e-6);
    assert_eq!(soak["soak"]["windows"], 18);
    assert_eq!(soak["invalid"], serde_json::json!([]));
    run
}

#[test]
fn after_ctrl_c_a_leak_is_found_in_both_parts() {
    let project = soak("sim: test --slower 900% --leak 150%");
    let mut child = start(&project);
    wait_for_windows(&project, &mut child, 8);
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    Ran::from(child.wait_with_output().unwrap())
        .exits(4)
        .says("` goes on with it");
    assert_eq!(read(&project.runs()[0])["end"], "interrupted");
    resume(&project)
        .exits(1)
        .says("going on with `")
        .says("1 stage and ")
        .shows("soak::engine-leak the engine's memory creeps up")
        .shows("the engine was started anew (it is started for the run), so nothing that creeps is claimed");
    let run = whole(&project);
    let soak = &run["stages"][1]["soak"];
    let pause = &soak["pauses"][0];
    let after = pause["after_windows"].as_u64().unwrap();
    assert!((8..18).contains(&after), "{pause}");
    assert!((pause["after_s"].as_f64().unwrap() - after as f64).abs() < 1e-6);
    assert!(codes(soak).contains(&"soak::engine-leak"), "{soak}");
    // What an engine that began anew frees is no fall.
    assert_eq!(soak["trends"]["engine_memory"]["seen"]["moved"], "up");
    // The folder knows what has ended: nothing is left to go on with.
    resume(&project)
        .exits(2)
        .says("was cut off: its runs have all ended");
}

#[test]
fn after_a_kill_an_engine_that_ran_on_without_a_leak_has_none() {
    let engine = Engine::start(&["test", "--slower", "900%"]);
    let project = soak(&format!("url: 'http://{}'", engine.address));
    let mut child = start(&project);
    wait_for_windows(&project, &mut child, 6);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(project.runs().is_empty(), "it had no time to leave a run");
    // Cut off again while it goes on, at once.
    let session = project.sessions()[0].clone();
    let words = ["run", "--resume", session.to_str().unwrap()];
    let mut child = project
        .command(&words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_windows(&project, &mut child, 10);
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = resume(&project).exits_any().shows("the engine ran on");
    let run = whole(&project);
    let soak = &run["stages"][1]["soak"];
    let pauses = soak["pauses"].as_array().unwrap();
    assert_eq!(pauses.len(), 2, "{pauses:?}");
    assert!(
        pauses.iter().all(|pause| pause["engine"] == "ran-on"),
        "{pauses:?}"
    );
    assert!(pauses[0]["after_windows"].as_u64() < pauses[1]["after_windows"].as_u64());
    // A machine that is busy with something else can slow a client down, but fills no cache and no memory.
    for code in [
        "soak::engine-leak",
        "soak::fragmentation",
        "soak::client-leak",
    ] {
        assert!(!codes(soak).contains(&code), "{soak}\n{}", ran.out);
    }
    for figure in ["engine_memory", "kv_blocks"] {
        assert_eq!(soak["trends"][figure]["seen"]["moved"], "level", "{soak}");
    }
    let kept = run["stages"][1]["windows"]["engine_memory_bytes"]
        .as_array()
        .unwrap();
    assert!(
        kept.iter().all(Value::is_number),
        "what was seen before it was cut off is kept: {kept:?}"
    );
}

#[test]
fn a_target_that_is_another_one_is_refused_and_what_was_never_begun_too() {
    let engine = Engine::start(&["test", "--slower", "900%"]);
    let spec = soak("url: '${TARGET_URL}'");
    let command = |words: &[&str], engine: &Engine| {
        let mut command = spec.command(words);
        command.env("TARGET_URL", format!("http://{}", engine.address));
        command
    };
    let mut child = command(&["run", "spec.yaml"], &engine)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_windows(&spec, &mut child, 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let other = Engine::start(&["test", "--slower", "800%"]);
    let session = spec.sessions()[0].clone();
    let words = ["run", "--resume", session.to_str().unwrap()];
    Ran::from(command(&words, &other).output().unwrap())
        .exits(3)
        .says("the target is not what it was when the session was cut off: `engine.args` was");
    let changed = std::fs::read_to_string(spec.path("spec.yaml")).unwrap();
    std::fs::write(
        spec.path("other.yaml"),
        changed.replace("seed: 7", "seed: 8"),
    )
    .unwrap();
    let words = ["run", "other.yaml", "--resume", session.to_str().unwrap()];
    Ran::from(command(&words, &engine).output().unwrap())
        .exits(2)
        .says("is not the spec of");
    spec.run(&["run", "--resume", "nowhere"])
        .exits(2)
        .says("name the folder of a session of `run`");
}
