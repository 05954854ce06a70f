//! `limits`: refused before a run, obeyed between runs.

use crate::support::{Project, SMALL, json};

fn limited(limits: &str) -> Project {
    let spec = SMALL
        .replace("SIM", "test")
        .replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:");
    Project::with_spec(&format!("{spec}limits: {limits}\n"))
}

#[test]
fn check_refuses_what_cannot_be_kept_and_warns_of_what_may_not() {
    // 5 pairs of 2 runs of 64 requests, of 46 tokens each.
    limited("{requests: 639}")
        .run(&["check", "spec.yaml"])
        .exits(2)
        .says("the first look, at 5 pairs, takes at least 640 of the 639 requests");
    limited("{requests: 640, tokens: 29440}")
        .run(&["check", "spec.yaml"])
        .exits(0);
    limited("{tokens: 29439}")
        .run(&["check", "spec.yaml"])
        .exits(2)
        .says("29,440 of the 29,439 tokens");
    // The target decides how long it takes: 640 requests of at most 2 s by two users.
    limited("{time: 1m}")
        .run(&["check", "spec.yaml"])
        .exits(0)
        .says("the last look, at 5 pairs, may take ");
}

#[test]
fn a_comparison_stops_before_it_would_break_a_limit() {
    let project = limited("{requests: 300}");
    project
        .run(&["ab", "spec.yaml"])
        .exits(3)
        .says("stopped by its budget: going on would take 384 of the 300 requests");
    assert_eq!(project.runs().len(), 4, "two pairs of 128 requests");
    let report = json(&project.sessions()[0].join("report.json"));
    let caveat = report["caveats"][0]["text"].as_str().unwrap();
    assert!(caveat.starts_with("stopped by its budget"), "{caveat}");
    assert_eq!(report["verdict"], "undecided");
    let text = std::fs::read_to_string(project.sessions()[0].join("report.md")).unwrap();
    assert!(
        text.contains("stopped by its budget") && text.contains("Used: "),
        "{text}"
    );

    // Who judges the session again is told too, until it has gone on.
    let session = project.sessions()[0].display().to_string();
    let why = "stopped by its budget: going on would take 384 of the 300 requests";
    project
        .run(&["compare", &session])
        .exits(3)
        .shows(&format!("caveat: {why}"));
    project
        .run(&["explain", "steady/e2e.p50", &session])
        .exits(0)
        .says(why);
    let stop = project.sessions()[0].join("stop.json");
    let later = std::fs::read_to_string(&stop).unwrap();
    std::fs::write(&stop, later.replace("\"runs\": 2", "\"runs\": 1")).unwrap();
    let ran = project.run(&["compare", &session]).exits(3);
    assert!(!ran.out.contains("stopped by"), "{}", ran.out);

    limited("{requests: 150}")
        .run(&[
            "calibrate",
            "spec.yaml",
            "--repeats",
            "2",
            "--sessions",
            "3",
        ])
        .exits(3)
        .says("1 of 3 sessions are kept");
}
