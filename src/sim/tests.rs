//! The server over real sockets, seen by a client that knows only bytes.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::fault::{DieAfter, Shares};
use super::*;
use crate::unit::Nanos;

/// One response, read to the connection's end.
struct Reply {
    status: u16,
    headers: String,
    body: String,
    /// Whether the body ended as HTTP says it must.
    complete: bool,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of each event.
    fn events(&self) -> Vec<String> {
        self.body
            .split_terminator("\n\n")
            .map(|event| event.strip_prefix("data: ").unwrap().to_owned())
            .collect()
    }

    /// The events that are chunks.
    fn chunks(&self) -> Vec<Value> {
        self.events()
            .iter()
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: sim\r\nconnection: close\r\ncontent-length: {}\r\n\
         content-type: application/json\r\n{headers}\r\n{body}",
        body.len()
    )
}

async fn send(addr: SocketAddr, request: String) -> Reply {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let closed = stream.read_to_end(&mut bytes).await.is_ok();
    let text = String::from_utf8(bytes).unwrap();
    let (headers, raw) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = headers.split(' ').nth(1).map_or(0, |s| s.parse().unwrap());
    let (body, complete) = if headers.contains("transfer-encoding: chunked") {
        unchunk(raw)
    } else {
        (raw.to_owned(), true)
    };
    Reply {
        status,
        headers: headers.to_owned(),
        body,
        complete: complete && closed && status > 0,
    }
}

fn unchunk(mut raw: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, rest)) = raw.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.push_str(&rest[..size]);
        raw = &rest[size + 2..];
    }
    (body, false)
}

async fn start(change: impl FnOnce(&mut SimOptions)) -> Running {
    start_profile("test", change).await
}

async fn start_profile(profile: &str, change: impl FnOnce(&mut SimOptions)) -> Running {
    let mut options = SimOptions::named(profile).unwrap();
    change(&mut options);
    Server::start(ServeOptions::in_memory(options))
        .await
        .unwrap()
}

async fn get(server: &Running, path: &str) -> Reply {
    send(server.addr(), request("GET", path, "", "")).await
}

async fn post(server: &Running, path: &str, body: Value) -> Reply {
    send(server.addr(), request("POST", path, "", &body.to_string())).await
}

/// A chat of `max_tokens`, with more fields merged in.
async fn chat(server: &Running, max_tokens: usize, more: Value) -> Reply {
    let mut body = json!({
        "messages": [{"role": "user", "content": "Tell me of the river."}],
        "max_tokens": max_tokens,
    });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    post(server, "/v1/chat/completions", body).await
}

async fn stream(server: &Running, max_tokens: usize) -> Reply {
    let more = json!({"stream": true, "stream_options": {"include_usage": true}});
    chat(server, max_tokens, more).await
}

/// Waits until that many sequences run in the `test` profile.
async fn until_running(server: &Running, count: usize) {
    let line = format!("vllm:num_requests_running{{engine=\"0\",model_name=\"sim/test\"}} {count}");
    while !get(server, "/metrics")
        .await
        .body
        .lines()
        .any(|l| l == line)
    {
        tokio::task::yield_now().await;
    }
}

fn text(chunks: &[Value], field: &str) -> String {
    chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"][field].as_str())
        .collect()
}

fn always(make: impl FnOnce(f64) -> Result<Shares, SimError>) -> Shares {
    make(1.0).unwrap()
}

#[tokio::test]
async fn a_stream_has_text_a_finish_reason_usage_and_an_end() {
    let server = start(|_| {}).await;
    let reply = stream(&server, 8).await;
    assert_eq!(reply.status, 200);
    assert!(reply.headers.contains("content-type: text/event-stream"));
    assert!(reply.complete);
    let chunks = reply.chunks();
    assert_eq!(chunks.len(), 9);
    assert_eq!(chunks[0]["object"], "chat.completion.chunk");
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(chunks[1]["choices"][0]["delta"].get("role"), None);
    assert_eq!(chunks[7]["choices"][0]["finish_reason"], "length");
    assert_eq!(chunks[6]["choices"][0]["finish_reason"], Value::Null);
    assert_eq!(chunks[8]["choices"], json!([]));
    assert_eq!(
        chunks[8]["usage"],
        // "Tell me of the river." is 6 tokens, the template 7.
        json!({"prompt_tokens": 13, "completion_tokens": 8, "total_tokens": 21,
               "prompt_tokens_details": {"cached_tokens": 0}})
    );
    assert_eq!(reply.events().last().unwrap(), "[DONE]");
    assert_eq!(text(&chunks, "content").split(' ').count(), 8);
}

#[tokio::test]
async fn a_whole_answer_says_what_the_stream_says() {
    let server = start(|_| {}).await;
    let streamed = text(&stream(&server, 8).await.chunks(), "content");
    let reply = chat(&server, 8, json!({})).await.json();
    assert_eq!(reply["object"], "chat.completion");
    assert_eq!(reply["choices"][0]["message"]["content"], streamed);
    assert_eq!(reply["choices"][0]["finish_reason"], "length");
    assert_eq!(reply["usage"]["completion_tokens"], 8);

    let body = json!({"prompt": "Tell me", "max_tokens": 3});
    let reply = post(&server, "/v1/completions", body).await.json();
    assert_eq!(reply["object"], "text_completion");
    assert_eq!(reply["usage"]["total_tokens"], 5);
    let words = reply["choices"][0]["text"].as_str().unwrap();
    assert_eq!(words.split(' ').count(), 3);
}

#[tokio::test]
async fn usage_can_come_with_every_chunk() {
    let server = start(|_| {}).await;
    let options = json!({"include_usage": true, "continuous_usage_stats": true});
    let more = json!({"stream": true, "stream_options": options});
    let chunks = chat(&server, 3, more).await.chunks();
    let tokens: Vec<_> = chunks
        .iter()
        .map(|chunk| chunk["usage"]["completion_tokens"].as_u64().unwrap())
        .collect();
    assert_eq!(tokens, [1, 2, 3, 3]);
}

#[tokio::test]
async fn answers_end_by_themselves_or_at_a_stop_string() {
    let server = start(|_| {}).await;
    let messages = json!([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]);
    let natural = post(
        &server,
        "/v1/chat/completions",
        json!({"messages": messages}),
    )
    .await;
    let natural = natural.json();
    assert_eq!(natural["choices"][0]["finish_reason"], "stop");
    assert_eq!(natural["usage"]["completion_tokens"], 256);

    let whole = chat(&server, 20, json!({})).await.json();
    let whole = whole["choices"][0]["message"]["content"].as_str().unwrap();
    let stop = whole.split_inclusive(' ').nth(4).unwrap();
    let before = whole.split_once(stop).unwrap().0;
    let cut = chat(&server, 20, json!({"stop": [stop], "ignore_eos": true})).await;
    let cut = cut.json();
    assert_eq!(cut["choices"][0]["message"]["content"], before);
    assert_eq!(cut["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn what_cannot_be_served_is_refused_with_a_reason() {
    let server = start(|_| {}).await;
    let hi = json!([{"role": "user", "content": "Hi"}]);
    for (body, status, word) in [
        ("{".to_owned(), 400, "valid"),
        ("{}".to_owned(), 400, "messages"),
        (json!({"messages": []}).to_string(), 400, "messages"),
        (
            json!({"messages": hi, "model": "gpt"}).to_string(),
            404,
            "gpt",
        ),
        (
            json!({"messages": hi, "max_tokens": 0}).to_string(),
            400,
            "max_tokens",
        ),
        (
            json!({"messages": hi, "max_tokens": 2048}).to_string(),
            400,
            "2048",
        ),
        (json!({"messages": hi, "n": 2}).to_string(), 400, "`n`"),
    ] {
        let raw = request("POST", "/v1/chat/completions", "", &body);
        let reply = send(server.addr(), raw).await;
        assert_eq!(reply.status, status, "{body}");
        let error = &reply.json()["error"];
        assert_eq!(error["code"], status);
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }
    assert_eq!(
        get(&server, "/v2/models").await.json()["error"]["code"],
        404
    );
    assert_eq!(get(&server, "/tokenize").await.json()["error"]["code"], 405);
    assert!(
        server
            .truth()
            .iter()
            .all(|r| r.outcome == TruthOutcome::Refused)
    );
}

#[tokio::test]
async fn it_tells_what_it_is() {
    let server = start(|options| options.slower.prefill = 0.3).await;
    assert_eq!(get(&server, "/health").await.status, 200);
    let version = get(&server, "/version").await.json();
    assert_eq!(version["engine"], "infergate-sim");
    assert_eq!(version["args"], "test --slower-prefill 30%");
    let model = &get(&server, "/v1/models").await.json()["data"][0];
    assert_eq!(model["id"], "sim/test");
    assert_eq!(model["max_model_len"], 2048);
    let count = post(&server, "/tokenize", json!({"prompt": "Tell me"})).await;
    assert_eq!(count.json()["count"], 2);
    let chat = json!({"messages": [{"role": "user", "content": "Hi"}]});
    assert_eq!(post(&server, "/tokenize", chat).await.json()["count"], 8);
}

#[tokio::test]
async fn metrics_count_what_was_served() {
    let server = start(|_| {}).await;
    stream(&server, 8).await;
    let long = "river ".repeat(40);
    let body = json!({"prompt": long, "max_tokens": 1});
    post(&server, "/v1/completions", body.clone()).await;
    post(&server, "/v1/completions", body).await;
    let page = get(&server, "/metrics").await.body;
    let labels = "engine=\"0\",model_name=\"sim/test\"";
    for line in [
        format!("vllm:generation_tokens_total{{{labels}}} 10"),
        format!("vllm:prompt_tokens_total{{{labels}}} 95"),
        format!("vllm:prefix_cache_queries_total{{{labels}}} 95"),
        format!("vllm:prefix_cache_hits_total{{{labels}}} 32"),
        format!("vllm:request_success_total{{{labels},finished_reason=\"length\"}} 3"),
        format!("vllm:time_to_first_token_seconds_count{{{labels}}} 3"),
        format!("vllm:inter_token_latency_seconds_count{{{labels}}} 7"),
    ] {
        assert!(page.lines().any(|l| l == line), "{line}\n{page}");
    }
}

#[tokio::test]
async fn the_truth_log_agrees_with_what_was_served() {
    let server = start(|_| {}).await;
    let body = json!({"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5,
                      "stream": true});
    let raw = request(
        "POST",
        "/v1/chat/completions",
        "x-request-id: r-7\r\n",
        &body.to_string(),
    );
    let reply = send(server.addr(), raw).await;
    assert!(reply.headers.contains("x-request-id: r-7"));
    assert_eq!(reply.chunks()[0]["id"], "chatcmpl-r-7");
    let truth = server.truth();
    let [record] = truth.as_slice() else {
        panic!("{truth:?}")
    };
    assert_eq!(record.id, "r-7");
    assert_eq!(record.outcome, TruthOutcome::Ok);
    assert_eq!(
        (record.tokens, record.events, record.prompt_tokens),
        (5, 5, 8)
    );
    let instants = record.token_us.as_ref().unwrap();
    assert_eq!(instants.len(), 5);
    assert!(instants.is_sorted());
    assert_eq!(record.first_token_us, instants.first().copied());
    assert_eq!(record.last_token_us, instants.last().copied());
    // The model: 8 prompt tokens in a step of 216 µs, then four steps of at least 210 µs.
    assert!(instants[0] >= record.accepted_us + 216);
    assert!(instants[4] >= record.accepted_us + 216 + 4 * 210);
    assert!(record.done_us >= instants[4]);
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
    // The first step takes 128 tokens of prompt at 2 ms each and outlasts the other requests.
    let server = start(|o| {
        o.slower.prefill = 1000.0;
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

#[tokio::test]
async fn the_null_profile_writes_the_same_stream_at_once() {
    let server = start_profile("null", |_| {}).await;
    let reply = stream(&server, 256).await;
    assert!(reply.complete);
    assert_eq!(reply.chunks().len(), 257);
    assert_eq!(reply.chunks()[256]["usage"]["completion_tokens"], 256);
    assert_eq!(reply.events().last().unwrap(), "[DONE]");
    assert_eq!(server.truth()[0].tokens, 256);
    let page = get(&server, "/metrics").await.body;
    assert!(
        page.contains("vllm:generation_tokens_total{engine=\"0\",model_name=\"sim/null\"} 256")
    );
}

#[tokio::test]
async fn truth_goes_to_a_file_that_is_whole_after_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.jsonl");
    let server = Server::start(ServeOptions {
        truth: TruthTarget::File(path.clone()),
        truth_tokens: false,
        ..ServeOptions::in_memory(SimOptions::named("test").unwrap())
    })
    .await
    .unwrap();
    for _ in 0..20 {
        stream(&server, 4).await;
    }
    server.shutdown().await.unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(header["args"], "test");
    let records: Vec<TruthRecord> = lines.map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(records.len(), 20);
    assert!(
        records
            .iter()
            .all(|r| r.tokens == 4 && r.token_us.is_none())
    );
}

#[tokio::test]
async fn a_taken_port_is_an_error_that_names_it() {
    let server = start(|_| {}).await;
    let error = Server::start(ServeOptions {
        port: server.addr().port(),
        ..ServeOptions::in_memory(SimOptions::named("test").unwrap())
    })
    .await
    .unwrap_err();
    assert!(error.to_string().starts_with("cannot listen on 127.0.0.1:"));
}

/// Figures for people: `c1 test --lib sim::tests::figures -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures of this machine, checks nothing"]
async fn figures() {
    for (profile, clients) in [("demo", 1), ("demo", 8), ("h100-8b", 32)] {
        let server = start_profile(profile, |_| {}).await;
        let body = json!({"prompt": "river ".repeat(64), "max_tokens": 64, "stream": true});
        let raw = request("POST", "/v1/completions", "", &body.to_string());
        let tasks: Vec<_> = (0..clients)
            .map(|_| tokio::spawn(send(server.addr(), raw.clone())))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let mut late: Vec<u64> = server
            .truth()
            .iter()
            .flat_map(|r| {
                let written = r.token_us.clone().unwrap();
                let due = r.due_us.clone().unwrap();
                written.into_iter().zip(due).map(|(w, d)| w - d)
            })
            .collect();
        late.sort_unstable();
        let at = |q: f64| late[(q * (late.len() - 1) as f64) as usize];
        let (p50, p90, p99, max) = (at(0.5), at(0.9), at(0.99), at(1.0));
        println!("{profile} × {clients}: lateness µs p50 {p50} p90 {p90} p99 {p99} max {max}");
    }
    let server = start_profile("null", |_| {}).await;
    let body = json!({"prompt": "river ".repeat(64), "max_tokens": 256, "stream": true});
    let raw = request("POST", "/v1/completions", "", &body.to_string())
        .replace("connection: close\r\n", "");
    let requests = 400;
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    let clock = clock::Clock::start();
    let mut buffer = vec![0; 1 << 18];
    for _ in 0..requests {
        stream.write_all(raw.as_bytes()).await.unwrap();
        let mut filled = 0;
        while !buffer[..filled].ends_with(b"\r\n0\r\n\r\n") {
            filled += stream.read(&mut buffer[filled..]).await.unwrap();
        }
    }
    let secs = clock.now().as_secs_f64();
    println!(
        "null: {:.0} chunks/s, one connection",
        f64::from(requests * 257) / secs
    );
}
