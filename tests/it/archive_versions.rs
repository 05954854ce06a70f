//! Files of every version that was ever written load for ever, and are valid by today's schemas.
//!
//! A fixture is never edited: a version that writes something new adds its own.

use std::fs;
use std::path::{Path, PathBuf};

use infergate::archive::load_run;
use infergate::baseline::{self, Accept, Environment, Reference, Shelf, Voided};
use infergate::report::json::ReportFile;
use serde_json::Value;

use crate::valid::{check_files, mistakes};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/archive")
        .join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(fixture(name)).unwrap()
}

#[test]
fn an_archive_from_before_digests_loads_whole() {
    let root = fixture("before-digests");
    let name = "small".parse().unwrap();
    let all = baseline::load_all(&Shelf::folder(&root), &name).unwrap();
    let [baseline] = all.as_slice() else {
        panic!("one environment");
    };
    assert_eq!(baseline.sessions[0].runs.len(), 2);
    let folder = root.join("small").join(&baseline.environment);
    let run = &baseline.sessions[0].runs[0];
    assert_eq!(run.stages[0].pooled.ended_well(), 60);
    let path = folder.join("runs").join(format!("{}.json", run.id));
    assert_eq!(load_run(&path).unwrap(), *run);
    let environment = fs::read_to_string(folder.join("environment.json")).unwrap();
    let environment: Environment = serde_json::from_str(&environment).unwrap();
    assert_eq!(
        environment.folder(),
        "cpu-infergate-sim-a1a2b95a",
        "found by later versions"
    );
    let (wrong, checked) = check_files(&root);
    assert_eq!((wrong, checked), (Vec::new(), 4));
}

#[test]
fn a_reference_with_all_of_its_parts_loads() {
    let reference: Reference = serde_json::from_str(&text("single/reference-1.json")).unwrap();
    assert_eq!(reference.sessions.len(), 1);
    assert_eq!(reference.noise.len(), 1);
    assert!(matches!(&reference.voids[0].what, Voided::Run(run) if run.ends_with("aaaa")));
    assert_eq!(reference.anchor().unwrap().label.as_str(), "v1.2");
    assert_eq!(
        reference.epochs[0].accept,
        "2026-11-30-engine-0-32-trades-ttft"
    );
    assert_eq!(reference.digests.len(), 2);
    let written = serde_json::to_string_pretty(&reference).unwrap() + "\n";
    assert_eq!(
        written,
        text("single/reference-1.json"),
        "as it is written today"
    );
}

#[test]
fn an_accept_and_a_report_load() {
    let accept = Accept::parse(&text("single/accept-1.yaml")).unwrap();
    assert_eq!(accept.cells.len(), 2);
    assert_eq!(
        accept.render(),
        text("single/accept-1.yaml"),
        "as it is written today"
    );
    let value: Value = serde_yaml::from_str(&text("single/accept-1.yaml")).unwrap();
    assert_eq!(mistakes("accept", &value), [""; 0]);

    let report = ReportFile::parse(&text("single/report-1.json")).unwrap();
    assert_eq!(report.candidate.len(), report.baseline.len());
    let (wrong, checked) = check_files(&fixture("single"));
    assert_eq!((wrong, checked), (Vec::new(), 2));
}

#[test]
fn the_projects_own_archive_is_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("baselines");
    let (wrong, checked) = check_files(&folder);
    assert_eq!(
        (wrong, checked),
        (vec![], 8),
        "six runs, their environment and their reference"
    );
    // It grows old, which `baseline verify` says some day; damaged it must never be.
    let all = baseline::load_all(&Shelf::folder(&folder), &"self".parse().unwrap()).unwrap();
    let sessions: usize = all.iter().map(|baseline| baseline.sessions.len()).sum();
    assert_eq!(sessions, 3);
}
