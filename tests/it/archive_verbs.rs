//! `baseline accept`, `void`, `pin`, `prune` and the policy of `promote`, and what a gate makes of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json as value};

use crate::support::{Project, Ran, SMALL, entries, json};

/// Steps of 6 ms, beside which a busy machine's own scatter is small.
fn project() -> Project {
    let spec = SMALL
        .replace("SIM", "h100-8b")
        .replace("users: 2", "users: 6")
        .replace("worse_by: 60%", "worse_by: 100%");
    Project::with_spec(&spec)
}

fn measure(project: &Project) -> PathBuf {
    project
        .run(&["--quiet", "run", "spec.yaml", "--repeats", "2"])
        .exits(0);
    project.sessions().pop().unwrap()
}

fn promote(project: &Project, session: &Path) -> Ran {
    let session = session.to_str().unwrap();
    project.run(&["baseline", "promote", session, "--reason", "a test"])
}

fn environment(project: &Project) -> PathBuf {
    let mut folders = entries(&project.path("baselines/small")).into_iter();
    folders
        .rfind(|path| path.is_dir() && !path.ends_with("accepts"))
        .unwrap()
}

fn reference(project: &Project) -> Value {
    json(&environment(project).join("reference.json"))
}

fn id(session: &Path) -> &str {
    session.file_name().unwrap().to_str().unwrap()
}

const SLOW: [&str; 4] = [
    "gate",
    "spec.yaml",
    "--candidate-sim",
    "h100-8b --slower 300%",
];

fn report(project: &Project) -> Value {
    json(&project.sessions().pop().unwrap().join("report.json"))
}

/// The cell of the small spec that a slow engine breaks.
fn e2e(report: &Value) -> Value {
    let findings = report["findings"].as_array().unwrap().iter();
    let mut e2e = findings.filter(|f| f["cell"]["metric"] == "e2e.p50" && f["gated"] == true);
    e2e.next().unwrap().clone()
}

#[test]
fn an_accepted_level_passes_until_it_expires_and_becomes_the_baseline() {
    let project = project();
    for _ in 0..5 {
        promote(&project, &measure(&project)).exits(0);
    }
    project.run(&SLOW).exits(1);
    let session = project.sessions().pop().unwrap();
    let accept = [
        "baseline",
        "accept",
        session.to_str().unwrap(),
        "--author",
        "A Person",
    ];
    project.run(&accept).exits(2).says("--reason");
    let reason = ["--reason", "a slower engine for more throughput, see #41"];
    project
        .run(&[&accept[..], &reason[..]].concat())
        .exits(0)
        .shows("cell: \"steady/e2e.p50\"");
    project
        .run(&[&accept[..], &reason[..]].concat())
        .exits(2)
        .says("is there already");
    let file = entries(&project.path("baselines/small/accepts"))
        .pop()
        .unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("author: \"A Person\"") && text.contains(id(&session)),
        "{text}"
    );
    project.run(&["baseline", "verify"]).exits(0);

    // Three runs to fail, and as many to pass what is accepted.
    let ran = project.run(&SLOW);
    let excused = e2e(&report(&project));
    assert_eq!(excused["state"], "accepted", "{}\n{}", ran.out, ran.err);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.contains("accepted for now"), "{}", ran.out);
    assert!(
        ran.out.contains("accepts/"),
        "the file is named: {}",
        ran.out
    );
    let moved = project.sessions().pop().unwrap();
    project
        .run(&["compare", moved.to_str().unwrap()])
        .exits(0)
        .shows("accepted for now");

    // Worse than what was accepted.
    let slower = [
        "gate",
        "spec.yaml",
        "--candidate-sim",
        "h100-8b --slower 1500%",
    ];
    project.run(&slower).exits(1);
    assert_eq!(e2e(&report(&project))["state"], "regressed");

    fs::write(
        &file,
        text.replace("expires: \"", "expires: \"2020-01-01\" # \""),
    )
    .unwrap();
    project.run(&SLOW).exits(1).shows("expired");
    project
        .run(&["baseline", "verify"])
        .exits(4)
        .shows("accept-expired");
    fs::write(&file, &text).unwrap();

    // The first session after the accept begins an epoch.
    promote(&project, &measure(&project)).exits(0);
    let epochs = reference(&project)["epochs"].clone();
    assert_eq!(epochs.as_array().unwrap().len(), 1, "{epochs}");
    assert_eq!(epochs[0]["from"], id(&project.sessions().pop().unwrap()));
    assert_eq!(
        epochs[0]["accept"],
        file.file_stem().unwrap().to_str().unwrap()
    );
    promote(&project, &measure(&project)).exits(0);
    assert_eq!(reference(&project)["epochs"], epochs, "and no other");
}

#[test]
fn what_is_void_counts_no_more_and_stays() {
    let project = project();
    let sessions: Vec<PathBuf> = (0..3).map(|_| measure(&project)).collect();
    for session in &sessions {
        promote(&project, session).exits(0);
    }
    let runs = entries(&environment(&project).join("runs"));
    let by = ["--reason", "the GPU was throttled", "--author", "A Person"];
    let void = |id: &str| project.run(&[&["baseline", "void", id][..], &by[..]].concat());
    void(id(&sessions[0])).exits(0);
    void(id(&sessions[0])).exits(2).says("void already");
    void("nobody").exits(2).says("no session or run of that id");
    let run = reference(&project)["sessions"][1]["runs"][0]
        .as_str()
        .unwrap()
        .to_owned();
    void(&run).exits(0);
    assert_eq!(
        entries(&environment(&project).join("runs")),
        runs,
        "its files stay"
    );
    let voids = reference(&project)["voids"].clone();
    assert_eq!(voids[0]["session"], id(&sessions[0]));
    assert_eq!(
        (&voids[1]["run"], &voids[1]["by"]),
        (&value!(run), &value!("A Person"))
    );
    project
        .run(&["gate", "spec.yaml"])
        .exits(3)
        .says("has 2 sessions and needs 3");
    project
        .run(&["baseline", "verify"])
        .exits(0)
        .shows("few-sessions");

    project
        .run(&["baseline", "pin", id(&sessions[0]), "--as", "v1"])
        .exits(2)
        .says("is void");
    project
        .run(&["baseline", "pin", id(&sessions[2]), "--as", "v1"])
        .exits(0);
    project
        .run(&["baseline", "pin", id(&sessions[2]), "--as", "v1"])
        .exits(2)
        .says("pinned already");
    project
        .run(&["baseline", "pin", "nobody", "--as", "v2"])
        .exits(2)
        .says("promote it first");
    void(id(&sessions[2]))
        .exits(2)
        .says("pinned as the anchor `v1`");
}

#[test]
fn a_release_has_rows_of_its_own() {
    let project = project();
    let text = fs::read_to_string(project.path("spec.yaml")).unwrap();
    let text = text.replace("gate:\n", "gate:\n  anchor: {drift: 90%}\n");
    fs::write(project.path("spec.yaml"), text).unwrap();
    for _ in 0..5 {
        promote(&project, &measure(&project)).exits(0);
    }
    // Drift that was asked for and not judged is no pass.
    let gated = project.run(&["gate", "spec.yaml"]).exits(3);
    let headline = gated.out.lines().next().unwrap();
    assert!(
        headline.ends_with("; none could be held against a release, as the gate asks"),
        "{headline}"
    );
    assert!(
        gated.out.contains("no release is pinned here"),
        "{}",
        gated.out
    );
    let first = reference(&project)["sessions"][0]["session"]
        .as_str()
        .unwrap()
        .to_owned();
    project
        .run(&["baseline", "pin", &first, "--as", "v1.2"])
        .exits(0);
    project.run(&SLOW).exits(1).shows("since v1.2");
    let session = project.sessions().pop().unwrap();
    let findings = report(&project)["findings"].as_array().unwrap().clone();
    let since: Vec<&Value> = findings.iter().filter(|f| f["since"] == "v1.2").collect();
    let [drift] = since[..] else {
        panic!("{since:?}");
    };
    assert_eq!(drift["state"], "regressed");
    fs::rename(project.path("baselines"), project.path("elsewhere")).unwrap();
    project
        .run(&["compare", session.to_str().unwrap()])
        .exits(1)
        .shows("since v1.2");
}

#[test]
fn old_sessions_are_pruned_and_what_something_stands_on_is_not() {
    let project = Project::new("test");
    for _ in 0..7 {
        promote(&project, &measure(&project)).exits(0);
    }
    let ids: Vec<String> = reference(&project)["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["session"].as_str().unwrap().to_owned())
        .collect();
    project
        .run(&["baseline", "pin", &ids[0], "--as", "v1"])
        .exits(0);
    project
        .run(&["baseline", "prune", "--keep", "4"])
        .exits(2)
        .says("a firm verdict needs 5");
    let before = reference(&project);
    project
        .run(&["baseline", "prune", "--keep", "5", "--dry-run"])
        .exits(0)
        .shows("would go")
        .shows(&ids[1]);
    assert_eq!(reference(&project), before);
    project
        .run(&["baseline", "prune", "--keep", "5"])
        .exits(0)
        .shows("1 sessions with 2 run files went");
    let kept = reference(&project)["sessions"].as_array().unwrap().len();
    assert_eq!(
        (kept, entries(&environment(&project).join("runs")).len()),
        (6, 12)
    );
    project
        .run(&["baseline", "verify"])
        .exits(0)
        .shows("0 errors, 0 warnings");
    project
        .run(&["baseline", "prune", "--keep", "5"])
        .exits(0)
        .shows("nothing is old enough");
}

#[test]
fn in_ci_only_a_branch_that_is_protected_or_the_default_one_promotes() {
    let project = Project::new("test");
    let session = measure(&project);
    let event = project.path("event.json");
    fs::write(&event, r#"{"repository": {"default_branch": "main"}}"#).unwrap();
    let job = |variables: &[(&str, &str)], force: bool| {
        let words = [
            "baseline",
            "promote",
            session.to_str().unwrap(),
            "--reason",
            "x",
            "--force",
        ];
        let mut command = project.command(if force { &words } else { &words[..5] });
        Ran::from(command.envs(variables.iter().copied()).output().unwrap())
    };
    let github = |name: &'static str, event_name: &'static str, protected: &'static str| {
        [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_EVENT_NAME", event_name),
            ("GITHUB_EVENT_PATH", "event.json"),
            ("GITHUB_REF_NAME", name),
            ("GITHUB_REF", name),
            ("GITHUB_REF_TYPE", "branch"),
            ("GITHUB_REF_PROTECTED", protected),
        ]
    };
    job(&[("CI", "true")], false).exits(2).says("--force");
    job(&github("feature", "workflow_dispatch", "false"), false).exits(2);
    fs::write(
        &event,
        r#"{"number": 7, "repository": {"default_branch": "main", "full_name": "a/b"}, "pull_request": {"number": 7,
            "head": {"sha": "1111111111111111111111111111111111111111", "ref": "feature", "repo": {"full_name": "a/b"}},
            "base": {"sha": "2222222222222222222222222222222222222222", "ref": "main", "repo": {"full_name": "a/b"}}}}"#,
    )
    .unwrap();
    for force in [false, true] {
        job(&github("7/merge", "pull_request", "false"), force)
            .exits(2)
            .says("a job of a pull request");
    }
    assert!(!project.path("baselines").exists(), "nothing was kept");
    job(&github("release", "workflow_dispatch", "true"), false).exits(0);
    let again = measure(&project);
    let words = [
        "baseline",
        "promote",
        again.to_str().unwrap(),
        "--reason",
        "x",
        "--force",
    ];
    let mut command = project.command(&words);
    Ran::from(command.env("CI", "true").output().unwrap()).exits(0);
}
