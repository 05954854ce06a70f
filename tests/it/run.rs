//! `infergate run`: what it leaves, and how it ends when something goes wrong.

use infergate::archive::RecordReader;
use infergate::plan::Phase;
use infergate::sample::OutcomeKind;

use crate::support::{Project, SMALL, entries, json};

#[test]
fn a_run_leaves_a_run_file_and_the_record_of_every_request() {
    let project = Project::new("test");
    project
        .run(&["run", "spec.yaml"])
        .exits(0)
        .says("run file:")
        .shows("steady");
    let [path] = &project.runs()[..] else {
        panic!("one run")
    };
    let run = json(path);
    assert_eq!(run["format"], "infergate.run/1");
    assert_eq!(run["end"], "complete");
    let stage = &run["stages"][0];
    assert_eq!(stage["invalid"], serde_json::json!([]));
    assert_eq!(stage["pooled"]["scheduled"], 60);
    assert_eq!(stage["pooled"]["outcomes"]["completed"], 60);
    assert_eq!(stage["pooled"]["tokens"]["output_observed"], 360);
    assert_eq!(stage["pooled"]["tokens"]["output_source"], "usage");
    assert_eq!(run["prompt_calibration"]["source"], "usage");
    let input = &stage["pooled"]["tokens"];
    let (planned, observed) = (
        input["input_planned"].as_f64().unwrap(),
        input["input_observed"].as_f64().unwrap(),
    );
    assert!(
        (observed / planned - 1.0).abs() < 0.05,
        "{observed} of {planned} planned"
    );
    assert_eq!(
        run["pins"]["engine.name"]["observed"]["seen"]["value"],
        "infergate-sim"
    );

    let records = entries(&project.sessions()[0].join("records"));
    let records: Vec<_> = RecordReader::open(&records[0])
        .unwrap()
        .map(|record| record.unwrap())
        .collect();
    // The warm-up lasts until both users have started, however many requests that takes.
    let warmup = records
        .iter()
        .filter(|record| record.phase == Phase::Warmup)
        .count();
    assert!(warmup >= 4, "{warmup}");
    assert_eq!(records.len(), 60 + warmup);
    assert!(
        records
            .iter()
            .all(|record| record.outcome.kind() == OutcomeKind::Completed)
    );
    assert!(records.iter().all(|record| record.output_tokens == Some(6)));
}

#[test]
fn json_on_stdout_is_the_run_and_quiet_is_quiet() {
    let project = Project::new("test");
    let ran = project
        .run(&["--quiet", "run", "spec.yaml", "--json"])
        .exits(0);
    let run: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(run["spec"]["name"], "small");
    assert_eq!(ran.err, "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_no_success_and_a_reader_that_left_is_none_either() {
    let project = Project::new("test");
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = project
        .command(&["run", "spec.yaml", "--json"])
        .stdout(full)
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    crate::support::Ran::from(output)
        .exits(4)
        .says("cannot write to standard output");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = project
        .command(&["run", "spec.yaml", "--json"])
        .stdout(writer)
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    crate::support::Ran::from(output).exits(0);
}

#[test]
fn an_open_loop_keeps_its_schedule() {
    let spec = SMALL.replace("SIM", "test").replace(
        "closed: {users: 2}",
        "open: {rate: 100/s, arrivals: poisson}",
    );
    let project = Project::with_spec(&spec);
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    let stage = &run["stages"][0];
    assert_eq!(stage["from_schedule"], true);
    assert_eq!(stage["pooled"]["scheduled"], 60);
    assert!((stage["window_s"].as_f64().unwrap() - 0.6).abs() < 1e-9);
}

#[test]
fn a_target_that_is_not_there_exits_4_and_says_so() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let spec = SMALL.replace("sim: SIM", &format!("url: 'http://127.0.0.1:{port}'"));
    Project::with_spec(&spec)
        .run(&["run", "spec.yaml"])
        .exits(4)
        .says("cannot reach the target")
        .says("is the server running");
}

#[test]
fn a_target_that_dies_exits_4_and_leaves_readable_records() {
    let project = Project::new("test --die-after 40");
    let ran = project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .says("target was lost");
    assert!(!ran.err.contains("panic"), "{}", ran.err);
    let run = json(&project.runs()[0]);
    assert!(
        run["end"]["target-lost"]["error"].is_string(),
        "{}",
        run["end"]
    );
    let records = entries(&project.sessions()[0].join("records"));
    let records: Vec<_> = RecordReader::open(&records[0])
        .unwrap()
        .map(|record| record.unwrap())
        .collect();
    let completed = records
        .iter()
        .filter(|record| record.outcome.kind() == OutcomeKind::Completed)
        .count();
    assert!(
        (10..40).contains(&completed),
        "{completed} completed before the end"
    );
}

#[test]
fn answers_that_fail_now_and_then_do_not_spoil_the_length_of_prompts() {
    for faults in ["--error-share 40%", "--truncate-share 40%"] {
        let project = Project::new(&format!("test {faults}"));
        project.run(&["run", "spec.yaml"]).exits(0);
        let run = json(&project.runs()[0]);
        assert_eq!(run["prompt_calibration"]["source"], "usage", "{faults}");
        assert_eq!(run["stages"][0]["invalid"], serde_json::json!([]));
    }
}

#[test]
fn a_target_that_is_not_what_was_declared_is_not_loaded() {
    let spec = SMALL
        .replace("SIM", "test")
        .replace("under_test:", "pins: {engine: {name: vllm}}\nunder_test:");
    let project = Project::with_spec(&spec);
    project
        .run(&["run", "spec.yaml"])
        .exits(2)
        .says("`engine.name` is declared `vllm` and seen `infergate-sim`");
    assert!(project.runs().is_empty());
}

#[test]
fn a_key_that_is_not_set_is_named_before_any_load() {
    let spec = SMALL.replace("{sim: SIM,", "{sim: test, api_key_env: NO_SUCH_KEY,");
    Project::with_spec(&spec)
        .run(&["run", "spec.yaml"])
        .exits(2)
        .says("NO_SUCH_KEY");
}

#[test]
fn planned_cancellations_are_no_failures() {
    let spec = SMALL
        .replace("SIM", "demo")
        .replace(
            "output: 6,",
            "output: 400, cancel: {share: 50%, after: 50ms},",
        )
        .replace("e2e: 2s", "e2e: 60s");
    let project = Project::with_spec(&spec);
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    let stage = &run["stages"][0];
    assert_eq!(stage["invalid"], serde_json::json!([]));
    let outcomes = &stage["pooled"]["outcomes"];
    let count = |kind: &str| outcomes[kind].as_u64().unwrap();
    let (completed, cancelled) = (count("completed"), count("cancelled"));
    assert_eq!(completed + cancelled, 60, "{outcomes}");
    assert!((15..=45).contains(&cancelled), "{outcomes}");
    // What was cancelled counts neither for nor against the target.
    assert_eq!(stage["pooled"]["attainment"]["of"], completed);
    assert_eq!(stage["pooled"]["distributions"]["e2e"]["n"], completed);
    assert_eq!(
        stage["pooled"]["tokens"]["output_observed"],
        400 * completed
    );
}

#[test]
fn whole_answers_show_their_end_and_their_tokens() {
    let spec = SMALL
        .replace("{sim: SIM,", "{sim: test, streaming: false,")
        .replace("ttft: 1s, ", "");
    let project = Project::with_spec(&spec);
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    let pooled = &run["stages"][0]["pooled"];
    assert_eq!(pooled["outcomes"], serde_json::json!({"completed": 60}));
    let metrics: Vec<&String> = pooled["distributions"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(metrics, ["e2e"]);
    // Six tokens of each answer that ended in the window.
    let rate = |name: &str| pooled["rates"][name].as_f64().unwrap();
    let tokens = rate("output_tps") / rate("completed_rps");
    assert!((tokens - 6.0).abs() < 1e-9, "{pooled}");
    assert!(rate("input_tps") > rate("output_tps"), "{pooled}");
    assert_eq!(
        run["pins"]["request.streaming"]["observed"]["seen"]["value"],
        "false"
    );
}
