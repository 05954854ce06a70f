//! One way to send for all arrivals: counts what is in flight, and sees to one record a request.

use std::sync::Arc;

use super::clock::Clock;
use super::conversation::{Conversation, Heard, NextTurn};
use super::http::{Client, Ended, Exchange, Ready};
use super::inbox::Inbox;
use super::kitchen::{Kitchen, Listen, Prepared};
use super::lane::Lane;
use super::level::{Flock, Level};
use super::limits::Limits;
use super::window::Window;
use crate::plan::PlannedRequest;
use crate::sample::{self, Outcome, RequestRecord, TokenSource};
use crate::spec::{OutputLength, Timeouts};
use crate::unit::Nanos;
use crate::wire::{Answer, End};

/// What every request of a stage is sent with.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub(super) stage: u32,
    pub(super) client: Client,
    pub(super) kitchen: Kitchen,
    pub(super) clock: Clock,
    pub(super) timeouts: Timeouts,
    pub(super) window: Arc<Window>,
    pub(super) inbox: Inbox,
    pub(super) level: Level,
}

impl Dispatch {
    /// Counts a request as in flight, now; [`Flight::fly`] sends it, on its lane.
    pub(super) fn depart(
        self: &Arc<Self>,
        lane: &Arc<Lane>,
        prepared: Prepared,
        scheduled: Nanos,
    ) -> Flight {
        let in_window = self.window.bounds().contains(self.clock.now());
        let flock = self.level.depart(in_window);
        let answer = if self.client.template().streams() {
            Answer::streamed(prepared.planned.output_tokens)
        } else {
            Answer::whole()
        };
        let answer = if prepared.conversation.is_some() || prepared.listen.is_some() {
            answer.heard()
        } else {
            answer
        };
        Flight {
            dispatch: Arc::clone(self),
            lane: Arc::clone(lane),
            flock,
            planned: prepared.planned,
            conversation: prepared.conversation,
            listen: prepared.listen,
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
        self.inbox.put(RequestRecord {
            outcome: Outcome::Unsent,
            ..self.record(planned, scheduled)
        });
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
            finish: None,
            resent: 0,
            bytes: 0,
            outcome: Outcome::Unfinished,
            error: None,
            answer: None,
            heard: None,
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
    lane: Arc<Lane>,
    flock: Flock,
    planned: PlannedRequest,
    conversation: Option<Box<Conversation>>,
    listen: Option<Box<Listen>>,
    scheduled: Nanos,
    request: Option<Ready>,
    exchange: Option<Exchange>,
}

/// What became of a flight.
#[derive(Debug)]
pub(super) struct Landing {
    /// When the answer ended.
    pub(super) done: Nanos,
    /// The turn that follows on the answer; none where it failed.
    pub(super) next: Option<NextTurn>,
}

impl Flight {
    /// Sends the request, reads its answer and leaves the record; then frees its connection.
    pub(super) async fn fly(mut self) -> Landing {
        let (dispatch, lane) = (Arc::clone(&self.dispatch), Arc::clone(&self.lane));
        let limits = dispatch.limits(&self.planned);
        let (Some(request), Some(exchange)) = (self.request.take(), &mut self.exchange) else {
            let done = dispatch.clock.now();
            return Landing { done, next: None };
        };
        let ended = dispatch
            .client
            .exchange(&lane, request, limits, dispatch.clock, exchange)
            .await;
        let (end, failure, tail) = match ended {
            Ended::Answer { end, tail } => (end, None, tail),
            Ended::Failure { outcome, text } => (End::Broken(text), Some(outcome), None),
        };
        let (done, heard) = self.land(end, failure);
        let next = heard
            .zip(self.conversation.take())
            .and_then(|(heard, conversation)| conversation.answered(&heard, &dispatch.kitchen));
        if let Some(tail) = tail {
            dispatch.client.drain(&lane, tail).await;
        }
        Landing { done, next }
    }

    /// Leaves the record, and does nothing the second time; returns when the answer ended, and what a
    /// later turn may carry of it.
    fn land(&mut self, end: End, failure: Option<Outcome>) -> (Nanos, Option<Heard>) {
        let dispatch = &self.dispatch;
        let now = dispatch.clock.now();
        let Some(exchange) = self.exchange.take() else {
            return (now, None);
        };
        let pinned = match self.planned.output_length {
            OutputLength::Pinned => Some(self.planned.output_tokens),
            OutputLength::Natural => None,
        };
        let mut seen = exchange.answer.end(now, end, pinned);
        let outcome = failure.unwrap_or(seen.outcome);
        let (mut text, mut heard) = (None, None);
        if matches!(outcome, Outcome::Completed | Outcome::Truncated) {
            if let Some(listen) = self.listen.take() {
                text = seen.said.clone().map(|answer| {
                    let Listen { expected, body } = *listen;
                    Box::new(sample::Heard {
                        answer,
                        expected,
                        body,
                    })
                });
            }
            heard = self
                .conversation
                .as_ref()
                .and_then(|_| Heard::of(&mut seen));
        }
        dispatch.inbox.put(RequestRecord {
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
            finish: seen.finish,
            resent: exchange.resent,
            bytes: seen.bytes + exchange.error_bytes,
            outcome,
            heard: text,
            error: seen.error.map(|text| dispatch.client.clean(&text)),
            ..dispatch.record(self.planned, self.scheduled)
        });
        dispatch.level.land(self.flock);
        (seen.done.unwrap_or(now), heard)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.land(End::Unfinished, None);
    }
}
