//! Every event by a payload of its shape, and what none may do.

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;

use super::*;

/// The event of an environment, with a file at `event.json`.
fn read_with(variables: &[(&str, &str)], json: &str) -> Result<Option<Event>, EventError> {
    read(
        &|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        },
        &|path| match path {
            "event.json" => Ok(json.to_owned()),
            _ => Err("no such file".to_owned()),
        },
    )
}

fn github(name: &str, json: &str) -> Result<Option<Event>, EventError> {
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", name),
        ("GITHUB_EVENT_PATH", "event.json"),
        ("GITHUB_REF", "refs/heads/main"),
        ("GITHUB_SHA", "ec26c3e57ca3a959ca5aad62de7213c562f8c821"),
    ];
    read_with(&variables, json)
}

fn shown(event: Result<Option<Event>, EventError>) -> String {
    let event = match event {
        Ok(Some(event)) => event,
        Ok(None) => return "no event\n".to_owned(),
        Err(error) => return format!("error: {error}\n"),
    };
    let mut text = format!("{}\n", event.says());
    if let Some(branch) = &event.branch {
        let _ = writeln!(text, "  branch: {branch}");
    }
    if let Aim::Into(Destination {
        seen: Some(seen), ..
    }) = &event.aim
    {
        let _ = writeln!(
            text,
            "  without the branch: {} ({})",
            seen.commit.short(),
            seen.what
        );
    }
    text
}

#[test]
fn every_event_of_github_says_what_is_judged_and_where_it_goes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    // Longer names first: `pull_request_target` is no case of `pull_request`.
    let events = [
        "pull_request_target",
        "pull_request",
        "merge_group",
        "push",
        "workflow_run",
        "workflow_dispatch",
        "schedule",
        "issue_comment",
    ];
    let mut text = String::new();
    for path in files {
        let case = path.file_stem().unwrap().to_str().unwrap();
        let event = events
            .iter()
            .find(|event| case.starts_with(**event))
            .unwrap();
        let json = std::fs::read_to_string(&path).unwrap();
        let _ = writeln!(text, "{case}\n{}", shown(github(event, &json)));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_other_two_say_it_in_variables() {
    const HEAD: &str = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
    const BASE: &str = "ec26c3e57ca3a959ca5aad62de7213c562f8c821";
    let request = [
        ("GITLAB_CI", "true"),
        ("CI_PIPELINE_SOURCE", "merge_request_event"),
        ("CI_COMMIT_SHA", HEAD),
        ("CI_MERGE_REQUEST_IID", "7"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "faster"),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "10"),
        ("CI_MERGE_REQUEST_PROJECT_ID", "1"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", BASE),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", ""),
    ];
    let branch = |name| {
        [
            ("GITLAB_CI", "true"),
            ("CI_PIPELINE_SOURCE", "push"),
            ("CI_COMMIT_SHA", HEAD),
            ("CI_COMMIT_BRANCH", name),
            ("CI_DEFAULT_BRANCH", "main"),
            (
                "CI_COMMIT_BEFORE_SHA",
                "0000000000000000000000000000000000000000",
            ),
        ]
    };
    let pull = [
        ("BUILDKITE", "true"),
        ("BUILDKITE_SOURCE", "webhook"),
        ("BUILDKITE_COMMIT", HEAD),
        ("BUILDKITE_BRANCH", "faster"),
        ("BUILDKITE_PULL_REQUEST", "12"),
        ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "release/1.2"),
        ("BUILDKITE_REPO", "git@github.com:acme/serve.git"),
        (
            "BUILDKITE_PULL_REQUEST_REPO",
            "https://github.com/Acme/serve",
        ),
        ("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main"),
    ];
    let nightly = [
        ("BUILDKITE", "true"),
        ("BUILDKITE_SOURCE", "schedule"),
        ("BUILDKITE_COMMIT", "HEAD"),
        ("BUILDKITE_BRANCH", "main"),
        ("BUILDKITE_PULL_REQUEST", "false"),
        ("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main"),
    ];
    let queue = [
        ("BUILDKITE", "true"),
        ("BUILDKITE_COMMIT", HEAD),
        ("BUILDKITE_MERGE_QUEUE_BASE_BRANCH", "main"),
        ("BUILDKITE_MERGE_QUEUE_BASE_COMMIT", BASE),
    ];
    let cases: [&[(&str, &str)]; 8] = [
        &request,
        &branch("main"),
        &branch("faster"),
        &pull,
        &nightly,
        &queue,
        &[("GITLAB_CI", "true"), ("CI_COMMIT_SHA", "0000")],
        &[("CI", "true")],
    ];
    let text: String = cases
        .into_iter()
        .map(|variables| shown(read_with(variables, "")))
        .collect();
    insta::assert_snapshot!(text);
}

#[test]
fn a_file_that_is_not_there_or_no_json_is_named() {
    let missing = read_with(
        &[
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_EVENT_NAME", "push"),
            ("GITHUB_EVENT_PATH", "/gone"),
        ],
        "",
    );
    let said = missing.unwrap_err().to_string();
    assert!(
        said.contains("`/gone`: no such file") && said.contains("--base"),
        "{said}"
    );
    let said = github("push", "{").unwrap_err().to_string();
    assert!(said.contains("EOF while parsing"), "{said}");
    let said = read_with(&[("GITHUB_ACTIONS", "true")], "")
        .unwrap_err()
        .to_string();
    assert!(said.contains("`GITHUB_EVENT_PATH` is not set"), "{said}");
}

/// Any JSON, of the fields that are asked for as often as of others.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[0-9a-f]{40}".prop_map(Into::into),
        prop_oneof![
            Just("refs/heads/main"),
            Just("refs/tags/v1"),
            Just(""),
            Just("main")
        ]
        .prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        let key = prop::sample::select(vec![
            "pull_request",
            "merge_group",
            "workflow_run",
            "pull_requests",
            "repository",
            "head",
            "base",
            "repo",
            "id",
            "ref",
            "sha",
            "head_sha",
            "base_ref",
            "head_ref",
            "after",
            "head_commit",
            "default_branch",
            "deleted",
            "number",
            "event",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::Array),
            prop::collection::btree_map(key.prop_map(str::to_owned), inner, 0..8)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_payload_panics_and_none_is_taken_for_no_event(
        json in json(),
        event in prop::sample::select(vec![
            "pull_request", "merge_group", "push", "workflow_run", "schedule", "workflow_dispatch", "release",
        ]),
    ) {
        match github(event, &json.to_string()) {
            Ok(read) => {
                let read = read.unwrap();
                prop_assert_eq!(&read.name, event);
                prop_assert!(!read.says().is_empty());
            }
            Err(error) => prop_assert!(error.to_string().contains(event), "{}", error),
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = github("push", &text);
    }
}
