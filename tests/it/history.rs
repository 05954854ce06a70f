//! `infergate history` and `export`: what is kept, over time and for other tools.

use crate::support::{Project, SMALL, entries};

/// A project with so many promoted sessions of two runs.
fn with_sessions(spec: &str, sessions: usize) -> Project {
    let project = Project::with_spec(spec);
    for _ in 0..sessions {
        promote(&project);
    }
    project
}

fn promote(project: &Project) {
    project
        .run(&["--quiet", "run", "spec.yaml", "--repeats", "2"])
        .exits(0);
    let session = project.sessions().pop().unwrap();
    project
        .run(&[
            "baseline",
            "promote",
            session.to_str().unwrap(),
            "--reason",
            "nightly",
        ])
        .exits(0);
}

fn small() -> String {
    SMALL.replace("SIM", "test")
}

#[test]
fn an_empty_archive_and_an_unknown_name_or_cell_say_what_to_do() {
    let project = Project::new("test");
    project
        .run(&["history"])
        .exits(2)
        .says("no history in `baselines`")
        .says("infergate baseline promote");
    promote(&project);
    project
        .run(&["history", "--name", "smal"])
        .exits(2)
        .says("no history of `smal`")
        .says("did you mean `small`?");
    project
        .run(&["history", "steady/e2e.p5O"])
        .exits(2)
        .says("no session holds a cell `steady/e2e.p5O`; did you mean `steady/e2e.p50`?");
    project
        .run(&["history", "--environment", "mars"])
        .exits(2)
        .says("mars");
}

#[test]
fn gated_cells_are_listed_and_one_cell_is_a_line_a_session() {
    let project = with_sessions(&small(), 2);
    project
        .run(&["history"])
        .exits(0)
        .shows("small in ")
        .shows("2 sessions stand")
        .shows("steady/e2e.p50")
        .shows("not listed (--all)");
    let all = project.run(&["history", "--all"]).exits(0);
    assert!(all.out.contains("steady/ttft.p95"), "{}", all.out);
    let cell = project.run(&["history", "steady/e2e.p50"]).exits(0);
    let sessions = project.sessions();
    for session in &sessions {
        let name = session.file_name().unwrap().to_str().unwrap();
        assert!(!name.is_empty());
    }
    assert!(!cell.out.contains('\u{1b}'), "no colours in a pipe");
    let last = project.run(&["history", "steady/e2e.p50", "--last", "1"]);
    assert_eq!(
        last.exits(0).out.lines().count() + 1,
        cell.out.lines().count()
    );

    let ascii = project
        .command(&["history"])
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    assert!(ascii.stdout.is_ascii());
    let dumb = project
        .command(&["history"])
        .env("TERM", "dumb")
        .output()
        .unwrap();
    assert!(dumb.stdout.is_ascii());
}

#[test]
fn json_and_csv_hold_every_run() {
    let project = with_sessions(&small(), 2);
    let json = project.run(&["history", "--json"]).exits(0).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let track = &json[0]["tracks"][0];
    assert_eq!(json[0]["format"], "infergate.history/1");
    assert_eq!(track["sittings"].as_array().unwrap().len(), 2);
    let series = track["series"].as_array().unwrap();
    let gated = series
        .iter()
        .find(|series| series["cell"] == "steady/e2e.p50");
    let gated = gated.unwrap();
    assert_eq!(gated["unit"], "seconds");
    assert_eq!(gated["points"][1]["runs"].as_array().unwrap().len(), 2);

    let csv = project.run(&["history", "--csv"]).exits(0).out;
    let lines = csv.lines().filter(|line| line.contains(",steady/e2e.p50,"));
    assert_eq!(lines.count(), 4);
    project
        .run(&["history", "--csv", "--json"])
        .exits(2)
        .says("cannot be used with");
}

#[test]
fn a_changed_workload_begins_another_line() {
    let project = with_sessions(&small(), 1);
    let longer = small().replace("requests: 60", "requests: 80");
    std::fs::write(project.path("spec.yaml"), longer).unwrap();
    promote(&project);
    project
        .run(&["history"])
        .exits(0)
        .shows("1 session stands")
        .shows("1 earlier line of a workload that changed since is left out");
    let all = project.run(&["history", "--all"]).exits(0).out;
    assert_eq!(all.matches("1 session stands").count(), 2, "{all}");
}

#[test]
fn a_damaged_run_file_is_named() {
    let project = with_sessions(&small(), 1);
    let environment = entries(&project.path("baselines/small"))
        .into_iter()
        .find(|path| path.is_dir())
        .unwrap();
    let run = entries(&environment.join("runs")).pop().unwrap();
    std::fs::write(&run, "{").unwrap();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    project.run(&["history"]).exits(2).says(&name);
}

#[test]
fn runs_are_exported_with_unit_count_and_definition() {
    let project = Project::new("test");
    project.run(&["--quiet", "run", "spec.yaml"]).exits(0);
    let run = project.runs().pop().unwrap();
    let run = run.to_str().unwrap();
    let csv = project.run(&["export", run, run, "--format", "csv"]);
    let csv = csv.exits(0).out;
    let line = csv.lines().find(|line| line.contains(",steady/ttft.p95,"));
    let line = line.unwrap();
    assert!(
        line.contains(",seconds,") && line.contains(",60,measured,"),
        "{line}"
    );
    assert!(line.ends_with(",infergate/1"), "{line}");
    assert_eq!(
        csv.matches(",steady/ttft.p95,").count(),
        1,
        "one run is one run"
    );
    project
        .run(&["export", run, "--format", "openmetrics"])
        .exits(0)
        .shows("# TYPE infergate_ttft_seconds gauge\n# UNIT infergate_ttft_seconds seconds\n")
        .shows("stage=\"steady\",statistic=\"p95\"")
        .shows("\n# EOF\n");
    project
        .run(&["export", "gone.json", "--format", "csv"])
        .exits(2)
        .says("gone.json");
}
