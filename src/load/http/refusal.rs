//! Requests that got no answer: why, in an outcome and in words.

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, LOCATION};
use hyper::http::response::Parts;
use tokio::time::timeout;

use super::{Body, Ended, Exchange};
use crate::access::causes;
use crate::load::pool::ConnectError;
use crate::sample::{Outcome, TimeoutPhase};
use crate::unit::Nanos;
use crate::wire::chunk::error_text;

/// Most bytes that are read of an error's body.
const ERROR_BODY: usize = 64 << 10;

/// How long an error's body may take.
const ERROR_BODY_TIME: Nanos = Nanos::from_secs(5);

/// Whether the connection was lost, and nothing wrong was said on it.
pub(super) fn is_loss(error: &hyper::Error) -> bool {
    !(error.is_parse() || error.is_user() || error.is_timeout())
}

/// The end of a request for which no connection could be opened.
pub(super) fn not_opened(error: ConnectError) -> Ended {
    match error {
        ConnectError::Timeout => Ended::Failure {
            outcome: Outcome::Timeout {
                phase: TimeoutPhase::Connect,
            },
            text: "no connection in time".to_owned(),
        },
        ConnectError::Failed(error) => Ended::Failure {
            outcome: Outcome::ConnectError,
            text: causes(&*error),
        },
    }
}

/// The end of a request that got no response at all.
pub(super) fn no_response(error: &hyper::Error) -> Ended {
    Ended::Failure {
        outcome: Outcome::ConnectError,
        text: causes(error),
    }
}

/// The end of a request that was answered by a status that is no success, with the body's words.
pub(super) async fn refused(head: &Parts, mut body: Body, seen: &mut Exchange) -> Ended {
    let status = head.status;
    let outcome = match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Outcome::Rejected {
            status: status.as_u16(),
        },
        _ => Outcome::HttpError {
            status: status.as_u16(),
        },
    };
    let location = head
        .headers
        .get(LOCATION)
        .and_then(|location| location.to_str().ok())
        .filter(|_| status.is_redirection())
        .map(|location| format!("redirects to {location}"));
    let mut said = Vec::new();
    let read = async {
        while let Ok(Some(bytes)) = body.read().await {
            seen.error_bytes += bytes.len() as u64;
            said.extend_from_slice(&bytes);
            if said.len() > ERROR_BODY {
                break;
            }
        }
    };
    // What came in time says enough.
    let _ = timeout(ERROR_BODY_TIME.to_duration(), read).await;
    let text = match location {
        Some(location) => location,
        // Nor does a page say anything that is packed in a way that is not read.
        None if said.is_empty() || is_packed(&said) => status.to_string(),
        None => error_text(&said),
    };
    Ended::Failure { outcome, text }
}

/// Whether bytes are no text; one that is cut may end inside a character.
fn is_packed(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.error_len().is_some())
}

/// Whether a response says that its body is one JSON value.
pub(super) fn is_json(head: &Parts) -> bool {
    head.headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}
