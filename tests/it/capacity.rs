//! `infergate capacity`: what runs of the embedded engine say of it.

use serde_json::Value;

use crate::support::Project;
use crate::valid::mistakes;

const SPEC: &str = "\
infergate: 1
name: sweep
target: {sim: demo, api: chat}
pins: {hardware: {count: 1}}
workload:
  output_length: pinned
  classes:
    - {name: chat, weight: 3, input: {uniform: [20, 60]}, output: {uniform: [8, 24]}, slo: {ttft: 10s, e2e: 20s}}
    - {name: mail, weight: 1, input: 40, output: 16, slo: {ttft: 10s}}
stages:
  - {name: sweep, closed: {users: [1, 2, 4]}, requests: 60, warmup: 8}
gate:
  cells: [{metric: error_ratio, stages: [sweep@1], at_most: 50%}]
capacity: {peak: 2000/s, traffic: 500/s}
cost: {gpu_hour: 3.50, currency: USD}
";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_sweep_is_read_by_people_and_machines() {
    let project = Project::with_spec(SPEC);
    project.run(&["run", "spec.yaml"]).exits(0);
    let session = project.sessions()[0].display().to_string();
    project
        .run(&["capacity", &session])
        .exits(0)
        .shows("Capacity of sweep: one replica carries 4 users")
        .shows("largest load within the SLO at least 4 users")
        .shows("of the tokens chat has ")
        .shows("what these runs can't say");
    project
        .run(&["capacity", &session, "--markdown"])
        .exits(0)
        .shows("```mermaid");
    let file = json(&project.run(&["capacity", &session, "--json"]).exits(0).out);
    assert_eq!(mistakes("capacity", &file), [] as [&str; 0]);
    assert_eq!(file["capacity"]["sweeps"][0]["axis"], "users");
    assert_eq!(file["capacity"]["plan"]["peak_rps"], 2000.0);
    assert!(
        file["capacity"]["replicas"]["figure"]["needed"]
            .as_u64()
            .unwrap()
            > 1
    );
    assert!(
        file["capacity"]["cost"]["figure"]["fleet"]["day"]
            .as_f64()
            .unwrap()
            > 84.0
    );

    // The same runs on both sides have no difference.
    project
        .run(&["capacity", &session, &session])
        .exits(0)
        .shows("no difference beyond noise");
    let both = project.run(&["capacity", &session, &session, "--json"]);
    let both = json(&both.exits(0).out);
    assert_eq!(mistakes("capacity", &both), [] as [&str; 0]);
    assert_eq!(both["against"]["difference"]["rps"]["verdict"], "noise");
}

#[test]
fn a_models_configuration_bounds_the_cache() {
    let project = Project::with_spec(SPEC);
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = project.runs()[0].display().to_string();
    let config = r#"{"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "hidden_size": 4096, "torch_dtype": "bfloat16"}"#;
    std::fs::write(project.path("config.json"), config).unwrap();
    let given = [
        "--model-config",
        "config.json",
        "--gpu-memory",
        "80",
        "--weights",
    ];
    let with = |weights: &str| {
        let words = [&["capacity", &run][..], &given, &[weights]].concat();
        project.run(&words)
    };
    with("16.1").exits(0).shows("the KV cache holds ");
    // Nothing is left beside the weights.
    with("80").exits(0).shows("the KV cache holds 0 requests");
    std::fs::write(project.path("config.json"), "{}").unwrap();
    with("16.1")
        .exits(2)
        .says("`config.json` has no `num_hidden_layers`");
    project
        .run(&["capacity", &run, "--model-config", "config.json"])
        .exits(2);
}

#[test]
fn what_has_no_sweep_says_so() {
    let project = Project::new("test");
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = project.runs()[0].display().to_string();
    project
        .run(&["capacity", &run])
        .exits(0)
        .shows("No capacity of ")
        .shows("no sweep with two valid steps was run");
    project.run(&["capacity", "nowhere"]).exits(2);
}

#[test]
fn a_refined_sweep_adds_steps_and_the_open_loop_that_bears_it_out() {
    let spec = SPEC
        .replace("sim: demo", "sim: test --slower 900%")
        .replace("users: [1, 2, 4]}", "users: [1, 8, 16, 24]}")
        .replace("warmup: 8}", "warmup: 24, refine: {steps: 2}}")
        .replace("requests: 60", "requests: 120");
    let project = Project::with_spec(&spec);
    project.run(&["run", "spec.yaml"]).exits_any();
    let run = crate::support::json(&project.runs()[0]);
    let stages = run["stages"].as_array().unwrap();
    let names: Vec<&str> = stages
        .iter()
        .map(|stage| stage["name"].as_str().unwrap())
        .collect();
    let declared = ["sweep@1", "sweep@8", "sweep@16", "sweep@24"];
    assert_eq!(names[..4], declared);
    let added: Vec<u32> = names[4..]
        .iter()
        .filter_map(|name| name.strip_prefix("sweep@")?.parse().ok())
        .collect();
    assert!((1..=2).contains(&added.len()), "{names:?}");
    assert!(
        added.iter().all(|users| (2..24).contains(users)),
        "{names:?}"
    );
    let open = stages.last().unwrap();
    assert_eq!(open["name"], "sweep-open", "{names:?}");
    assert!(open["rate_rps"].as_f64().unwrap() > 1.0);
    let session = project.sessions()[0].display().to_string();
    project
        .run(&["capacity", &session])
        .exits(0)
        .shows("the open loop of sweep-open at ");
}
