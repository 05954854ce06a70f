//! Trouble on demand: `POST /fault`, where the server takes it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::api::ApiError;
use super::doors::Spared;
use super::metrics::Metrics;
use super::server::Shared;
use crate::unit::Nanos;

/// What is asked for: `{"fault": "kill", "for_ms": 20000}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    fault: Fault,
    /// How long; without, for good.
    for_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fault {
    /// Gone: no connection lives and none is taken; comes back with empty caches and counters.
    Kill,
    /// Does no step.
    Stall,
    /// Every connection ends, once.
    Drop,
    /// Answers 503.
    Refuse,
}

/// Brings trouble about, and answers when it is there.
pub(super) async fn fault(
    State(server): State<Arc<Shared>>,
    ConnectInfo(connection): ConnectInfo<Spared>,
    body: Bytes,
) -> Result<Response, ApiError> {
    let wrong = |why: String| ApiError::new(StatusCode::BAD_REQUEST, why);
    let wanted: Wanted = serde_json::from_slice(&body).map_err(|error| wrong(error.to_string()))?;
    let span = wanted.for_ms.map(Nanos::from_millis);
    match (wanted.fault, span) {
        (Fault::Kill, span) => {
            connection.spare();
            server.shut();
            if let Some(span) = span {
                let server = Arc::clone(&server);
                tokio::spawn(async move {
                    tokio::time::sleep(span.to_duration()).await;
                    server.reopen();
                });
            }
        }
        (Fault::Drop, None) => {
            connection.spare();
            server.cut();
        }
        (Fault::Drop, Some(_)) => return Err(wrong("`drop` is over at once".to_owned())),
        (Fault::Stall, Some(span)) => match &server.driver {
            Some(driver) => driver.freeze(span),
            None => return Err(wrong("this profile has no engine to stall".to_owned())),
        },
        (Fault::Refuse, Some(span)) => {
            let until = server.clock.now() + span;
            server
                .refuses_until
                .fetch_max(until.get(), Ordering::Relaxed);
        }
        (Fault::Stall | Fault::Refuse, None) => {
            return Err(wrong("`stall` and `refuse` need `for_ms`".to_owned()));
        }
    }
    let mut answer = Json(json!({"done": true})).into_response();
    // Nothing else is to come over a connection that outlived a cut.
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(header::CONNECTION, close);
    Ok(answer)
}

impl Shared {
    /// Whether everything is answered 503 now.
    pub(super) fn refuses(&self) -> bool {
        self.clock.now().get() < self.refuses_until.load(Ordering::Relaxed)
    }

    /// Ends every connection.
    fn cut(&self) {
        self.doors.send_modify(|doors| doors.cuts += 1);
    }

    /// Is gone, with all that it knew.
    fn shut(&self) {
        self.doors.send_modify(|doors| {
            doors.open = false;
            doors.cuts += 1;
        });
        if let Some(driver) = &self.driver {
            driver.forget();
        }
        *self.metrics() = Metrics::default();
    }

    /// Comes back.
    fn reopen(&self) {
        self.doors.send_modify(|doors| doors.open = true);
    }
}
