//! What `check` says of specs.

use super::*;
use std::path::Path;

use crate::diag::Source;
use crate::spec::{TraceAsk, TraceText, parse};

fn fixture(name: &str) -> (Spec, Plan) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/spec/ok")
        .join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(&path).unwrap();
    let source = Source {
        path: name.to_owned(),
        text,
    };
    let url = |name: &str| (name == "TARGET_URL").then(|| "http://localhost:8000".to_owned());
    let trace = |ask: TraceAsk<'_>| {
        let read = std::fs::read_to_string(path.with_file_name(ask.file));
        read.map(TraceText::Whole)
            .map_err(|error| error.to_string())
    };
    let spec = parse(&source, &url, &trace).unwrap().spec;
    let plan = Plan::expand(&spec);
    (spec, plan)
}

#[test]
fn the_size_reads_well() {
    for name in [
        "product-example",
        "sim",
        "minimal",
        "anchors",
        "arrivals",
        "no-gate",
        "trace",
        "conversations",
    ] {
        let (spec, plan) = fixture(name);
        insta::assert_snapshot!(name, describe(&spec, &plan));
    }
}

#[test]
fn the_json_names_its_units() {
    let (spec, plan) = fixture("minimal");
    let size = Size::of(&spec, &plan);
    insta::assert_snapshot!(serde_json::to_string_pretty(&size).unwrap());
}

#[test]
fn only_stages_that_are_judged_are_repeated() {
    let (spec, plan) = fixture("product-example");
    let size = Size::of(&spec, &plan);
    let repeated: Vec<&str> = size
        .stages
        .iter()
        .filter(|stage| stage.repeated)
        .map(|stage| stage.name.as_str())
        .collect();
    assert_eq!(repeated, ["sweep@32", "steady"]);
    let seconds = |stage: &StageSize| stage.duration_s;
    let all: f64 = size.stages.iter().map(seconds).sum();
    // 60 s of sweep@32 and 210 s of steady.
    let three = 2.0 * (3.0 * 270.0 + all - 270.0);
    assert!((size.looks[0].total_s - three).abs() < 1e-9);
}
