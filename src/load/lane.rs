//! Lanes: threads that send and read, one a core, each with a runtime and connections of its own.
//!
//! A request stays on its lane from send to end, so no connection, timer or lock is shared between
//! cores.

use std::sync::Arc;
use std::sync::mpsc;

use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;

use super::pool::Pool;

/// One thread with its runtime and its connections.
#[derive(Debug)]
pub(super) struct Lane {
    runtime: Handle,
    pub(super) pool: Pool,
}

impl Lane {
    /// The runtime on which the lane's tasks run.
    pub(super) const fn runtime(&self) -> &Handle {
        &self.runtime
    }
}

/// All lanes of a client; their threads end when it is dropped, and whatever still runs on them.
#[derive(Debug)]
pub(super) struct Lanes {
    lanes: Vec<Arc<Lane>>,
    /// Its drop ends the threads.
    _open: watch::Sender<()>,
}

impl Lanes {
    /// Starts so many threads, each with room for connections to so many places.
    pub(super) fn start(count: usize, places: usize) -> std::io::Result<Self> {
        let (open, closed) = watch::channel(());
        let lanes = (0..count.max(1))
            .map(|number| {
                let runtime = start(number, closed.clone())?;
                let pool = Pool::new(places);
                Ok(Arc::new(Lane { runtime, pool }))
            })
            .collect::<std::io::Result<_>>()?;
        Ok(Self { lanes, _open: open })
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Arc<Lane>] {
        &self.lanes
    }

    /// The lane of a user or request: all in turn.
    pub(super) fn of(&self, number: usize) -> &Arc<Lane> {
        &self.lanes[number % self.lanes.len()]
    }
}

/// Starts one thread and returns the handle of its runtime.
fn start(number: usize, mut closed: watch::Receiver<()>) -> std::io::Result<Handle> {
    let (sender, started) = mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name(format!("lane-{number}"))
        .spawn(move || {
            let runtime = match Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _ = sender.send(Err(error));
                    return;
                }
            };
            let _ = sender.send(Ok(runtime.handle().clone()));
            // An error says that the lanes were dropped.
            runtime.block_on(async { while closed.changed().await.is_ok() {} });
        })?;
    started
        .recv()
        .unwrap_or_else(|_| Err(std::io::Error::other("the thread ended at once")))
}
