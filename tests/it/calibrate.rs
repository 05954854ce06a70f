//! `infergate calibrate SPEC`: sessions for their noise, and what others then know of it.

use crate::support::{Project, SMALL, entries, json};

fn environment(project: &Project) -> std::path::PathBuf {
    let kept = entries(&project.path("baselines/small"));
    kept.into_iter().find(|path| path.is_dir()).unwrap()
}

fn calibrate(project: &Project) {
    project
        .run(&[
            "calibrate",
            "spec.yaml",
            "--sessions",
            "2",
            "--repeats",
            "2",
        ])
        .exits(0)
        .says("session 2 of 2")
        .says("kept 2 runs for their noise")
        .shows("steady/e2e.p50")
        .shows("10 pairs");
}

#[test]
fn noise_sessions_are_kept_and_everybody_learns_from_them() {
    // A tolerance that the noise of a machine under load can't reach, so that `check` passes on any.
    let spec = SMALL.replace("SIM", "test").replace("60%", "400%");
    let project = Project::with_spec(&spec);
    calibrate(&project);
    let reference = json(&environment(&project).join("reference.json"));
    assert_eq!(reference["sessions"], serde_json::json!([]));
    assert_eq!(reference["noise"].as_array().unwrap().len(), 2);
    assert_eq!(entries(&environment(&project).join("runs")).len(), 4);
    project
        .run(&["baseline", "list"])
        .exits(0)
        .shows("0 sessions, 0 runs; 2 more for noise, 4 runs");
    project
        .run(&["baseline", "show", "small"])
        .exits(0)
        .shows("for noise");

    // The looks begin at three pairs, and nothing is assumed.
    let checked = project.run(&["check", "spec.yaml", "--json"]).exits(0).out;
    let checked: serde_json::Value = serde_json::from_str(&checked).unwrap();
    let pairs = |looks: &serde_json::Value| -> Vec<u64> {
        let looks = looks.as_array().unwrap().iter();
        looks.map(|look| look["pairs"].as_u64().unwrap()).collect()
    };
    assert_eq!(pairs(&checked["looks"]), [3, 5, 7, 10]);
    assert_eq!(checked["archive"][0]["sessions"], 2);
    assert_eq!(checked["archive"][0]["assumed"], false);
    let ran = project.run(&["ab", "spec.yaml"]);
    assert!(
        matches!(ran.code, Some(0 | 1 | 3)),
        "{}\n{}",
        ran.out,
        ran.err
    );
    let report = json(&project.sessions().pop().unwrap().join("report.json"));
    assert_eq!(
        report["design"]["interleaved"]["looks"],
        serde_json::json!([3, 5, 7, 10]),
        "{report:#}"
    );
    let caveats = report["caveats"].to_string();
    assert!(!caveats.contains("assumed"), "{caveats}");

    // They stand for nothing: a gate has no baseline yet.
    project
        .run(&["gate", "spec.yaml"])
        .exits(3)
        .says("has 0 sessions and needs 3");
}

#[test]
fn check_refuses_what_the_noise_does_not_let_anybody_resolve() {
    let project = Project::new("test");
    calibrate(&project);
    let fine = SMALL.replace("SIM", "test");
    let fine = fine.replace("worse_by: 60%", "worse_by: 0.1%");
    std::fs::write(project.path("spec.yaml"), &fine).unwrap();
    let column = fine
        .lines()
        .find_map(|line| line.find("0.1%"))
        .map(|at| at + 1)
        .unwrap();
    project
        .run(&["check", "spec.yaml"])
        .exits(2)
        .shows("not resolvable")
        .says("error[spec::unresolvable]: `steady/e2e.p50` may be worse by 0.10 %")
        .says(&format!("spec.yaml:14:{column}"))
        .says("raise it: `worse_by:")
        .says("informational: true");
    let shown = fine.replace("0.1%}", "0.1%, informational: true}");
    assert_ne!(shown, fine);
    std::fs::write(project.path("spec.yaml"), shown).unwrap();
    project.run(&["check", "spec.yaml"]).exits(0);
    // Nothing else has changed, so the table still stands.
    std::fs::write(project.path("spec.yaml"), &fine).unwrap();
    project
        .run(&["calibrate", "spec.yaml", "--from-archive"])
        .exits(0)
        .shows("don't resolve `steady/e2e.p50`");
    let sessions = project.sessions().len();
    let out = project.run(&["calibrate", "spec.yaml", "--from-archive", "--json"]);
    let table: serde_json::Value = serde_json::from_str(&out.exits(0).out).unwrap();
    assert_eq!(table[0]["format"], "infergate.calibration/1");
    assert_eq!(table[0]["tolerances_hold"], false);
    assert!(table[0]["run_s"].as_f64().unwrap() > 0.0);
    assert_eq!(project.sessions().len(), sessions, "nothing was measured");
}

#[test]
fn rule_25_sessions_of_calibrate_show_noise_and_are_no_centre() {
    let project = Project::new("test");
    project
        .run(&["--quiet", "run", "spec.yaml", "--repeats", "2"])
        .exits(0);
    let promoted = project.sessions().pop().unwrap();
    let promoted = promoted.to_str().unwrap();
    project
        .run(&["baseline", "promote", promoted, "--reason", "a test"])
        .exits(0);
    let before = json(&environment(&project).join("reference.json"));
    calibrate(&project);
    let after = json(&environment(&project).join("reference.json"));
    assert_eq!(after["sessions"], before["sessions"]);
    assert_eq!(after["noise"].as_array().unwrap().len(), 2);
    // A noise session that is promoted stands from then on.
    let noise = project.sessions().pop().unwrap();
    project
        .run(&[
            "baseline",
            "promote",
            noise.to_str().unwrap(),
            "--reason",
            "x",
        ])
        .exits(0)
        .says("2 sessions stand");
    let after = json(&environment(&project).join("reference.json"));
    assert_eq!(after["noise"].as_array().unwrap().len(), 1);
}

#[test]
fn too_little_archive_is_no_rate_of_false_alarms() {
    let project = Project::new("test");
    project
        .run(&["calibrate", "spec.yaml", "--from-archive"])
        .exits(3)
        .says("no run of `small` as it is now is kept");
    project
        .run(&["calibrate", "spec.yaml", "--empirical"])
        .exits(3);
    calibrate(&project);
    project
        .run(&["calibrate", "spec.yaml", "--empirical"])
        .exits(3)
        .says("gives 2 pairs of runs of one session, and the first look needs 3");
    calibrate(&project);
    project
        .run(&["calibrate", "spec.yaml", "--empirical"])
        .exits(0)
        .shows("200 comparisons of equal sides, 4 pairs each, from 4 sessions and 8 runs")
        .shows("cannot verify 5 %");
}

#[test]
fn a_target_that_fails_shows_no_noise() {
    let project = Project::new("test --error-share 100%");
    project
        .run(&["calibrate", "spec.yaml"])
        .exits(4)
        .says("shows no noise");
    assert!(!project.path("baselines").exists());
    project.run(&["calibrate"]).exits(2).says("<SPEC>");
    project
        .run(&["calibrate", "spec.yaml", "--model"])
        .exits(2)
        .says("cannot be used with");
}

#[cfg(unix)]
#[test]
fn an_interruption_keeps_what_is_whole() {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::Stdio;
    let project = Project::new("test");
    let mut child = project
        .command(&[
            "calibrate",
            "spec.yaml",
            "--sessions",
            "50",
            "--repeats",
            "2",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("kept") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended by itself");
    }
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{rest}");
    let reference = json(&environment(&project).join("reference.json"));
    assert!(!reference["noise"].as_array().unwrap().is_empty());
    project.run(&["baseline", "list"]).exits(0);
}
