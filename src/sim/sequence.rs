//! One job on its way through the engine.

use super::engine::{Facts, Job};
use super::kv::{BlockId, Kv, block_hashes};
use crate::unit::Nanos;

/// A job with what is computed of it.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) id: u64,
    pub(super) arrival: Nanos,
    /// Prompt and output.
    pub(super) tokens: Vec<u32>,
    pub(super) prompt_len: usize,
    /// Keys of the full blocks of `tokens`.
    pub(super) hashes: Vec<u64>,
    pub(super) emitted: usize,
    pub(super) first_emission: Option<Nanos>,
    pub(super) last_emission: Option<Nanos>,
    /// Tokens whose keys and values lie in `blocks`.
    pub(super) computed: usize,
    /// Tokens that the current step computes.
    pub(super) scheduled: usize,
    pub(super) blocks: Vec<BlockId>,
    pub(super) admitted: bool,
    pub(super) facts: Facts,
}

impl Sequence {
    pub(super) fn new(job: Job, block_size: usize) -> Self {
        let prompt_len = job.prompt.len();
        let mut tokens = job.prompt;
        tokens.extend(job.output);
        Self {
            id: job.id,
            arrival: job.arrival,
            hashes: block_hashes(&tokens, block_size),
            tokens,
            prompt_len,
            emitted: 0,
            first_emission: None,
            last_emission: None,
            computed: 0,
            scheduled: 0,
            blocks: Vec::new(),
            admitted: false,
            facts: Facts::default(),
        }
    }

    /// Tokens that exist so far: the prompt and what was generated.
    pub(super) fn known(&self) -> usize {
        self.prompt_len + self.emitted
    }

    pub(super) fn is_decode(&self) -> bool {
        self.emitted > 0 && self.scheduled == 1
    }

    /// Takes the blocks that `more` of its tokens need, or none of them.
    pub(super) fn grow(&mut self, kv: &mut Kv, more: usize, block_size: usize) -> bool {
        let needed = (self.computed + more).div_ceil(block_size);
        let missing = needed.saturating_sub(self.blocks.len());
        if missing > kv.available() {
            return false;
        }
        self.blocks
            .extend(std::iter::from_fn(|| kv.take()).take(missing));
        true
    }
}
