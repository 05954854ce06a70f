//! What happens to a target on purpose while it is loaded, and what is said of it.

use serde_json::Value;

use crate::support::{Project, SMALL, json as read};

/// Twenty requests a second for ten seconds, with these events.
fn project(target: &str, events: &str) -> Project {
    let spec = SMALL
        .replace("sim: SIM", target)
        .replace("slo: {ttft: 1s, e2e: 2s}", "slo: {ttft: 20s, e2e: 30s}")
        .replace(
            "closed: {users: 2}, requests: 60, warmup: 4",
            &format!(
                "open: {{rate: 20/s, arrivals: constant}}, duration: 10s, warmup: 4, events: [{events}]"
            ),
        )
        .replace("e2e.p50", "e2e.p50, stages: [steady]")
        .replace("error_ratio, at_most", "error_ratio, stages: [steady], at_most");
    Project::with_spec(&spec)
}

fn stage(project: &Project) -> Value {
    read(&project.runs()[0])["stages"][0].clone()
}

#[test]
fn of_two_replicas_one_is_killed_and_comes_back() {
    let project = project(
        "sim: test, replicas: 2",
        "{name: gone, at: 3s, sim: kill, replica: 2, for: 3s}",
    );
    project
        .run(&["run", "spec.yaml"])
        .exits(0)
        .shows("event       gone (kill replica 2 for 3s), planned at 3000 ms, done at ")
        .shows("attainment was back ");
    let stage = stage(&project);
    let event = &stage["events"][0];
    assert_eq!(event["outcome"], "done", "{event}");
    let after = &event["aftermath"];
    // Every second request of the three seconds goes to the one that is gone: 30, if none is late.
    let lost = &after["lost"];
    assert!(lost["connect_error"].as_u64().unwrap() >= 10, "{after}");
    let total: u64 = lost
        .as_object()
        .unwrap()
        .values()
        .map(|n| n.as_u64().unwrap())
        .sum();
    let failed: u64 = ["connect_error", "stream_error", "timeout"]
        .iter()
        .filter_map(|kind| stage["pooled"]["outcomes"][kind].as_u64())
        .sum();
    assert_eq!(total, failed, "every failure of the stage is the event's");
    let back = after["recovery"]["after"]["s"].as_f64().unwrap();
    assert!((2.0..=7.0).contains(&back), "{after}");
    let [before, meanwhile] =
        ["goodput_before_rps", "goodput_while_rps"].map(|figure| after[figure].as_f64().unwrap());
    let remaining = meanwhile / before;
    assert!((0.25..=0.8).contains(&remaining), "about half: {after}");
}

#[test]
fn a_replica_that_stays_away_is_no_lost_target_and_never_back() {
    let project = project("sim: test, replicas: 2", "{name: gone, at: 4s, sim: kill}");
    project
        .run(&["run", "spec.yaml", "--repeats", "2"])
        .exits(0)
        .shows("attainment was not back when the window ended");
    assert_eq!(
        project.runs().len(),
        2,
        "the second run has both replicas again"
    );
    for path in project.runs() {
        let run = read(&path);
        assert_eq!(run["end"], "complete");
        let after = &run["stages"][0]["events"][0]["aftermath"];
        assert_eq!(after["attainment_before"], 1.0, "{after}");
    }
}

#[test]
fn what_follows_is_gated_and_what_never_came_back_is_no_pass() {
    let gated = |lasts: &str| {
        let project = project(
            "sim: test, replicas: 2",
            &format!("{{name: gone, at: 3s, sim: kill, replica: 2{lasts}}}"),
        );
        let spec = std::fs::read_to_string(project.path("spec.yaml")).unwrap();
        let (before, _) = spec.split_once("  cells:").unwrap();
        let cells = "  cells:\n    - {metric: recovery_time, stages: [steady], at_most: 60s}\n    \
                     - {metric: lost_to_events, stages: [steady], at_most: 90%}\n    \
                     - {metric: drain_time, stages: [steady], at_most: 60s}\n";
        std::fs::write(project.path("spec.yaml"), format!("{before}{cells}")).unwrap();
        project.run(&["run", "spec.yaml"]).exits(0);
        let run = project.runs()[0].clone();
        (project, run.display().to_string())
    };
    let (_kept, back) = gated(", for: 2s");
    let (_kept, again) = gated(", for: 2s");
    let (project, never) = gated("");
    let recovered = project.run(&["compare", &back, &again]);
    recovered.exits(0).shows("steady/recovery_time");
    project
        .run(&["compare", &back, &never])
        .exits(1)
        .shows("Time to recovery in steady is ∞");
}

#[test]
fn each_kind_of_trouble_has_its_kind_of_failure() {
    let project = project(
        "sim: test",
        "{name: no, at: 2s, sim: refuse, for: 1s}, {name: wait, at: 5s, sim: stall, for: 1s}, \
         {name: look, at: 8s, http: {method: GET, path: /version}}, \
         {name: write, at: 8500ms, command: [sh, -c, echo done > written; echo said]}",
    );
    project.run(&["run", "spec.yaml"]).exits(0);
    let stage = stage(&project);
    let events = stage["events"].as_array().unwrap();
    assert!(
        events.iter().all(|event| event["outcome"] == "done"),
        "{events:?}"
    );
    let [no, wait, look, write] = [0, 1, 2, 3].map(|at| &events[at]);
    assert!(
        no["aftermath"]["lost"]["rejected"].as_u64().unwrap() >= 5,
        "{no}"
    );
    assert_eq!(wait["aftermath"]["lost"], serde_json::json!({}));
    let most = |event: &Value| event["aftermath"]["in_flight_most"].as_u64().unwrap();
    assert!(most(wait) >= 10, "a second of requests waits: {wait}");
    assert!(
        look["output"].as_str().unwrap().contains("infergate-sim"),
        "{look}"
    );
    assert_eq!(write["output"], "said");
    let written = std::fs::read_to_string(project.path("written")).unwrap();
    assert_eq!(written, "done\n", "it runs in the spec's folder");
}

#[test]
fn an_event_that_fails_makes_its_stage_invalid() {
    let project = project(
        "sim: test",
        "{name: fails, at: 1s, command: [sh, -c, echo broken; exit 3]}, \
         {name: hangs, at: 1s, within: 1s, command: [sleep, '60']}, \
         {name: nothing, at: 1s, command: [./not-there]}, \
         {name: wrong, at: 1s, http: {path: /nowhere}}",
    );
    project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .shows("the event fails did not happen: it ended with exit status: 3")
        .shows("the event hangs did not happen: it did not end within 1s")
        .shows("the event nothing did not happen: it could not be started")
        .shows("the event wrong did not happen: it was answered with status 404");
}

#[test]
fn shards_take_no_part() {
    let project = project(
        "url: 'http://127.0.0.1:1'",
        "{name: cut, at: 4s, http: {path: /x}}",
    );
    let words = [
        "run",
        "spec.yaml",
        "--shard",
        "1/2",
        "--start-at",
        "2099-01-01T00:00:00Z",
    ];
    project
        .run(&words)
        .exits(2)
        .says("which would happen once for each shard");
}
