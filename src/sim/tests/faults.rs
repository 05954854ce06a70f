//! Each switch does what it says, and the truth log says so too.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::super::fault::{DieAfter, Shares};
use super::*;
use crate::unit::Nanos;

fn always(make: impl FnOnce(f64) -> Result<Shares, SimError>) -> Shares {
    make(1.0).unwrap()
}

#[tokio::test]
async fn failing_requests_fail_as_their_share_says() {
    let server = start(|o| {
        o.faults.shares = always(|all| Shares::try_new(all, 0.0, 0.0, 0.0, 0.0));
    })
    .await;
    let reply = stream(&server, 8).await;
    assert_eq!(reply.status, 500);
    assert_eq!(reply.json()["error"]["type"], "InternalServerError");
    assert_eq!(server.truth()[0].outcome, TruthOutcome::Error);
}

#[tokio::test]
async fn a_midstream_error_comes_after_half_of_the_tokens() {
    let server = start(|o| {
        o.faults.shares = always(|all| Shares::try_new(0.0, all, 0.0, 0.0, 0.0));
    })
    .await;
    let reply = stream(&server, 8).await;
    assert_eq!(reply.status, 200);
    let chunks = reply.chunks();
    assert_eq!(chunks.len(), 5);
    assert_eq!(chunks[4]["error"]["code"], 500);
    assert_eq!(reply.events().last().unwrap(), "[DONE]");
    let truth = &server.truth()[0];
    assert_eq!(
        (truth.outcome, truth.tokens),
        (TruthOutcome::MidstreamError, 4)
    );
    assert_eq!(chat(&server, 8, json!({})).await.status, 500);
}

#[tokio::test]
async fn a_truncated_stream_ends_without_a_word() {
    let server = start(|o| {
        o.faults.shares = always(|all| Shares::try_new(0.0, 0.0, all, 0.0, 0.0));
    })
    .await;
    let reply = stream(&server, 7).await;
    assert!(reply.complete);
    assert_eq!(reply.events().len(), 4);
    assert!(!reply.body.contains("[DONE]") && !reply.body.contains("\"length\""));
    assert_eq!(server.truth()[0].outcome, TruthOutcome::Truncated);
    let whole = chat(&server, 7, json!({})).await;
    assert!(serde_json::from_str::<Value>(&whole.body).is_err());
}

#[tokio::test]
async fn a_stalled_stream_has_one_long_gap() {
    let server = start(|o| {
        o.faults.shares = always(|all| Shares::try_new(0.0, 0.0, 0.0, all, 0.0));
        o.faults.stall_for = Nanos::from_millis(60);
    })
    .await;
    assert_eq!(stream(&server, 8).await.chunks().len(), 9);
    let truth = &server.truth()[0];
    let instants = truth.token_us.as_ref().unwrap();
    assert!(instants[4] - instants[3] >= 60_000);
    assert_eq!(truth.outcome, TruthOutcome::Ok);
}

#[tokio::test]
async fn early_stops_obey_ignore_eos() {
    let server = start(|o| {
        o.faults.shares = always(|all| Shares::try_new(0.0, 0.0, 0.0, 0.0, all));
    })
    .await;
    let reply = chat(&server, 8, json!({})).await.json();
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
    assert_eq!(reply["usage"]["completion_tokens"], 4);
    let reply = chat(&server, 8, json!({"ignore_eos": true})).await.json();
    assert_eq!(reply["choices"][0]["finish_reason"], "length");
    assert_eq!(reply["usage"]["completion_tokens"], 8);
}

#[tokio::test]
async fn chunks_take_the_shape_that_is_asked_for() {
    let server = start(|o| {
        o.shape.tokens_per_chunk = 3.try_into().unwrap();
        o.shape.role_chunk = RoleChunk::First;
        o.shape.reasoning = 4;
        o.shape.usage = false;
    })
    .await;
    let reply = stream(&server, 8).await;
    let chunks = reply.chunks();
    let deltas: Vec<_> = chunks.iter().map(|c| &c["choices"][0]["delta"]).collect();
    assert_eq!(*deltas[0], json!({"role": "assistant", "content": ""}));
    // Reasoning of 3 + 1 tokens, then text of 3 + 1, and no usage.
    assert_eq!(deltas.len(), 5);
    assert!(deltas[2].get("reasoning_content").is_some());
    assert!(deltas[3].get("reasoning_content").is_none());
    let whole = chat(&server, 8, json!({})).await.json();
    let message = &whole["choices"][0]["message"];
    assert_eq!(
        message["reasoning_content"],
        text(&chunks, "reasoning_content")
    );
    assert_eq!(message["content"], text(&chunks, "content"));
    assert_eq!(whole["usage"], Value::Null);
    assert_eq!(server.truth()[0].events, 4);
}

#[tokio::test]
async fn the_queue_limit_answers_429() {
    // The first step takes 128 tokens of prompt at 20 ms each and outlasts the other requests.
    let server = start(|o| {
        o.slower.prefill = 10_000.0;
        o.faults.queue_limit = Some(1.try_into().unwrap());
    })
    .await;
    let body = json!({"prompt": "river ".repeat(500), "max_tokens": 1, "stream": true});
    let raw = request("POST", "/v1/completions", "", &body.to_string());
    let mut held = Vec::new();
    let mut statuses = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.addr()).await.unwrap();
        stream.write_all(raw.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        statuses.push(String::from_utf8(head[9..].to_vec()).unwrap());
        held.push(stream);
        if statuses.len() == 1 {
            until_running(&server, 1).await;
        }
    }
    assert_eq!(statuses, ["200", "200", "429"]);
}

#[tokio::test]
async fn a_client_that_leaves_frees_its_place() {
    let server = start(|o| o.slower.all = 10.0).await;
    let body = json!({"prompt": "Hi", "max_tokens": 2000, "stream": true});
    let raw = request("POST", "/v1/completions", "", &body.to_string());
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    stream.write_all(raw.as_bytes()).await.unwrap();
    stream.read_exact(&mut [0; 300]).await.unwrap();
    drop(stream);
    while server.truth().is_empty() {
        tokio::task::yield_now().await;
    }
    let truth = &server.truth()[0];
    assert_eq!(truth.outcome, TruthOutcome::Cancelled);
    assert!(truth.tokens < 2000);
    until_running(&server, 0).await;
}

#[tokio::test]
async fn a_server_that_dies_breaks_its_streams() {
    let server = start(|o| {
        o.slower.all = 10.0;
        o.faults.die_after = Some(DieAfter::Requests(2));
    })
    .await;
    let long = async {
        let body = json!({"prompt": "Hi", "max_tokens": 2000, "stream": true});
        post(&server, "/v1/completions", body).await
    };
    let killer = async {
        until_running(&server, 1).await;
        stream(&server, 8).await
    };
    let (long, killer) = tokio::join!(long, killer);
    server.died().await;
    assert!(!long.complete && !killer.complete);
    assert!(
        server
            .truth()
            .iter()
            .all(|r| r.outcome == TruthOutcome::Aborted)
    );
    server.shutdown().await.unwrap();
}

async fn make(server: &Running, fault: &Value) -> Reply {
    let body = fault.to_string();
    send(server.addr(), request("POST", "/fault", "", &body)).await
}

/// A connection that has sent a request and read the head of its answer.
async fn under_way(server: &Running) -> TcpStream {
    let body = json!({"model": "sim/test", "stream": true, "ignore_eos": true, "max_tokens": 2000,
                      "messages": [{"role": "user", "content": "a b c"}]});
    let text = request("POST", "/v1/chat/completions", "", &body.to_string());
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    stream
}

/// Whether a stream ends before its answer does.
async fn breaks_off(mut stream: TcpStream) -> bool {
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    !String::from_utf8_lossy(&rest).contains("[DONE]")
}

#[tokio::test]
async fn a_cut_ends_every_connection_but_its_own_and_others_are_taken() {
    let server = start(|_| {}).await;
    let stream = under_way(&server).await;
    assert_eq!(make(&server, &json!({"fault": "drop"})).await.status, 200);
    assert!(breaks_off(stream).await);
    assert_eq!(chat(&server, 4, json!({})).await.status, 200);
}

#[tokio::test]
async fn a_killed_server_takes_nothing_and_comes_back_at_its_port_cold() {
    let server = start(|_| {}).await;
    assert_eq!(chat(&server, 4, json!({})).await.status, 200);
    let stream = under_way(&server).await;
    let kill = json!({"fault": "kill", "for_ms": 100});
    assert_eq!(make(&server, &kill).await.status, 200);
    assert!(breaks_off(stream).await);
    // Asked until it is there again: before, nobody listens.
    let again = loop {
        match TcpStream::connect(server.addr()).await {
            Ok(stream) => break stream,
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused),
        }
        tokio::task::yield_now().await;
    };
    drop(again);
    let metrics = send(server.addr(), request("GET", "/metrics", "", "")).await;
    let finished = metrics
        .body
        .lines()
        .find(|line| line.starts_with("vllm:request_success_total") && line.contains("\"length\""));
    assert!(finished.unwrap().ends_with(" 0"), "{finished:?}");
    assert_eq!(chat(&server, 4, json!({})).await.status, 200);
}

#[tokio::test]
async fn refusal_is_a_503_for_its_time() {
    let server = start(|_| {}).await;
    let refuse = json!({"fault": "refuse", "for_ms": 3_600_000});
    assert_eq!(make(&server, &refuse).await.status, 200);
    assert_eq!(chat(&server, 4, json!({})).await.status, 503);
    assert_eq!(server.truth()[0].outcome, TruthOutcome::Rejected);
}

#[tokio::test]
async fn a_stall_holds_every_step_back() {
    let server = start(|_| {}).await;
    let stall = json!({"fault": "stall", "for_ms": 150});
    assert_eq!(make(&server, &stall).await.status, 200);
    assert_eq!(chat(&server, 4, json!({})).await.status, 200);
    let truth = &server.truth()[0];
    // The request came after the stall began, by less than the test has patience.
    assert!(truth.queue_us > 0, "{truth:?}");
}

#[tokio::test]
async fn trouble_that_makes_no_sense_is_refused() {
    let server = start(|_| {}).await;
    for fault in [
        json!({"fault": "burn"}),
        json!({"fault": "stall"}),
        json!({"fault": "drop", "for_ms": 5}),
        json!({"fault": "kill", "for": 5}),
    ] {
        assert_eq!(make(&server, &fault).await.status, 400, "{fault}");
    }
}
