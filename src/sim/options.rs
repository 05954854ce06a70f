//! How an embedded engine behaves: a profile and what is changed about it.

use std::fmt;
use std::num::NonZeroU32;

use super::SimError;
use super::engine::Engine;
use super::fault::Faults;
use super::machine::Machine;
use super::profile::{Constants, PROFILES, Profile};
use super::speech::Speech;
use super::wear::Wear;
use crate::diag::suggest;
use crate::unit::Share;

/// How much slower the engine is than its profile: 0.3 is 30 % slower.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Slower {
    /// Each prompt token.
    pub prefill: f64,
    /// Everything but the prompt tokens, in steps that decode.
    pub decode: f64,
    /// Every step as a whole.
    pub all: f64,
}

/// What of the engine is sized otherwise than in its profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizing {
    /// Most sequences in one step.
    pub max_num_seqs: Option<NonZeroU32>,
    /// Blocks in the KV cache.
    pub kv_blocks: Option<NonZeroU32>,
    /// Whether equal prefixes are computed anew each time.
    pub no_prefix_cache: bool,
    /// After how many tokens the model ends its answers by itself, unless told to ignore its end of
    /// text; without, where the limit is, or after 256 where there is none.
    pub answer_tokens: Option<NonZeroU32>,
}

/// Whether a stream opens with a chunk that carries the role and no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RoleChunk {
    /// The role comes with the first text.
    #[default]
    None,
    /// A chunk with the role alone is written as soon as the request is accepted.
    First,
}

impl RoleChunk {
    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::First => "first",
        }
    }
}

/// How answers are cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Tokens in one chunk of a stream.
    pub tokens_per_chunk: NonZeroU32,
    /// How the stream of a chat opens.
    pub role_chunk: RoleChunk,
    /// How many tokens at the start of a chat's answer are sent as reasoning.
    pub reasoning: u32,
    /// Whether usage is reported at all.
    pub usage: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            tokens_per_chunk: NonZeroU32::MIN,
            role_chunk: RoleChunk::None,
            reasoning: 0,
            usage: true,
        }
    }
}

/// All that decides how an embedded engine behaves.
///
/// Displays as the words that make it, in a fixed order, without what is not changed, without the
/// seed, which only chooses between equivalent paths of noise, and without the machine, which no
/// real engine states as its arguments either: `demo --slower-prefill 30%`. That text is the
/// engine's arguments in provenance, by which two engines are told apart.
#[derive(Debug, Clone, PartialEq)]
pub struct SimOptions {
    /// The engine.
    pub profile: &'static Profile,
    /// The model name to serve instead of the profile's.
    pub model: Option<String>,
    /// Chooses the path of the noise.
    pub seed: u64,
    /// Slow-downs.
    pub slower: Slower,
    /// Other sizes.
    pub sizing: Sizing,
    /// How answers are cut into chunks.
    pub shape: Shape,
    /// What it says.
    pub speech: Speech,
    /// What goes wrong.
    pub faults: Faults,
    /// What the machine under it does.
    pub machine: Machine,
    /// What gets worse the longer it runs.
    pub wear: Wear,
}

impl SimOptions {
    /// An unchanged profile.
    pub fn new(profile: &'static Profile) -> Self {
        Self {
            profile,
            model: None,
            seed: 0,
            slower: Slower::default(),
            sizing: Sizing::default(),
            shape: Shape::default(),
            speech: Speech::default(),
            faults: Faults::default(),
            machine: Machine::default(),
            wear: Wear::default(),
        }
    }

    /// An unchanged profile by its name.
    pub fn named(name: &str) -> Result<Self, SimError> {
        Profile::find(name)
            .map(Self::new)
            .ok_or_else(|| SimError::UnknownProfile {
                name: name.to_owned(),
                suggestion: suggest(name, PROFILES.iter().map(|p| p.name)).map(str::to_owned),
            })
    }

    /// Refuses what a profile without an engine cannot do: be slower, queue or stall.
    pub fn check(&self) -> Result<(), SimError> {
        let machine = &self.machine;
        let needs_engine = [
            ("--slower-prefill", self.slower.prefill > 0.0),
            ("--slower-decode", self.slower.decode > 0.0),
            ("--slower", self.slower.all > 0.0),
            ("--max-num-seqs", self.sizing.max_num_seqs.is_some()),
            ("--kv-blocks", self.sizing.kv_blocks.is_some()),
            ("--no-prefix-cache", self.sizing.no_prefix_cache),
            ("--queue-limit", self.faults.queue_limit.is_some()),
            ("--stall-share", self.faults.shares.stall() > 0.0),
            ("--freeze-after", self.faults.freeze_after.is_some()),
            ("--step-noise", machine.step_noise.is_some()),
            ("--stalls", machine.stalls_per_s.is_some()),
            ("--run-noise", machine.run_noise > 0.0),
            ("--run-outliers", machine.run_outliers > 0.0),
            ("--drift", machine.drift_per_min != 0.0),
            ("--fragmentation", self.wear.fragmentation_per_min > 0.0),
        ];
        match needs_engine.iter().find(|(_, wanted)| *wanted) {
            Some((flag, _)) if self.profile.constants.is_none() => Err(SimError::NoEngine {
                profile: self.profile.name,
                flag,
            }),
            _ => self.check_cache(),
        }
    }

    /// Refuses a KV cache in which the longest request would wait for blocks for ever.
    fn check_cache(&self) -> Result<(), SimError> {
        let Some(constants) = self.constants() else {
            return Ok(());
        };
        let needed = self.profile.max_model_len.div_ceil(constants.block_size);
        if constants.kv_blocks < needed {
            return Err(SimError::SmallCache {
                blocks: constants.kv_blocks,
                needed,
            });
        }
        Ok(())
    }

    /// The profile's constants with other sizes; `None` where it answers at once.
    pub fn constants(&self) -> Option<Constants> {
        let profile = self.profile.constants?;
        let or = |size: Option<NonZeroU32>, usual| size.map_or(usual, |size| size.get() as usize);
        Some(Constants {
            max_num_seqs: or(self.sizing.max_num_seqs, profile.max_num_seqs),
            kv_blocks: or(self.sizing.kv_blocks, profile.kv_blocks),
            prefix_cache: profile.prefix_cache && !self.sizing.no_prefix_cache,
            ..profile
        })
    }

    /// The engine's model, which knows no clock: what the server runs against the real one, and what
    /// can be run as well in virtual time. `None` where the profile answers at once.
    pub fn engine(&self) -> Option<Engine> {
        let constants = self.constants()?;
        let engine = Engine::new(constants, self.slower, self.machine, self.seed);
        Some(engine.wearing(self.wear, self.profile.max_model_len))
    }

    /// The model name that is served.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(self.profile.model)
    }
}

impl fmt::Display for SimOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.profile.name)?;
        if let Some(model) = &self.model {
            write!(f, " --model {model}")?;
        }
        let sizing = &self.sizing;
        for (flag, size) in [
            ("max-num-seqs", sizing.max_num_seqs),
            ("kv-blocks", sizing.kv_blocks),
            ("answer-tokens", sizing.answer_tokens),
        ] {
            if let Some(size) = size {
                write!(f, " --{flag} {size}")?;
            }
        }
        if sizing.no_prefix_cache {
            f.write_str(" --no-prefix-cache")?;
        }
        let shares = &self.faults.shares;
        for (flag, share) in [
            ("slower-prefill", self.slower.prefill),
            ("slower-decode", self.slower.decode),
            ("slower", self.slower.all),
            ("error-share", shares.error()),
            ("midstream-error-share", shares.midstream_error()),
            ("truncate-share", shares.truncate()),
            ("stall-share", shares.stall()),
            ("early-stop-share", shares.early_stop()),
        ] {
            if share > 0.0 {
                write!(f, " --{flag} {}", Share::Percent(share))?;
            }
        }
        if self.speech.json {
            f.write_str(" --answers json")?;
        }
        if self.speech.corrupt_share > 0.0 {
            let share = Share::Percent(self.speech.corrupt_share);
            write!(f, " --corrupt-share {share}")?;
        }
        let faults = &self.faults;
        if shares.stall() > 0.0 {
            write!(f, " --stall-for {}", faults.stall_for)?;
        }
        if let Some(limit) = faults.queue_limit {
            write!(f, " --queue-limit {limit}")?;
        }
        if let Some(after) = faults.die_after {
            write!(f, " --die-after {after}")?;
        }
        for (flag, share) in [
            ("leak", self.wear.leak_per_min),
            ("fragmentation", self.wear.fragmentation_per_min),
        ] {
            if share > 0.0 {
                write!(f, " --{flag} {}", Share::Percent(share))?;
            }
        }
        if let Some(after) = faults.freeze_after {
            write!(
                f,
                " --freeze-after {after} --freeze-for {}",
                faults.freeze_for
            )?;
        }
        let shape = &self.shape;
        if shape.tokens_per_chunk > NonZeroU32::MIN {
            write!(f, " --tokens-per-chunk {}", shape.tokens_per_chunk)?;
        }
        if shape.role_chunk != RoleChunk::None {
            write!(f, " --role-chunk {}", shape.role_chunk.word())?;
        }
        if shape.reasoning > 0 {
            write!(f, " --reasoning {}", shape.reasoning)?;
        }
        if !shape.usage {
            f.write_str(" --no-usage")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::engine::Job;
    use crate::unit::Nanos;

    #[test]
    fn without_a_prefix_cache_equal_prompts_are_computed_anew() {
        let twice = |no_prefix_cache| {
            let mut options = SimOptions::named("test").unwrap();
            options.sizing.no_prefix_cache = no_prefix_cache;
            let mut engine = options.engine().unwrap();
            let mut second = None;
            for id in [1, 2] {
                engine.submit(Job {
                    id,
                    arrival: Nanos::ZERO,
                    run: String::new(),
                    prompt: (0..64).collect(),
                    output: vec![7],
                });
                second = engine.step();
            }
            let step = second.unwrap();
            (step.prefill_tokens, step.prefix_queries, step.prefix_hits)
        };
        assert_eq!(twice(false), (16, 64, 48));
        assert_eq!(twice(true), (64, 0, 0));
    }
}
