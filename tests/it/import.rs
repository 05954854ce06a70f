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

/// A folder with so many files of vLLM of one day, `slower` times as slow as the genuine one.
fn day_of_vllm(project: &Project, day: u32, slower: f64) -> String {
    let text = std::fs::read_to_string(fixture("vllm/ok-detailed.json")).unwrap();
    let folder = format!("day-{day}");
    std::fs::create_dir(project.path(&folder)).unwrap();
    for n in 0..4_u32 {
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["date"] = format!("202611{day:02}-18{n:02}00").into();
        // Twice its requests, so that a median can be gated.
        for array in value.as_object_mut().unwrap().values_mut() {
            if let Some(values) = array.as_array_mut() {
                values.extend(values.clone());
            }
        }
        for count in ["completed", "num_prompts"] {
            value[count] = 80.into();
        }
        // Runs and days scatter by a percent.
        let scatter = slower * (1.0 + 0.004 * f64::from((n * 7 + day * 5) % 6));
        for key in ["ttfts", "latencies"] {
            if let Some(values) = value[key].as_array_mut() {
                for one in values {
                    *one = (one.as_f64().unwrap() * scatter).into();
                }
            }
        }
        let path = project.path(&folder).join(format!("{n}.json"));
        std::fs::write(path, value.to_string()).unwrap();
    }
    folder
}

#[test]
fn promoted_files_of_another_tool_gate_new_ones() {
    let project = Project::new("test");
    for day in 21..26 {
        let folder = day_of_vllm(&project, day, 1.0);
        let runs = format!("runs-{day}");
        let words = ["import", &folder, "-o", &runs, "--slo", "ttft=25ms"];
        project.run(&words).exits(0);
        project
            .run(&["baseline", "promote", &runs, "--reason", "nightly"])
            .exits(0)
            .says("promoted 4 runs");
    }
    project
        .run(&["import", "day-21", "--write-spec", "vllm.yaml"])
        .exits(0)
        .says("wrote `vllm.yaml`");
    project
        .run(&["import", "day-21", "--write-spec", "vllm.yaml"])
        .exits(2)
        .says("it exists");
    let spec = std::fs::read_to_string(project.path("vllm.yaml")).unwrap();
    let gated = spec.replace(
        "    - {metric: error_ratio,",
        "    - {metric: attainment, stages: [load], worse_by: 5pp}\n    - {metric: error_ratio,",
    );
    let gated = gated.replace("worse_by: 1pp", "worse_by: 2pp");
    let gated = gated.replace("}]}\nstages:", ", slo: {ttft: 25ms}}]}\nstages:");
    assert_ne!(gated, spec);
    std::fs::write(project.path("vllm.yaml"), gated).unwrap();
    let same = day_of_vllm(&project, 27, 1.0);
    project
        .run(&["gate", "vllm.yaml", "--candidate", &same])
        .exits(0)
        .shows("load/attainment");
    let other_limit = std::fs::read_to_string(project.path("vllm.yaml")).unwrap();
    let other_limit = other_limit.replace("ttft: 25ms", "ttft: 24ms");
    std::fs::write(project.path("limit.yaml"), other_limit).unwrap();
    project
        .run(&["gate", "limit.yaml", "--candidate", &same])
        .exits(3)
        .shows("counts requests by other limits on either side: ttft ≤ 25ms and ttft ≤ 24ms");
    let slow = day_of_vllm(&project, 28, 1.3);
    project
        .run(&["gate", "vllm.yaml", "--candidate", &slow])
        .exits(1)
        .shows("load/ttft.p50");
    let other = fixture("sglang/ok-details.jsonl");
    project
        .run(&["gate", "vllm.yaml", "--candidate", &other])
        .exits(3);
    project
        .run(&["gate", "vllm.yaml", "--candidate", &same, &other])
        .exits(3)
        .says("are of different loads");
    project.run(&["--quiet", "run", "spec.yaml"]).exits(0);
    let ours = project.runs().pop().unwrap();
    project
        .run(&["gate", "vllm.yaml", "--candidate", ours.to_str().unwrap()])
        .exits(3)
        .says("ran another workload");
}

/// Files of a tool that ended well and of one with planted faults, side by side, as a line of a table: exit
/// code, verdict, and the states of the cells.
fn compared(project: &Project, base: &str, candidate: &str) -> String {
    let ended = project.run(&[
        "compare",
        &fixture(base),
        &fixture(candidate),
        "--format",
        "json",
    ]);
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let mut states: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["gated"] == true || finding["state"] == "incomparable")
        .map(|finding| {
            let cell = &finding["cell"];
            let text = |key: &str| cell[key].as_str().unwrap_or("*").to_owned();
            format!(
                "{}/{} {}",
                text("stage"),
                text("metric"),
                finding["state"].as_str().unwrap()
            )
        })
        .collect();
    states.dedup();
    format!(
        "{base} {candidate}: exit {}, {}\n    {}\n",
        ended.code.unwrap(),
        report["verdict"].as_str().unwrap(),
        states.join("\n    ")
    )
}

#[test]
fn two_files_of_every_tool_are_reported_and_never_pass() {
    let project = Project::new("test");
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let mut table = String::new();
    for tool in crate::support::entries(&root) {
        for file in crate::support::entries(&tool) {
            let name = |path: &std::path::Path| {
                path.strip_prefix(&root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned()
            };
            let good = name(&file);
            let bad = good.replace("/ok", "/fail");
            if good == bad || good.ends_with(".provenance") {
                continue;
            }
            assert!(root.join(&bad).exists(), "{bad}");
            let line = compared(&project, &good, &bad);
            assert!(!line.contains("exit 0"), "{line}");
            table.push_str(&line);
        }
    }
    for other in ["aiperf/ok-summary.json", "sglang/ok-details.jsonl"] {
        table.push_str(&compared(&project, "vllm/ok-detailed.json", other));
    }
    insta::assert_snapshot!(table);
}
