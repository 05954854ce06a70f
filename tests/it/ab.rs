//! `infergate ab`: pairs, looks, and whose fault it is.

use std::process::Stdio;

use crate::support::{Project, SMALL, entries, json};

/// A spec whose one look is at five pairs.
fn five_pairs(sim: &str) -> Project {
    let spec = SMALL
        .replace("SIM", sim)
        .replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:");
    Project::with_spec(&spec)
}

#[test]
fn against_itself_it_finds_no_regression_and_replays_to_the_same_verdict() {
    let project = five_pairs("test");
    let ran = project.run(&["ab", "spec.yaml"]);
    assert!(matches!(ran.code, Some(0 | 3)), "{}\n{}", ran.out, ran.err);
    let session = &project.sessions()[0];
    let report = json(&session.join("report.json"));
    assert_eq!(report["format"], "infergate.report/1");
    assert_eq!(entries(&session.join("runs")).len(), 10);
    let order: Vec<String> = entries(&session.join("runs"))
        .iter()
        .map(|path| json(path))
        .map(|run| {
            format!(
                "{}{}",
                run["pair"],
                run["side"].as_str().unwrap().chars().next().unwrap()
            )
        })
        .collect();
    assert_eq!(
        order,
        ["0b", "0c", "1c", "1b", "2b", "2c", "3c", "3b", "4b", "4c"]
    );
    let markdown = std::fs::read_to_string(session.join("report.md")).unwrap();
    assert!(
        markdown.contains("Nothing under test differs"),
        "{markdown}"
    );

    let again = project.run(&["compare", session.to_str().unwrap(), "--json"]);
    assert_eq!(again.code, ran.code);
    let again: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["findings"], report["findings"]);
}

#[test]
fn a_slower_candidate_is_a_regression() {
    let project = five_pairs("test");
    let ran = project
        .run(&["ab", "spec.yaml", "--candidate-sim", "test --slower 2000%"])
        .exits(1);
    let ran = ran.shows("e2e.p50");
    assert!(ran.out.to_lowercase().contains("regression"), "{}", ran.out);
    let report = json(&project.sessions()[0].join("report.json"));
    assert_eq!(report["verdict"], "regression");
    assert_eq!(report["pins"][0]["pin"], "engine.args");

    let folder = project.sessions().remove(0);
    let session = folder.display().to_string();
    let name = folder.file_name().unwrap().to_str().unwrap();
    the_report_file_is_enough(&project, &format!("infergate-out/{name}"), &report);
    let newest = folder.file_name().unwrap().to_str().unwrap();
    let why = project
        .run(&["explain", "steady/e2e.p50"])
        .exits(0)
        .shows("steady/e2e.p50: regressed")
        .shows("assumed, for no archived session holds the cell");
    assert!(why.err.contains(newest), "{}", why.err);
    let json = project
        .run(&["explain", "steady/e2e.p50", &session, "--json"])
        .exits(0);
    let explained: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(explained[0]["looks"][0]["decided"], "regressed");
    assert_eq!(explained[0]["repeats"].as_array().unwrap().len(), 5);
    let unknown = project.run(&["explain", "steady/e2e.p5"]).exits(2);
    assert!(
        unknown.err.contains("did you mean `steady/e2e.p50`?"),
        "{}",
        unknown.err
    );
}

/// `report.json` alone renders as the session does, as one of several too, and says where cells stand.
fn the_report_file_is_enough(project: &Project, session: &str, report: &serde_json::Value) {
    let file = format!("{session}/report.json");
    let page = std::fs::read_to_string(project.path(&format!("{session}/report.md"))).unwrap();
    assert_eq!(project.run(&["report", &file]).exits(0).out, page);
    let of_session = project.run(&["report", session]).exits(0);
    assert_eq!(of_session.out, page);
    let json_of = |path: &str| {
        let ran = project.run(&["report", path, "--format", "json"]).exits(0);
        serde_json::from_str::<serde_json::Value>(&ran.out).unwrap()
    };
    assert_eq!(&json_of(&file), report);
    assert_eq!(&json_of(session), report);

    let place = &report["places"][0];
    let line = place["line"].as_u64().unwrap() as usize;
    let spec = std::fs::read_to_string(project.path("spec.yaml")).unwrap();
    assert_eq!(place["path"], "spec.yaml");
    assert!(spec.lines().nth(line - 1).unwrap().contains("metric:"));

    for (format, written) in [("junit", "junit.xml"), ("openmetrics", "metrics.txt")] {
        let written =
            std::fs::read_to_string(project.path(&format!("{session}/{written}"))).unwrap();
        for verb in ["report", "compare"] {
            let ran = project.run(&[verb, session, "--format", format]);
            assert_eq!(ran.out, written, "{verb} {format}");
        }
    }
    let several = project.run(&["report", &file, session]).exits(0);
    assert!(
        several.out.starts_with("**Regression in 2 of 2 specs"),
        "{}",
        several.out
    );
    let several = project.run(&["report", &file, session, "--format", "json"]);
    let suite: serde_json::Value = serde_json::from_str(&several.exits(0).out).unwrap();
    assert_eq!(suite["exit_code"], 1);
    let short = project.run(&["report", &file, "--limit", "1500"]).exits(0);
    assert!(short.out.encode_utf16().count() <= 1500);
    assert!(short.out.contains("**regressed**") && short.out.contains("Left out to fit"));
    let same = project.run(&["report", &file, "--diff", session]).exits(0);
    assert_eq!(same.out, "No pin differs.\n");
    let page = "report.html";
    project.run(&["report", &file, "--html", page]).exits(0);
    project
        .run(&["report", &file, session, "--html", page])
        .exits(2);
    project
        .run(&["report", &file, "spec.yaml"])
        .exits(2)
        .says("spec.yaml");
}

#[test]
fn a_candidate_that_dies_is_a_regression_and_a_baseline_that_dies_is_not() {
    let project = five_pairs("test");
    project
        .run(&["ab", "spec.yaml", "--candidate-sim", "test --die-after 40"])
        .exits(1);
    let report = json(&project.sessions()[0].join("report.json"));
    assert_eq!(report["verdict"], "regression");

    let project = five_pairs("test");
    let ran = project.run(&["ab", "spec.yaml", "--baseline-sim", "test --die-after 40"]);
    assert!(
        matches!(ran.code, Some(3 | 4)),
        "{:?}\n{}\n{}",
        ran.code,
        ran.out,
        ran.err
    );
}

#[test]
fn a_candidate_that_fails_its_requests_is_a_regression() {
    let project = five_pairs("test");
    project
        .run(&[
            "ab",
            "spec.yaml",
            "--candidate-sim",
            "test --error-share 60%",
        ])
        .exits(1);
}

#[test]
fn both_sides_broken_is_no_verdict() {
    let project = five_pairs("test --error-share 100%");
    let ran = project.run(&["ab", "spec.yaml"]);
    assert!(
        matches!(ran.code, Some(1 | 4)),
        "{:?}\n{}\n{}",
        ran.code,
        ran.out,
        ran.err
    );
    assert_ne!(
        json(&project.sessions()[0].join("report.json"))["verdict"],
        "pass"
    );
}

#[test]
fn a_pin_that_nobody_put_under_test_forbids_the_comparison() {
    let spec = SMALL
        .replace("SIM", "test")
        .replace("under_test: [engine.args]\n", "");
    let project = Project::with_spec(&spec);
    project
        .run(&["ab", "spec.yaml", "--candidate-sim", "test --slower 2000%"])
        .exits(3)
        .shows("engine.args");
}

#[test]
fn a_side_that_is_not_there_is_found_before_the_other_is_measured() {
    let project = Project::new("test");
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    project
        .run(&[
            "ab",
            "spec.yaml",
            "--candidate-url",
            &format!("http://127.0.0.1:{port}"),
        ])
        .exits(4)
        .says("cannot reach the target");
    assert!(project.runs().is_empty());
}

#[test]
fn a_candidate_that_dies_between_its_runs_is_a_regression() {
    let project = five_pairs("test");
    // 12 texts for the calibration go to the baseline; a run is 64 requests, or 65 where the last
    // warm-up request overlaps. Asked what it is, it counts none, so it dies at a run's end or in
    // the next one.
    project
        .run(&["ab", "spec.yaml", "--candidate-sim", "test --die-after 64"])
        .exits(1);
    let report = json(&project.sessions()[0].join("report.json"));
    assert_eq!(report["verdict"], "regression");
}

#[test]
fn wrong_sides_are_refused_before_anything_runs() {
    let project = Project::new("test");
    project
        .run(&["ab", "spec.yaml", "--candidate-url", "127.0.0.1:1"])
        .exits(2)
        .says("http://");
    project
        .run(&["ab", "spec.yaml", "--candidate-url", "http://me:secret@h"])
        .exits(2)
        .says("api_key_env");
    project
        .run(&["ab", "spec.yaml", "--candidate-sim", ""])
        .exits(2)
        .says("names no profile");
    project
        .run(&["ab", "spec.yaml", "--candidate-sim", "tset"])
        .exits(2)
        .says("did you mean `test`");
    assert!(project.runs().is_empty());
}

#[test]
fn the_demo_overwrites_no_spec() {
    let project = Project::new("test");
    project
        .run(&["demo", "--out", "."])
        .exits(2)
        .says("is there already");
    let spec = std::fs::read_to_string(project.path("spec.yaml")).unwrap();
    assert!(spec.contains("name: small"));
}

#[test]
fn a_target_that_sheds_nearly_all_is_not_blamed_on_the_client() {
    let spec = SMALL
        .replace("SIM", "h100-8b")
        .replace("output: 6", "output: 60")
        .replace(
            "closed: {users: 2}, requests: 60, warmup: 4",
            "open: {rate: 200/s, arrivals: poisson}, requests: 120, warmup: 0, in_flight: 1",
        )
        .replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:");
    let project = Project::with_spec(&spec);
    // Beyond the absolute limit of errors, on both sides.
    project
        .run(&["ab", "spec.yaml"])
        .exits(1)
        .shows("inherited");
}

#[test]
fn a_pair_that_the_client_spoils_three_times_is_invalid() {
    // Long prompts at a rate that no machine writes them at.
    let spec = SMALL
        .replace("SIM", "'null'")
        .replace("input: 40", "input: 10000")
        .replace("requests: 60, warmup: 4", "requests: 200, warmup: 0")
        .replace(
            "closed: {users: 2}",
            "open: {rate: 100000/s, arrivals: constant}, in_flight: 1000",
        );
    let project = Project::with_spec(&spec);
    let mut child = project
        .command(&["--quiet", "ab", "spec.yaml"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Two tries are set aside, the third stands as it is.
    let aside = || {
        project
            .sessions()
            .first()
            .map_or(0, |session| entries(&session.join("set-aside")).len())
    };
    while aside() < 4 || project.runs().len() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    // The rest of the pairs would only say it again.
    child.kill().unwrap();
    child.wait().unwrap();
    let session = project.sessions()[0].display().to_string();
    project
        .run(&["compare", &session])
        .exits(4)
        .shows("the client was at fault: requests left ");
}
