//! Requests made ready ahead of their time, so that writing prompts delays no send.

use tokio::sync::mpsc;
use tokio::sync::{Mutex, oneshot};

use super::kitchen::{Kitchen, Prepared};
use crate::plan::{Phase, Share};
use crate::priority::make_way;

/// Requests that are ready ahead at the least: enough for a Poisson burst, few enough for long
/// prompts (64 of 100 kB are 6 MB).
const LEAST_AHEAD: usize = 64;

/// And at the most, however many users may be free at once.
const MOST_AHEAD: usize = 1024;

/// Requests that are handed over at a time. Each hand-over wakes the thread that prepares them, and a
/// batch keeps it busy: on a core shared with a lane, tokens wait for many small ones as for few
/// large ones.
const BATCH: usize = 4;

/// The first requests of sessions in order, from a thread that prepares them.
#[derive(Debug)]
pub(super) struct Supply {
    requests: Mutex<Batches>,
}

/// Requests in order, as they are handed over.
#[derive(Debug)]
pub(super) struct Batches {
    batch: std::vec::IntoIter<Prepared>,
    rest: mpsc::Receiver<Vec<Prepared>>,
}

impl Batches {
    async fn next(&mut self) -> Option<Prepared> {
        loop {
            match self.batch.next() {
                Some(prepared) => return Some(prepared),
                None => self.batch = self.rest.recv().await?.into_iter(),
            }
        }
    }

    /// For a thread outside the runtime.
    pub(super) fn blocking_next(&mut self) -> Option<Prepared> {
        loop {
            match self.batch.next() {
                Some(prepared) => return Some(prepared),
                None => self.batch = self.rest.blocking_recv()?.into_iter(),
            }
        }
    }
}

impl Supply {
    /// Starts to prepare so many sessions of each phase, and returns once the first are ready:
    /// `at_once` of them, as many as may be asked for at once.
    ///
    /// Only those of this share are prepared. The thread ends with the last of them, or when the
    /// supply is dropped.
    pub(super) async fn start(
        kitchen: Kitchen,
        at_once: u32,
        phases: &[(Phase, u32)],
        share: Share,
    ) -> std::io::Result<Self> {
        let ahead = (at_once as usize).clamp(LEAST_AHEAD, MOST_AHEAD);
        let (sender, rest) = mpsc::channel(ahead / BATCH);
        let phases = phases.to_vec();
        let (primed, is_primed) = oneshot::channel();
        std::thread::Builder::new()
            .name("prepare".to_owned())
            .spawn(move || {
                make_way();
                let mut primed = Some(primed);
                let mut batch = Vec::with_capacity(BATCH);
                for (phase, count) in phases {
                    let mut before = 0_u32;
                    for number in 0..count {
                        let session = kitchen.plan.session(kitchen.stage, phase, number, before);
                        before = before.saturating_add(session.requests());
                        if !share.has(number) {
                            continue;
                        }
                        batch.push(kitchen.prepare(session));
                        if batch.len() < BATCH {
                            continue;
                        }
                        let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                        if sender.capacity() <= 1
                            && let Some(primed) = primed.take()
                        {
                            let _ = primed.send(());
                        }
                        if sender.blocking_send(full).is_err() {
                            return;
                        }
                    }
                }
                // Nobody waits for them any more where this fails.
                let _ = sender.blocking_send(batch);
            })?;
        // An error says that the thread is through, with fewer requests than fit ahead.
        let _ = is_primed.await;
        Ok(Self {
            requests: Mutex::new(Batches {
                batch: Vec::new().into_iter(),
                rest,
            }),
        })
    }

    /// The next request; `None` after the last.
    pub(super) async fn next(&self) -> Option<Prepared> {
        self.requests.lock().await.next().await
    }

    /// For a thread outside the runtime.
    pub(super) fn blocking(self) -> Batches {
        self.requests.into_inner()
    }
}
