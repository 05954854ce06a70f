//! The stand-in refuses each sort of request that GitHub would not take: a test that posts one fails.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::fake::{Fake, HEAD, TOKEN};

/// Headers as GitHub wants them.
fn headers() -> Vec<(&'static str, String)> {
    vec![
        ("user-agent", "infergate/test".to_owned()),
        ("accept", "application/vnd.github+json".to_owned()),
        ("x-github-api-version", "2022-11-28".to_owned()),
        ("authorization", format!("Bearer {TOKEN}")),
    ]
}

/// Status and JSON of a bare request.
fn ask(
    fake: &Fake,
    method: &str,
    path: &str,
    headers: &[(&str, String)],
    body: Option<&Value>,
) -> (u16, Value) {
    let host = fake.api().replace("http://", "");
    let mut stream = TcpStream::connect(&host).unwrap();
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for (name, value) in headers {
        text = format!("{text}{name}: {value}\r\n");
    }
    text = format!("{text}content-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let json = answer.split_once("\r\n\r\n").unwrap().1;
    (status, serde_json::from_str(json).unwrap())
}

/// Asserts that it is refused, and why.
#[track_caller]
fn refused(method: &str, path: &str, body: Option<&Value>, why: &str) {
    let fake = Fake::start();
    let (status, _) = ask(&fake, method, path, &headers(), body);
    let wrong = fake.wrong().join("\n");
    assert_eq!(status, 400, "{method} {path}");
    assert!(wrong.contains(why), "no {why:?} in:\n{wrong}");
}

const COMMENTS: &str = "/repos/acme/engine/issues/7/comments";
const CHECKS: &str = "/repos/acme/engine/check-runs";

#[test]
fn a_path_or_method_that_github_has_not() {
    refused("GET", "/repos/acme/engine/comments/7", None, "no path");
    let body = json!({"body": "x"});
    // octocrab's own call for this sends a POST.
    refused(
        "POST",
        "/repos/acme/engine/issues/comments/7",
        Some(&body),
        "takes get, patch, not post",
    );
}

#[test]
fn a_parameter_that_is_none() {
    refused("GET", "/repos/acme/engine/pulls/seven", None, "no path");
    refused(
        "GET",
        &format!("{COMMENTS}?per_page=many"),
        None,
        "query parameter `per_page`",
    );
    refused(
        "GET",
        &format!("{COMMENTS}?perpage=100"),
        None,
        "no query parameter `perpage`",
    );
}

#[test]
fn a_body_that_is_not_of_its_schema() {
    refused("POST", COMMENTS, None, "there is no body");
    refused(
        "POST",
        COMMENTS,
        Some(&json!({"text": "x"})),
        "\"body\" is a required property",
    );
    refused("POST", CHECKS, Some(&json!({"name": "x"})), "head_sha");
    let check = |output: Value| json!({"name": "x", "head_sha": HEAD, "output": output});
    refused(
        "POST",
        CHECKS,
        Some(&check(json!({"title": "x"}))),
        "summary",
    );
    let note = json!({"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "m"});
    let notes = vec![note.clone(); 51];
    let output = json!({"title": "x", "summary": "x", "annotations": notes});
    refused("POST", CHECKS, Some(&check(output)), "/output/annotations");
    let mut wrong = note;
    wrong["annotation_level"] = json!("error");
    let output = json!({"title": "x", "summary": "x", "annotations": [wrong]});
    refused("POST", CHECKS, Some(&check(output)), "annotation_level");
    let path = format!("/repos/acme/engine/statuses/{HEAD}");
    refused(
        "POST",
        &path,
        Some(&json!({"state": "neutral"})),
        "body/state",
    );
}

#[test]
fn a_field_that_nobody_knows() {
    refused(
        "POST",
        COMMENTS,
        Some(&json!({"body": "x", "bodyy": "y"})),
        "no field `bodyy`",
    );
    let check = json!({"name": "x", "head_sha": HEAD, "outputt": {}});
    refused("POST", CHECKS, Some(&check), "no field `outputt`");
    let check = json!({"name": "x", "head_sha": HEAD, "output": {"title": "x", "summary": "x", "annotations": [{
        "path": "a", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "m", "line": 1,
    }]}});
    refused("POST", CHECKS, Some(&check), "no field `line`");
}

#[test]
fn what_the_description_leaves_out() {
    let check = |fields: Value| {
        let mut check = json!({"name": "x", "head_sha": HEAD});
        check
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        check
    };
    refused(
        "POST",
        CHECKS,
        Some(&check(json!({"status": "completed"}))),
        "no conclusion",
    );
    let pending = json!({"status": "in_progress", "conclusion": "success"});
    refused("POST", CHECKS, Some(&check(pending)), "not completed");
    let note = |path: &str, line: u64| {
        json!({"output": {"title": "x", "summary": "x", "annotations": [{
            "path": path, "start_line": line, "end_line": line, "annotation_level": "failure", "message": "m",
        }]}})
    };
    refused(
        "POST",
        CHECKS,
        Some(&check(note("/etc/passwd", 1))),
        "no path in the repository",
    );
    refused(
        "POST",
        CHECKS,
        Some(&check(note("a.yaml", 0))),
        "lines count from 1",
    );
    let path = format!("/repos/acme/engine/statuses/{HEAD}");
    let long = json!({"state": "success", "description": "x".repeat(141)});
    refused("POST", &path, Some(&long), "over 140");
}

#[test]
fn headers_that_github_asks_for() {
    for (index, (name, _)) in headers().into_iter().enumerate() {
        let fake = Fake::start();
        let mut headers = headers();
        headers.remove(index);
        let (status, _) = ask(&fake, "GET", COMMENTS, &headers, None);
        assert_eq!(status, 400, "{name}");
        let wrong = fake.wrong().join("\n");
        assert!(wrong.contains(name), "{wrong}");
    }
}

#[test]
fn a_token_of_nobody_and_a_body_that_is_too_long_are_refused_in_githubs_words() {
    let fake = Fake::start();
    let mut stranger = headers();
    stranger[3].1 = "Bearer ghs_stranger".to_owned();
    assert_eq!(ask(&fake, "GET", COMMENTS, &stranger, None).0, 401);
    let long = json!({"body": "x".repeat(65_537)});
    let (status, answer) = ask(&fake, "POST", COMMENTS, &headers(), Some(&long));
    assert_eq!(status, 422);
    assert!(answer.to_string().contains("Body is too long"));
}

#[test]
fn what_it_answers_itself_is_held_against_the_description() {
    let fake = Fake::start();
    fake.state().pulls[0]["state"] = json!("ajar");
    ask(&fake, "GET", "/repos/acme/engine/pulls/7", &headers(), None);
    let wrong = fake.wrong().join("\n");
    assert!(wrong.contains("answer/state"), "{wrong}");
}
