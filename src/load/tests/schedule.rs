//! When requests are sent, and how stages end.

use super::server::{
    A, B, DONE, Do, Gate, LENGTH, Server, USAGE, end, events, good, head, last_good,
};
use super::*;
use crate::plan::Phase;
use crate::sample::{Outcome, StageEnd};

fn answered(_: u32) -> Reply {
    vec![Do::Write(good())]
}

/// Holds every answer back until the gate opens.
fn behind(gate: &Gate) -> impl Fn(u32) -> Reply + Send + Sync + use<> {
    let gate = gate.clone();
    move |_| {
        vec![
            Do::Write(head()),
            Do::Wait(gate.clone()),
            Do::Write(good()[head().len()..].to_vec()),
        ]
    }
}

fn sorted(left: &Left, phase: Phase) -> Vec<u32> {
    let mut numbers: Vec<u32> = left
        .records
        .iter()
        .filter(|record| record.phase == phase)
        .map(|record| record.index)
        .collect();
    numbers.sort_unstable();
    numbers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_serve_again() {
    let server = Server::start(answered).await;
    let left = run(closed(1, 20)).against(server.url()).await;
    assert_eq!(left.records.len(), 20);
    assert!(
        left.records
            .iter()
            .all(|record| record.outcome == Outcome::Completed)
    );
    // One is the rule; the stack may open another while it puts the first back.
    assert!(server.connections() <= 3);
    let mut bodies = server.bodies();
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), 20, "every prompt is its own");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_logs_know_each_request_by_name() {
    let server = Server::start(answered).await;
    let mut stage = closed(1, 3);
    stage.warmup.requests = 2;
    run(stage).against(server.url()).await;
    assert_eq!(
        server.values("x-request-id"),
        [
            "infergate-test-steady-w-0",
            "infergate-test-steady-w-1",
            "infergate-test-steady-m-0",
            "infergate-test-steady-m-1",
            "infergate-test-steady-m-2",
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_connection_that_closes_under_a_request_is_no_failure() {
    let server = Server::start(|_| vec![Do::Write(good()), Do::CloseOnNext]).await;
    let left = run(closed(1, 20)).against(server.url()).await;
    assert_eq!(left.records.len(), 20);
    for record in &left.records {
        assert_eq!(record.outcome, Outcome::Completed, "{record:?}");
    }
    // Each was answered once, on a connection of its own.
    assert_eq!(server.bodies().len(), 20);
    assert!(server.connections() >= 20);
    let resent: u32 = left.records.iter().map(|record| record.resent).sum();
    assert!(
        (1..20).contains(&resent),
        "what was sent again is counted: {resent}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_loop_measures_exactly_its_requests_and_never_exceeds_its_users() {
    let server = Server::start(answered).await;
    let mut stage = closed(4, 50);
    stage.warmup.requests = 10;
    let left = run(stage).against(server.url()).await;
    assert_eq!(sorted(&left, Phase::Measured), (0..50).collect::<Vec<_>>());
    let warmup = sorted(&left, Phase::Warmup);
    assert!(warmup.len() >= 10);
    assert_eq!(warmup, (0..warmup.len() as u32).collect::<Vec<_>>());
    assert!(server.most_in_flight() <= 4);
    let observation = &left.observation;
    assert_eq!(observation.end, StageEnd::Complete);
    assert!((1..=4).contains(&observation.in_flight_max));
    assert!(observation.in_flight_mean > 0.0 && observation.in_flight_mean <= 4.0);
    assert_eq!((observation.backlog, observation.cap_hits), (0, 0));
    for record in &left.records {
        let in_window = record.scheduled >= observation.window_start
            && record.scheduled < observation.window_end;
        assert_eq!(in_window, record.phase == Phase::Measured);
    }
    assert_eq!(
        observation.bytes,
        left.records.iter().map(|record| record.bytes).sum::<u64>()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_ramp_the_first_request_runs_alone() {
    let gate = Gate::new();
    let held = behind(&gate);
    let server = Server::start(move |number| {
        if number == 0 {
            held(0)
        } else {
            answered(number)
        }
    })
    .await;
    let mut stage = closed(3, 6);
    stage.arrival = Arrival::Closed {
        users: 3,
        ramp: None,
        think: Think::NONE,
    };
    let running = run(stage);
    let (left, ()) = tokio::join!(running.against(server.url()), async {
        server.reached(1).await;
        gate.open();
    });
    let first = left
        .records
        .iter()
        .min_by_key(|record| record.sent)
        .unwrap();
    assert!(
        left.records
            .iter()
            .all(|record| record == first || record.sent >= first.done)
    );
    assert_eq!(sorted(&left, Phase::Measured), (0..6).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_thinks_from_the_end_of_an_answer() {
    let server = Server::start(answered).await;
    let think = Nanos::from_millis(20);
    let mut stage = closed(1, 5);
    stage.arrival = Arrival::Closed {
        users: 1,
        ramp: Some(Nanos::ZERO),
        think: Think::Fixed(think),
    };
    let left = run(stage).against(server.url()).await;
    assert_eq!(left.records.len(), 5);
    for pair in left.records.windows(2) {
        assert_eq!(pair[1].scheduled, pair[0].done.unwrap() + think);
        assert!(pair[1].sent.unwrap() >= pair[1].scheduled, "never early");
    }
    let end = left.records[4].done.unwrap() + think;
    assert!(
        left.observation.window_end >= end,
        "the last answer is thought over too"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_thinks_past_the_end() {
    let server = Server::start(answered).await;
    let mut stage = closed(2, 1);
    stage.extent = Extent::Duration(Nanos::from_millis(50));
    stage.arrival = Arrival::Closed {
        users: 2,
        ramp: Some(Nanos::ZERO),
        think: Think::Fixed(Nanos::from_secs(3600)),
    };
    let left = run(stage).against(server.url()).await;
    assert_eq!(left.records.len(), 2);
    assert_eq!(left.observation.end, StageEnd::Complete);
    assert_eq!(left.observation.backlog, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_loop_is_not_slowed_by_a_stalled_server() {
    let gate = Gate::new();
    let server = Server::start(behind(&gate)).await;
    // No answer comes before all requests have.
    let (left, ()) = tokio::join!(run(open(500.0, 40)).against(server.url()), async {
        server.reached(40).await;
        gate.open();
    });
    assert_eq!(server.most_in_flight(), 40);
    let instants: Vec<u64> = (0..40).map(|number| number * 2_000_000).collect();
    let mut records = left.records;
    records.sort_unstable_by_key(|record| record.index);
    let scheduled: Vec<u64> = records
        .iter()
        .map(|record| record.scheduled.get())
        .collect();
    assert_eq!(scheduled, instants);
    for record in &records {
        assert_eq!(record.outcome, Outcome::Completed);
        assert!(record.sent.unwrap() >= record.scheduled, "never early");
    }
    assert_eq!(left.observation.window_end, Nanos::from_millis(80));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_due_at_the_cap_are_unsent() {
    let gate = Gate::new();
    let server = Server::start(behind(&gate)).await;
    let mut stage = open(500.0, 10);
    stage.in_flight = 3;
    stage.drain_timeout = Nanos::from_millis(500);
    let left = run(stage).against(server.url()).await;
    let count = |outcome| {
        left.records
            .iter()
            .filter(|record| record.outcome == outcome)
            .count()
    };
    assert_eq!(left.records.len(), 10);
    assert_eq!(count(Outcome::Unsent), 7);
    assert_eq!(count(Outcome::Unfinished), 3);
    assert_eq!(
        (left.observation.cap_hits, left.observation.backlog),
        (7, 3)
    );
    assert!(left.observation.in_flight_max <= 3);
    let unsent = left
        .records
        .iter()
        .find(|record| record.outcome == Outcome::Unsent)
        .unwrap();
    assert_eq!((unsent.sent, unsent.done), (None, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_outlasts_the_drain_is_unfinished_with_what_came() {
    let hold = vec![
        Do::Write([head(), events(&[A])].concat()),
        Do::Wait(Gate::new()),
    ];
    let server = Server::start(move |_| hold.clone()).await;
    let mut stage = closed(2, 2);
    stage.extent = Extent::Duration(Nanos::from_millis(100));
    stage.warmup.requests = 0;
    stage.arrival = Arrival::Open {
        profile: RateProfile::Steady(Rps::try_new(50.0).unwrap()),
        process: ArrivalProcess::Constant,
    };
    stage.drain_timeout = Nanos::from_millis(500);
    let left = run(stage).against(server.url()).await;
    assert_eq!(left.records.len(), 5);
    assert!(
        left.records
            .iter()
            .all(|record| record.outcome == Outcome::Unfinished)
    );
    assert!(left.records.iter().all(|record| record.done.is_none()));
    assert_eq!(
        left.records.iter().map(|record| record.events.len()).max(),
        Some(1)
    );
    assert_eq!(left.observation.backlog, 5);
    assert_eq!(left.observation.end, StageEnd::Complete);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_sends_and_lets_answers_end() {
    for stage in [open(20.0, 100_000), closed(2, 100_000)] {
        let gate = Gate::new();
        let server = Server::start(behind(&gate)).await;
        let (switch, stop) = StopSwitch::new();
        let mut running = run(stage);
        running.stop = stop;
        let (left, ()) = tokio::join!(running.against(server.url()), async {
            server.reached(2).await;
            switch.press();
            gate.open();
        });
        assert_eq!(left.observation.end, StageEnd::Interrupted);
        assert!((2..1000).contains(&left.records.len()));
        let Some(LoadEvent::StageEnded { end, live, .. }) = left.events.last() else {
            panic!("the last event is the end: {:?}", left.events);
        };
        assert_eq!(*end, StageEnd::Interrupted);
        assert_eq!(live.in_flight, 0);
        assert!(matches!(
            left.events[0],
            LoadEvent::StageStarted { stage: 0, .. }
        ));
        assert!(left.observation.window_start <= left.observation.window_end);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_takes_no_connections_is_lost() {
    for mut stage in [closed(3, 100_000), open(2000.0, 100_000)] {
        // The cap has no part in this, however slow the machine is.
        stage.in_flight = 100_000;
        let server = Server::start(|number| {
            if number < 5 {
                vec![Do::Write(good())]
            } else {
                vec![Do::Reset]
            }
        })
        .await;
        let left = run(stage).against(server.url()).await;
        let StageEnd::TargetLost { error } = &left.observation.end else {
            panic!("{:?}", left.observation.end);
        };
        assert!(!error.is_empty());
        assert!((20..100_000).contains(&left.records.len()));
        assert!(
            left.records
                .iter()
                .all(|record| record.outcome != Outcome::Unsent)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_keep_a_target_alive() {
    // Every other connection fails: bad, but there.
    let server = Server::start(|number| {
        if number % 2 == 0 {
            vec![Do::Write(last_good())]
        } else {
            vec![Do::Close]
        }
    })
    .await;
    let left = run(closed(1, 100)).against(server.url()).await;
    assert_eq!(left.observation.end, StageEnd::Complete);
    let failed = left
        .records
        .iter()
        .filter(|record| record.outcome == Outcome::ConnectError);
    assert_eq!(failed.count(), 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_come_while_the_stage_runs() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(move |number| {
        let body = [events(&[A, B, LENGTH, USAGE, DONE]), end()].concat();
        match number {
            0 => vec![Do::Write([head(), body].concat())],
            _ => vec![Do::Write(head()), Do::Wait(held.clone()), Do::Write(body)],
        }
    })
    .await;
    let mut count = 0;
    let (observation, _) = run(closed(1, 2))
        .with(&[server.url()], |_| {
            count += 1;
            gate.open();
        })
        .await;
    assert_eq!((count, observation.end), (2, StageEnd::Complete));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_stage_sends_nothing_more() {
    for stage in [open(20.0, 1000), closed(2, 100_000)] {
        let server = Server::start(answered).await;
        let reached = server.reaching(3);
        let running = run(stage);
        let prompter = Arc::clone(&running.prompter);
        tokio::select! {
            _ = running.against(server.url()) => panic!("it has far more to send"),
            () = reached => {}
        }
        // The preparing thread has more than fits ahead, so it ends only when nobody takes from
        // it any more: when nobody is left to send.
        while Arc::strong_count(&prompter) > 1 {
            tokio::task::yield_now().await;
        }
    }
}
