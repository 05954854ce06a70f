//! Stages that end early, are overloaded, or run only where they are selected.

use serde_json::{Value, json};

use crate::support::{Project, SMALL, json as read};

/// 300 requests in three seconds, of 40 tokens each, by an open loop: long enough that the first of
/// them end well before its first quarter does, also on a crowded machine.
fn open(sim: &str) -> String {
    SMALL
        .replace("SIM", sim)
        .replace("output: 6", "output: 40")
        .replace("warmup: 4", "warmup: 10")
        .replace("requests: 60", "requests: 300")
        .replace(
            "closed: {users: 2}",
            "open: {rate: 100/s, arrivals: constant}",
        )
        .replace("e2e.p50", "e2e.p50, stages: [steady]")
}

/// Serves some 340 such requests a second.
const FAST: &str = "test --slower 100%";
/// Serves some 70 of them.
const SLOW: &str = "test --slower 900%";

fn names(list: &Value) -> Vec<&str> {
    let stages = list.as_array().map_or(&[][..], Vec::as_slice);
    stages
        .iter()
        .map(|stage| stage["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_rate_above_capacity_is_seen_as_overload() {
    let project = Project::with_spec(&open(SLOW));
    let ran = project.run(&["run", "spec.yaml"]);
    let run = read(&project.runs()[0]);
    let load = &run["stages"][0]["load_state"];
    assert_eq!(load["state"], "overloaded", "{load}");
    assert!(load["completed_by_due"].as_f64().unwrap() < 0.9, "{load}");
    ran.shows("overloaded: ");
    assert_eq!(run["stages"][0]["engine_queue"], "empty");
}

#[test]
fn a_candidate_that_cannot_keep_up_lost_capacity() {
    let spec = open(FAST).replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:");
    let project = Project::with_spec(&spec);
    project
        .run(&["ab", "spec.yaml", "--candidate-sim", SLOW])
        .exits(1)
        .shows("overloaded: the candidate completes only");
    let report = read(&project.sessions()[0].join("report.json"));
    let cell = &report["findings"][0];
    assert_eq!(cell["cell"]["metric"], "e2e.p50", "{cell}");
    assert_eq!(cell["state"], "regressed");
    assert!(cell["reason"]["candidate-overloaded"].is_object(), "{cell}");
}

#[test]
fn a_saturating_sweep_ends_early() {
    let spec = open(SLOW)
        .replace("rate: 100/s", "rate: [30/s, 100/s, 200/s]")
        .replace("warmup: 10", "warmup: 10, stop_when: {overload: true}")
        .replace("e2e.p50, stages: [steady]", "e2e.p50, stages: [steady@30]");
    let project = Project::with_spec(&spec);
    project
        .run(&["run", "spec.yaml"])
        .shows("steady@200 was not run: at steady@100 the target did not keep up");
    let run = read(&project.runs()[0]);
    assert_eq!(names(&run["stages"]), ["steady@30", "steady@100"]);
    assert_eq!(
        run["skipped"],
        json!([{"name": "steady@200", "after": "steady@100", "reason": "overload"}])
    );
}

#[test]
fn failures_end_a_step_and_its_sweep_and_no_other_stage() {
    let spec = SMALL.replace("SIM", "test --error-share 60%").replace(
        "  - {name: steady, closed: {users: 2}, requests: 60, warmup: 4}",
        "  - {name: sweep, closed: {users: [2, 4]}, requests: 5000, warmup: 0, stop_when: {error_ratio: 30%}}
  - {name: steady, closed: {users: 2}, requests: 60, warmup: 4}",
    );
    let project = Project::with_spec(&spec);
    project
        .run(&["run", "spec.yaml"])
        .shows("ended early: ")
        .shows("sweep@4 was not run: at sweep@2 ");
    let run = read(&project.runs()[0]);
    assert_eq!(names(&run["stages"]), ["sweep@2", "steady"]);
    assert_eq!(names(&run["skipped"]), ["sweep@4"]);
    assert_eq!(run["end"], "complete");
    let sent = run["stages"][0]["pooled"]["sent"].as_u64().unwrap();
    assert!((40..200).contains(&sent), "{sent}");
}

#[test]
fn stages_with_labels_run_where_one_is_selected() {
    let spec = SMALL.replace("SIM", "test").replace(
        "  - {name: steady",
        "  - {name: long, closed: {users: 1}, requests: 20, warmup: 1, soak: true, labels: [nightly]}
  - {name: steady",
    );
    let project = Project::with_spec(&spec);
    project.run(&["run", "spec.yaml"]).exits(0);
    project
        .run(&["run", "spec.yaml", "--select", "nightly"])
        .exits(0);
    let mut ran: Vec<Vec<String>> = project
        .runs()
        .iter()
        .map(|path| {
            let run = read(path);
            assert_eq!(
                run["spec"]["select"].is_array(),
                names(&run["stages"]).len() == 2
            );
            names(&run["stages"])
                .into_iter()
                .map(str::to_owned)
                .collect()
        })
        .collect();
    ran.sort();
    assert_eq!(ran, [vec!["long", "steady"], vec!["steady"]]);
    let [a, b] = &project.runs()[..] else {
        panic!("two runs")
    };
    project
        .run(&["compare", a.to_str().unwrap(), b.to_str().unwrap()])
        .exits(3)
        .shows("the workloads differ");
    project
        .run(&["run", "spec.yaml", "--select", "nigthly"])
        .exits(2)
        .says("no stage has the label `nigthly`; labels are nightly");
}
