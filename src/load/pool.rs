//! Connections of one lane that wait for their next request.

use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper_util::client::legacy::connect::Connection as _;
use tokio::time::timeout;

use super::connection::{Connection, Shared};
use super::place::Place;
use crate::unit::Nanos;

/// Idle connections are dropped before servers do it: uvicorn and llama-server close after 5 s,
/// and a request sent into that moment would fail by no fault of the target.
const IDLE: Nanos = Nanos::from_secs(4);

/// The connections of a lane, by place.
#[derive(Debug)]
pub(super) struct Pool {
    places: Vec<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// HTTP/1.1: each idle since an instant; the latest is taken first, so that a light load uses
    /// few.
    idle: Mutex<Vec<(Nanos, Connection)>>,
    /// HTTP/2: each shared; held while one is opened, so that requests wait for it and share it.
    shared: tokio::sync::Mutex<Vec<Shared>>,
}

/// Why no connection could be opened.
#[derive(Debug)]
pub(super) enum ConnectError {
    /// Not in time.
    Timeout,
    /// For this reason.
    Failed(Box<dyn Error + Send + Sync>),
}

/// A connection for one request.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) connection: Connection,
    /// Whether it has served before.
    pub(super) is_kept: bool,
}

/// Where a connection is wanted to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The place's number among the client's.
    pub(super) index: usize,
    pub(super) place: &'a Place,
    pub(super) opening: Opening,
    /// None that has served before.
    pub(super) fresh: bool,
}

/// How a connection is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    pub(super) http2: bool,
    /// How long it may take.
    pub(super) limit: Nanos,
}

impl Pool {
    /// An empty one.
    pub(super) fn new(places: usize) -> Self {
        Self {
            places: (0..places).map(|_| Kept::default()).collect(),
        }
    }

    /// A connection to a place: a kept one that is open, or a new one, of which `opened` is told.
    pub(super) async fn take(
        &self,
        asked: Asked<'_>,
        now: Nanos,
        opened: impl Fn(),
    ) -> Result<Taken, ConnectError> {
        let Asked {
            index,
            place,
            opening,
            fresh,
        } = asked;
        let kept = &self.places[index];
        if opening.http2 {
            return kept.stream(place, opening.limit, fresh, opened).await;
        }
        let pop = || kept.idle().pop().filter(|_| !fresh);
        while let Some((since, mut connection)) = pop() {
            if now.since(since) > IDLE {
                // Those below it are older.
                kept.idle().clear();
            } else if connection.is_open().await {
                return Ok(Taken {
                    connection,
                    is_kept: true,
                });
            }
        }
        let open = async {
            let stream = place.connect().await?;
            Ok(Connection::http1(stream).await?)
        };
        let connection = within(opening.limit, open).await?;
        opened();
        Ok(Taken {
            connection,
            is_kept: false,
        })
    }

    /// Keeps a connection that can serve again.
    pub(super) fn keep(&self, index: usize, connection: Connection, now: Nanos) {
        if connection.is_http1() {
            self.places[index].idle().push((now, connection));
        }
    }
}

impl Kept {
    fn idle(&self) -> MutexGuard<'_, Vec<(Nanos, Connection)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn stream(
        &self,
        place: &Place,
        limit: Nanos,
        fresh: bool,
        opened: impl Fn(),
    ) -> Result<Taken, ConnectError> {
        let mut shared = self.shared.lock().await;
        shared.retain(|connection| !connection.is_closed());
        if !fresh && let Some(connection) = shared.iter().find_map(Shared::stream) {
            return Ok(Taken {
                connection,
                is_kept: true,
            });
        }
        let open = async {
            let stream = place.connect().await?;
            let encrypted = matches!(stream, hyper_rustls::MaybeHttpsStream::Https(_));
            if encrypted && !stream.connected().is_negotiated_h2() {
                return Err("the target does not offer HTTP/2 over TLS".into());
            }
            Ok(Shared::start(stream).await?)
        };
        let new = within(limit, open).await?;
        opened();
        let stream = new.stream();
        shared.push(new);
        let connection = stream
            .ok_or_else(|| ConnectError::Failed("the target allows no HTTP/2 streams".into()))?;
        Ok(Taken {
            connection,
            is_kept: false,
        })
    }
}

async fn within<T>(
    limit: Nanos,
    open: impl Future<Output = Result<T, Box<dyn Error + Send + Sync>>>,
) -> Result<T, ConnectError> {
    // Boxed, for it is large and rare.
    match timeout(limit.to_duration(), Box::pin(open)).await {
        Ok(result) => result.map_err(ConnectError::Failed),
        Err(_) => Err(ConnectError::Timeout),
    }
}
