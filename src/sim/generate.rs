//! The two generating routes.

use std::io;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value, json};

use super::api::{ApiError, Kind, Usage, Wanted};
use super::chunks::{Break, Chunks, Flow};
use super::engine::Facts;
use super::exchange::Exchange;
use super::fault::Fate;
use super::metrics::Finished;
use super::server::Shared;
use super::speech::Speech;
use super::sse::EventWriter;
use super::tokens::Answer;
use super::truth::TruthOutcome;
use crate::unit::Nanos;

/// Answers one request.
pub(super) async fn generate(
    server: Arc<Shared>,
    kind: Kind,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let exchange = Exchange::accept(&server, &headers);
    let id = HeaderValue::from_str(exchange.id()).ok();
    let mut response = answer(exchange, kind, &body).await;
    if let Some(id) = id {
        response.headers_mut().insert("x-request-id", id);
    }
    response
}

async fn answer(mut exchange: Exchange, kind: Kind, body: &[u8]) -> Response {
    let server = Arc::clone(&exchange.server);
    let options = &server.options;
    let max_model_len = options.profile.max_model_len;
    let wanted = match Wanted::parse(kind, body, options.model(), max_model_len) {
        Ok(wanted) => wanted,
        Err(error) => {
            exchange.finish(TruthOutcome::Refused);
            return error.into_response();
        }
    };
    if server.refuses() {
        exchange.finish(TruthOutcome::Rejected);
        return ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "refused on purpose, as `POST /fault` asked",
        )
        .into_response();
    }
    let arrival = server.arrivals.fetch_add(1, Ordering::Relaxed);
    server.die_if_due(arrival + 1);

    let fate = options.faults.shares.fate(arrival);
    let planned = Planned::new(
        &wanted,
        fate,
        (options.sizing.answer_tokens, options.speech),
    );
    exchange.understood(wanted.prompt.len(), planned.finish);
    if fate == Fate::Error {
        exchange.finish(TruthOutcome::Error);
        return deliberate_error().into_response();
    }
    let output = planned.answer.ids.clone();
    if !exchange.submit(arrival, wanted.prompt.clone(), output) {
        exchange.finish(TruthOutcome::Rejected);
        return ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too many requests wait; try again later",
        )
        .into_response();
    }
    if wanted.stream {
        stream_answer(exchange, &wanted, planned, fate)
    } else {
        whole_answer(exchange, &wanted, planned, fate).await
    }
}

/// The answer that a request gets if all goes well.
struct Planned {
    answer: Answer,
    finish: Finished,
}

impl Planned {
    fn new(wanted: &Wanted, fate: Fate, (natural, speech): (Option<NonZeroU32>, Speech)) -> Self {
        let early = fate == Fate::EarlyStop && !wanted.ignore_eos;
        let natural = natural
            .map(|tokens| (tokens.get() as usize).max(wanted.min_tokens))
            .filter(|tokens| *tokens <= wanted.max_tokens && !wanted.ignore_eos);
        let len = if let Some(tokens) = natural {
            tokens
        } else if early {
            wanted.max_tokens.div_ceil(2).max(wanted.min_tokens)
        } else {
            wanted.max_tokens
        };
        let answer = speech.answer(&wanted.prompt, (len, wanted.ignore_eos), &wanted.stop);
        let by_itself = early || natural.is_some() || answer.stopped || wanted.ends_naturally;
        let finish = if by_itself {
            Finished::Stop
        } else {
            Finished::Length
        };
        Self { answer, finish }
    }

    /// After how many tokens an answer breaks off or stalls, where it does.
    fn half(&self) -> usize {
        self.answer.len().div_ceil(2)
    }

    const fn reason(&self) -> &'static str {
        match self.finish {
            Finished::Stop => "stop",
            Finished::Length => "length",
            Finished::Abort => "abort",
        }
    }
}

fn deliberate_error() -> ApiError {
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "failed on purpose, as the server's switches ask",
    )
}

/// A stream on its way.
struct Streaming {
    exchange: Exchange,
    chunks: Chunks,
    /// Token after which nothing comes for a while, and for how long.
    stall: Option<(usize, Nanos)>,
    tokens: usize,
    opened: bool,
    over: bool,
}

fn stream_answer(exchange: Exchange, wanted: &Wanted, planned: Planned, fate: Fate) -> Response {
    let server = &exchange.server;
    let options = &server.options;
    let id = format!("{}-{}", wanted.kind.id_prefix(), exchange.id());
    let events = EventWriter::new(wanted.kind, &id, options.model(), server.clock.unix_secs());
    let half = planned.half();
    let breaks = match fate {
        Fate::MidstreamError => Some((half, Break::Error(deliberate_error()))),
        Fate::Truncate => Some((half, Break::Silence)),
        Fate::Normal | Fate::Error | Fate::Stall | Fate::EarlyStop => None,
    };
    let stall = (fate == Fate::Stall).then_some((half, options.faults.stall_for));
    let reason = planned.reason();
    let chunks = Chunks::new(
        wanted,
        options.shape,
        events,
        planned.answer,
        reason,
        breaks,
    );
    let streaming = Streaming {
        chunks,
        stall,
        tokens: 0,
        opened: false,
        over: false,
        exchange,
    };
    let body = Body::from_stream(stream::unfold(streaming, Streaming::next));
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, body).into_response()
}

impl Streaming {
    /// The next frame of the body. It is stamped as written as the last thing before it is handed
    /// to the connection, which writes it at once.
    async fn next(mut self) -> Option<(io::Result<Bytes>, Self)> {
        if self.over {
            return None;
        }
        let mut frame = Vec::new();
        if !std::mem::replace(&mut self.opened, true) {
            let role_chunk = self.exchange.server.options.shape.role_chunk;
            self.chunks.open(&mut frame, role_chunk);
            if !frame.is_empty() && self.exchange.server.driver.is_some() {
                return Some((Ok(frame.into()), self));
            }
        }
        let instant = self.exchange.server.driver.is_none();
        let (before, events) = (self.chunks.written(), self.chunks.text_events());
        loop {
            let Some(delivery) = self.exchange.next_token().await else {
                self.over = true;
                self.exchange.finish(TruthOutcome::Aborted);
                let error = io::Error::new(io::ErrorKind::ConnectionAborted, "the server stops");
                return Some((Err(error), self));
            };
            if let Some((after, span)) = self.stall
                && self.tokens == after
            {
                tokio::time::sleep(span.to_duration()).await;
            }
            self.tokens += 1;
            let flow = self.chunks.token(&mut frame, delivery.facts.cached_tokens);
            // Without an engine the whole stream is one frame.
            if flow == Flow::More && (frame.is_empty() || instant) {
                continue;
            }
            let tokens = self.chunks.written() - before;
            let events = self.chunks.text_events() - events;
            self.exchange.wrote(tokens, events, delivery.due);
            match flow {
                Flow::More => {}
                Flow::Complete => self.end(TruthOutcome::Ok),
                Flow::Broken(outcome) => self.end(outcome),
            }
            return Some((Ok(frame.into()), self));
        }
    }

    fn end(&mut self, outcome: TruthOutcome) {
        self.over = true;
        self.exchange.finish(outcome);
    }
}

/// Waits for all tokens and answers in one piece.
async fn whole_answer(
    mut exchange: Exchange,
    wanted: &Wanted,
    planned: Planned,
    fate: Fate,
) -> Response {
    let total = planned.answer.len();
    let mut facts = Facts::default();
    let mut due = Nanos::ZERO;
    for taken in 0..total {
        let Some(delivery) = exchange.next_token().await else {
            exchange.finish(TruthOutcome::Aborted);
            return aborted();
        };
        (facts, due) = (delivery.facts, delivery.due);
        if taken == planned.half() && fate == Fate::Stall {
            let span = exchange.server.options.faults.stall_for;
            tokio::time::sleep(span.to_duration()).await;
        }
        if taken == planned.half() && fate == Fate::MidstreamError {
            exchange.finish(TruthOutcome::MidstreamError);
            return deliberate_error().into_response();
        }
    }
    let body = whole_body(&exchange, wanted, &planned, facts.cached_tokens);
    if fate == Fate::Truncate {
        let text = body.to_string();
        let half = text.len() / 2;
        exchange.finish(TruthOutcome::Truncated);
        let headers = [(header::CONTENT_TYPE, "application/json")];
        return (headers, text.as_bytes()[..half].to_vec()).into_response();
    }
    exchange.wrote(total, 1, due);
    exchange.finish(TruthOutcome::Ok);
    Json(body).into_response()
}

fn whole_body(exchange: &Exchange, wanted: &Wanted, planned: &Planned, cached: usize) -> Value {
    let server = &exchange.server;
    let shape = server.options.shape;
    let total = planned.answer.len();
    let choice = match wanted.kind {
        Kind::Chat => {
            let reasoning = (shape.reasoning as usize).min(total);
            let mut message = json!({
                "role": "assistant",
                "content": planned.answer.text(reasoning..total),
            });
            if reasoning > 0 {
                message["reasoning_content"] = planned.answer.text(0..reasoning).into();
            }
            json!({"index": 0, "message": message, "logprobs": null,
                   "finish_reason": planned.reason()})
        }
        Kind::Completion => json!({"index": 0, "text": planned.answer.text(0..total),
                                   "logprobs": null, "finish_reason": planned.reason()}),
    };
    let usage = shape
        .usage
        .then(|| Usage::new(wanted.prompt.len(), total, cached));
    json!({
        "id": format!("{}-{}", wanted.kind.id_prefix(), exchange.id()),
        "object": wanted.kind.object(),
        "created": server.clock.unix_secs(),
        "model": server.options.model(),
        "choices": [choice],
        "usage": usage,
    })
}

/// A response that breaks the connection before a body comes.
fn aborted() -> Response {
    let error = io::Error::new(io::ErrorKind::ConnectionAborted, "the server stops");
    let body = Body::from_stream(stream::iter([Err::<Bytes, _>(error)]));
    body.into_response()
}
