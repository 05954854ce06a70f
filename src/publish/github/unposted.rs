//! A GitHub on which nothing was posted yet, for a dry run.

use serde_json::{Value, json};

use super::request::{Method, Request};

/// What a GitHub on which nothing was posted yet answers, as far as it is read.
pub(super) fn unposted(request: &Request) -> Value {
    let path = request.url.split('?').next().unwrap_or_default();
    match request.method {
        Method::Get if path.contains("/pulls/") => json!({"state": "open"}),
        Method::Get if path.ends_with("/check-runs") => json!({"check_runs": []}),
        Method::Get => json!([]),
        Method::Post if path.ends_with("/graphql") => json!({"data": {"viewer": {"login": ""}}}),
        Method::Post | Method::Patch => json!({"id": 0, "number": 0}),
    }
}
