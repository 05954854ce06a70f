//! Named sets of constants for the model. All of them are assumed: none is fitted to a real GPU.

use std::fmt::Write as _;

use crate::unit::Nanos;

/// What one step of the engine costs.
///
/// A step takes `base + per_sequence · decoding sequences + per_prefill_token · prompt tokens
/// computed + per_kv_token · tokens attended to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepCost {
    /// Every step: reading the weights, launching kernels, scheduling.
    pub base: Nanos,
    /// Each sequence that decodes one token in the step.
    pub per_sequence: Nanos,
    /// Each prompt token that is computed in the step.
    pub per_prefill_token: Nanos,
    /// Each token in the KV cache that a scheduled sequence attends to.
    pub per_kv_token: Nanos,
}

/// Multiplicative noise on the time of a step: `exp(drift + jitter · N(0, 1))`, and stalls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseLevel {
    /// Standard deviation of one innovation of the drift, an AR(1) with φ = 0.998.
    pub drift: f64,
    /// Standard deviation of the logarithm of a step's own jitter.
    pub jitter: f64,
    /// Stalls of 50 ms + Exp(150 ms), per second of busy engine.
    pub stalls_per_s: f64,
}

impl NoiseLevel {
    /// No noise: every step takes what the cost formula says.
    pub const NONE: Self = Self {
        drift: 0.0,
        jitter: 0.0,
        stalls_per_s: 0.0,
    };
}

/// How an engine schedules and what its steps cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// What a step costs.
    pub cost: StepCost,
    /// How the cost varies.
    pub noise: NoiseLevel,
    /// Most sequences in one step.
    pub max_num_seqs: usize,
    /// Most tokens in one step, decoded and prefilled together.
    pub token_budget: usize,
    /// Tokens in one block of the KV cache.
    pub block_size: usize,
    /// Blocks in the KV cache.
    pub kv_blocks: usize,
    /// Whether equal prefixes share blocks.
    pub prefix_cache: bool,
}

/// A named engine to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The name on the command line and in specs.
    pub name: &'static str,
    /// What it stands for, in one line.
    pub description: &'static str,
    /// The model name that the server reports unless told otherwise.
    pub model: &'static str,
    /// Most tokens of prompt and answer together.
    pub max_model_len: usize,
    /// Whether the constants are assumed rather than fitted to measurements.
    pub assumed: bool,
    /// The model's constants; `None` answers at once, without an engine behind.
    pub constants: Option<Constants>,
}

/// Every profile, in the order in which they are listed.
pub static PROFILES: [Profile; 5] = [
    // 16 GB of weights at 3.35 TB/s take 4.8 ms; 128 KiB of KV cache a token at 2 TB/s take 65 ns;
    // 52 GB of cache left beside the weights hold 400,000 tokens.
    Profile {
        name: "h100-8b",
        description: "an 8B model in bf16 on one H100, of realistic size",
        model: "sim/h100-8b",
        max_model_len: 8192,
        assumed: true,
        constants: Some(Constants {
            cost: StepCost {
                base: Nanos::new(6_000_000),
                per_sequence: Nanos::new(30_000),
                per_prefill_token: Nanos::new(25_000),
                per_kv_token: Nanos::new(65),
            },
            noise: NoiseLevel {
                drift: 0.0012,
                jitter: 0.03,
                stalls_per_s: 0.02,
            },
            max_num_seqs: 256,
            token_budget: 2048,
            block_size: 16,
            kv_blocks: 25_000,
            prefix_cache: true,
        }),
    },
    // 80 requests a second of 64 prompt and 16 output tokens need about 36 % of it.
    Profile {
        name: "demo",
        description: "a small, quick engine with little noise, for runs of seconds",
        model: "sim/demo",
        max_model_len: 4096,
        assumed: true,
        constants: Some(Constants {
            cost: StepCost {
                base: Nanos::new(1_000_000),
                per_sequence: Nanos::new(20_000),
                per_prefill_token: Nanos::new(50_000),
                per_kv_token: Nanos::new(20),
            },
            noise: NoiseLevel {
                drift: 0.0002,
                jitter: 0.005,
                stalls_per_s: 0.0,
            },
            max_num_seqs: 32,
            token_budget: 512,
            block_size: 16,
            kv_blocks: 4096,
            prefix_cache: true,
        }),
    },
    Profile {
        name: "test",
        description: "tiny and fast, without noise: every step takes what the formula says",
        model: "sim/test",
        max_model_len: 2048,
        assumed: true,
        constants: Some(Constants {
            cost: StepCost {
                base: Nanos::new(200_000),
                per_sequence: Nanos::new(10_000),
                per_prefill_token: Nanos::new(2_000),
                per_kv_token: Nanos::new(1),
            },
            noise: NoiseLevel::NONE,
            max_num_seqs: 8,
            token_budget: 128,
            block_size: 16,
            kv_blocks: 512,
            prefix_cache: true,
        }),
    },
    // Sequences cost nothing, so the pace holds for as many streams as the machine can write to.
    Profile {
        name: "paced",
        description: "a token every 10 ms to each stream, however many: to load a client steadily",
        model: "sim/paced",
        max_model_len: 4096,
        assumed: true,
        constants: Some(Constants {
            cost: StepCost {
                base: Nanos::new(10_000_000),
                per_sequence: Nanos::ZERO,
                per_prefill_token: Nanos::ZERO,
                per_kv_token: Nanos::ZERO,
            },
            noise: NoiseLevel::NONE,
            max_num_seqs: 16_384,
            token_budget: 1 << 21,
            block_size: 16,
            kv_blocks: 1 << 18,
            prefix_cache: true,
        }),
    },
    Profile {
        name: "null",
        description: "no delays at all: the whole answer at once, to saturate a client",
        model: "sim/null",
        max_model_len: 131_072,
        assumed: true,
        constants: None,
    },
];

impl Profile {
    /// The profile of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// Its constants for people, a line each.
    pub fn describe(&self) -> String {
        let mut text = format!("{}  {}\n", self.name, self.description);
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<20}{value}");
        };
        line("model", self.model);
        line("max_model_len", &self.max_model_len.to_string());
        let Some(constants) = &self.constants else {
            return text;
        };
        let cost = &constants.cost;
        let micros = |span: Nanos| format!("{} µs", span.get() as f64 / 1e3);
        line("base", &micros(cost.base));
        line("per sequence", &micros(cost.per_sequence));
        line("per prefill token", &micros(cost.per_prefill_token));
        line("per KV token", &micros(cost.per_kv_token));
        line("max_num_seqs", &constants.max_num_seqs.to_string());
        line("token budget", &constants.token_budget.to_string());
        line(
            "KV cache",
            &format!(
                "{} blocks of {} tokens",
                constants.kv_blocks, constants.block_size
            ),
        );
        let noise = &constants.noise;
        let noise = if *noise == NoiseLevel::NONE {
            "none".to_owned()
        } else {
            format!(
                "drift {} % a step, jitter {} %, {} stalls/s",
                noise.drift * 100.0,
                noise.jitter * 100.0,
                noise.stalls_per_s
            )
        };
        line("noise", &noise);
        if self.assumed {
            line("source", "assumed, not fitted to a real GPU");
        }
        text
    }
}

/// All profiles with their constants, for people.
pub fn list() -> String {
    PROFILES
        .iter()
        .map(Profile::describe)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_allowed_request_fits_the_cache_alone() {
        for profile in &PROFILES {
            let Some(c) = profile.constants else { continue };
            assert!(
                c.kv_blocks * c.block_size >= profile.max_model_len,
                "{}",
                profile.name
            );
            assert!(c.token_budget >= c.max_num_seqs, "{}", profile.name);
        }
    }

    #[test]
    fn the_list_names_every_constant() {
        insta::assert_snapshot!(list());
    }
}
