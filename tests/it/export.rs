//! `infergate export` in the shape of other tools' results, and what comes back of it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{Project, SMALL, entries};

/// Two stages, one of them open.
fn two_stages() -> Project {
    let steady = "  - {name: steady, closed: {users: 2}, requests: 60, warmup: 4}\n";
    let rate = "  - {name: rate, open: {rate: 40/s}, requests: 60, warmup: 4}\n";
    let spec = SMALL
        .replace("SIM", "test")
        .replace(steady, &format!("{steady}{rate}"));
    let project = Project::with_spec(&spec);
    project.run(&["--quiet", "run", "spec.yaml"]).exits(0);
    project
}

/// Values of the cells of what is exported as CSV, by cell.
fn cells(project: &Project, of: &Path) -> BTreeMap<String, f64> {
    let csv = project
        .run(&["export", of.to_str().unwrap(), "--format", "csv"])
        .exits(0)
        .out;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows = reader.deserialize::<BTreeMap<String, String>>();
    rows.map(Result::unwrap)
        .filter_map(|row| Some((row["cell"].clone(), row["value"].parse().ok()?)))
        .collect()
}

#[test]
fn our_own_vllm_export_comes_back_with_the_same_figures() {
    let project = two_stages();
    let run = project.runs().pop().unwrap();
    let text = project
        .run(&["export", run.to_str().unwrap(), "--format", "vllm"])
        .exits(0)
        .out;
    assert_eq!(text.lines().count(), 2, "a line a stage");
    std::fs::write(project.path("ours.json"), text).unwrap();
    let (before, after) = (
        cells(&project, &run),
        cells(&project, &project.path("ours.json")),
    );
    for metric in ["ttft", "tpot", "itl", "e2e"] {
        for stage in ["steady", "rate"] {
            for statistic in ["mean", "p50", "p90", "p95", "p99"] {
                let cell = format!("{stage}/{metric}.{statistic}");
                assert!(after.contains_key(&cell), "{cell} is lost");
            }
        }
    }
    for rate in [
        "request_throughput",
        "output_throughput",
        "input_throughput",
        "goodput",
        "error_ratio",
    ] {
        assert!(
            after.contains_key(&format!("rate/{rate}")),
            "{rate} is lost"
        );
    }
    for (cell, value) in &after {
        let Some(ours) = before.get(cell) else {
            panic!("{cell} was not there before");
        };
        assert!(
            (value - ours).abs() <= 1e-12 * ours.abs(),
            "{cell}: {value} of {ours}"
        );
    }
    let json = project.run(&["import", "ours.json", "--json"]).exits(0).out;
    let imported: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        imported.as_array().unwrap().len(),
        1,
        "one run of two stages"
    );
    assert_eq!(imported[0]["definition"], "infergate/1");
    assert_eq!(imported[0]["stages"][1]["from_schedule"], true);
    let ours: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&run).unwrap()).unwrap();
    for key in ["session", "pins"] {
        assert!(!ours[key].is_null() && !imported[0][key].is_null(), "{key}");
    }
    assert_eq!(imported[0]["session"], ours["session"]);
    let name = |run: &serde_json::Value| run["pins"]["engine.name"]["observed"].to_string();
    assert!(
        name(&imported[0]).contains("infergate-sim"),
        "{}",
        name(&imported[0])
    );
}

#[test]
fn a_folder_takes_a_file_a_stage_that_other_tools_read() {
    let project = two_stages();
    let run = project.runs().pop().unwrap();
    let run = run.to_str().unwrap();
    for (format, ending) in [("vllm", "json"), ("llm-d", "yaml")] {
        project
            .run(&["export", run, "--format", format, "--dir", format])
            .exits(0)
            .says("wrote ");
        let files = entries(&project.path(format));
        assert_eq!(files.len(), 2, "{files:?}");
        for file in files {
            assert!(file.to_str().unwrap().ends_with(ending), "{file:?}");
            project
                .run(&["import", file.to_str().unwrap()])
                .exits(0)
                .shows("60    60       0");
        }
    }
    project
        .run(&["export", run, "--format", "llm-d"])
        .exits(2)
        .says("--dir");
    project
        .run(&["export", run, "--format", "csv", "--dir", "x"])
        .exits(2)
        .says("`--dir` is for");
}

#[test]
fn an_invalid_stage_is_named_and_not_exported() {
    let project = Project::new("test");
    project.run(&["--quiet", "run", "spec.yaml"]).exits(0);
    let path = project.runs().pop().unwrap();
    let mut run = crate::support::json(&path);
    run["stages"][0]["invalid"] = serde_json::json!(["interrupted"]);
    std::fs::write(&path, run.to_string()).unwrap();
    let path = path.to_str().unwrap();
    for format in ["vllm", "llm-d"] {
        project
            .run(&["export", path, "--format", format])
            .exits(2)
            .says("left out stage `steady`")
            .says("nothing to export");
    }
}
