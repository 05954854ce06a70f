//! Requests made ready ahead of their time, so that writing prompts delays no send.

use tokio::sync::{Mutex, mpsc, oneshot};

use super::kitchen::{Kitchen, Prepared};
use crate::plan::{Phase, Share};

/// Requests that are ready ahead at the least: enough for a Poisson burst, few enough for long
/// prompts (64 of 100 kB are 6 MB).
const LEAST_AHEAD: usize = 64;

/// And at the most, however many users may be free at once.
const MOST_AHEAD: usize = 1024;

/// The first requests of sessions in order, from a thread that prepares them.
#[derive(Debug)]
pub(super) struct Supply {
    requests: Mutex<mpsc::Receiver<Prepared>>,
}

impl Supply {
    /// Starts to prepare so many sessions of each phase, and returns once the first are ready:
    /// `at_once` of them, as many as may be asked for at once.
    ///
    /// Only those of this share are prepared. The thread ends with the last of them, or when the supply is dropped.
    pub(super) async fn start(
        kitchen: Kitchen,
        at_once: u32,
        phases: &[(Phase, u32)],
        share: Share,
    ) -> std::io::Result<Self> {
        let ahead = (at_once as usize).clamp(LEAST_AHEAD, MOST_AHEAD);
        let (sender, requests) = mpsc::channel(ahead);
        let phases = phases.to_vec();
        let (primed, is_primed) = oneshot::channel();
        std::thread::Builder::new()
            .name("prepare".to_owned())
            .spawn(move || {
                let mut primed = Some(primed);
                for (phase, count) in phases {
                    let mut before = 0_u32;
                    for number in 0..count {
                        let session = kitchen.plan.session(kitchen.stage, phase, number, before);
                        before = before.saturating_add(session.requests());
                        if !share.has(number) {
                            continue;
                        }
                        let prepared = kitchen.prepare(session);
                        if sender.capacity() <= 1
                            && let Some(primed) = primed.take()
                        {
                            let _ = primed.send(());
                        }
                        if sender.blocking_send(prepared).is_err() {
                            return;
                        }
                    }
                }
            })?;
        // An error says that the thread is through, with fewer requests than fit ahead.
        let _ = is_primed.await;
        Ok(Self {
            requests: Mutex::new(requests),
        })
    }

    /// The next request; `None` after the last.
    pub(super) async fn next(&self) -> Option<Prepared> {
        self.requests.lock().await.recv().await
    }

    /// For a thread outside the runtime.
    pub(super) fn blocking(self) -> mpsc::Receiver<Prepared> {
        self.requests.into_inner()
    }
}
