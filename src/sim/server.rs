//! The HTTP server: listener, routes, start and stop.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::SimError;
use super::api::{self, ApiError, Kind};
use super::clock::Clock;
use super::doors::{Doors, Entrance, Spared};
use super::driver::Driver;
use super::fault::DieAfter;
use super::generate::generate;
use super::metrics::Metrics;
use super::options::SimOptions;
use super::trouble::fault;
use super::truth::{TruthLog, TruthRecord, TruthTarget};

/// Largest body that is read: a million tokens of prompt fit.
const MAX_BODY: usize = 64 << 20;
/// How long open connections may take to end when the server stops.
const GRACE: Duration = Duration::from_secs(2);
/// How often the truth log is written out.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// What to serve, and where.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// How the engine behaves.
    pub sim: SimOptions,
    /// The port on 127.0.0.1; 0 is any free one.
    pub port: u16,
    /// Where the truth goes.
    pub truth: TruthTarget,
    /// Whether the truth has the instant of every token.
    pub truth_tokens: bool,
    /// Whether anybody may make trouble by `POST /fault`.
    pub takes_faults: bool,
}

impl ServeOptions {
    /// On any free port, with the truth kept in memory: what a test wants.
    pub const fn in_memory(sim: SimOptions) -> Self {
        Self {
            sim,
            port: 0,
            truth: TruthTarget::Memory,
            truth_tokens: true,
            takes_faults: true,
        }
    }
}

/// Whether the server serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Serving,
    Stopped,
    Died,
}

impl Life {
    pub(super) const fn is_over(self) -> bool {
        matches!(self, Self::Stopped | Self::Died)
    }
}

/// What all requests share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: SimOptions,
    pub(super) clock: Clock,
    pub(super) truth: TruthLog,
    pub(super) token_instants: bool,
    /// `None` where the profile answers at once.
    pub(super) driver: Option<Driver>,
    pub(super) life: watch::Sender<Life>,
    /// Valid generating requests so far.
    pub(super) arrivals: AtomicU64,
    /// Requests without an id so far.
    pub(super) unnamed: AtomicU64,
    /// Until when everything is answered 503, in nanoseconds of `clock`.
    pub(super) refuses_until: AtomicU64,
    pub(super) doors: watch::Sender<Doors>,
    metrics: Arc<Mutex<Metrics>>,
}

impl Shared {
    pub(super) fn metrics(&self) -> MutexGuard<'_, Metrics> {
        self.metrics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Dies where that many requests are enough.
    pub(super) fn die_if_due(&self, requests: u64) {
        if let Some(DieAfter::Requests(enough)) = self.options.faults.die_after
            && requests >= enough
        {
            self.end(Life::Died);
        }
    }

    fn end(&self, how: Life) {
        self.life.send_if_modified(|life| {
            let changed = !life.is_over();
            if changed {
                *life = how;
            }
            changed
        });
        if let Some(driver) = &self.driver {
            driver.stop();
        }
    }
}

/// The embedded engine's server.
#[derive(Debug)]
pub struct Server;

impl Server {
    /// Listens on 127.0.0.1 and serves until stopped. Needs a tokio runtime.
    pub async fn start(options: ServeOptions) -> Result<Running, SimError> {
        options.sim.check()?;
        let port = options.port;
        let bind = |source| SimError::Bind { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(bind)?;
        let addr = listener.local_addr().map_err(bind)?;

        let clock = Clock::start();
        let args = options.sim.to_string();
        let truth_path = match &options.truth {
            TruthTarget::File(path) => Some(path.clone()),
            TruthTarget::Nowhere | TruthTarget::Memory => None,
        };
        let truth =
            TruthLog::open(&options.truth, clock.unix_start_us(), &args).map_err(|source| {
                SimError::Truth {
                    path: truth_path.clone().unwrap_or_default(),
                    source,
                }
            })?;
        let metrics = Arc::new(Mutex::new(Metrics::default()));
        let driver = match options.sim.engine() {
            None => None,
            Some(engine) => {
                let driver =
                    Driver::start(engine, &options.sim.faults, clock, Arc::clone(&metrics));
                Some(driver.map_err(|source| SimError::Thread { source })?)
            }
        };
        let shared = Arc::new(Shared {
            options: options.sim,
            clock,
            truth,
            token_instants: options.truth_tokens,
            driver,
            life: watch::Sender::new(Life::Serving),
            arrivals: AtomicU64::new(0),
            unnamed: AtomicU64::new(0),
            refuses_until: AtomicU64::new(0),
            doors: Doors::new(),
            metrics,
        });
        let entrance = Entrance::new(listener, shared.doors.subscribe()).map_err(bind)?;
        let routes = router(Arc::clone(&shared), options.takes_faults);
        let serving = tokio::spawn(serve(entrance, routes, Arc::clone(&shared)));
        if truth_path.is_some() {
            tokio::spawn(flush_regularly(Arc::clone(&shared)));
        }
        if let Some(DieAfter::Time(span)) = shared.options.faults.die_after {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                tokio::time::sleep(span.to_duration()).await;
                shared.end(Life::Died);
            });
        }
        Ok(Running {
            addr,
            shared,
            truth_path,
            serving: Some(serving),
        })
    }
}

/// A server that serves. Dropping it stops it without waiting.
#[derive(Debug)]
pub struct Running {
    addr: SocketAddr,
    shared: Arc<Shared>,
    truth_path: Option<PathBuf>,
    serving: Option<JoinHandle<()>>,
}

impl Running {
    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its address as a URL: `http://127.0.0.1:8000`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The requests that are over so far, where the truth is kept in memory.
    pub fn truth(&self) -> Vec<TruthRecord> {
        self.shared.truth.records()
    }

    /// Waits until the server dies by `--die-after`; for ever where it does not.
    pub async fn died(&self) {
        let mut life = self.shared.life.subscribe();
        // The sender lives as long as `self`, so this only ends by the condition.
        let _ = life.wait_for(|life| *life == Life::Died).await;
    }

    /// Stops: answers that are under way break off, connections end, the truth is written out.
    pub async fn shutdown(mut self) -> Result<(), SimError> {
        self.shared.end(Life::Stopped);
        if let Some(mut serving) = self.serving.take() {
            // A connection that does not end by itself is cut with the listener's task.
            if tokio::time::timeout(GRACE, &mut serving).await.is_err() {
                serving.abort();
            }
        }
        self.flush_truth()
    }

    /// Writes the truth out; fails with the first failure to write since the start.
    pub fn flush_truth(&self) -> Result<(), SimError> {
        self.shared.truth.flush();
        match (self.shared.truth.take_failure(), &self.truth_path) {
            (Some(source), Some(path)) => Err(SimError::Truth {
                path: path.clone(),
                source,
            }),
            _ => Ok(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.end(Life::Stopped);
        self.shared.truth.flush();
    }
}

async fn flush_regularly(shared: Arc<Shared>) {
    let mut life = shared.life.subscribe();
    let mut every = tokio::time::interval(FLUSH_EVERY);
    loop {
        tokio::select! {
            _ = life.wait_for(|life| life.is_over()) => return,
            _ = every.tick() => shared.truth.flush(),
        }
    }
}

async fn serve(entrance: Entrance, routes: Router, shared: Arc<Shared>) {
    let mut life = shared.life.subscribe();
    let over = async move {
        let _ = life.wait_for(|life| life.is_over()).await;
    };
    // Accept errors are retried inside; the result is always Ok.
    let routes = routes.into_make_service_with_connect_info::<Spared>();
    let _ = axum::serve(entrance, routes)
        .with_graceful_shutdown(over)
        .await;
}

type Context = State<Arc<Shared>>;

fn router(shared: Arc<Shared>, takes_faults: bool) -> Router {
    let routes = Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/completions", post(completion))
        .route("/v1/models", get(models))
        .route("/tokenize", post(tokenize))
        .route("/version", get(version))
        .route("/health", get(|| async { StatusCode::OK }))
        .route("/metrics", get(metrics));
    let routes = if takes_faults {
        routes.route("/fault", post(fault))
    } else {
        routes
    };
    routes
        .fallback(|| async { ApiError::new(StatusCode::NOT_FOUND, "no such route") })
        .method_not_allowed_fallback(|| async {
            ApiError::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "the route has another method",
            )
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(shared)
}

type Read = Result<Bytes, BytesRejection>;

fn unread(error: &BytesRejection) -> ApiError {
    ApiError::new(error.status(), error.body_text())
}

async fn chat(State(shared): Context, headers: HeaderMap, body: Read) -> Response {
    match body {
        Ok(body) => generate(shared, Kind::Chat, headers, body).await,
        Err(error) => unread(&error).into_response(),
    }
}

async fn completion(State(shared): Context, headers: HeaderMap, body: Read) -> Response {
    match body {
        Ok(body) => generate(shared, Kind::Completion, headers, body).await,
        Err(error) => unread(&error).into_response(),
    }
}

async fn tokenize(State(shared): Context, body: Read) -> Result<Response, ApiError> {
    let body = body.map_err(|error| unread(&error))?;
    let options = &shared.options;
    let tokens = api::tokenize(&body, options.model(), options.profile.max_model_len)?;
    Ok(Json(tokens).into_response())
}

async fn models(State(shared): Context) -> Response {
    let options = &shared.options;
    Json(json!({"object": "list", "data": [{
        "id": options.model(),
        "object": "model",
        "created": shared.clock.unix_start_us() / 1_000_000,
        "owned_by": "infergate",
        "root": options.model(),
        "parent": null,
        "max_model_len": options.profile.max_model_len,
    }]}))
    .into_response()
}

async fn version(State(shared): Context) -> Response {
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "engine": "infergate-sim",
        "profile": shared.options.profile.name,
        "args": shared.options.to_string(),
    }))
    .into_response()
}

async fn metrics(State(shared): Context) -> Response {
    let options = &shared.options;
    let text = shared.metrics().render(
        options.model(),
        options.constants(),
        options.wear.memory(shared.clock.now()),
    );
    let headers = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    (headers, text).into_response()
}
