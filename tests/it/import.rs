//! `infergate import`, and files of other tools wherever a run is expected.

use std::path::PathBuf;

use crate::support::Project;

fn fixture(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    root.join(name).to_str().unwrap().to_owned()
}

/// A file of vLLM that began at this minute, all its requests failed or as they were.
fn vllm(project: &Project, name: &str, minute: u32, all_failed: bool) -> String {
    let text = std::fs::read_to_string(fixture("vllm/ok-detailed.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["date"] = format!("20261129-18{minute:02}00").into();
    if all_failed {
        value["completed"] = 0.into();
        value["failed"] = 40.into();
        value["ttfts"] = vec![0.0; 40].into();
        value["itls"] = vec![serde_json::json!([]); 40].into();
        value["errors"] = vec!["Bad Gateway"; 40].into();
    }
    let path = project.path(name);
    std::fs::write(&path, value.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_file_is_shown_in_our_terms_and_written_as_a_run() {
    let project = Project::new("test");
    let file = fixture("vllm/fail-detailed.json");
    project
        .run(&[
            "import",
            &file,
            "-o",
            "runs",
            "--pin",
            "engine.version=0.14.1",
        ])
        .exits(0)
        .shows("      40    25      15")
        .shows("import::short-answers");
    let json = project.run(&["import", &file, "--json"]).exits(0).out;
    let runs: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(runs[0]["origin"]["tool"], "vllm bench serve");
    let written = std::fs::read_dir(project.path("runs")).unwrap().next();
    let written = written.unwrap().unwrap().path();
    project
        .run(&["report", written.to_str().unwrap(), "--format", "text"])
        .exits(0)
        .shows("Imported from")
        .shows("0.14.1");
    project
        .run(&["import", written.to_str().unwrap()])
        .exits(2)
        .says("it is a run of infergate already");
}

#[test]
fn one_file_a_side_gives_a_report_and_no_verdict() {
    let project = Project::new("test");
    let (base, other) = (
        fixture("vllm/ok-detailed.json"),
        vllm(&project, "b.json", 5, false),
    );
    project.run(&["compare", &base, &other]).exits(3);
    for tool in [
        "guidellm/ok-requests.json",
        "aiperf/ok-summary.json",
        "sglang/ok-details.jsonl",
        "sglang/ok-summary.jsonl",
    ] {
        let fail = fixture(&tool.replace("ok-", "fail-"));
        project
            .run(&["compare", &fixture(tool), &fail])
            .exits(3)
            .shows("neither interleaved nor stored");
    }
}

#[test]
fn files_that_took_turns_are_pairs() {
    let project = Project::new("test");
    let files: Vec<String> = (0..6)
        .map(|n| vllm(&project, &format!("{n}.json"), n, false))
        .collect();
    let side = |rest: usize| {
        files
            .iter()
            .enumerate()
            .filter(move |(n, _)| n % 2 == rest)
            .map(|(_, file)| file.as_str())
    };
    let mut words = vec!["compare", "--base"];
    words.extend(side(0));
    words.push("--candidate");
    words.extend(side(1));
    project.run(&words).shows("3 interleaved pairs of runs");
}

#[test]
fn a_file_of_a_run_in_which_every_request_failed_never_passes() {
    let project = Project::new("test");
    let failed: Vec<String> = (0..6)
        .map(|n| vllm(&project, &format!("x{n}.json"), n, true))
        .collect();
    let good: Vec<String> = (0..6)
        .map(|n| vllm(&project, &format!("g{n}.json"), n, false))
        .collect();
    let (failed, good): (Vec<&str>, Vec<&str>) = (
        failed.iter().map(String::as_str).collect(),
        good.iter().map(String::as_str).collect(),
    );
    for words in [
        vec!["compare", good[0], failed[1]],
        vec!["compare", failed[0], failed[1]],
        vec![
            "compare",
            "--base",
            good[0],
            good[2],
            good[4],
            "--candidate",
            failed[1],
            failed[3],
            failed[5],
        ],
        vec![
            "compare",
            "--base",
            failed[0],
            failed[2],
            failed[4],
            "--candidate",
            failed[1],
            failed[3],
            failed[5],
        ],
    ] {
        let ended = project.run(&words);
        assert_ne!(ended.code, Some(0), "{words:?}: {}", ended.out);
    }
}

#[test]
fn across_tools_only_cells_that_mean_the_same_are_compared() {
    let project = Project::new("test");
    let (vllm, aiperf) = (
        fixture("vllm/ok-detailed.json"),
        fixture("aiperf/ok-summary.json"),
    );
    let report = project
        .run(&["compare", &vllm, &aiperf, "--format", "markdown"])
        .exits(3)
        .out;
    let row = |cell: &str| {
        let start = format!("| `load/{cell}` |");
        report
            .lines()
            .find(|line| line.starts_with(&start))
            .unwrap()
    };
    for cell in ["ttft.p50", "tpot.p50", "e2e.p50", "output_throughput"] {
        assert!(row(cell).contains("incomparable"), "{}", row(cell));
    }
    assert!(!row("request_throughput").contains("incomparable"));
    assert!(
        report.contains("send to first chunk with choices"),
        "{report}"
    );
}

#[test]
fn a_foreign_file_says_what_was_looked_for() {
    let project = Project::new("test");
    std::fs::write(project.path("x.json"), "{\"a\": 1}").unwrap();
    for verb in ["import", "report"] {
        project
            .run(&[verb, "x.json"])
            .exits(2)
            .says("looked for vllm bench serve");
    }
}

#[test]
fn a_metric_of_a_script_s_own_name_is_what_it_is_said_to_be() {
    let project = Project::new("test");
    let file = fixture("locust/metric-rows.csv");
    project
        .run(&["import", &file, "--metric-map", "total_latency=ttft"])
        .exits(0)
        .shows("140.0 ms  200.0 ms         –    –        –");
    project
        .run(&["import", &file, "--metric-map", "total_latency=ttfft"])
        .exits(2)
        .says("did you mean `ttft`?");
    project
        .run(&["import", &file, "--metric-map", "total_latencies=e2e"])
        .exits(2)
        .says("did you mean `total_latency`?");
}

#[test]
fn a_run_of_which_a_folder_holds_several_files_counts_once() {
    let project = Project::new("test");
    let folder = project.path("artifacts");
    std::fs::create_dir(&folder).unwrap();
    for name in ["ok-summary.json", "ok-requests.jsonl", "ok-table.csv"] {
        let from = fixture(&format!("aiperf/{name}"));
        std::fs::copy(from, folder.join(name)).unwrap();
    }
    let json = project.run(&["import", "artifacts", "--json"]).exits(0).out;
    let runs: serde_json::Value = serde_json::from_str(&json).unwrap();
    let runs = runs.as_array().unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["origin"]["file"], "ok-requests.jsonl");
    // Two files of one shape are two runs.
    std::fs::copy(
        fixture("aiperf/fail-requests.jsonl"),
        folder.join("b.jsonl"),
    )
    .unwrap();
    let json = project.run(&["import", "artifacts", "--json"]).exits(0).out;
    let runs: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(runs.as_array().unwrap().len(), 2);
}
