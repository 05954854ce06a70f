//! The model of continuous batching: what one step contains, how long it takes, what it yields.
//!
//! It knows no clock and no sockets. Time is what [`Engine::step`] says; a caller either sleeps
//! until a step's end or goes on at once.
//!
//! Scheduling is first come, first served: running sequences go first, each decoding one token or
//! prefilling a part of its prompt, then waiting ones are admitted while sequences, token budget
//! and cache blocks last. Where a running sequence finds no block, the sequence that arrived last
//! is preempted: it loses its blocks and computes its prompt and its tokens so far again.

use std::collections::VecDeque;

use super::kv::Kv;
use super::machine::{Machine, Pace};
use super::noise::Noise;
use super::options::Slower;
use super::profile::{Constants, StepCost};
use super::sequence::Sequence;
use super::wear::Wear;
use crate::unit::Nanos;

/// A request as the engine sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Chosen by the caller, unique among the jobs in the engine.
    pub id: u64,
    /// When it was accepted; no step that starts earlier contains it.
    pub arrival: Nanos,
    /// The name of the run that it belongs to; empty where none is known. Machines have a speed for
    /// each run.
    pub run: String,
    /// The token ids of the prompt, at least one.
    pub prompt: Vec<u32>,
    /// The token ids that it will generate, at least one.
    pub output: Vec<u32>,
}

/// What happened to a request so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// Prompt tokens that the prefix cache held.
    pub cached_tokens: usize,
    /// How often it was preempted.
    pub preemptions: u32,
    /// From arrival to the start of its first step.
    pub queued: Nanos,
}

/// One generated token, out at its step's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emission {
    /// The job.
    pub id: u64,
    /// Counted from 1.
    pub number: usize,
    /// Whether the job is done with it.
    pub last: bool,
    /// When the job arrived.
    pub arrival: Nanos,
    /// When its token before was out, if there was one.
    pub previous: Option<Nanos>,
    /// When its first token was out.
    pub first: Nanos,
    /// What happened to the job so far.
    pub facts: Facts,
}

/// One step of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When it starts.
    pub start: Nanos,
    /// When it ends and its tokens are out.
    pub end: Nanos,
    /// Sequences that hold blocks while it lasts.
    pub running: usize,
    /// Sequences that decode one token.
    pub decoding: usize,
    /// Prompt tokens computed, those computed again after a preemption among them.
    pub prefill_tokens: usize,
    /// Tokens in the cache that the step's sequences attend to, the new ones included.
    pub kv_tokens: usize,
    /// Jobs that were scheduled for the first time.
    pub admitted: usize,
    /// Preemptions.
    pub preempted: usize,
    /// Prompt tokens looked up in the prefix cache.
    pub prefix_queries: usize,
    /// Prompt tokens found there.
    pub prefix_hits: usize,
    /// The tokens.
    pub emissions: Vec<Emission>,
}

/// The engine: a queue, running sequences and a KV cache.
#[derive(Debug)]
pub struct Engine {
    constants: Constants,
    slower: Slower,
    kv: Kv,
    noise: Noise,
    pace: Pace,
    /// In order of arrival.
    waiting: VecDeque<Sequence>,
    /// In order of arrival.
    running: Vec<Sequence>,
    /// The end of the last step.
    now: Nanos,
    wear: Wear,
    /// Blocks that it keeps, however worn: the longest request fits into them.
    spared: usize,
}

impl Engine {
    /// An idle engine at time zero. The seed chooses the path of the noise and nothing else.
    pub fn new(constants: Constants, slower: Slower, machine: Machine, seed: u64) -> Self {
        Self {
            constants,
            slower,
            kv: Kv::new(constants.kv_blocks),
            noise: Noise::new(machine.level(constants.noise), seed),
            pace: Pace::new(machine, seed),
            waiting: VecDeque::new(),
            running: Vec::new(),
            now: Nanos::ZERO,
            wear: Wear::default(),
            spared: constants.kv_blocks,
        }
    }

    /// The same, wearing; the longest request, of so many tokens, always fits.
    #[must_use]
    pub fn wearing(mut self, wear: Wear, longest: usize) -> Self {
        self.wear = wear;
        self.spared = longest.div_ceil(self.constants.block_size);
        self
    }

    /// Queues a job. Its prompt and output together must fit the KV cache.
    pub fn submit(&mut self, job: Job) {
        self.pace.see(&job.run);
        self.enqueue(Sequence::new(job, self.constants.block_size));
    }

    fn enqueue(&mut self, sequence: Sequence) {
        let key = |s: &Sequence| (s.arrival, s.id);
        let at = self
            .waiting
            .partition_point(|other| key(other) < key(&sequence));
        self.waiting.insert(at, sequence);
    }

    /// Does nothing for a while, from the start of the next step on.
    pub fn freeze(&mut self, span: Nanos) {
        let next = self.waiting.front().filter(|_| self.running.is_empty());
        self.now = next.map_or(self.now, |job| self.now.max(job.arrival)) + span;
    }

    /// Starts no step before then.
    pub fn freeze_until(&mut self, until: Nanos) {
        self.now = self.now.max(until);
    }

    /// Forgets what the prefix cache holds.
    pub fn forget(&mut self) {
        self.kv.forget();
    }

    /// Drops a job, wherever it is. Tells whether it had been scheduled before; `None` where the
    /// engine does not hold it.
    pub fn cancel(&mut self, id: u64) -> Option<bool> {
        if let Some(at) = self.running.iter().position(|s| s.id == id) {
            let mut sequence = self.running.remove(at);
            self.kv.release(&mut sequence.blocks);
            return Some(true);
        }
        let at = self.waiting.iter().position(|s| s.id == id)?;
        self.waiting.remove(at).map(|s| s.admitted)
    }

    /// Whether there is nothing to do.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// Sequences that hold blocks.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Sequences that wait for their first step, or again after a preemption.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The share of KV blocks in use, 0 to 1.
    pub fn kv_usage(&self) -> f64 {
        self.kv.usage()
    }

    /// Blocks of the KV cache that can be used.
    pub fn kv_usable(&self) -> usize {
        self.kv.usable()
    }

    /// Does one step; `None` where the engine is idle.
    ///
    /// It starts where the last one ended, or at the next arrival where nothing was running.
    pub fn step(&mut self) -> Option<Step> {
        if self.running.is_empty() {
            self.now = self.now.max(self.waiting.front()?.arrival);
        }
        let blocks = self.constants.kv_blocks;
        let useless = self.wear.useless(self.now, blocks);
        self.kv
            .waste(useless.min(blocks.saturating_sub(self.spared)));
        let mut step = Step {
            start: self.now,
            end: self.now,
            running: 0,
            decoding: 0,
            prefill_tokens: 0,
            kv_tokens: 0,
            admitted: 0,
            preempted: 0,
            prefix_queries: 0,
            prefix_hits: 0,
            emissions: Vec::new(),
        };
        let left = self.schedule_running(&mut step);
        if step.preempted == 0 {
            self.admit_waiting(left, &mut step);
        }
        step.running = self.running.len();
        for sequence in self.running.iter().filter(|s| s.scheduled > 0) {
            if sequence.is_decode() {
                step.decoding += 1;
            } else {
                step.prefill_tokens += sequence.scheduled;
            }
            step.kv_tokens += sequence.computed + sequence.scheduled;
        }
        let ideal = step_time(&self.constants.cost, self.slower, &step);
        step.end = step.start + self.noise.apply(self.pace.apply(ideal, step.start));
        self.now = step.end;
        self.finish(&mut step);
        Some(step)
    }

    /// Gives the running sequences their tokens; returns what is left of the token budget.
    fn schedule_running(&mut self, step: &mut Step) -> usize {
        let mut left = self.constants.token_budget;
        let mut at = 0;
        while at < self.running.len() && left > 0 {
            let sequence = &mut self.running[at];
            let wanted = (sequence.known() - sequence.computed).min(left);
            if sequence.grow(&mut self.kv, wanted, self.constants.block_size) {
                sequence.scheduled = wanted;
                left -= wanted;
                at += 1;
            } else {
                // The last may be this one; then the loop ends.
                self.preempt_last(step);
            }
        }
        left
    }

    fn preempt_last(&mut self, step: &mut Step) {
        let Some(mut victim) = self.running.pop() else {
            return;
        };
        self.kv.release(&mut victim.blocks);
        victim.computed = 0;
        victim.scheduled = 0;
        victim.facts.preemptions += 1;
        step.preempted += 1;
        self.enqueue(victim);
    }

    fn admit_waiting(&mut self, mut left: usize, step: &mut Step) {
        let block_size = self.constants.block_size;
        while left > 0 && self.running.len() < self.constants.max_num_seqs {
            let Some(mut next) = self.waiting.pop_front() else {
                break;
            };
            if next.arrival > step.start {
                self.waiting.push_front(next);
                break;
            }
            // At least one token is computed, so that there is something to sample from.
            let full = (next.known() - 1) / block_size;
            let findable = if self.constants.prefix_cache {
                full.min(next.hashes.len())
            } else {
                0
            };
            next.blocks = self.kv.share(&next.hashes[..findable]);
            next.computed = next.blocks.len() * block_size;
            let wanted = (next.known() - next.computed).min(left);
            if !next.grow(&mut self.kv, wanted, block_size) {
                self.kv.release(&mut next.blocks);
                next.computed = 0;
                self.waiting.push_front(next);
                break;
            }
            if !next.admitted {
                next.admitted = true;
                next.facts.cached_tokens = next.computed;
                next.facts.queued = step.start.since(next.arrival);
                step.admitted += 1;
                if self.constants.prefix_cache {
                    step.prefix_queries += next.prompt_len;
                    step.prefix_hits += next.computed;
                }
            }
            next.scheduled = wanted;
            left -= wanted;
            self.running.push(next);
        }
    }

    /// Counts the step's tokens as computed, emits, and drops the sequences that are done.
    fn finish(&mut self, step: &mut Step) {
        let Self {
            running,
            kv,
            constants,
            ..
        } = self;
        running.retain_mut(|sequence| {
            let computed = sequence.computed + std::mem::take(&mut sequence.scheduled);
            let size = constants.block_size;
            for block in sequence.computed / size..computed / size {
                kv.publish(sequence.blocks[block], sequence.hashes[block]);
            }
            let advanced = computed > sequence.computed;
            sequence.computed = computed;
            if !advanced || computed < sequence.known() {
                return true;
            }
            sequence.emitted += 1;
            let last = sequence.known() == sequence.tokens.len();
            let first = *sequence.first_emission.get_or_insert(step.end);
            step.emissions.push(Emission {
                id: sequence.id,
                number: sequence.emitted,
                last,
                arrival: sequence.arrival,
                previous: sequence.last_emission.replace(step.end),
                first,
                facts: sequence.facts,
            });
            if last {
                kv.release(&mut sequence.blocks);
            }
            !last
        });
    }
}

/// The time of a step without noise: base + decoding sequences + prefill tokens + KV tokens.
///
/// With base 200 µs, 10 µs a sequence, 2 µs a prefill token and 1 ns a KV token, a step that
/// decodes 2 sequences and prefills 100 tokens over 300 tokens of cache takes 420.3 µs.
/// [`Slower::prefill`] stretches the prefill term, [`Slower::decode`] the others wherever the
/// step decodes, [`Slower::all`] the whole.
pub fn step_time(cost: &StepCost, slower: Slower, step: &Step) -> Nanos {
    let nanos = |each: Nanos, count: usize| each.get() as f64 * count as f64;
    let prefill = nanos(cost.per_prefill_token, step.prefill_tokens);
    let rest = cost.base.get() as f64
        + nanos(cost.per_sequence, step.decoding)
        + nanos(cost.per_kv_token, step.kv_tokens);
    let decode = if step.decoding > 0 {
        1.0 + slower.decode
    } else {
        1.0
    };
    let total = (rest * decode + prefill * (1.0 + slower.prefill)) * (1.0 + slower.all);
    Nanos::new(total.round() as u64)
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
