//! `infergate gate`: a real engine against its own stored sessions.

use crate::engine::{Engine, SHORT, Setting, spec};
use crate::support::{Project, json};

/// Eight users on eight slots never wait for one; on one slot, seven of them wait for the others'
/// whole answers. That is a TTFT of several times as much, while a neighbour that takes half of the
/// machine for as long as the candidate runs makes two times: the tolerance stands between.
const GATED: &str = "\
stages:
  - {name: closed, closed: {users: 8}, requests: 60, warmup: 8}
gate:
  cells:
    - {metric: ttft.p50, worse_by: 150%, floor: 30ms}
    - {metric: error_ratio, at_most: 5%}
";

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn stored_sessions_pass_their_own_engine_and_catch_one_that_queues() {
    let engine = |slots| {
        Engine::with(&Setting {
            weights: "q8_0",
            slots,
        })
    };
    let (own, queueing) = (engine(8), engine(1));
    let under_test = "under_test: [limits.max_num_seqs]\n";
    let workload = SHORT.replace("input: 96, output: 12", "input: 64, output: 32");
    let project = Project::with_spec(&spec(&own, &[under_test, &workload, GATED]));
    for _ in 0..5 {
        project
            .run(&["--quiet", "run", "spec.yaml", "--repeats", "2"])
            .exits(0);
        let session = project.sessions().pop().unwrap();
        let session = session.to_str().unwrap();
        project
            .run(&["baseline", "promote", session, "--reason", "a test"])
            .exits(0);
    }
    let ran = project.run(&["gate", "spec.yaml"]);
    println!("{}", ran.out);
    assert!(matches!(ran.code, Some(0 | 3)), "{}\n{}", ran.out, ran.err);

    let ran = project.run(&["gate", "spec.yaml", "--candidate-url", queueing.url()]);
    println!("{}", ran.out);
    assert!(matches!(ran.code, Some(1 | 3)), "{}\n{}", ran.out, ran.err);
    let report = json(&project.sessions().pop().unwrap().join("report.json"));
    let pin = &report["pins"][0]["pin"];
    assert_eq!(*pin, "limits.max_num_seqs", "{report:#}");
}
