//! Requests that got no answer: why, in an outcome and in words.

use std::error::Error as _;

use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Response, StatusCode};
use tokio::time::timeout;

use super::{Ended, Exchange};
use crate::sample::{Outcome, TimeoutPhase};
use crate::unit::Nanos;
use crate::wire::chunk::error_text;

/// Most bytes that are read of an error's body.
const ERROR_BODY: usize = 64 << 10;

/// How long an error's body may take.
const ERROR_BODY_TIME: Nanos = Nanos::from_secs(5);

/// Whether the connection stood and was lost.
pub(super) fn is_loss(error: &reqwest::Error) -> bool {
    error.is_request() && !error.is_connect() && !error.is_timeout()
}

/// The end of a request that got no response at all.
pub(super) fn no_response(error: reqwest::Error) -> Ended {
    let outcome = if error.is_connect() && error.is_timeout() {
        Outcome::Timeout {
            phase: TimeoutPhase::Connect,
        }
    } else {
        Outcome::ConnectError
    };
    Ended::Failure {
        outcome,
        text: words(error),
    }
}

/// The end of a request that was answered by a status that is no success, with the body's words.
pub(super) async fn refused(mut response: Response, seen: &mut Exchange) -> Ended {
    let status = response.status();
    let outcome = match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Outcome::Rejected {
            status: status.as_u16(),
        },
        _ => Outcome::HttpError {
            status: status.as_u16(),
        },
    };
    let location = response
        .headers()
        .get(LOCATION)
        .and_then(|location| location.to_str().ok())
        .filter(|_| status.is_redirection())
        .map(|location| format!("redirects to {location}"));
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(bytes)) = response.chunk().await {
            seen.error_bytes += bytes.len() as u64;
            body.extend_from_slice(&bytes);
            if body.len() > ERROR_BODY {
                break;
            }
        }
    };
    // What came in time says enough.
    let _ = timeout(ERROR_BODY_TIME.to_duration(), read).await;
    let text = match location {
        Some(location) => location,
        None if body.is_empty() => status.to_string(),
        None => error_text(&body),
    };
    Ended::Failure { outcome, text }
}

/// Whether a response says that its body is one JSON value.
pub(super) fn is_json(response: &Response) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

/// An error with its causes, down to the system's.
pub(super) fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        // Some layers repeat the words of the layer below.
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}
