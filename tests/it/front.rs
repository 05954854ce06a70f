//! What stands in front of an engine, and what of it shows.

use std::collections::BTreeSet;
use std::time::Duration;

use infergate::archive::RecordReader;
use infergate::plan::Phase;
use infergate::sample::{OutcomeKind, RequestRecord};

use crate::proxy::{Manner, Pieces, Proxy};
use crate::support::{Engine, Project, SMALL, entries};

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
    assert_eq!(records.iter().filter(refused).count(), 20);
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
