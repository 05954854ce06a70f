//! The archive as DuckDB reads it through the shipped views, and the exports, held against each other
//! and against the run files, value for value.
//!
//! Needs DuckDB and so is ignored: `tests/duckdb/setup.sh PREFIX` sets it up once, then
//! `INFERGATE_DUCKDB=PREFIX cargo test --test it duckdb -- --ignored`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Project, SMALL};

#[test]
#[ignore = "needs DuckDB: see tests/duckdb/setup.sh"]
fn duckdb_reads_the_archive_as_it_lies() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the switch of an ignored test, as documented above"
    )]
    let prefix = std::env::var_os("INFERGATE_DUCKDB").map(PathBuf::from);
    let prefix = prefix.expect("INFERGATE_DUCKDB names the prefix of tests/duckdb/setup.sh");
    // Two classes, and failures, so that nothing is trivial.
    let spec = SMALL.replace("SIM", "test --error-share 10%").replace(
        "    - {name: chat,",
        "    - {name: long, weight: 1, input: 80, output: 12}\n    - {name: chat,",
    );
    let project = Project::with_spec(&spec);
    for _ in 0..2 {
        project
            .run(&["--quiet", "run", "spec.yaml", "--repeats", "2"])
            .exits(0);
        let session = project.sessions().pop().unwrap();
        let session = session.to_str().unwrap();
        project
            .run(&["baseline", "promote", session, "--reason", "a test"])
            .exits(0);
    }
    let write = |name: &str, words: &[&str]| {
        let text = project.run(words).exits(0).out;
        std::fs::write(project.path(name), text).unwrap();
    };
    let environment = crate::support::entries(&project.path("baselines/small"))
        .into_iter()
        .find(|path| path.is_dir())
        .unwrap();
    let environment = environment.to_str().unwrap();
    write("views.sql", &["export", "--format", "duckdb"]);
    write("cells.csv", &["export", environment, "--format", "csv"]);
    write(
        "runs.om",
        &["export", environment, "--format", "openmetrics"],
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/duckdb/read.py");
    let read = Command::new(prefix.join("venv/bin/python"))
        .arg(script)
        .args(["views.sql", "cells.csv", "runs.om"])
        .current_dir(project.path(""))
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&read.stdout),
        String::from_utf8_lossy(&read.stderr),
    );
    assert!(read.status.success(), "{out}\n{err}");
    assert!(out.starts_with("4 runs, "), "{out}");
}
