//! What `check` says of specs.

use super::size::StageSize;
use super::*;
use std::path::Path;

use crate::cli::archived::Kept;
use crate::compare::synthetic::{archive, reference_archive};
use crate::diag::{Source, Style};
use crate::spec::{FileAsk, FileText, parse};
use crate::summary::Run;

fn fixture(name: &str) -> (Spec, Plan) {
    let (_, spec, plan) = fixture_with_source(name);
    (spec, plan)
}

fn fixture_with_source(name: &str) -> (Source, Spec, Plan) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/spec/ok")
        .join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(&path).unwrap();
    let source = Source {
        path: name.to_owned(),
        text,
    };
    let url = |name: &str| (name == "TARGET_URL").then(|| "http://localhost:8000".to_owned());
    let trace = |ask: FileAsk<'_>| {
        let read = std::fs::read_to_string(path.with_file_name(ask.file));
        read.map(FileText::Whole).map_err(|error| error.to_string())
    };
    let spec = parse(&source, &url, &trace).unwrap().spec;
    let plan = Plan::expand(&spec);
    (source, spec, plan)
}

/// With these runs kept for their noise.
fn archived(spec: &Spec, noise: Vec<Run>) -> Archived {
    let kept = Kept {
        environment: "nvidia-h200-vllm-1f3a9c0e".to_owned(),
        stands: Vec::new(),
        noise,
    };
    kept.forecast(spec)
}

/// Without an archive.
fn size_of(spec: &Spec, plan: &Plan) -> Size {
    Size::of(spec, plan, Archived::in_each(&[], spec))
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
        "rows",
        "refined",
    ] {
        let (spec, plan) = fixture(name);
        let size = size_of(&spec, &plan);
        insta::assert_snapshot!(name, describe(&spec, &size));
    }
}

#[test]
fn the_json_names_its_units() {
    let (spec, plan) = fixture("minimal");
    let size = size_of(&spec, &plan);
    insta::assert_snapshot!(serde_json::to_string_pretty(&size).unwrap());
}

#[test]
fn only_stages_that_are_judged_are_repeated() {
    let (spec, plan) = fixture("product-example");
    let size = size_of(&spec, &plan);
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
    assert!((size.three_pairs_s - three).abs() < 1e-9);
    let looks: Vec<u32> = size.looks.iter().map(|look| look.pairs).collect();
    assert_eq!(looks, [5, 7, 10], "as `ab` takes them without an archive");
    assert!((size.looks[0].total_s - three - 4.0 * 270.0).abs() < 1e-9);
}

#[test]
fn with_an_archive_it_says_what_its_noise_lets_anybody_tell() {
    let (spec, plan) = fixture("product-example");
    let size = Size::of(&spec, &plan, vec![archived(&spec, reference_archive())]);
    insta::assert_snapshot!(describe(&spec, &size));
}

#[test]
fn a_tolerance_that_no_environment_resolves_is_a_mistake_with_its_place() {
    let (source, spec, _) = fixture_with_source("product-example");
    let loud = archived(&spec, archive(&vec![vec![0.0, 0.12, -0.1]; 4]));
    let found = tolerances::mistakes(&spec, std::slice::from_ref(&loud));
    assert!(found.iter().all(|found| found.severity == Severity::Error));
    insta::assert_snapshot!(render(&found, &source, Style::Plain));
    let calm = archived(&spec, reference_archive());
    let found = tolerances::mistakes(&spec, &[loud, calm]);
    assert!(!found.is_empty());
    assert!(
        found
            .iter()
            .all(|found| found.severity == Severity::Warning)
    );
    let none = Archived::in_each(&[], &spec);
    assert_eq!(
        tolerances::mistakes(&spec, &none),
        [],
        "assumed noise refuses nothing"
    );
}
