//! What an engine's own metrics say, beside what the client saw.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::support::{Engine, Project, Ran, SMALL, json};

#[test]
fn the_engine_says_what_it_did_in_the_window() {
    let project = Project::new("test");
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    let engine = &run["stages"][0]["engine"]["seen"];
    assert_eq!(engine["engine"], "vllm", "{engine}");
    // The window is short: a look at its edge may be as far off as the stage's ends, which hold four
    // requests more.
    let requests = engine["ttft"]["n"].as_u64().unwrap();
    assert!((1..=64).contains(&requests), "{engine}");
    let tokens = engine["output_tokens"].as_u64().unwrap();
    assert!((1..=384).contains(&tokens), "{engine}");
    let mean = |time: &str| engine[time]["mean_s"].as_f64().unwrap();
    let parts = mean("queue") + mean("prefill");
    assert!((mean("ttft") - parts).abs() < 1e-6, "{engine}");
    assert!(mean("e2e") >= mean("ttft"), "{engine}");
    assert_eq!(engine["preemptions"], 0);
    // Over the whole stage, warm-up and drain included, every token is counted on both sides.
    let cache = &run["stages"][0]["prefix_cache"];
    let queries = &cache["engine"]["tokens"]["queries"];
    assert!(queries.as_u64().unwrap() > 0, "{cache}");
    assert_eq!(queries, &cache["usage"]["queries"], "{cache}");
}

#[test]
fn client_and_engine_count_the_same_requests() {
    let project = Project::new("test");
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    let check = &run["stages"][0]["engine"]["seen"]["cross_check"];
    assert!(check["inexact"].is_null(), "{check}");
    counts_agree(&run);
    for both in check["times"].as_array().unwrap() {
        let time = |clock: &str| both[clock].as_f64().unwrap();
        assert!(time("client_s") >= time("engine_s") - 0.001, "{check}");
    }
}

/// A server at a port of its own that has an engine's metrics at `/of/the/engine`, and the heads of all
/// requests that it got.
fn exporter(of: &str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/of/the/engine", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    let (seen, engine) = (Arc::clone(&heads), of.to_owned());
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut head = String::new();
            let mut lines = BufReader::new(client.try_clone().unwrap());
            while !head.ends_with("\r\n\r\n") && lines.read_line(&mut head).unwrap_or(0) > 0 {}
            seen.lock().unwrap().push(head);
            let mut server = TcpStream::connect(&engine).unwrap();
            server.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
            let mut answer = String::new();
            server.read_to_string(&mut answer).unwrap();
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            let head = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let _ = client.write_all(format!("{head}{body}").as_bytes());
        }
    });
    (url, heads)
}

fn counts_agree(run: &serde_json::Value) {
    let check = &run["stages"][0]["engine"]["seen"]["cross_check"];
    let counts = check["counts"].as_array().unwrap();
    assert_eq!(counts.len(), 3, "{check}");
    for both in counts {
        assert_eq!(both["client"], both["engine"], "{check}");
    }
}

#[test]
fn metrics_of_another_origin_are_read_without_what_the_target_is_asked_with() {
    let engine = Engine::start(&["test"]);
    let (metrics, heads) = exporter(&engine.address);
    let target = format!(
        "url: 'http://{}', metrics: '{metrics}', api_key_env: KEY, headers: {{x-team: blue-team}}",
        engine.address
    );
    let project = Project::with_spec(&SMALL.replace("sim: SIM", &target));
    let run = |words: &[&str]| -> Ran {
        let output = project.command(words).env("KEY", "sk-123456").output();
        output.unwrap().into()
    };
    run(&["run", "spec.yaml"]).exits(0);
    counts_agree(&json(&project.runs()[0]));
    run(&["doctor", "spec.yaml", "--quick", "--json"]).shows("those of vllm");
    let heads = heads.lock().unwrap();
    assert!(heads.len() > 3, "pins, looks, the queue: {heads:?}");
    for head in heads.iter() {
        assert!(
            head.starts_with("GET /of/the/engine HTTP/1.1\r\n"),
            "{head}"
        );
        let head = head.to_lowercase();
        for secret in ["sk-123456", "authorization", "x-team", "blue-team"] {
            assert!(!head.contains(secret), "{head}");
        }
    }
}

#[test]
fn the_other_side_of_a_comparison_has_its_metrics_below_its_own_url() {
    let (candidate, baseline) = (Engine::start(&["test"]), Engine::start(&["test"]));
    let (metrics, heads) = exporter(&candidate.address);
    let target = format!(
        "url: 'http://{}', metrics: ['{metrics}']",
        candidate.address
    );
    let spec = SMALL
        .replace("sim: SIM", &target)
        .replace("  cells:", "  repeats: {min: 1, max: 1}\n  cells:");
    let project = Project::with_spec(&spec);
    let url = format!("http://{}", baseline.address);
    project.run(&["ab", "spec.yaml", "--baseline-url", &url]);
    let runs = project.runs();
    assert_eq!(runs.len(), 2);
    for run in runs {
        counts_agree(&json(&run));
    }
    assert!(!heads.lock().unwrap().is_empty());
}

#[test]
fn metrics_that_are_off_are_not_read_and_missing_figures_say_so() {
    let engine = Engine::start(&["test"]);
    let target = format!("url: 'http://{}', metrics: off", engine.address);
    let project = Project::with_spec(&SMALL.replace("sim: SIM", &target));
    let off = "engine metrics: off in the spec";
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    let stage = &run["stages"][0];
    for what in [
        &stage["engine"]["unknown"]["why"],
        &stage["prefix_cache"]["engine"]["unknown"]["why"],
        &stage["engine_queue"]["unknown"]["why"],
    ] {
        assert_eq!(what, off, "{run:#}");
    }
    project
        .run(&["report", project.runs()[0].to_str().unwrap()])
        .exits(0)
        .shows(&format!("unknown: {off}"));
    project
        .run(&["doctor", "spec.yaml", "--quick"])
        .shows("off in the spec");
}

#[test]
fn tokens_that_one_side_counts_otherwise_are_told_with_both_figures() {
    let project = Project::new("test --tokens-per-chunk 4 --no-usage");
    let spec = std::fs::read_to_string(project.path("spec.yaml")).unwrap();
    std::fs::write(
        project.path("spec.yaml"),
        spec.replace("output: 6", "output: 40"),
    )
    .unwrap();
    project.run(&["run", "spec.yaml"]);
    let path = project.runs().remove(0);
    // 64 answers of 40 tokens, in 10 chunks each.
    project.run(&["report", path.to_str().unwrap()]).shows(
        "output tokens: 640 by the client and 2,560 by the engine's own count; somebody else uses the \
         engine, or one of them counts otherwise",
    );
}

#[test]
fn a_run_beside_somebody_elses_says_that_counters_hold_theirs_too() {
    let engine = Engine::start(&["test"]);
    let target = format!("url: 'http://{}'", engine.address);
    let other = Project::with_spec(
        &SMALL
            .replace("sim: SIM", &target)
            .replace("requests: 60", "duration: 10m"),
    );
    let mut endless = other.command(&["run", "spec.yaml", "--no-lock"]);
    let mut endless = endless.stderr(std::process::Stdio::null()).spawn().unwrap();
    other.wait_for_load(&mut endless);
    let project = Project::with_spec(&SMALL.replace("sim: SIM", &target));
    project.run(&["run", "spec.yaml", "--no-lock"]);
    endless.kill().unwrap();
    endless.wait().unwrap();
    let path = project.runs().remove(0);
    project
        .run(&["report", path.to_str().unwrap()])
        .shows("by the engine's own count; somebody else uses the engine, so neither tokens");
}
