//! One request and its answer, from acceptance to its line in the truth log.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::HeaderMap;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

use super::driver::Delivery;
use super::engine::{Facts, Job};
use super::metrics::Finished;
use super::server::{Life, Shared};
use super::truth::{TruthOutcome, TruthRecord};
use crate::unit::Nanos;

/// The request header that names a request.
const REQUEST_ID: &str = "x-request-id";

/// A request that is being answered. Dropping it unfinished means that its client has gone away.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) server: Arc<Shared>,
    life: watch::Receiver<Life>,
    accepted: Nanos,
    record: TruthRecord,
    /// The engine's number for it, while the engine has it.
    job: Option<u64>,
    tokens: Option<UnboundedReceiver<Delivery>>,
    finish: Finished,
    over: bool,
}

impl Exchange {
    /// Takes a request whose body has just been read.
    pub(super) fn accept(server: &Arc<Shared>, headers: &HeaderMap) -> Self {
        let accepted = server.clock.now();
        let id = headers
            .get(REQUEST_ID)
            .and_then(|id| id.to_str().ok())
            .map_or_else(
                || format!("sim-{}", server.unnamed.fetch_add(1, Ordering::Relaxed)),
                str::to_owned,
            );
        Self {
            life: server.life.subscribe(),
            server: Arc::clone(server),
            accepted,
            record: TruthRecord {
                id,
                accepted_us: micros(accepted),
                first_token_us: None,
                last_token_us: None,
                done_us: 0,
                tokens: 0,
                events: 0,
                prompt_tokens: 0,
                cached_tokens: 0,
                preemptions: 0,
                queue_us: 0,
                late_us: 0,
                outcome: TruthOutcome::Cancelled,
                token_us: server.token_instants.then(Vec::new),
                due_us: server.token_instants.then(Vec::new),
            },
            job: None,
            tokens: None,
            finish: Finished::Length,
            over: false,
        }
    }

    /// The request's name.
    pub(super) fn id(&self) -> &str {
        &self.record.id
    }

    /// Notes what is known once the request has been understood.
    pub(super) fn understood(&mut self, prompt_tokens: usize, finish: Finished) {
        self.record.prompt_tokens = prompt_tokens;
        self.finish = finish;
    }

    /// Hands the job to the engine, if there is one. False where the queue is full.
    pub(super) fn submit(&mut self, number: u64, prompt: Vec<u32>, output: Vec<u32>) -> bool {
        let Some(driver) = &self.server.driver else {
            return true;
        };
        let job = Job {
            id: number,
            arrival: self.accepted,
            run: run_of(self.id()).to_owned(),
            prompt,
            output,
        };
        self.tokens = driver.submit(job, self.server.options.faults.queue_limit);
        self.job = self.tokens.is_some().then_some(number);
        self.tokens.is_some()
    }

    /// Waits for the next token; `None` when the server has stopped.
    pub(super) async fn next_token(&mut self) -> Option<Delivery> {
        let Some(tokens) = &mut self.tokens else {
            // Without an engine every token is there.
            return (!self.life.borrow().is_over()).then(|| Delivery {
                due: self.accepted,
                facts: Facts::default(),
            });
        };
        let delivery = tokio::select! {
            biased;
            _ = self.life.wait_for(|life| life.is_over()) => None,
            delivery = tokens.recv() => delivery,
        }?;
        self.record.cached_tokens = delivery.facts.cached_tokens;
        self.record.preemptions = delivery.facts.preemptions;
        self.record.queue_us = micros(delivery.facts.queued);
        Some(delivery)
    }

    /// Notes that tokens are handed to the socket's writer now, `due` when the last was due.
    pub(super) fn wrote(&mut self, tokens: usize, events: u32, due: Nanos) {
        let now = self.server.clock.now();
        let record = &mut self.record;
        record.first_token_us.get_or_insert(micros(now));
        record.last_token_us = Some(micros(now));
        record.tokens += tokens;
        record.events += events;
        record.late_us = record.late_us.max(micros(now.since(due)));
        if let Some(instants) = &mut record.token_us {
            instants.extend(std::iter::repeat_n(micros(now), tokens));
        }
        if let Some(dues) = &mut record.due_us {
            dues.extend(std::iter::repeat_n(micros(due), tokens));
        }
    }

    /// Ends the exchange and logs it.
    pub(super) fn finish(&mut self, outcome: TruthOutcome) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        if let (Some(job), Some(driver)) = (self.job.take(), &self.server.driver)
            && outcome != TruthOutcome::Ok
        {
            driver.cancel(job);
        }
        self.record.done_us = micros(self.server.clock.now());
        self.record.outcome = outcome;
        self.count(outcome);
        self.server.truth.add(self.record.clone());
    }

    fn count(&self, outcome: TruthOutcome) {
        let how = match outcome {
            TruthOutcome::Ok => self.finish,
            TruthOutcome::Refused | TruthOutcome::Rejected | TruthOutcome::Error => return,
            TruthOutcome::MidstreamError
            | TruthOutcome::Truncated
            | TruthOutcome::Cancelled
            | TruthOutcome::Aborted => Finished::Abort,
        };
        let late = self
            .tokens
            .is_some()
            .then(|| Nanos::new(self.record.late_us * 1000));
        let mut metrics = self.server.metrics();
        metrics.finished(how, self.record.prompt_tokens, late);
        if self.tokens.is_none() {
            metrics.instant(self.record.tokens);
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.finish(TruthOutcome::Cancelled);
    }
}

/// The run that a request names: `1f3a` of `infergate-1f3a-steady-m-7`. Empty of other clients' ids.
fn run_of(id: &str) -> &str {
    id.strip_prefix("infergate-")
        .and_then(|rest| rest.split_once('-'))
        .map_or("", |(run, _)| run)
}

const fn micros(span: Nanos) -> u64 {
    span.get() / 1000
}

#[cfg(test)]
mod tests {
    use super::run_of;

    #[test]
    fn a_request_names_its_run_unless_another_client_sent_it() {
        assert_eq!(run_of("infergate-1f3a-steady-m-7"), "1f3a");
        assert_eq!(run_of("infergate-1f3a-two-words@8-w-0"), "1f3a");
        for other in ["sim-3", "infergate-x", "", "cmpl-1f3a-steady-m-7"] {
            assert_eq!(run_of(other), "", "{other}");
        }
    }
}
