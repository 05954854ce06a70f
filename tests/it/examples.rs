//! The examples for a night and for failures, as they are but for their lengths, against the embedded engine.

use std::path::Path;

use serde_json::Value;

use crate::support::{Engine, Project, json as read};

/// An example with other words in it; each of them has to be there. Its gate is that of a night.
fn example(name: &str, words: &[(&str, &str)]) -> Project {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(name);
    let mut text = std::fs::read_to_string(path).unwrap();
    text.truncate(text.find("\ngate:").unwrap() + 1);
    let lengths = [
        ("{p50: 1400, p95: 3500}", "{p50: 140, p95: 350}"),
        ("{p50: 250, p95: 800}", "{p50: 12, p95: 24}"),
        ("ttft: 500ms, tpot: 40ms, e2e: 60s", "ttft: 20s, e2e: 60s"),
    ];
    for (from, to) in lengths.iter().chain(words) {
        assert!(text.contains(from), "no {from:?} in {name}");
        text = text.replace(from, to);
    }
    Project::with_spec(&text)
}

fn stages(project: &Project) -> Vec<Value> {
    let run = read(&project.runs()[0]);
    assert_eq!(run["end"], "complete");
    run["stages"].as_array().unwrap().clone()
}

#[test]
fn the_soak_of_a_night_runs_where_its_label_is_selected() {
    let engine = Engine::start(&["test"]);
    let project = example(
        "soak.yaml",
        &[
            (
                "${TARGET_URL:-http://127.0.0.1:8000}",
                &format!("http://{}", engine.address),
            ),
            ("duration: 180s", "duration: 2s, warmup: 2"),
            ("rate: 4/s", "rate: 20/s"),
            ("duration: 8h, warmup: 10m", "duration: 12s, warmup: 1s"),
            ("window: 60s, tolerance: 5%", "window: 1s, tolerance: 90%"),
        ],
    );
    project.run(&["run", "spec.yaml"]).exits(0);
    assert_eq!(stages(&project).len(), 1, "by day there is no night");
    let project = {
        let text = std::fs::read_to_string(project.path("spec.yaml")).unwrap();
        Project::with_spec(&text)
    };
    project
        .run(&["run", "spec.yaml", "--select", "nightly"])
        .exits_any()
        .shows("  soak        ");
    let [_, night] = &stages(&project)[..] else {
        panic!("both stages")
    };
    assert_eq!(night["soak"]["windows"], 12);
    assert_eq!(night["soak"]["tolerance"], 0.9);
}

#[test]
fn the_failover_and_its_bursts_run_against_two_replicas() {
    let engines = [Engine::start(&["test"]), Engine::start(&["test"])];
    let pid = engines[1].id().to_string();
    let project = example(
        "faults.yaml",
        &[
            (
                "${REPLICA_1:-http://127.0.0.1:8000}",
                &format!("http://{}", engines[0].address),
            ),
            (
                "${REPLICA_2:-http://127.0.0.1:8001}",
                &format!("http://{}", engines[1].address),
            ),
            ("    duration: 5m\n", "    duration: 10s\n    warmup: 4\n"),
            ("}}, duration: 5m}", "}}, duration: 10s, warmup: 4}"),
            ("rate: 8/s", "rate: 20/s"),
            (
                "at: 90s, command: [docker, kill, engine-2]",
                &format!("at: 3s, command: [kill, -STOP, '{pid}']"),
            ),
            (
                "at: 150s, command: [docker, start, engine-2]",
                &format!("at: 5s, command: [kill, -CONT, '{pid}']"),
            ),
            (
                "every: 60s, for: 5s, rate: 20/s",
                "every: 4s, for: 1s, rate: 60/s",
            ),
        ],
    );
    project
        .run(&["run", "spec.yaml"])
        .exits(0)
        .shows("event       gone (kill -STOP");
    let [failover, bursts] = &stages(&project)[..] else {
        panic!("both stages")
    };
    let [gone, back] = [0, 1].map(|at| &failover["events"][at]);
    assert_eq!(
        (&gone["outcome"], &back["outcome"]),
        (&"done".into(), &"done".into())
    );
    let most = |event: &Value| event["aftermath"]["in_flight_most"].as_u64().unwrap();
    // Every second request of two seconds waits for the one that stands still.
    assert!(most(gone) >= 10, "{gone}");
    assert!(
        bursts["bursts"]["bursts"].as_u64().unwrap() >= 1,
        "{bursts}"
    );
}
