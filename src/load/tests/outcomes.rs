//! Every outcome, as the socket brings it about.

use super::server::{
    A, B, DONE, Do, Gate, LENGTH, ROLE, Server, USAGE, end, events, good, head, response,
};
use super::*;
use crate::ident::Secret;
use crate::sample::{Outcome, StageEnd, StopReason, TimeoutPhase, TokenSource};
use crate::spec::StopWhen;

fn write(bytes: Vec<u8>) -> Reply {
    vec![Do::Write(bytes)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_answer_completes_and_its_record_is_whole() {
    let record = one(write(good())).await;
    assert_eq!(record.outcome, Outcome::Completed, "{record:?}");
    assert_eq!(record.events.len(), 2);
    assert_eq!(record.output_tokens, Some(PINNED));
    assert_eq!(record.output_source, TokenSource::Usage);
    assert_eq!(record.input_tokens, Some(20));
    let instants = [
        Some(record.scheduled),
        record.sent,
        record.headers,
        record.first_token(),
        record.last_token(),
        record.done,
    ];
    assert!(
        instants.iter().all(Option::is_some) && instants.is_sorted(),
        "{instants:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_cut_of_the_bytes_gives_the_same_record() {
    let bytewise = good()
        .into_iter()
        .map(|byte| Do::Write(vec![byte]))
        .collect();
    let record = one(bytewise).await;
    assert_eq!(record.outcome, Outcome::Completed, "{record:?}");
    assert_eq!((record.events.len(), record.output_tokens), (2, Some(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_chunk_is_no_first_token() {
    // The token is held back until the client has had the role chunk for a while: until the next
    // request, which the second user sends, has come.
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(move |number| {
        if number > 0 {
            held.open();
            return write(good());
        }
        vec![
            Do::Write([head(), events(&[ROLE])].concat()),
            Do::Wait(held.clone()),
            Do::Write([events(&[A, LENGTH, DONE]), end()].concat()),
        ]
    })
    .await;
    let left = run(closed(2, 2)).against(server.url()).await;
    let first = left
        .records
        .iter()
        .find(|record| record.events.len() == 1)
        .unwrap();
    assert_eq!(first.outcome, Outcome::Completed);
    assert!(first.first_token() >= first.headers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_one_read_share_an_instant() {
    let record = one(write(
        [head(), events(&[A, B, LENGTH, DONE]), end()].concat(),
    ))
    .await;
    assert_eq!(record.events.len(), 2);
    assert_eq!(record.events[0], record.events[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_event_fails() {
    let error = r#"{"error":{"message":"out of memory"}}"#;
    let record = one(write([head(), events(&[A, error, DONE]), end()].concat())).await;
    assert_eq!(record.outcome, Outcome::StreamError);
    assert_eq!(record.error.as_deref(), Some("out of memory"));
    assert_eq!(record.output_tokens, Some(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_body_fails() {
    for how in [Do::Close, Do::Reset] {
        // The reset may overtake the token, so only the close promises one.
        let closes = matches!(how, Do::Close);
        let record = one(vec![Do::Write([head(), events(&[A])].concat()), how]).await;
        assert!(matches!(
            record.outcome,
            Outcome::StreamError | Outcome::ConnectError
        ));
        assert!(record.error.is_some());
        if closes {
            assert_eq!(
                (record.outcome, record.events.len()),
                (Outcome::StreamError, 1)
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_without_done_fails() {
    let record = one(write([head(), events(&[A, B]), end()].concat())).await;
    assert_eq!(record.outcome, Outcome::StreamError);
    assert!(record.error.unwrap().contains("[DONE]"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finish_reason_without_done_is_an_end() {
    let record = one(write([head(), events(&[A, B, LENGTH]), end()].concat())).await;
    assert_eq!(record.outcome, Outcome::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_token_is_empty() {
    let record = one(write(
        [head(), events(&[ROLE, LENGTH, DONE]), end()].concat(),
    ))
    .await;
    assert_eq!(record.outcome, Outcome::Empty);
    assert_eq!(record.first_token(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statuses_keep_the_servers_words_and_lose_the_key() {
    let body = r#"{"error":{"message":"bad key sk-secret","code":500}}"#;
    for (status, outcome) in [
        ("429 Too Many Requests", Outcome::Rejected { status: 429 }),
        ("503 Service Unavailable", Outcome::Rejected { status: 503 }),
        (
            "500 Internal Server Error",
            Outcome::HttpError { status: 500 },
        ),
        ("404 Not Found", Outcome::HttpError { status: 404 }),
    ] {
        let mut run = run(closed(1, 1));
        run.access.key = Some(Secret::new("sk-secret".to_owned()));
        let record = one_of(run, write(response(status, "", body))).await;
        assert_eq!(record.outcome, outcome);
        assert_eq!(record.error.as_deref(), Some("bad key [masked]"));
        assert_eq!(record.bytes, body.len() as u64);
        assert!(record.headers.is_some() && record.events.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_is_told_and_not_followed() {
    let redirect = response("307 Temporary Redirect", "location: /elsewhere\r\n", "");
    let server = Server::start(move |_| write(redirect.clone())).await;
    let left = run(closed(1, 1)).against(server.url()).await;
    assert_eq!(left.records[0].outcome, Outcome::HttpError { status: 307 });
    assert_eq!(
        left.records[0].error.as_deref(),
        Some("redirects to /elsewhere")
    );
    assert_eq!(server.bodies().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_connection_is_a_connect_error() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let left = run(closed(1, 1)).against(&url).await;
    assert_eq!(left.records[0].outcome, Outcome::ConnectError);
    assert!(
        left.records[0]
            .error
            .as_deref()
            .unwrap()
            .contains("refused")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_lost_before_the_headers_is_a_connect_error() {
    for how in [Do::Close, Do::Reset] {
        assert_eq!(one(vec![how]).await.outcome, Outcome::ConnectError);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_pass_at_their_phase() {
    let short = Nanos::from_millis(30);
    let first_token = TimeoutPhase::FirstToken;
    let hold = || Do::Wait(Gate::new());
    for (begin, phase) in [
        (vec![], first_token),
        (head(), first_token),
        ([head(), events(&[ROLE])].concat(), first_token),
        ([head(), events(&[A])].concat(), TimeoutPhase::Stall),
        ([head(), events(&[A])].concat(), TimeoutPhase::Total),
    ] {
        let mut run = run(closed(1, 1));
        match phase {
            TimeoutPhase::Stall => run.timeouts.stall = short,
            TimeoutPhase::Total => run.timeouts.total = vec![short],
            _ => run.timeouts.first_token = vec![short],
        }
        let tokens = begin
            .windows(9)
            .filter(|window| window == b"\"content\"")
            .count();
        let record = one_of(run, vec![Do::Write(begin), hold()]).await;
        assert_eq!(record.outcome, Outcome::Timeout { phase });
        assert!(record.done.unwrap() >= record.sent.unwrap() + short);
        if phase == TimeoutPhase::Stall {
            assert_eq!(record.events.len(), tokens);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_answer_has_no_token_instants() {
    let body = r#"{"choices":[{"message":{"content":"a b"},"finish_reason":"length"}],
                   "usage":{"prompt_tokens":20,"completion_tokens":2}}"#;
    let reply = || {
        write(response(
            "200 OK",
            "content-type: application/json\r\n",
            body,
        ))
    };
    let mut whole = run(closed(1, 1));
    whole.extra.insert("stream".to_owned(), false.into());
    // The second server answers whole though a stream was asked for.
    for run in [whole, run(closed(1, 1))] {
        let record = one_of(run, reply()).await;
        assert_eq!(record.outcome, Outcome::Completed, "{record:?}");
        assert_eq!(
            (record.first_token(), record.output_tokens),
            (None, Some(2))
        );
        assert!(record.done.is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn completions_are_spoken_too() {
    let mut run = run(closed(1, 1));
    run.api = Api::Completions;
    let last =
        r#"{"choices":[{"text":" b","finish_reason":"length"}],"usage":{"completion_tokens":2}}"#;
    let body = [
        head(),
        events(&[r#"{"choices":[{"text":"a"}]}"#, last, DONE]),
        end(),
    ]
    .concat();
    let record = one_of(run, write(body)).await;
    assert_eq!(
        (record.outcome, record.output_tokens),
        (Outcome::Completed, Some(2))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_that_comes_late_holds_up_no_record() {
    let body = [head(), events(&[A, B, LENGTH, USAGE, DONE])].concat();
    let record = one(vec![Do::Write(body), Do::Wait(Gate::new())]).await;
    assert_eq!(record.outcome, Outcome::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_cancels_what_has_not_ended_in_time() {
    let after = Nanos::from_millis(30);
    let mut running = run(closed(1, 3));
    running.class.cancel = Some(Cancel { share: 1.0, after });
    let server = Server::start(|number| match number {
        0 => write(good()),
        1 => vec![
            Do::Write([head(), events(&[A])].concat()),
            Do::Wait(Gate::new()),
        ],
        _ => vec![Do::Wait(Gate::new())],
    })
    .await;
    let left = running.against(server.url()).await;
    let [quick, begun, silent] = left.records.as_slice() else {
        panic!("{:?}", left.records);
    };
    assert_eq!(quick.outcome, Outcome::Completed);
    for (record, tokens) in [(begun, 1), (silent, 0)] {
        assert_eq!(record.outcome, Outcome::Cancelled, "{record:?}");
        assert!(!record.outcome.kind().is_error());
        assert_eq!(record.events.len(), tokens);
        assert_eq!(record.error, None);
        assert!(
            record.done.unwrap() >= record.sent.unwrap() + after,
            "never early"
        );
    }
    assert_eq!(left.observation.backlog, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_natural_answer_may_end_where_it_likes_but_not_at_its_bound() {
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    for (finish, outcome) in [(stop, Outcome::Completed), (LENGTH, Outcome::Truncated)] {
        let bytes = [head(), events(&[A, B, finish, USAGE, DONE]), end()].concat();
        let server = Server::start(move |_| write(bytes.clone())).await;
        let mut running = run(closed(1, 1));
        running.class.output_length = OutputLength::Natural;
        let left = running.against(server.url()).await;
        assert_eq!(left.records[0].outcome, outcome);
        let body: serde_json::Value = serde_json::from_str(&server.bodies()[0]).unwrap();
        assert_eq!(body.get("ignore_eos"), None);
        assert_eq!(body["max_tokens"], PINNED);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stage_ends_where_too_many_requests_fail() {
    let server = Server::start(|number| {
        if number < 60 {
            return write(good());
        }
        write(response("500 Oops", "", ""))
    })
    .await;
    let stage = Stage {
        stop_when: Some(StopWhen {
            error_ratio: Some(0.2),
            overload: false,
        }),
        ..closed(2, 100_000)
    };
    let left = run(stage).against(server.url()).await;
    let StageEnd::Stopped(StopReason::Errors { errors, of }) = left.observation.end else {
        panic!("{:?}", left.observation.end);
    };
    assert!(errors * 5 >= of && errors * 5 < of + 5, "{errors} of {of}");
    assert!(left.records.len() < 200, "{}", left.records.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_warm_up_requests_keeps_to_the_cap() {
    let hold = vec![Do::Write(head()), Do::Wait(Gate::new())];
    let server = Server::start(move |_| hold.clone()).await;
    let mut stage = open(500.0, 2);
    stage.warmup.requests = 10;
    stage.in_flight = 3;
    stage.drain_timeout = Nanos::from_millis(500);
    let left = run(stage).against(server.url()).await;
    assert!(server.most_in_flight() <= 3);
    let unsent = |record: &&RequestRecord| record.outcome == Outcome::Unsent;
    assert_eq!(left.records.iter().filter(unsent).count(), 9);
    // The window's own are counted, and nothing else.
    assert_eq!(left.observation.cap_hits, 2);
}
