//! Whether a request went out on a new connection or on one that had served before.

use std::cell::Cell;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

tokio::task_local! {
    /// Whether the request of this task has had a connection opened.
    static OPENED: Cell<bool>;
}

/// Runs a request, and says besides whether a connection was opened for it. A client built with
/// [`Watch`] says so; where it did not, the connection had served before.
pub(super) async fn watched<F: Future>(request: F) -> (F::Output, bool) {
    let both = async {
        let output = request.await;
        (output, OPENED.with(Cell::get))
    };
    OPENED.scope(Cell::new(false), both).await
}

/// Notes each connection that is opened for a [`watched`] request: the client stack calls its
/// connector inside the request that found no idle connection.
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

impl<S: Service<D>, D> Service<D> for Watched<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, destination: D) -> S::Future {
        // Outside of a watched request nobody asks.
        let _ = OPENED.try_with(|opened| opened.set(true));
        self.0.call(destination)
    }
}
