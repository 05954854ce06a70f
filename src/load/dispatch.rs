//! One way to send for all arrivals: counts what is in flight, and sees to one record a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tokio::sync::mpsc::UnboundedSender;

use super::clock::Clock;
use super::conversation::Heard;
use super::http::{Client, Ended, Exchange, Ready};
use super::kitchen::Prepared;
use super::limits::Limits;
use super::window::Window;
use crate::plan::PlannedRequest;
use crate::sample::{Outcome, RequestRecord, TokenSource};
use crate::spec::{OutputLength, Timeouts};
use crate::unit::Nanos;
use crate::wire::{Answer, End};

/// What every request of a stage is sent with.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub(super) stage: u32,
    pub(super) client: Client,
    pub(super) clock: Clock,
    pub(super) timeouts: Timeouts,
    pub(super) window: Arc<Window>,
    pub(super) records: UnboundedSender<RequestRecord>,
    pub(super) level: Level,
}

/// How many requests are and were in flight.
#[derive(Debug, Default)]
pub(super) struct Level {
    in_flight: AtomicU32,
    most_in_window: AtomicU32,
    sent: AtomicU64,
}

impl Level {
    /// Requests in flight.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Most of them right after a send in the window.
    pub(super) fn most_in_window(&self) -> u32 {
        self.most_in_window.load(Ordering::Relaxed)
    }

    /// Requests sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

impl Dispatch {
    /// Counts a request as in flight, now; [`Flight::fly`] sends it.
    /// One that `listens` keeps the answer's text.
    pub(super) fn depart(
        self: &Arc<Self>,
        prepared: Prepared,
        scheduled: Nanos,
        listens: bool,
    ) -> Flight {
        let in_flight = self.level.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.level.sent.fetch_add(1, Ordering::Relaxed);
        if self.window.bounds().contains(self.clock.now()) {
            self.level
                .most_in_window
                .fetch_max(in_flight, Ordering::Relaxed);
        }
        let answer = if self.client.template().streams() {
            Answer::streamed(prepared.planned.output_tokens)
        } else {
            Answer::whole()
        };
        let answer = if listens { answer.heard() } else { answer };
        Flight {
            dispatch: Arc::clone(self),
            planned: prepared.planned,
            scheduled,
            request: Some(prepared.request),
            exchange: Some(Exchange {
                sent: None,
                headers: None,
                answer,
                error_bytes: 0,
                resent: 0,
            }),
        }
    }

    /// Records a request that was due and could not be sent.
    pub(super) fn unsent(&self, planned: PlannedRequest, scheduled: Nanos) {
        self.report(RequestRecord {
            outcome: Outcome::Unsent,
            ..self.record(planned, scheduled)
        });
    }

    fn report(&self, record: RequestRecord) {
        // Without a receiver the stage was given up, and nobody wants records.
        let _ = self.records.send(record);
    }

    fn record(&self, planned: PlannedRequest, scheduled: Nanos) -> RequestRecord {
        RequestRecord {
            stage: self.stage,
            index: planned.number,
            class: planned.class,
            tenant: planned.tenant,
            conversation: planned.turn.map(|turn| turn.conversation),
            turn: planned.turn.map(|turn| turn.number),
            phase: planned.phase,
            planned_input_tokens: planned.input_tokens,
            planned_output_tokens: planned.output_tokens,
            scheduled,
            sent: None,
            headers: None,
            first_answer: None,
            done: None,
            events: Vec::new(),
            event_tokens: Vec::new(),
            output_tokens: None,
            output_source: TokenSource::Events,
            input_tokens: None,
            cached_tokens: None,
            resent: 0,
            bytes: 0,
            outcome: Outcome::Unfinished,
            error: None,
        }
    }

    fn limits(&self, planned: &PlannedRequest) -> Limits {
        // One per class; a class that has none is bounded by the last.
        let of = |limits: &[Nanos]| {
            let limit = limits.get(planned.class as usize).or(limits.last());
            limit.copied().unwrap_or(Nanos::new(u64::MAX))
        };
        Limits {
            first_token: of(&self.timeouts.first_token),
            stall: self.timeouts.stall,
            total: of(&self.timeouts.total),
            cancel: planned.cancel_after,
        }
    }
}

/// A request in flight. It leaves exactly one record: its own end's, or `unfinished` where it is
/// dropped before.
#[derive(Debug)]
pub(super) struct Flight {
    dispatch: Arc<Dispatch>,
    planned: PlannedRequest,
    scheduled: Nanos,
    request: Option<Ready>,
    exchange: Option<Exchange>,
}

/// What became of a flight.
#[derive(Debug)]
pub(super) struct Landing {
    /// When the answer ended.
    pub(super) done: Nanos,
    /// The answer, where it ended well and a later turn may carry it.
    pub(super) heard: Option<Heard>,
}

impl Flight {
    /// Sends the request, reads its answer and leaves the record; then frees its connection.
    pub(super) async fn fly(mut self) -> Landing {
        let dispatch = Arc::clone(&self.dispatch);
        let limits = dispatch.limits(&self.planned);
        let (Some(request), Some(exchange)) = (self.request.take(), &mut self.exchange) else {
            return Landing {
                done: dispatch.clock.now(),
                heard: None,
            };
        };
        let ended = dispatch
            .client
            .exchange(request, limits, dispatch.clock, exchange)
            .await;
        match ended {
            Ended::Answer { end, tail } => {
                let landing = self.land(end, None);
                if let Some(tail) = tail {
                    tail.drain().await;
                }
                landing
            }
            Ended::Failure { outcome, text } => self.land(End::Broken(text), Some(outcome)),
        }
    }

    /// Leaves the record, and does nothing the second time.
    fn land(&mut self, end: End, failure: Option<Outcome>) -> Landing {
        let dispatch = &self.dispatch;
        let now = dispatch.clock.now();
        let Some(exchange) = self.exchange.take() else {
            return Landing {
                done: now,
                heard: None,
            };
        };
        let pinned = match self.planned.output_length {
            OutputLength::Pinned => Some(self.planned.output_tokens),
            OutputLength::Natural => None,
        };
        let mut seen = exchange.answer.end(now, end, pinned);
        let outcome = failure.unwrap_or(seen.outcome);
        let landing = Landing {
            done: seen.done.unwrap_or(now),
            heard: match outcome {
                Outcome::Completed | Outcome::Truncated => Heard::of(&mut seen),
                _ => None,
            },
        };
        dispatch.level.in_flight.fetch_sub(1, Ordering::Relaxed);
        dispatch.report(RequestRecord {
            sent: exchange.sent,
            headers: exchange.headers,
            first_answer: seen.first_answer,
            done: seen.done,
            events: seen.events,
            event_tokens: seen.event_tokens,
            output_tokens: seen.output_tokens,
            output_source: seen.output_source,
            input_tokens: seen.input_tokens,
            cached_tokens: seen.cached_tokens,
            resent: exchange.resent,
            bytes: seen.bytes + exchange.error_bytes,
            outcome,
            error: seen.error.map(|text| dispatch.client.clean(&text)),
            ..dispatch.record(self.planned, self.scheduled)
        });
        landing
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.land(End::Unfinished, None);
    }
}
