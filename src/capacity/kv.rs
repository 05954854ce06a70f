//! How many sequences the KV cache holds: by the engine's own blocks, or by the model's configuration
//! and the memory that is left for it.

use serde::{Deserialize, Serialize};

use super::known::Why;
use super::model::{ModelShape, bytes_of};
use crate::provenance::Pins;

/// Memory of one GPU, and what stands in it beside the cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// All of it, in bytes.
    pub bytes: f64,
    /// The share that the engine may use.
    pub utilization: f64,
    /// Weights, in bytes.
    pub weights: f64,
    /// Activations and all else, in bytes.
    pub activation: f64,
}

impl Memory {
    /// What is left for the cache: 80 GB at 90 % with 16 GB of weights and 2 GB of activations are 54 GB.
    pub fn left(self) -> f64 {
        (self.bytes * self.utilization - self.weights - self.activation).max(0.0)
    }
}

/// A model and the memory of a GPU that serves it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInMemory {
    /// The model.
    pub shape: ModelShape,
    /// The memory of each of its GPUs.
    pub memory: Memory,
}

/// How many sequences the cache holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KvBound {
    /// What it is worked out from.
    pub source: KvSource,
    /// Tokens of a mean request, prompt and answer.
    pub mean_tokens: u64,
    /// Sequences of that length that fit one replica.
    pub sequences: u64,
    /// Tokens of the longest sequence that the engine takes; `None` where nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_tokens: Option<u64>,
    /// Sequences of that length that fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_sequences: Option<u64>,
    /// Sequences that the engine would run at once (`max_num_seqs`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_num_seqs: Option<u64>,
    /// Requests that were thrown out of the cache in the steps of the sweep; `None` where the engine was
    /// not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u64>,
}

/// What a bound is worked out from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KvSource {
    /// The blocks that the engine reports.
    Engine {
        /// Blocks of one replica.
        blocks: u64,
        /// Tokens in each.
        block_size: u64,
    },
    /// The model's configuration, and the memory left.
    Model {
        /// Bytes left for the cache on each GPU.
        bytes: u64,
        /// Bytes that a mean request takes there.
        sequence_bytes: u64,
        /// Whether some layers keep a window alone.
        windows: bool,
    },
}

impl KvBound {
    /// Whether the engine would run more sequences at once than fit.
    pub fn is_exceeded(&self) -> bool {
        self.max_num_seqs.is_some_and(|most| most > self.sequences)
    }

    /// Of one replica with these pins, for requests of so many tokens on average. The engine's own
    /// blocks count before a model's configuration.
    ///
    /// 4,096 blocks of 16 tokens hold 51 sequences of 1,280 tokens, 80 blocks each.
    ///
    /// # Errors
    ///
    /// [`Why`] where neither is known.
    pub fn of(pins: &Pins, mean_tokens: f64, model: Option<&ModelInMemory>) -> Result<Self, Why> {
        if !(mean_tokens.is_finite() && mean_tokens >= 1.0) {
            return Err(Why::NoTokens);
        }
        let mean = mean_tokens.ceil() as u64;
        let longest = number(pins, "limits.max_model_len").filter(|tokens| *tokens > 0);
        let (source, holds) = match (blocks(pins), model) {
            (Some((blocks, block_size)), _) => {
                let source = KvSource::Engine { blocks, block_size };
                let holds = move |tokens: u64| Some(blocks / tokens.div_ceil(block_size).max(1));
                (source, Box::new(holds) as Box<dyn Fn(u64) -> Option<u64>>)
            }
            (None, Some(model)) => {
                let tp = number(pins, "parallel.tp").and_then(|tp| u32::try_from(tp).ok());
                let cache = pin(pins, "precision.kv_cache").and_then(bytes_of);
                let bytes = move |tokens| {
                    let shape = &model.shape;
                    shape.sequence_bytes(tokens, tp.unwrap_or(1), cache)
                };
                let left = model.memory.left();
                let source = KvSource::Model {
                    bytes: left as u64,
                    sequence_bytes: bytes(mean).ok_or(Why::NoKv)?,
                    windows: model.shape.has_windows(),
                };
                let holds =
                    move |tokens| Some((left / bytes(tokens)?.max(1) as f64).floor() as u64);
                (source, Box::new(holds) as Box<dyn Fn(u64) -> Option<u64>>)
            }
            (None, None) => return Err(Why::NoKv),
        };
        Ok(Self {
            source,
            mean_tokens: mean,
            sequences: holds(mean).ok_or(Why::NoKv)?,
            longest_tokens: longest,
            longest_sequences: longest.and_then(holds),
            max_num_seqs: number(pins, "limits.max_num_seqs"),
            preemptions: None,
        })
    }
}

/// Blocks of the KV cache of one replica, and their size. Engines in parallel on data report those of one.
fn blocks(pins: &Pins) -> Option<(u64, u64)> {
    let blocks = number(pins, "limits.kv_blocks")?;
    let size = number(pins, "limits.block_size").filter(|size| *size > 0)?;
    let engines = number(pins, "parallel.dp").filter(|engines| *engines > 0);
    Some((blocks.checked_mul(engines.unwrap_or(1))?, size))
}

/// The value of a pin.
pub(super) fn pin<'a>(pins: &'a Pins, path: &str) -> Option<&'a str> {
    pins.get(&path.parse().ok()?)?.value()
}

/// The same as a whole number.
pub(super) fn number(pins: &Pins, path: &str) -> Option<u64> {
    pin(pins, path)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::{Observation, Pin};

    fn pins(of: &[(&str, &str)]) -> Pins {
        let pin = |value: &str| Pin {
            declared: None,
            observed: Observation::Seen {
                value: value.to_owned(),
                source: "/metrics".to_owned(),
            },
        };
        of.iter()
            .map(|(path, value)| (path.parse().unwrap(), pin(value)))
            .collect()
    }

    fn llama(memory: Memory) -> ModelInMemory {
        let text = include_str!("../../tests/fixtures/models/llama-3.1-8b.json");
        ModelInMemory {
            shape: ModelShape::parse(text).unwrap(),
            memory,
        }
    }

    #[test]
    fn the_engines_blocks_bound_its_sequences() {
        let of = pins(&[
            ("limits.kv_blocks", "17"),
            ("limits.block_size", "16"),
            ("limits.max_num_seqs", "4"),
            ("limits.max_model_len", "256"),
        ]);
        // 100 tokens take 7 blocks of 16: two of them fit 17, and one of the longest, with 16 blocks.
        let bound = KvBound::of(&of, 100.0, None).unwrap();
        assert_eq!(bound.sequences, 2);
        assert_eq!(bound.longest_sequences, Some(1));
        assert!(bound.is_exceeded());
        let short = KvBound::of(&of, 60.0, None).unwrap();
        assert_eq!((short.sequences, short.is_exceeded()), (4, false));
    }

    #[test]
    fn a_model_in_memory_bounds_them_too() {
        let gib = f64::from(1 << 30);
        let model = llama(Memory {
            bytes: 80.0 * gib,
            utilization: 0.9,
            weights: 15.0 * gib,
            activation: 2.0 * gib,
        });
        // 72 − 15 − 2 = 55 GiB, of which a sequence of 8,192 tokens takes 1 GiB.
        assert_eq!(
            KvBound::of(&Pins::new(), 8192.0, Some(&model))
                .unwrap()
                .sequences,
            55
        );
        // On each of two GPUs a sequence takes half.
        let two = pins(&[("parallel.tp", "2")]);
        assert_eq!(
            KvBound::of(&two, 8192.0, Some(&model)).unwrap().sequences,
            110
        );
        // A cache of fp8 takes half again.
        let fp8 = pins(&[("parallel.tp", "2"), ("precision.kv_cache", "fp8")]);
        assert_eq!(
            KvBound::of(&fp8, 8192.0, Some(&model)).unwrap().sequences,
            220
        );
        // Weights that leave nothing leave no sequence.
        let full = llama(Memory {
            weights: 80.0 * gib,
            ..model.memory
        });
        assert_eq!(
            KvBound::of(&Pins::new(), 8192.0, Some(&full))
                .unwrap()
                .sequences,
            0
        );
    }

    #[test]
    fn what_nobody_says_is_no_bound() {
        assert_eq!(KvBound::of(&Pins::new(), 100.0, None), Err(Why::NoKv));
        assert_eq!(
            KvBound::of(&Pins::new(), f64::NAN, None),
            Err(Why::NoTokens)
        );
        let half = pins(&[("limits.kv_blocks", "17")]);
        assert_eq!(KvBound::of(&half, 100.0, None), Err(Why::NoKv));
    }
}
