//! What an engine's own metrics say, beside what the client saw.

use crate::support::{Project, json};

#[test]
fn the_engine_says_what_it_did_in_the_window() {
    let project = Project::new("test");
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    let engine = &run["stages"][0]["engine"]["seen"];
    assert_eq!(engine["engine"], "vllm", "{engine}");
    // 60 requests of 6 tokens; a look at an edge may see what two users had in flight on either side.
    let tokens = engine["output_tokens"].as_u64().unwrap();
    assert!((348..=372).contains(&tokens), "{engine}");
    for time in ["queue", "prefill", "decode", "ttft", "e2e"] {
        let n = engine[time]["n"].as_u64().unwrap();
        assert!((58..=62).contains(&n), "{time}: {engine}");
    }
    let mean = |time: &str| engine[time]["mean_s"].as_f64().unwrap();
    let parts = mean("queue") + mean("prefill");
    assert!((mean("ttft") - parts).abs() < 1e-6, "{engine}");
    assert_eq!(engine["preemptions"], 0);
    assert!(engine["running"]["mean"].as_f64().unwrap() > 0.0);
}
