//! An answer cut into the chunks of its stream.

use super::api::{ApiError, Kind, Usage, UsageWanted, Wanted};
use super::options::{RoleChunk, Shape};
use super::sse::{self, Chunk, EventWriter};
use super::tokens::Answer;
use super::truth::TruthOutcome;

/// How a stream breaks off before its end.
#[derive(Debug, Clone)]
pub(super) enum Break {
    /// With an error event and `[DONE]`.
    Error(ApiError),
    /// Without a word.
    Silence,
}

/// Whether more is to come after a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// The answer goes on.
    More,
    /// The stream is complete.
    Complete,
    /// The stream has broken off, with this outcome.
    Broken(TruthOutcome),
}

/// Writes the stream of one answer, token by token.
#[derive(Debug)]
pub(super) struct Chunks {
    events: EventWriter,
    answer: Answer,
    finish: &'static str,
    prompt_tokens: usize,
    usage: UsageWanted,
    per_chunk: usize,
    /// Tokens that are sent as reasoning.
    reasoning: usize,
    /// After how many tokens the stream breaks off, and how.
    breaks: Option<(usize, Break)>,
    role_due: bool,
    /// Tokens taken so far, and those of them that were written.
    taken: usize,
    written: usize,
    /// Events with text so far.
    text_events: u32,
}

impl Chunks {
    pub(super) fn new(
        wanted: &Wanted,
        shape: Shape,
        events: EventWriter,
        answer: Answer,
        finish: &'static str,
        breaks: Option<(usize, Break)>,
    ) -> Self {
        let chat = wanted.kind == Kind::Chat;
        Self {
            events,
            answer,
            finish,
            prompt_tokens: wanted.prompt.len(),
            usage: if shape.usage {
                wanted.usage
            } else {
                UsageWanted::Never
            },
            per_chunk: shape.tokens_per_chunk.get() as usize,
            reasoning: if chat { shape.reasoning as usize } else { 0 },
            breaks,
            role_due: chat,
            taken: 0,
            written: 0,
            text_events: 0,
        }
    }

    /// Writes what comes before the first token, which may be nothing.
    pub(super) fn open(&mut self, out: &mut Vec<u8>, role_chunk: RoleChunk) {
        if role_chunk == RoleChunk::First && self.role_due {
            self.role_due = false;
            let chunk = Chunk {
                role: true,
                usage: self.usage_so_far(0),
                ..Chunk::default()
            };
            self.events.chunk(out, &chunk);
        }
    }

    /// Takes the next token and writes what is then due: nothing while a chunk fills up.
    pub(super) fn token(&mut self, out: &mut Vec<u8>, cached_tokens: usize) -> Flow {
        self.taken += 1;
        let last = self.taken == self.answer.len();
        let breaks = self
            .breaks
            .as_ref()
            .is_some_and(|(at, _)| *at == self.taken);
        let full = self.taken - self.written >= self.per_chunk || self.taken == self.reasoning;
        if full || last || breaks {
            self.write_chunk(out, (last && !breaks).then_some(self.finish), cached_tokens);
        }
        match &self.breaks {
            Some((_, Break::Error(error))) if breaks => {
                sse::error(out, &error.body());
                sse::done(out);
                Flow::Broken(TruthOutcome::MidstreamError)
            }
            Some((_, Break::Silence)) if breaks => Flow::Broken(TruthOutcome::Truncated),
            _ if last => {
                if self.usage != UsageWanted::Never {
                    self.events.usage(out, &self.usage(cached_tokens));
                }
                sse::done(out);
                Flow::Complete
            }
            _ => Flow::More,
        }
    }

    fn write_chunk(&mut self, out: &mut Vec<u8>, finish: Option<&'static str>, cached: usize) {
        let chunk = Chunk {
            role: std::mem::take(&mut self.role_due),
            text: self.answer.text(self.written..self.taken),
            reasoning: self.taken <= self.reasoning,
            finish,
            usage: self.usage_so_far(cached),
        };
        self.events.chunk(out, &chunk);
        self.written = self.taken;
        self.text_events += 1;
    }

    fn usage(&self, cached_tokens: usize) -> Usage {
        Usage::new(self.prompt_tokens, self.taken, cached_tokens)
    }

    fn usage_so_far(&self, cached_tokens: usize) -> Option<Usage> {
        (self.usage == UsageWanted::Throughout).then(|| self.usage(cached_tokens))
    }

    /// Tokens in the chunks that were written.
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// Chunks with tokens that were written.
    pub(super) fn text_events(&self) -> u32 {
        self.text_events
    }
}
