//! Sessions: a request that stands alone, or the turns of a conversation.

use serde::Serialize;

use super::draw::{bucket, given_up, length, pick, shared, tenant, think};
use super::request::{Phase, PlannedRequest, Turn};
use super::seed::Draws;
use crate::spec::{Bucket, Class, OutputLength, PrefixSharing};
use crate::unit::Nanos;

/// Conversations that begin in the warm-up, and their requests, are numbered from here on: however
/// long a warm-up takes, conversation *k* of the window is the same in every run, and no number
/// stands for two.
pub const WARMUP_NUMBERS: u32 = 1_000_000_000;

/// What one user sends, in order: one request, or the turns of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Session {
    /// The first request.
    pub first: PlannedRequest,
    /// The turns that follow on its answer.
    pub later: Vec<LaterTurn>,
    /// Tokens that the model takes, where they are pinned: a turn that would pass them is not sent.
    pub room: Option<u32>,
}

/// A turn that waits for the answer to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LaterTurn {
    /// The request; its phase is that of its session until its instant is known.
    pub request: PlannedRequest,
    /// From the answer's end to its instant; `None` leaves it to the stage.
    pub think: Option<Nanos>,
}

impl Session {
    /// Requests in it, if all goes well.
    pub fn requests(&self) -> u32 {
        1 + self.later.len() as u32
    }

    /// One request.
    pub(super) const fn single(request: PlannedRequest) -> Self {
        Self {
            first: request,
            later: Vec::new(),
            room: None,
        }
    }

    /// Draws the conversation with this number, a pure function of seed, stage, phase and number;
    /// `before` counts the requests of those before it.
    ///
    /// Where lengths are pinned, turns end where history, next input and output pass the model's
    /// length by plan; `TEMPLATE` tokens are left to the chat template.
    pub(super) fn draw(
        seed: u64,
        stage: &str,
        (phase, number, before): (Phase, u32, u32),
        classes: &[Class],
    ) -> Self {
        /// Tokens that a template may add, as the spec's own rule has it.
        const TEMPLATE: u32 = 64;
        let base = match phase {
            Phase::Warmup => WARMUP_NUMBERS,
            Phase::Measured => 0,
        };
        let conversation = base.saturating_add(number);
        let purpose = format!("conversation/{stage}");
        let mut draws = Draws::new(&seed.to_string(), &purpose, u64::from(conversation));
        let index = pick(&mut draws, classes, |class| class.weight);
        let class = &classes[index];
        let turns = class.turns;
        let prefix = class.prefix.and_then(|sharing| shared(&mut draws, sharing));
        let count = turns.map_or(1, |turns| length(&mut draws, turns.count));
        let tenant = tenant(&mut draws, class);
        let mut room = turns
            .and_then(|turns| turns.room)
            .filter(|_| class.output_length == OutputLength::Pinned)
            .map(|room| room.saturating_sub(TEMPLATE));
        let mut drawn = (1..=count).map_while(|turn| {
            let Bucket { input, output, .. } = *bucket(&mut draws, &class.lengths);
            let least = prefix
                .filter(|_| turn == 1)
                .map_or(1, |prefix| prefix.tokens + PrefixSharing::BEYOND);
            let input_tokens = length(&mut draws, input).max(least);
            let output_tokens = length(&mut draws, output);
            let cancel_after = class.cancel.and_then(|cancel| given_up(&mut draws, cancel));
            let pause = turns
                .and_then(|turns| turns.think)
                .map(|pause| think(&mut draws, pause));
            if let Some(room) = &mut room {
                match room.checked_sub(input_tokens.saturating_add(output_tokens)) {
                    Some(left) => *room = left,
                    None if turn > 1 => return None,
                    None => *room = 0,
                }
            }
            Some(LaterTurn {
                request: PlannedRequest {
                    phase,
                    number: base.saturating_add(before).saturating_add(turn - 1),
                    class: index as u32,
                    tenant,
                    turn: Some(Turn {
                        conversation,
                        number: turn,
                    }),
                    input_tokens,
                    output_tokens,
                    output_length: class.output_length,
                    prefix: prefix.filter(|_| turn == 1),
                    cancel_after,
                },
                think: pause,
            })
        });
        let first = drawn.next().expect("a conversation has a first turn");
        Self {
            first: first.request,
            later: drawn.collect(),
            room: turns.and_then(|turns| turns.room),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::spec::{Length, Think, Turns};

    fn talk(count: Length) -> Class {
        Class {
            turns: Some(Turns {
                count,
                think: None,
                room: None,
            }),
            ..Class::new(
                "talk".parse().unwrap(),
                Length::Uniform { low: 20, high: 90 },
                Length::Fixed(50),
            )
        }
    }

    fn sessions(class: &Class, phase: Phase, n: u32) -> Vec<Session> {
        let mut before = 0;
        (0..n)
            .map(|number| {
                let which = (phase, number, before);
                let session = Session::draw(7, "steady", which, std::slice::from_ref(class));
                before += session.requests();
                session
            })
            .collect()
    }

    #[test]
    fn every_request_has_a_number_of_its_own() {
        let class = talk(Length::Uniform { low: 1, high: 6 });
        let mut numbers = BTreeSet::new();
        let mut requests = 0;
        for phase in [Phase::Warmup, Phase::Measured] {
            for session in sessions(&class, phase, 50) {
                requests += session.requests() as usize;
                numbers.insert(session.first.number);
                numbers.extend(session.later.iter().map(|turn| turn.request.number));
                let turns = session.later.iter().map(|turn| turn.request.turn.unwrap());
                let turns: Vec<u32> = turns.map(|turn| turn.number).collect();
                assert_eq!(turns, (2..=session.requests()).collect::<Vec<_>>());
            }
        }
        assert_eq!(numbers.len(), requests);
    }

    #[test]
    fn only_the_first_turn_carries_the_shared_prefix() {
        let mut class = talk(Length::Fixed(3));
        class.prefix = Some(PrefixSharing {
            tokens: 100,
            groups: 4,
            share: 1.0,
        });
        for session in sessions(&class, Phase::Measured, 20) {
            assert!(session.first.prefix.is_some());
            assert_eq!(session.first.input_tokens, 116);
            for turn in &session.later {
                assert_eq!(turn.request.prefix, None);
                assert!(turn.request.input_tokens <= 90);
            }
        }
    }

    #[test]
    fn a_conversation_ends_where_the_model_is_full() {
        let mut class = talk(Length::Fixed(9));
        class.lengths[0].input = Length::Fixed(100);
        if let Some(turns) = &mut class.turns {
            // 64 for the template, and 150 a turn.
            turns.room = Some(64 + 3 * 150);
        }
        assert_eq!(sessions(&class, Phase::Measured, 1)[0].requests(), 3);
        class.output_length = OutputLength::Natural;
        assert_eq!(sessions(&class, Phase::Measured, 1)[0].requests(), 9);
    }

    #[test]
    fn turns_and_pauses_have_their_means() {
        let mut class = talk(Length::Uniform { low: 1, high: 5 });
        if let Some(turns) = &mut class.turns {
            turns.think = Some(Think::Exponential {
                mean: Nanos::from_secs(4),
            });
        }
        let sessions = sessions(&class, Phase::Measured, 2000);
        let requests: u32 = sessions.iter().map(Session::requests).sum();
        assert!((5800..6200).contains(&requests), "{requests}");
        let pauses: Vec<f64> = sessions
            .iter()
            .flat_map(|session| &session.later)
            .map(|turn| turn.think.unwrap().as_secs_f64())
            .collect();
        let mean = pauses.iter().sum::<f64>() / pauses.len() as f64;
        assert!((3.7..4.3).contains(&mean), "{mean}");
    }
}
