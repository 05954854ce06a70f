//! One answer as it arrives: bytes with their instants to token events, usage and outcome.

use super::chunk::{Chunk, FinishReason, TokenKind, Usage, error_text};
use super::repeat::Repeat;
use super::spoken::spoken;
use super::sse::{Event, MAX_BYTES, Parser};
use crate::sample::{Outcome, TimeoutPhase, TokenSource};
use crate::unit::Nanos;

/// The answer to one request, fed with what the socket gives.
///
/// All events of one read get the read's instant, for that is when they could be seen.
#[derive(Debug)]
pub struct Answer {
    body: Body,
    seen: Seen,
}

#[derive(Debug)]
enum Body {
    Stream(Parser),
    Whole(Vec<u8>),
}

#[derive(Debug, Default)]
struct Seen {
    events: Vec<Nanos>,
    event_tokens: Vec<u32>,
    first_answer: Option<Nanos>,
    usage: Usage,
    finish: Option<FinishReason>,
    /// `[DONE]`.
    done: Option<Nanos>,
    failure: Option<Failure>,
    bytes: u64,
    repeat: Repeat,
    /// Token-bearing events before the first that is no reasoning.
    reasoning_events: usize,
    /// The text so far, where it is wanted.
    said: Option<String>,
}

#[derive(Debug)]
struct Failure {
    at: Nanos,
    text: String,
}

/// What a reader does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// Reads on.
    More,
    /// Has all of it: `[DONE]` came.
    Done,
    /// Stops: the answer has failed.
    Failed,
}

/// Why there is no more to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The body ended as HTTP says.
    Eof,
    /// The body was cut; with the client stack's words.
    Broken(String),
    /// A limit passed.
    Timeout(TimeoutPhase),
    /// The plan had its client give it up.
    Cancelled,
    /// The stage ended first.
    Unfinished,
}

/// Everything a record needs of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Instants of token-bearing events.
    pub events: Vec<Nanos>,
    /// Cumulative tokens after each event, or empty.
    pub event_tokens: Vec<u32>,
    /// First event with more than reasoning.
    pub first_answer: Option<Nanos>,
    /// `[DONE]`, the body's end or the failure; `None` where it is unfinished.
    pub done: Option<Nanos>,
    /// Output tokens, where anything said how many.
    pub output_tokens: Option<u32>,
    /// What said it.
    pub output_source: TokenSource,
    /// Input tokens by usage.
    pub input_tokens: Option<u32>,
    /// Input tokens found in the prefix cache, by usage.
    pub cached_tokens: Option<u32>,
    /// Bytes of the body.
    pub bytes: u64,
    /// Token-bearing events before the first that is no reasoning.
    pub reasoning_events: usize,
    /// What the answer says, without reasoning and tool calls; `None` where nobody asked.
    pub said: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The server's or the client stack's words, neither cut nor masked.
    pub error: Option<String>,
}

/// Events to make room for at once; a longer answer grows as it comes.
const ROOM: u32 = 1024;

impl Answer {
    /// An answer that comes as an event stream, of about so many tokens.
    pub fn streamed(expected_tokens: u32) -> Self {
        Self {
            body: Body::Stream(Parser::new()),
            seen: Seen {
                events: Vec::with_capacity(expected_tokens.min(ROOM) as usize),
                ..Seen::default()
            },
        }
    }

    /// An answer that comes as one JSON body.
    pub fn whole() -> Self {
        Self {
            body: Body::Whole(Vec::new()),
            seen: Seen::default(),
        }
    }

    /// The same answer as one JSON body, which is what came instead of a stream.
    #[must_use]
    pub fn as_whole(&self) -> Self {
        let mut whole = Self::whole();
        whole.seen.said.clone_from(&self.seen.said);
        whole
    }

    /// The same, that keeps its text too.
    #[must_use]
    pub fn heard(mut self) -> Self {
        self.seen.said = Some(String::new());
        self
    }

    /// Takes what one read gave.
    pub fn feed(&mut self, at: Nanos, bytes: &[u8]) -> Feed {
        let seen = &mut self.seen;
        seen.bytes += bytes.len() as u64;
        match &mut self.body {
            Body::Stream(parser) => {
                if let Err(error) = parser.push(bytes, |event| seen.event(at, event)) {
                    seen.fail(at, || error.to_string());
                }
            }
            Body::Whole(body) => {
                if body.len() + bytes.len() > MAX_BYTES {
                    seen.fail(at, || format!("an answer of more than {MAX_BYTES} bytes"));
                } else {
                    body.extend_from_slice(bytes);
                }
            }
        }
        if seen.failure.is_some() {
            Feed::Failed
        } else if seen.done.is_some() {
            Feed::Done
        } else {
            Feed::More
        }
    }

    /// Instant of the latest token-bearing event.
    pub fn last_token(&self) -> Option<Nanos> {
        self.seen.events.last().copied()
    }

    /// Whether token events can come at all.
    pub const fn is_stream(&self) -> bool {
        matches!(self.body, Body::Stream(_))
    }

    /// Ends the answer at this instant.
    ///
    /// An answer that `finish_reason: length` ended is truncated: at fewer tokens than `pinned`, by
    /// the server's own count, or at all where no length was pinned.
    pub fn end(self, at: Nanos, end: End, pinned: Option<u32>) -> Observed {
        let Self { body, mut seen } = self;
        // A stream that breaks after `[DONE]` has lost nothing.
        let ended = end == End::Eof || seen.done.is_some();
        let has_tokens = match &body {
            Body::Stream(_) => {
                if ended && seen.done.is_none() && seen.finish.is_none() {
                    seen.fail(at, || {
                        "the stream ended without `[DONE]` and without a `finish_reason`".to_owned()
                    });
                }
                !seen.events.is_empty()
            }
            Body::Whole(json) => ended && seen.failure.is_none() && seen.chunk(at, json).is_some(),
        };
        let (outcome, error) = match (seen.failure, end) {
            (Some(failure), _) => {
                seen.done = Some(failure.at);
                (Outcome::StreamError, Some(failure.text))
            }
            (None, End::Broken(text)) if !ended => (Outcome::StreamError, Some(text)),
            (None, End::Timeout(phase)) if !ended => (Outcome::Timeout { phase }, None),
            (None, End::Cancelled) if !ended => (Outcome::Cancelled, None),
            (None, End::Unfinished) if !ended => (Outcome::Unfinished, None),
            (None, _) if !has_tokens => (Outcome::Empty, None),
            (None, _) => {
                let short = pinned
                    .is_none_or(|pinned| seen.usage.output.is_some_and(|tokens| tokens < pinned));
                if short && seen.finish == Some(FinishReason::Length) {
                    (Outcome::Truncated, None)
                } else {
                    (Outcome::Completed, None)
                }
            }
        };
        let done = match outcome {
            Outcome::Unfinished => None,
            _ => Some(seen.done.unwrap_or(at)),
        };
        let events = seen.events.len() as u32;
        let (output_tokens, output_source) = match seen.usage.output {
            Some(tokens) => (Some(tokens), TokenSource::Usage),
            None => ((events > 0).then_some(events), TokenSource::Events),
        };
        if seen.event_tokens.len() != seen.events.len() || !seen.event_tokens.is_sorted() {
            seen.event_tokens.clear();
        }
        Observed {
            events: seen.events,
            event_tokens: seen.event_tokens,
            first_answer: seen.first_answer,
            done,
            output_tokens,
            output_source,
            input_tokens: seen.usage.input,
            cached_tokens: seen.usage.cached,
            bytes: seen.bytes,
            reasoning_events: seen.reasoning_events,
            said: seen.said,
            outcome,
            error,
        }
    }
}

impl Seen {
    fn event(&mut self, at: Nanos, event: Event<'_>) {
        let json = event.data.trim_ascii();
        if self.done.is_some() || self.failure.is_some() || json.is_empty() {
            return;
        }
        if json == b"[DONE]" {
            self.done = Some(at);
            return;
        }
        if event.name == b"error" {
            self.fail(at, || error_text(json));
            return;
        }
        let Some(tokens) = self.chunk(at, json) else {
            return;
        };
        self.events.push(at);
        if tokens == TokenKind::Answer {
            self.first_answer.get_or_insert(at);
        } else if self.first_answer.is_none() {
            self.reasoning_events += 1;
        }
    }

    /// Takes one chunk but for the instant of its tokens, whose kind it returns.
    fn chunk(&mut self, at: Nanos, json: &[u8]) -> Option<TokenKind> {
        if let Some(said) = &mut self.said {
            said.push_str(&spoken(json));
        }
        if let Some(chunk) = self.repeat.chunk(json) {
            return chunk.tokens;
        }
        let chunk = match Chunk::parse(json) {
            Ok(chunk) => chunk,
            Err(error) => {
                self.fail(at, || {
                    format!(
                        "{error}: {}",
                        String::from_utf8_lossy(&json[..json.len().min(400)])
                    )
                });
                return None;
            }
        };
        if chunk.is_error {
            self.fail(at, || error_text(json));
            return None;
        }
        self.repeat.learn(json, &chunk);
        self.finish = chunk.finish.or(self.finish);
        if let Some(usage) = chunk.usage {
            self.usage = Usage {
                input: usage.input.or(self.usage.input),
                output: usage.output.or(self.usage.output),
                cached: usage.cached.or(self.usage.cached),
            };
            // A gap in the counts leaves the lengths unequal, and `end` drops them.
            if let (Some(_), Some(output)) = (chunk.tokens, usage.output) {
                self.event_tokens.push(output);
            }
        }
        if chunk.finish == Some(FinishReason::Failed) {
            self.fail(at, || {
                "the engine gave up: `finish_reason` is an error".to_owned()
            });
        }
        chunk.tokens
    }

    /// The first failure is the one that counts.
    fn fail(&mut self, at: Nanos, text: impl FnOnce() -> String) {
        self.failure
            .get_or_insert_with(|| Failure { at, text: text() });
    }
}

#[cfg(test)]
mod tests;
