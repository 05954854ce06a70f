//! Soaks in seconds: a planted leak, a planted fragmentation, and neither.

use serde_json::{Value, json};

use crate::support::{Project, Ran, SMALL, json as read};

/// Twenty-four windows of a second; prompts and answers of 40 blocks together, so that 8 users hold 320
/// blocks.
fn soak(sim: &str) -> (Project, Ran) {
    let spec = SMALL
        .replace("SIM", sim)
        .replace("input: 40, output: 6", "input: 540, output: 100")
        .replace("slo: {ttft: 1s, e2e: 2s}", "slo: {ttft: 20s, e2e: 60s}")
        .replace(
            "closed: {users: 2}, requests: 60, warmup: 4",
            "closed: {users: 8}, duration: 24s, warmup: 8, soak: {window: 1s, tolerance: 15%}",
        )
        .replace(
            "e2e.p50, worse_by",
            "output_throughput, stages: [steady], worse_by",
        )
        .replace(
            "error_ratio, at_most",
            "error_ratio, stages: [steady], at_most",
        );
    let project = Project::with_spec(&spec);
    let ran = project.run(&["run", "spec.yaml"]);
    (project, ran)
}

fn view(project: &Project) -> Value {
    read(&project.runs()[0])["stages"][0]["soak"].clone()
}

fn codes(view: &Value) -> Vec<&str> {
    let findings = view["findings"].as_array().map_or(&[][..], Vec::as_slice);
    findings
        .iter()
        .map(|found| found["code"].as_str().unwrap())
        .collect()
}

#[test]
fn a_planted_leak_is_found() {
    let (project, ran) = soak("test --slower 900% --leak 100%");
    let ran = ran
        .exits(1)
        .shows("soak::engine-leak the engine's memory creeps up");
    let view = view(&project);
    assert!(
        codes(&view).contains(&"soak::engine-leak"),
        "{view}\n{}",
        ran.out
    );
    let memory = &view["trends"]["engine_memory"]["seen"];
    // 100 % a minute are 40 % in 24 s, of a median that lies in the middle: 33 %.
    let growth = memory["growth"].as_f64().unwrap();
    assert!((0.25..=0.45).contains(&growth), "{memory}");
    assert_eq!(memory["moved"], "up");
}

#[test]
fn a_planted_fragmentation_is_found() {
    let (project, ran) = soak("test --slower 900% --kv-blocks 352 --fragmentation 100%");
    ran.exits(1)
        .shows("soak::fragmentation the same load gets slower");
    let view = view(&project);
    assert!(codes(&view).contains(&"soak::fragmentation"), "{view}");
    assert_eq!(
        view["trends"]["kv_blocks"]["seen"]["moved"], "down",
        "{view}"
    );
    assert!(!codes(&view).contains(&"soak::engine-leak"), "{view}");
}

#[test]
fn neither_is_found_where_neither_is() {
    let (project, ran) = soak("test --slower 900%");
    let view = view(&project);
    // A machine that is busy with something else can slow a client down, but fills no cache and no memory.
    for code in [
        "soak::engine-leak",
        "soak::fragmentation",
        "soak::client-leak",
    ] {
        assert!(!codes(&view).contains(&code), "{view}\n{}", ran.out);
    }
    for figure in ["engine_memory", "kv_blocks"] {
        assert_eq!(
            view["trends"][figure]["seen"]["moved"],
            json!("level"),
            "{view}"
        );
    }
    assert!(
        view["trends"]["client_memory"]["seen"].is_object(),
        "{view}"
    );
}
