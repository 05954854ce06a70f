//! Requests made ready ahead of their time, so that writing prompts delays no send.

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};

use super::http::{Client, Ready};
use crate::plan::{Phase, Plan, PlannedRequest, Prompter, Salt};

/// Requests that are ready ahead at the least: enough for a Poisson burst, few enough for long
/// prompts (64 of 100 kB are 6 MB).
const LEAST_AHEAD: usize = 64;

/// And at the most, however many users may be free at once.
const MOST_AHEAD: usize = 1024;

/// A request that only has to be sent.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) planned: PlannedRequest,
    pub(super) request: Ready,
}

/// Requests in order, from a thread that prepares them.
#[derive(Debug)]
pub(super) struct Supply {
    requests: Mutex<mpsc::Receiver<Prepared>>,
}

/// What requests are prepared from.
#[derive(Debug, Clone)]
pub(super) struct Kitchen {
    pub(super) plan: Arc<Plan>,
    pub(super) stage: usize,
    pub(super) prompter: Arc<Prompter>,
    pub(super) client: Client,
}

impl Supply {
    /// Starts to prepare these requests, and returns once the first are ready: `at_once` of them,
    /// as many as may be asked for at once.
    ///
    /// The thread ends with the last request, or when the supply is dropped.
    pub(super) async fn start(
        kitchen: Kitchen,
        at_once: u32,
        numbers: impl Iterator<Item = (Phase, u32)> + Send + 'static,
    ) -> std::io::Result<Self> {
        let ahead = (at_once as usize).clamp(LEAST_AHEAD, MOST_AHEAD);
        let (sender, requests) = mpsc::channel(ahead);
        let (primed, is_primed) = oneshot::channel();
        std::thread::Builder::new()
            .name("prepare".to_owned())
            .spawn(move || {
                let mut primed = Some(primed);
                for (phase, number) in numbers {
                    let prepared = kitchen.prepare(phase, number);
                    if sender.capacity() <= 1
                        && let Some(primed) = primed.take()
                    {
                        let _ = primed.send(());
                    }
                    if sender.blocking_send(prepared).is_err() {
                        return;
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

impl Kitchen {
    fn prepare(&self, phase: Phase, number: u32) -> Prepared {
        let planned = self.plan.request(self.stage, phase, number);
        let stage = &self.plan.stages()[self.stage].stage.name;
        let prompt = self
            .prompter
            .prompt(stage, &planned, self.plan.blocks(self.stage, &planned));
        let body =
            self.client
                .template()
                .body(&prompt, planned.output_tokens, planned.output_length);
        let name = request_name(self.prompter.salt(), stage, phase, number);
        Prepared {
            planned,
            request: self.client.ready(body, &name, number),
        }
    }
}

/// What a request is called in the server's logs: `infergate-<salt>-<stage>-<w|m>-<number>`, with
/// the salt's first four characters, which also end the run's id.
///
/// Measured request 7 of the stage `steady` in the run `…-1f3a` is `infergate-1f3a-steady-m-7`.
fn request_name(salt: &Salt, stage: &str, phase: Phase, number: u32) -> String {
    let salt: String = salt.as_str().chars().take(4).collect();
    let phase = match phase {
        Phase::Warmup => 'w',
        Phase::Measured => 'm',
    };
    format!("infergate-{salt}-{stage}-{phase}-{number}")
}
