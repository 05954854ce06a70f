//! What stands in front of an engine, and what of it shows.

use std::collections::BTreeSet;
use std::time::Duration;

use infergate::archive::RecordReader;
use infergate::plan::Phase;
use infergate::sample::{OutcomeKind, RequestRecord};
use serde_json::Value;

use crate::proxy::{Manner, Pieces, Proxy};
use crate::support::{Engine, Project, SMALL, entries, json};

/// Tokens of each answer here; the engine takes 1 ms and more for each, give or take its noise.
const TOKENS: u32 = 24;
const STEP: Duration = Duration::from_micros(800);

/// What a closed loop of 4 users measures of the embedded engine behind such a front.
fn measured(manner: Manner) -> Vec<RequestRecord> {
    let engine = Engine::start(&["demo"]);
    let front = Proxy::start(&engine.address, manner);
    let spec = SMALL
        .replace("sim: SIM", &format!("url: '{}'", front.url()))
        .replace("output: 6", &format!("output: {TOKENS}"))
        .replace("users: 2", "users: 4");
    let project = Project::with_spec(&spec);
    let ran = project.run(&["run", "spec.yaml"]);
    assert!(matches!(ran.code, Some(0 | 4)), "{}{}", ran.out, ran.err);
    let records = &entries(&project.sessions()[0].join("records"))[0];
    let records = RecordReader::open(records).unwrap();
    let measured: Vec<_> = records
        .map(|record| record.unwrap())
        .filter(|record| record.phase == Phase::Measured)
        .collect();
    assert_eq!(measured.len(), 60);
    measured
}

#[track_caller]
fn assert_completed(records: &[RequestRecord]) {
    for record in records {
        assert_eq!(record.outcome.kind(), OutcomeKind::Completed, "{record:?}");
        assert_eq!(record.output_tokens, Some(TOKENS));
    }
}

fn ttft(record: &RequestRecord) -> Duration {
    let first = record.first_token().unwrap();
    Duration::from_nanos(first.since(record.sent.unwrap()).get())
}

/// Different instants at which tokens of an answer came.
fn instants(record: &RequestRecord) -> usize {
    record.events.iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn a_delay_is_added_each_way() {
    let delay = Duration::from_millis(60);
    let records = measured(Manner {
        delay,
        ..Manner::default()
    });
    assert_completed(&records);
    assert!(records.iter().all(|record| ttft(record) >= 2 * delay));
    // Pieces are delayed, not held back: tokens still come one after another.
    let spread: usize = records.iter().map(instants).sum();
    assert!(spread > 60 * 2, "{spread}");
}

#[test]
fn a_buffering_front_hands_on_whole_answers() {
    let records = measured(Manner {
        pieces: Pieces::Whole,
        ..Manner::default()
    });
    assert_completed(&records);
    // Nothing comes before the engine's last token.
    assert!(records.iter().all(|record| ttft(record) >= TOKENS * STEP));
}

#[test]
fn answers_cut_otherwise_are_the_same_answers() {
    let records = measured(Manner {
        pieces: Pieces::Cut(7),
        ..Manner::default()
    });
    assert_completed(&records);
    let records = measured(Manner {
        pieces: Pieces::Clumps(8),
        ..Manner::default()
    });
    assert_completed(&records);
    // The eighth piece brings the first seven.
    assert!(records.iter().all(|record| ttft(record) >= 7 * STEP));
}

#[test]
fn a_front_that_refuses_and_one_that_lets_one_through_at_a_time() {
    let records = measured(Manner {
        refuse_every: Some(3),
        ..Manner::default()
    });
    let refused = |record: &&RequestRecord| record.outcome.kind() == OutcomeKind::Rejected;
    // A request that is sent again, its connection having closed under it, counts twice with the front.
    let again: u32 = records.iter().map(|record| record.resent).sum();
    let refusals = records.iter().filter(refused).count();
    assert!((20..=20 + again as usize).contains(&refusals), "{refusals}");
    let records = measured(Manner {
        at_once: Some(1),
        ..Manner::default()
    });
    assert_completed(&records);
    // A user waits for the three others' answers, less what the client takes to send again.
    let mut ttfts: Vec<Duration> = records.iter().map(ttft).collect();
    ttfts.sort_unstable();
    assert!(ttfts[30] >= 2 * TOKENS * STEP, "{:?}", ttfts[30]);
}

/// A project that names an engine and the front before it.
fn two_layers(engine: &str, front: &str, stages: &str) -> Project {
    let targets = format!(
        "targets: {{engine: {{url: 'http://{engine}', api: chat}}, front: {{url: '{front}'}}}}"
    );
    let spec = SMALL
        .replace("target: {sim: SIM, api: chat}", &targets)
        .replace("output: 6", &format!("output: {TOKENS}"))
        .replace(
            "  - {name: steady, closed: {users: 2}, requests: 60, warmup: 4}",
            stages,
        )
        .replace("    - {metric: e2e.p50, worse_by: 60%}\n", "");
    Project::with_spec(&spec)
}

const CALM: &str = "  - {name: steady, open: {rate: 15/s}, requests: 30, warmup: 4}";

/// Runs both layers; again where the machine was too busy to send on time, which makes a run invalid
/// and shows no cause of a gap.
fn run_layers(project: &Project, repeats: &str) -> Value {
    const TRIES: u32 = 4;
    let run = || project.run(&["run", "spec.yaml", "--repeats", repeats]);
    let mut ran = run();
    for _ in 1..TRIES {
        if ran.code != Some(4) {
            break;
        }
        for session in project.sessions() {
            std::fs::remove_dir_all(session).unwrap();
        }
        ran = run();
    }
    ran.exits(0);
    json(&project.sessions()[0].join("layers.json"))
}

fn part<'v>(layers: &'v Value, name: &str) -> Option<&'v Value> {
    let parts = layers["stages"][0]["parts"].as_array().unwrap();
    parts.iter().find(|part| part["part"] == name)
}

#[test]
fn a_run_of_two_layers_says_what_the_front_adds_to_each_request() {
    let engine = Engine::start(&["demo"]);
    let delay = Duration::from_millis(20);
    let manner = Manner {
        delay,
        ..Manner::default()
    };
    let front = Proxy::start(&engine.address, manner);
    let project = two_layers(&engine.address, &front.url(), CALM);
    let layers = run_layers(&project, "3");
    // Pairs in turn: engine and front, front and engine, engine and front.
    let runs: Vec<Value> = project.runs().iter().map(|path| json(path)).collect();
    let mut taken: Vec<(String, String)> = runs
        .iter()
        .map(|run| {
            let layer = &run["pins"]["layer"]["observed"]["seen"]["value"];
            let started = run["started"].as_str().unwrap().to_owned();
            (
                started,
                format!("{} {}", run["pair"], layer.as_str().unwrap()),
            )
        })
        .collect();
    taken.sort();
    let mut names: Vec<&str> = taken.iter().map(|(_, name)| name.as_str()).collect();
    names.sort_unstable();
    let both = [
        "0 end-to-end",
        "0 engine",
        "1 end-to-end",
        "1 engine",
        "2 end-to-end",
        "2 engine",
    ];
    assert_eq!(names, both);
    // One plan, one calibration, a salt each.
    for other in &runs[1..] {
        assert_eq!(other["trace_digest"], runs[0]["trace_digest"]);
        assert_eq!(other["prompt_calibration"], runs[0]["prompt_calibration"]);
        assert_ne!(other["salt"], runs[0]["salt"]);
    }
    assert_eq!(layers["pairs"], 3);
    let gap = &part(&layers, "per-request").unwrap()["gap"];
    assert!(gap["difference"].as_f64().unwrap() >= 0.03, "{gap}");
    assert!(part(&layers, "nothing-per-token").is_some(), "{layers}");
    assert!(part(&layers, "buffered").is_none(), "{layers}");
    let session = project.sessions()[0].display().to_string();
    project
        .run(&["report", &session, "--format", "text"])
        .exits(0)
        .shows("side by side: 3 pairs of runs")
        .shows("per request: +")
        .shows("per token: nothing that counts");
    // Of two layers the front is promoted, which is what the gate judges.
    let promote = ["baseline", "promote", &session, "--reason", "test"];
    project.run(&promote).exits(0).says("promoted 3 runs");
}

#[test]
fn a_run_of_two_layers_says_what_the_front_holds_back() {
    let engine = Engine::start(&["demo"]);
    let manner = Manner {
        pieces: Pieces::Whole,
        ..Manner::default()
    };
    let front = Proxy::start(&engine.address, manner);
    let project = two_layers(&engine.address, &front.url(), CALM);
    let layers = run_layers(&project, "1");
    let held = part(&layers, "buffered").expect("the front buffers");
    let first = held["first"]["difference"].as_f64().unwrap();
    assert!(first > 0.01, "{held}");
    assert_eq!(layers["stages"][0]["unsure"][0]["why"], "few-pairs");
}

#[test]
fn a_run_of_two_layers_finds_failures_and_queues_of_the_front() {
    let engine = Engine::start(&["demo"]);
    let manner = Manner {
        at_once: Some(1),
        refuse_every: Some(4),
        ..Manner::default()
    };
    let front = Proxy::start(&engine.address, manner);
    let stages = "  - {name: load, closed: {users: [1, 6]}, requests: 60, warmup: 6}";
    let project = two_layers(&engine.address, &front.url(), stages);
    let layers = run_layers(&project, "1");
    let refused = part(&layers, "failures").unwrap();
    assert_eq!(refused["kind"], "rejected");
    assert_eq!(refused["engine"]["requests"], 0);
    assert_eq!(refused["front"]["requests"], 15);
    assert_eq!(layers["across"][0]["finding"], "queueing", "{layers}");
}

#[test]
fn two_layers_are_one_target_for_whatever_judges() {
    let engine = Engine::start(&["demo"]);
    let front = Proxy::start(&engine.address, Manner::default());
    let project = two_layers(&engine.address, &front.url(), CALM);
    project
        .run(&["check", "spec.yaml"])
        .exits(0)
        .shows("have the front alone");
    let shard = [
        "run",
        "spec.yaml",
        "--shard",
        "1/2",
        "--start-at",
        "2099-01-01T00:00:00Z",
    ];
    project
        .run(&shard)
        .exits(2)
        .says("a shard measures one layer");
    // Nothing is loaded where one of the two is not there.
    drop(front);
    project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .says("cannot reach the target");
    assert!(project.runs().is_empty());
}
