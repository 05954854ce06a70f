//! Whether a request went out on a new connection or on one that had served before.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

tokio::task_local! {
    /// Whether the request of this task has had a connection opened.
    static OPENED: Cell<bool>;
}

/// Runs a request of a client built with [`Watch`], and says besides whether a connection was opened
/// for it; where none was, the one that it took had served before.
pub(super) async fn watched<F: Future>(request: F) -> (F::Output, bool) {
    let both = async {
        let output = request.await;
        (output, OPENED.with(Cell::get))
    };
    OPENED.scope(Cell::new(false), both).await
}

/// Notes each connection that a [`watched`] request waited for until it stood. The client stack opens
/// one inside the request that found none idle, and moves it out of the request if another falls idle
/// first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch;

impl<S> Layer<S> for Watch {
    type Service = Watched<S>;

    fn layer(&self, connector: S) -> Watched<S> {
        Watched(connector)
    }
}

/// A connector that is watched.
#[derive(Debug, Clone)]
pub(super) struct Watched<S>(S);

impl<S, D> Service<D> for Watched<S>
where
    S: Service<D>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, destination: D) -> Self::Future {
        let opening = self.0.call(destination);
        Box::pin(async move {
            let opened = opening.await;
            // Outside of a watched request nobody asks.
            let _ = OPENED.try_with(|flag| flag.set(true));
            opened
        })
    }
}

/// How many connections are in use.
#[derive(Debug, Clone, Default)]
pub(super) struct InUse(Arc<AtomicU32>);

impl InUse {
    /// Counts one more until the value is dropped.
    pub(super) fn one_more(&self) -> OneInUse {
        self.0.fetch_add(1, Ordering::Relaxed);
        OneInUse(Arc::clone(&self.0))
    }

    /// Whether more than one is, so that another may fall idle at any moment.
    pub(super) fn several(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }
}

/// A connection in use.
#[derive(Debug)]
pub(super) struct OneInUse(Arc<AtomicU32>);

impl Drop for OneInUse {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
