//! Replays of traces: sent when the rows say, with the prefixes that they share.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use infergate::archive::RecordReader;
use infergate::plan::Phase;
use infergate::sample::{OutcomeKind, RequestRecord};

use crate::support::{Project, SMALL, entries, json};

/// The small spec with a replay in place of its stage.
fn replay(options: &str) -> Project {
    let spec = SMALL.replace("SIM", "test").replace(
        "closed: {users: 2}, requests: 60, warmup: 4",
        &format!("trace: {{file: traces/day, {options}}}, warmup: 4"),
    );
    let project = Project::with_spec(&spec);
    fs::create_dir(project.path("traces")).unwrap();
    project
}

fn write_trace(project: &Project, text: &str) {
    fs::write(project.path("traces/day"), text).unwrap();
}

/// Runs the spec to its end. A machine too busy to send on time makes the run invalid, exit 4, and
/// changes nothing about what was planned and answered.
fn run(project: &Project) {
    let ran = project.run(&["run", "spec.yaml"]);
    assert!(matches!(ran.code, Some(0 | 4)), "{}{}", ran.out, ran.err);
    let runs = project.runs();
    assert_eq!(json(runs.last().unwrap())["end"], "complete");
}

/// The measured requests of the only run, in the order of the plan.
fn measured(project: &Project) -> Vec<RequestRecord> {
    let [session] = &project.sessions()[..] else {
        panic!("one session")
    };
    let path = &entries(&session.join("records"))[0];
    let mut records: Vec<RequestRecord> = RecordReader::open(path)
        .unwrap()
        .map(|record| record.unwrap())
        .filter(|record| record.phase == Phase::Measured)
        .collect();
    records.sort_by_key(|record| record.index);
    records
}

/// A hundred rows with the instants of a real trace and lengths of the embedded engine's size.
/// Returns them with the nanoseconds since the first.
fn azure_rows() -> (String, Vec<u64>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/trace/azure-conv.csv");
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let mut trace = format!("{}\n", lines.next().unwrap());
    let mut instants = Vec::new();
    for (number, line) in lines.take(100).enumerate() {
        let (instant, _) = line.split_once(',').unwrap();
        let _ = writeln!(trace, "{instant},{},{}", 40 + number, 2 + number % 5);
        // 2023-11-16 18:15:46.6805900
        let number = |part: &str| part.parse::<u64>().unwrap();
        let seconds = number(&instant[14..16]) * 60 + number(&instant[17..19]);
        instants.push(seconds * 1_000_000_000 + number(&instant[20..27]) * 100);
    }
    let first = instants[0];
    (trace, instants.iter().map(|at| at - first).collect())
}

#[test]
fn rows_leave_when_the_trace_says() {
    let project = replay("speed: 40");
    let (trace, instants) = azure_rows();
    write_trace(&project, &trace);
    project
        .run(&["check", "spec.yaml"])
        .exits(0)
        .shows("trace, 40× as fast")
        .shows("rows: 100 of 100");
    run(&project);
    let file = json(&project.runs()[0]);
    let stage = &file["stages"][0];
    assert_eq!(stage["from_schedule"], true);
    assert_eq!(stage["pooled"]["outcomes"]["completed"], 100);
    let records = measured(&project);
    assert_eq!(records.len(), 100);
    let start = records[0].scheduled;
    for (number, (record, at)) in records.iter().zip(&instants).enumerate() {
        let due = (*at as f64 / 40.0).round() as u64;
        assert_eq!(record.scheduled.since(start).get(), due, "row {number}");
        assert_eq!(record.planned_input_tokens, 40 + number as u32);
        assert_eq!(record.output_tokens, Some(2 + number as u32 % 5));
        assert_eq!(record.outcome.kind(), OutcomeKind::Completed);
        assert!(record.sent.unwrap() >= record.scheduled);
    }
}

#[test]
fn shared_blocks_are_found_in_the_engines_prefix_cache() {
    let project = replay("speed: 1.0");
    let mut trace = String::new();
    let (mut cached, mut input) = (0, 0);
    for number in 0_u32..60 {
        let group = number % 3;
        let tokens = 1100 + number;
        let _ = writeln!(
            trace,
            "{{\"timestamp\": {}, \"input_length\": {tokens}, \"output_length\": 2, \
             \"hash_ids\": [{group}, {}, {}]}}",
            number * 40,
            10 + group,
            100 + number,
        );
        input += tokens;
        cached += if number < 3 { 0 } else { 1024 };
    }
    write_trace(&project, &trace);
    let ideal = f64::from(cached) / f64::from(input);
    project
        .run(&["check", "spec.yaml"])
        .exits(0)
        .shows(&format!("prefix blocks: {:.1} %", ideal * 100.0));
    run(&project);
    let sum = |of: &dyn Fn(&RequestRecord) -> Option<u32>| -> f64 {
        let records = measured(&project);
        records
            .iter()
            .map(|record| f64::from(of(record).unwrap()))
            .sum()
    };
    let share = sum(&|record| record.cached_tokens) / sum(&|record| record.input_tokens);
    // The engine's blocks have 16 tokens, and a word is not quite one.
    assert!((share - ideal).abs() < 0.02, "{share} of {ideal}");
    // Nothing is warm from the warm-up, or from whatever ran before.
    assert_eq!(measured(&project)[0].cached_tokens, Some(0));
}

#[test]
fn another_trace_is_another_workload() {
    let project = replay("speed: 40");
    let (trace, _) = azure_rows();
    write_trace(&project, &trace);
    run(&project);
    // The same rows, written with another line end.
    write_trace(&project, &trace.replace('\n', "\r\n"));
    run(&project);
    let [a, b] = &project.runs()[..] else {
        panic!("two runs")
    };
    let digest = |path| json(path)["spec"]["workload_digest"].clone();
    assert_ne!(digest(a), digest(b));
    // Runs are judged without the trace that they replayed.
    fs::remove_file(project.path("traces/day")).unwrap();
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    project.run(&["compare", a, b]).exits(3).shows("workload");
    project
        .run(&["run", "spec.yaml"])
        .exits(2)
        .says("traces/day");
}
