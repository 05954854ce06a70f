//! The server over real sockets, seen by a client that knows only bytes.

use std::num::NonZeroU32;

use serde_json::{Value, json};

use client::{Reply, request, send};

use super::*;

mod client;
mod faults;
mod steadiness;

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

    let body = json!({"prompt": [1, 2, 3], "stream": true});
    let reply = post(&server, "/v1/completions", body).await;
    let chunks = reply.chunks();
    assert_eq!(chunks.len(), 16);
    assert_eq!(chunks[15]["choices"][0]["finish_reason"], "length");
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));
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
async fn a_model_may_have_its_own_length() {
    let server = start(|options| options.sizing.answer_tokens = NonZeroU32::new(5)).await;
    let answer = |limit, more| {
        let server = &server;
        async move {
            let answer = chat(server, limit, more).await.json();
            let reason = answer["choices"][0]["finish_reason"].clone();
            (reason, answer["usage"]["completion_tokens"].clone())
        }
    };
    assert_eq!(answer(20, json!({})).await, (json!("stop"), json!(5)));
    assert_eq!(answer(3, json!({})).await, (json!("length"), json!(3)));
    let pinned = json!({"ignore_eos": true});
    assert_eq!(answer(20, pinned).await, (json!("length"), json!(20)));
    let at_least = json!({"min_tokens": 8});
    assert_eq!(answer(20, at_least).await, (json!("stop"), json!(8)));
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
    let labels = "engine=\"0\",model_name=\"sim/test\"";
    let page = get(&server, "/metrics").await.body;
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
        takes_faults: false,
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
