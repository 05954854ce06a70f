//! Turns that follow on answers: what they carry, and when they are sent.

use serde_json::{Value, json};

use super::server::{DONE, Do, LENGTH, Server, end, events, head};
use super::*;
use crate::plan::{Phase, WARMUP_NUMBERS};
use crate::sample::{Outcome, StageEnd};
use crate::spec::{Think, Turns};

/// Answers of two tokens that say which request they answer, with reasoning before.
fn telling(number: u32) -> Reply {
    let event =
        |field: &str, text: &str| json!({"choices": [{"delta": {field: text}}]}).to_string();
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":4}}"#;
    let said = [
        event("reasoning_content", "hm"),
        event("content", "answer \"to\"\n"),
        event("content", &format!("№ {number}")),
    ];
    vec![Do::Write(
        [
            head(),
            events(&said.each_ref().map(String::as_str)),
            events(&[LENGTH, usage, DONE]),
            end(),
        ]
        .concat(),
    )]
}

fn failing(number: u32) -> Reply {
    if number == 1 {
        let error = r#"{"error":{"message":"out of memory"}}"#;
        return vec![Do::Write([head(), events(&[error]), end()].concat())];
    }
    telling(number)
}

fn talking(stage: Stage, turns: u32, think: Option<Think>) -> Run {
    let mut run = run(stage);
    run.class.turns = Some(Turns {
        count: Length::Fixed(turns),
        think,
        room: None,
    });
    run
}

fn messages(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    body["messages"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_carries_what_was_said_before_it() {
    let server = Server::start(telling).await;
    let left = talking(closed(1, 5), 3, None).against(server.url()).await;
    let bodies: Vec<Vec<Value>> = server.bodies().iter().map(|body| messages(body)).collect();
    let lengths: Vec<usize> = bodies.iter().map(Vec::len).collect();
    assert_eq!(
        lengths,
        [1, 3, 5, 1, 3],
        "a user has one conversation after the other"
    );
    assert_eq!(bodies[1][0], bodies[0][0]);
    let answer =
        |number: u32| json!({"role": "assistant", "content": format!("answer \"to\"\n№ {number}")});
    assert_eq!(bodies[1][1], answer(0), "visible text only");
    assert_eq!(bodies[2][..3], bodies[1][..]);
    assert_eq!(bodies[2][3], answer(1));
    assert_ne!(bodies[3][0], bodies[0][0]);
    let place = |record: &RequestRecord| (record.conversation, record.turn, record.index);
    assert_eq!(
        left.records.iter().map(place).collect::<Vec<_>>(),
        [
            (Some(0), Some(1), 0),
            (Some(0), Some(2), 1),
            (Some(0), Some(3), 2),
            (Some(1), Some(1), 3),
            (Some(1), Some(2), 4),
        ]
    );
    // 20 new tokens a turn, and 3 of each answer's 4 tokens were not reasoning: one in three events.
    let planned = left
        .records
        .iter()
        .map(|record| record.planned_input_tokens);
    assert_eq!(planned.collect::<Vec<_>>(), [20, 43, 66, 20, 43]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_think_between_turns_and_between_conversations() {
    let server = Server::start(telling).await;
    let (inside, between) = (Nanos::from_millis(7), Nanos::from_millis(3));
    let mut stage = closed(1, 6);
    stage.arrival = Arrival::Closed {
        users: 1,
        ramp: Some(Nanos::ZERO),
        think: Think::Fixed(between),
    };
    let talk = talking(stage, 2, Some(Think::Fixed(inside)));
    let left = talk.against(server.url()).await;
    for pair in left.records.windows(2) {
        let think = if pair[1].turn == Some(2) {
            inside
        } else {
            between
        };
        assert_eq!(pair[1].scheduled, pair[0].done.unwrap() + think);
        assert!(pair[1].sent.unwrap() >= pair[1].scheduled, "never early");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_turn_ends_its_conversation() {
    let server = Server::start(failing).await;
    let left = talking(closed(1, 4), 3, None).against(server.url()).await;
    let place = |record: &RequestRecord| (record.conversation.unwrap(), record.turn.unwrap());
    assert_eq!(
        left.records.iter().map(place).collect::<Vec<_>>(),
        [(0, 1), (0, 2), (1, 1), (1, 2)]
    );
    assert_eq!(left.records[1].outcome, Outcome::StreamError);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_ends_where_the_model_is_full() {
    let server = Server::start(telling).await;
    let mut talk = talking(closed(1, 4), 3, None);
    // A turn that answers to 20 tokens by usage and 3 by answer needs 23 + 20 + 2.
    if let Some(turns) = &mut talk.class.turns {
        turns.room = Some(44);
    }
    talk.class.output_length = OutputLength::Natural;
    let left = talk.against(server.url()).await;
    assert!(left.records.iter().all(|record| record.turn == Some(1)));
    let server = Server::start(telling).await;
    let mut talk = talking(closed(1, 4), 3, None);
    if let Some(turns) = &mut talk.class.turns {
        turns.room = Some(45);
    }
    talk.class.output_length = OutputLength::Natural;
    let left = talk.against(server.url()).await;
    assert!(left.records.iter().any(|record| record.turn == Some(3)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_loop_sends_later_turns_when_they_are_due() {
    let server = Server::start(telling).await;
    let think = Nanos::from_millis(15);
    let mut stage = open(100.0, 60);
    stage.warmup.requests = 20;
    let left = talking(stage, 4, Some(Think::Fixed(think)))
        .against(server.url())
        .await;
    let observation = &left.observation;
    assert_eq!(observation.end, StageEnd::Complete);
    let mut numbers: Vec<u32> = left.records.iter().map(|record| record.index).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(
        numbers.len(),
        left.records.len(),
        "each request has its own number"
    );
    let mut later = 0;
    for record in &left.records {
        let phase = if record.scheduled < observation.window_start {
            Phase::Warmup
        } else {
            Phase::Measured
        };
        assert_eq!(record.phase, phase);
        assert!(record.scheduled < observation.window_end);
        if record.turn == Some(1) {
            assert_eq!(
                phase == Phase::Warmup,
                record.conversation >= Some(WARMUP_NUMBERS)
            );
            continue;
        }
        later += 1;
        let before = left.records.iter().find(|before| {
            before.conversation == record.conversation
                && before.turn.map(|turn| turn + 1) == record.turn
        });
        let before = before.expect("a turn comes after another");
        assert_eq!(record.scheduled, before.done.unwrap() + think);
        assert!(record.sent.unwrap() >= record.scheduled, "never early");
    }
    assert!(later > 20, "{later} later turns");
    // One in four requests starts a conversation.
    let starts = left.records.iter().filter(|record| record.turn == Some(1));
    assert_eq!(starts.count(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_at_the_cap_is_unsent_and_ends_its_conversation() {
    let server = Server::start(telling).await;
    let mut stage = open(200.0, 40);
    stage.in_flight = 0;
    let left = talking(stage, 4, None).against(server.url()).await;
    assert_eq!(left.records.len(), 10);
    for record in &left.records {
        assert_eq!((record.outcome, record.turn), (Outcome::Unsent, Some(1)));
    }
}
