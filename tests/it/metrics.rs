//! What an engine's own metrics say, beside what the client saw.

use crate::support::{Project, json};

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
    let counts = check["counts"].as_array().unwrap();
    assert_eq!(counts.len(), 3, "{check}");
    for both in counts {
        assert_eq!(both["client"], both["engine"], "{check}");
    }
    for both in check["times"].as_array().unwrap() {
        let time = |clock: &str| both[clock].as_f64().unwrap();
        assert!(time("client_s") >= time("engine_s") - 0.001, "{check}");
    }
}
