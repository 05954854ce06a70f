//! A conversation under way: what was said so far, and what its user will say next.

use super::kitchen::{Kitchen, Prepared};
use crate::plan::{LaterTurn, Phase, PlannedRequest};
use crate::unit::Nanos;
use crate::wire::{Observed, Transcript};

/// Tokens of a prompt that no usage counted: the chat template may add so many.
const TEMPLATE_TOKENS: u32 = 64;

/// A conversation that goes on after the answer to its latest request.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) transcript: Transcript,
    /// Tokens of it, as far as they are planned or counted.
    pub(super) history: u32,
    /// Tokens that the model takes, where they are pinned.
    pub(super) room: Option<u32>,
    /// At least one.
    pub(super) later: std::vec::IntoIter<Saying>,
}

/// What a user says later.
#[derive(Debug)]
pub(super) struct Saying {
    pub(super) turn: LaterTurn,
    pub(super) text: String,
}

/// What came back to a turn on which another can follow.
#[derive(Debug)]
pub(super) struct Heard {
    text: String,
    /// Tokens of the text.
    tokens: u32,
    /// Tokens of the prompt that it answers, by usage.
    prompt_tokens: Option<u32>,
}

impl Heard {
    /// What an answer said; `None` where nobody listened.
    ///
    /// Of its tokens those before the first that is no reasoning are left out, for they are not sent
    /// back.
    pub(super) fn of(seen: &mut Observed) -> Option<Self> {
        let text = seen.said.take()?;
        let total = seen.output_tokens.unwrap_or(0);
        let reasoning = match seen.reasoning_events.checked_sub(1) {
            None => 0,
            Some(last) => seen.event_tokens.get(last).copied().unwrap_or_else(|| {
                let share = u64::from(total) * seen.reasoning_events as u64;
                (share / seen.events.len().max(1) as u64) as u32
            }),
        };
        Some(Self {
            text,
            tokens: total.saturating_sub(reasoning),
            prompt_tokens: seen.input_tokens,
        })
    }
}

/// The next turn: all but the instant at which it is due.
#[derive(Debug)]
pub(super) struct NextTurn {
    planned: PlannedRequest,
    /// From the answer's end; `None` leaves it to the stage.
    pub(super) think: Option<Nanos>,
    body: Vec<u8>,
    rest: Option<Box<Conversation>>,
}

impl Conversation {
    /// The turn that follows on an answer; `None` where the model has no room for it.
    pub(super) fn answered(
        mut self: Box<Self>,
        heard: &Heard,
        kitchen: &Kitchen,
    ) -> Option<NextTurn> {
        let Saying { turn, text } = self.later.next()?;
        let mut planned = turn.request;
        self.history = self.history.saturating_add(heard.tokens);
        let held = match heard.prompt_tokens {
            Some(tokens) => tokens.saturating_add(heard.tokens),
            None => self.history.saturating_add(TEMPLATE_TOKENS),
        };
        let needed =
            u64::from(held) + u64::from(planned.input_tokens) + u64::from(planned.output_tokens);
        if self.room.is_some_and(|room| needed > u64::from(room)) {
            return None;
        }
        self.transcript.follow(&heard.text, &text);
        self.history = self.history.saturating_add(planned.input_tokens);
        planned.input_tokens = self.history;
        Some(NextTurn {
            planned,
            think: turn.think,
            body: kitchen.body(&self.transcript, &planned),
            rest: (!self.later.as_slice().is_empty()).then_some(self),
        })
    }
}

impl NextTurn {
    /// Ready to send, now that its phase is known.
    pub(super) fn prepared(self, phase: Phase, kitchen: &Kitchen) -> Prepared {
        let planned = PlannedRequest {
            phase,
            ..self.planned
        };
        Prepared {
            listen: kitchen.listen(&self.body, &planned),
            request: kitchen.ready(self.body, &planned),
            planned,
            conversation: self.rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Outcome, TokenSource};

    fn observed(event_tokens: Vec<u32>, reasoning_events: usize) -> Observed {
        Observed {
            events: (1..=4).map(Nanos::new).collect(),
            event_tokens,
            first_answer: None,
            reasoning_events,
            done: Some(Nanos::new(4)),
            output_tokens: Some(8),
            output_source: TokenSource::Usage,
            input_tokens: Some(30),
            cached_tokens: None,
            finish: None,
            bytes: 0,
            said: Some("so".to_owned()),
            outcome: Outcome::Completed,
            error: None,
        }
    }

    #[test]
    fn reasoning_is_not_carried_on() {
        let tokens = |mut seen: Observed| Heard::of(&mut seen).unwrap().tokens;
        assert_eq!(tokens(observed(Vec::new(), 0)), 8);
        assert_eq!(tokens(observed(Vec::new(), 2)), 4);
        assert_eq!(tokens(observed(vec![1, 5, 6, 8], 2)), 3);
        assert_eq!(tokens(observed(Vec::new(), 4)), 0);
    }

    #[test]
    fn nothing_is_heard_where_nobody_listens() {
        let mut seen = Observed {
            said: None,
            ..observed(Vec::new(), 0)
        };
        assert!(Heard::of(&mut seen).is_none());
    }
}
