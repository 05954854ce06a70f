//! From what moved in a stage to what moved it.
//!
//! A cause hides its consequences: where the prefix cache finds less, prefill and queue grow too, and
//! that is no second and third cause. What has no such root is told apart by which part of a request
//! moved: the wait, the prompt, the tokens, or what lies outside the engine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::moved::Moved;
use super::signal::Signal;

/// Why a stage's figures moved.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Answers have another length: other work, not another speed.
    OutputLength,
    /// The same prompts are other tokens: another tokenizer or template.
    Tokenization,
    /// Answers are cut at their limit.
    Truncation,
    /// Heat, power or the hardware holds the GPU's clocks back.
    Throttling,
    /// The client, not the target.
    Client,
    /// The prefix cache finds less.
    PrefixCache,
    /// Fewer drafted tokens are taken.
    Speculation,
    /// The KV cache is too small for the load.
    KvPressure,
    /// Everything moved by the same factor: a machine or clock.
    Uniform,
    /// Prompts take longer.
    Prefill,
    /// Tokens take longer, all of them.
    Decode,
    /// Requests wait longer before they are scheduled.
    Queueing,
    /// Some gaps between tokens are longer: those in which the engine computes a prompt.
    Interference,
    /// What lies between the client and the engine: network or gateway.
    Outside,
    /// Something before the first token, and nobody says what.
    BeforeFirstToken,
    /// Nothing that was measured tells.
    Unclear,
}

/// What moved in a stage, and which way the complaint goes.
pub(super) struct Stage {
    pub(super) moved: BTreeMap<Signal, Moved>,
    /// Whether its cells are worse; else better.
    pub(super) worse: bool,
    /// Whether the candidate's client was at fault and the baseline's was not.
    pub(super) client_at_fault: bool,
    /// Whether all cells of the comparison moved alike.
    pub(super) uniform: bool,
}

/// A share of the KV cache from which on nothing more fits.
const FULL: f64 = 0.95;
/// A client that uses more of its cores than this may be in the figures.
const BUSY: f64 = 0.8;
/// A part that makes up this much of a change explains it.
const MOST: f64 = 0.5;
/// A change that is less than this part of another's is its consequence.
const MINOR: f64 = 0.5;

impl Stage {
    /// The causes, with the signals that show them, in this order.
    pub(super) fn causes(&self) -> Vec<(Cause, Vec<Signal>)> {
        use Signal as S;
        let mut found = self.other_work();
        let mut roots = Vec::new();
        if self.down(S::SmClock) == self.worse && self.changed(S::SmClock)
            || self.grew(S::Throttled)
        {
            let evidence = [S::SmClock, S::Throttled, S::Temperature, S::Power];
            roots.push((Cause::Throttling, evidence.to_vec()));
        }
        let busy = self.up(S::ClientCpu) && self.candidate(S::ClientCpu) > BUSY;
        let client = self.worse && (self.client_at_fault || busy || self.client_is_late());
        if client {
            let evidence = [S::ClientCpu, S::Lateness, S::LoopLag, S::Outside];
            roots.push((Cause::Client, evidence.to_vec()));
        }
        if self.shrank(S::PrefixHits) {
            roots.push((
                Cause::PrefixCache,
                vec![S::PrefixHits, S::Prefill, S::Queue],
            ));
        }
        if self.shrank(S::Acceptance) {
            roots.push((Cause::Speculation, vec![S::Acceptance, S::ItlMedian]));
        }
        let full = self.grew(S::KvUsage) && self.candidate(S::KvUsage) >= FULL;
        if self.grew(S::Preemptions) || (full && self.grew(S::Queue)) {
            roots.push((
                Cause::KvPressure,
                vec![S::Preemptions, S::KvUsage, S::Queue],
            ));
        }
        let outside = !client && self.grew(S::Outside) && self.explains_ttft(S::Outside);
        if roots.is_empty() {
            roots = if self.uniform {
                let evidence = vec![S::Ttft, S::ItlMedian, S::SmClock];
                vec![(Cause::Uniform, evidence)]
            } else {
                self.parts()
            };
            // A way that takes longer scatters more, and that is in the gaps too.
            roots.retain(|(cause, _)| !outside || *cause != Cause::Interference);
        }
        if outside {
            roots.push((Cause::Outside, vec![S::Outside, S::EngineTtft, S::Ttft]));
        }
        found.append(&mut roots);
        if found.is_empty() {
            // Only the direction of the complaint can be laid to a part that nobody shows.
            found.push(if self.grew(S::Ttft) && !self.grew(S::ItlMedian) {
                (
                    Cause::BeforeFirstToken,
                    vec![S::Ttft, S::ItlMedian, S::Outside],
                )
            } else {
                (Cause::Unclear, vec![S::Ttft, S::ItlMedian, S::ItlTail])
            });
        }
        found
    }

    /// Work that is not the same, which no speed can be told by.
    fn other_work(&self) -> Vec<(Cause, Vec<Signal>)> {
        let of = [
            (Cause::OutputLength, Signal::OutputTokens),
            (Cause::Tokenization, Signal::InputTokens),
            (Cause::Truncation, Signal::Truncated),
        ];
        let changed = of.into_iter().filter(|(_, signal)| self.changed(*signal));
        changed
            .map(|(cause, signal)| (cause, vec![signal]))
            .collect()
    }

    /// Which part of a request moved.
    fn parts(&self) -> Vec<(Cause, Vec<Signal>)> {
        use Signal as S;
        let moved = |signal| {
            let moved = self.moved.get(&signal);
            moved.map_or(0.0, |moved| moved.estimate.abs())
        };
        let size = |signal| {
            if self.grew(signal) {
                moved(signal)
            } else {
                0.0
            }
        };
        let (prefill, decode) = (size(S::Prefill), size(S::ItlMedian));
        let mut parts = Vec::new();
        if prefill > 0.0 && prefill >= MINOR * decode {
            parts.push((
                Cause::Prefill,
                vec![S::Prefill, S::Queue, S::ItlMedian, S::ItlTail],
            ));
        }
        if decode > 0.0 && decode >= MINOR * prefill {
            parts.push((
                Cause::Decode,
                vec![S::ItlMedian, S::ItlTail, S::Prefill, S::Queue],
            ));
        }
        if !parts.is_empty() {
            return parts;
        }
        if self.grew(S::Queue) && self.explains_ttft(S::Queue) {
            let evidence = vec![S::Queue, S::Waiting, S::RunningMax, S::Prefill];
            parts.push((Cause::Queueing, evidence));
        } else if self.grew(S::ItlTail) && moved(S::ItlMedian) < MINOR * moved(S::ItlTail) {
            let evidence = vec![S::ItlTail, S::ItlMedian, S::Prefill];
            parts.push((Cause::Interference, evidence));
        }
        parts
    }

    /// Whether the client sent or woke late enough to show in what it timed: by most of what the first
    /// token came later, or so that it can't see one token after another any more.
    fn client_is_late(&self) -> bool {
        let of = |signal| self.moved.get(&signal);
        let ttft = of(Signal::Ttft).map_or(0.0, Moved::difference);
        let gap = of(Signal::ItlMedian).map(|gap| gap.baseline);
        [Signal::Lateness, Signal::LoopLag].into_iter().any(|lag| {
            let Some(late) = of(lag).filter(|late| late.up()) else {
                return false;
            };
            let most = ttft > 0.0 && late.difference() >= MOST * ttft;
            let blind = gap.is_some_and(|gap| late.baseline < gap && gap <= late.candidate);
            most || blind
        })
    }

    fn up(&self, signal: Signal) -> bool {
        self.moved.get(&signal).is_some_and(Moved::up)
    }

    fn down(&self, signal: Signal) -> bool {
        self.moved.get(&signal).is_some_and(Moved::down)
    }

    fn changed(&self, signal: Signal) -> bool {
        self.moved.get(&signal).is_some_and(Moved::changed)
    }

    /// Whether a cost moved the way that the complaint goes.
    fn grew(&self, signal: Signal) -> bool {
        if self.worse {
            self.up(signal)
        } else {
            self.down(signal)
        }
    }

    /// Whether a gain moved the way that the complaint goes.
    fn shrank(&self, signal: Signal) -> bool {
        if self.worse {
            self.down(signal)
        } else {
            self.up(signal)
        }
    }

    fn candidate(&self, signal: Signal) -> f64 {
        self.moved.get(&signal).map_or(0.0, |moved| moved.candidate)
    }

    /// Whether the time to first token moved, and the change of a part is most of it.
    fn explains_ttft(&self, part: Signal) -> bool {
        let difference = |signal| self.moved.get(&signal).map(Moved::difference);
        self.grew(Signal::Ttft)
            && difference(part)
                .zip(difference(Signal::Ttft))
                .is_some_and(|(part, whole)| {
                    part.signum() == whole.signum() && part.abs() >= MOST * whole.abs()
                })
    }
}
