//! Results in other tools' shapes: what is written, and what is left out.

use std::collections::BTreeMap;

use super::{llm_d, vllm};
use crate::metric::Metric;
use crate::report::tests::fixture;
use crate::summary::{InvalidReason, Origin, Run, RunEnd};

fn run() -> Run {
    fixture::run("20261129T191243Z-1f3a9c0e-0001", "0.11.0", 1.0)
}

fn foreign() -> Origin {
    Origin {
        tool: "aiperf".to_owned(),
        version: None,
        shape: "json".to_owned(),
        file: "x.json".to_owned(),
        sha256: String::new(),
        lossy: BTreeMap::new(),
        caveats: Vec::new(),
    }
}

#[test]
fn a_result_of_vllm() {
    let exported = vllm(&[run()]);
    let value: serde_json::Value = serde_json::from_str(&exported.files[0].text).unwrap();
    insta::assert_json_snapshot!(value);
}

#[test]
fn a_report_of_llm_d() {
    let exported = llm_d(&[run()]);
    insta::assert_snapshot!(exported.files[0].text);
}

#[test]
fn what_nobody_could_tell_has_no_key() {
    let mut untold = run();
    for stage in &mut untold.stages {
        stage.pooled.rates.output_tps = None;
        for metric in [Metric::Ttft, Metric::OutputThroughput] {
            stage.pooled.untold.insert(metric, "no instants".to_owned());
        }
    }
    for text in
        [vllm(&[untold.clone()]), llm_d(&[untold])].map(|exported| exported.files[0].text.clone())
    {
        for key in [
            "_ttft_ms",
            "output_throughput",
            "total_token",
            "time_to_first_token",
            "output_token_rate",
        ] {
            assert!(!text.contains(key), "{key} in {text}");
        }
        assert!(
            text.contains("e2el_ms") || text.contains("request_latency"),
            "{text}"
        );
    }
}

#[test]
fn figures_that_stand_for_nothing_are_left_out_and_named() {
    let mut invalid = run();
    let stages = invalid.stages.len();
    invalid.stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.97 }];
    let exported = vllm(&[invalid]);
    assert_eq!(exported.files.len(), stages - 1);
    assert!(
        exported.left_out[0].contains("97.00 %"),
        "{:?}",
        exported.left_out
    );
    let left_out = |change: &dyn Fn(&mut Run)| {
        let mut run = run();
        change(&mut run);
        let exported = llm_d(&[run]);
        assert!(exported.files.is_empty());
        exported.left_out[0].clone()
    };
    let lost = RunEnd::TargetLost {
        error: "connection refused".to_owned(),
    };
    for (why, said) in [
        (
            left_out(&|run| run.end = RunEnd::Interrupted),
            "the run was interrupted",
        ),
        (
            left_out(&|run| run.end = lost.clone()),
            "the target was lost: connection refused",
        ),
        (
            left_out(&|run| run.untrusted = true),
            "whose code nobody had accepted",
        ),
        (
            left_out(&|run| run.origin = Some(foreign())),
            "take that tool's own file",
        ),
    ] {
        assert!(why.ends_with(said), "{why}");
    }
}

#[test]
fn a_name_stays_in_its_folder() {
    let mut hostile = run();
    hostile.id = "../../etc/passwd".to_owned();
    let stem = &vllm(&[hostile]).files[0].stem;
    assert!(!stem.contains('/'), "{stem}");
}
