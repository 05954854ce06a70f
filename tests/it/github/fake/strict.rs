//! What GitHub asks for and its description does not say.

use serde_json::Value;

use super::description::Call;

/// Most characters of a comment or issue.
const BODY: usize = 65_536;
/// Most characters of a check's summary.
const SUMMARY: usize = 65_535;

/// What is wrong with a request's headers, whatever it asks for.
pub(super) fn wrong_headers<'a>(header: &dyn Fn(&str) -> Option<&'a str>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expect = |name: &str, right: &dyn Fn(&str) -> bool, what: &str| match header(name) {
        Some(value) if right(value) => {}
        Some(value) => wrong.push(format!("`{name}: {value}` is not {what}")),
        None => wrong.push(format!("there is no header `{name}`, which is {what}")),
    };
    expect(
        "user-agent",
        &|value| value.starts_with("infergate/") && !value.contains(','),
        "this program's name",
    );
    expect(
        "accept",
        &|value| value == "application/vnd.github+json",
        "GitHub's JSON",
    );
    expect(
        "x-github-api-version",
        &|value| value == "2022-11-28",
        "a version of the API",
    );
    expect(
        "authorization",
        &|value| value.starts_with("Bearer ") && value.len() > 7,
        "a token",
    );
    wrong
}

/// What is wrong with a body beyond its schema.
pub(super) fn wrong_body(call: &Call, body: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let units = |text: &Value| text.as_str().map_or(0, |text| text.encode_utf16().count());
    if call.template.contains("/check-runs") {
        if body["status"] == "completed" && body["conclusion"].is_null() {
            wrong.push("a completed check has no conclusion".to_owned());
        }
        if !body["conclusion"].is_null() && body["status"] != "completed" {
            wrong.push("a check with a conclusion is not completed".to_owned());
        }
        if body["conclusion"] == "stale" {
            wrong.push("only GitHub says that a check is stale".to_owned());
        }
        if units(&body["output"]["summary"]) > SUMMARY {
            wrong.push("the summary is too long".to_owned());
        }
        for annotation in body["output"]["annotations"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let path = annotation["path"].as_str().unwrap_or_default();
            if path.starts_with('/')
                || path.contains('\\')
                || path.split('/').any(|part| part == "..")
            {
                wrong.push(format!("`{path}` is no path in the repository"));
            }
            if annotation["start_line"].as_u64() == Some(0) {
                wrong.push("lines count from 1".to_owned());
            }
            if units(&annotation["title"]) > 255
                || annotation["message"].as_str().unwrap_or_default().len() > 64 << 10
            {
                wrong.push("an annotation is too long".to_owned());
            }
        }
    }
    if call.template.contains("/statuses/") && units(&body["description"]) > 140 {
        wrong.push("the description is over 140 characters".to_owned());
    }
    wrong
}

/// Whether a text is too long for a comment or an issue: GitHub says so by itself.
pub(super) fn is_too_long(body: &Value, limit: Option<usize>) -> bool {
    let units = body["body"]
        .as_str()
        .map_or(0, |text| text.encode_utf16().count());
    units > limit.unwrap_or(BODY)
}
