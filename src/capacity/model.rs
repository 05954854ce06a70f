//! A model's `config.json` → what its KV cache holds of each token.

use serde::Deserialize;

/// What a model keeps of each token, as far as its memory goes.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelShape {
    /// Layers, each with what it keeps.
    layers: Vec<Layer>,
    /// Bytes of one element where the cache has the model's own type; `None` where it names none.
    bytes: Option<u32>,
}

/// What one layer keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layer {
    cache: Cache,
    /// Tokens that it looks back on; `None` of all.
    window: Option<u32>,
}

/// What one layer keeps of one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cache {
    /// A key and a value of so many elements for each of so many heads, which tensor parallelism
    /// shares out.
    Heads { heads: u32, elements: u32 },
    /// One compressed vector for all heads, which every GPU has whole.
    Latent { elements: u32 },
}

/// Why a text is no model's configuration.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It is no JSON, or a field is of another type.
    #[error("is not a model's `config.json`: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It lacks what the cache's size follows from.
    #[error("has no `{field}`, from which the size of its KV cache would follow")]
    Lacks {
        /// What is missing.
        field: &'static str,
    },
    /// A figure is 0, or far beyond any model's.
    #[error("has {value} as `{field}`; give the `config.json` of the model that is served")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// What it says.
        value: u64,
    },
}

#[expect(clippy::struct_field_names, reason = "the names of the file")]
/// The fields that matter, as Hugging Face's models name them.
#[derive(Deserialize)]
struct Config {
    /// Of models of text and pictures: the part that answers.
    text_config: Option<Box<Self>>,
    num_hidden_layers: Option<u64>,
    num_attention_heads: Option<u64>,
    num_key_value_heads: Option<u64>,
    hidden_size: Option<u64>,
    head_dim: Option<u64>,
    /// Multi-head latent attention, as in `DeepSeek`.
    kv_lora_rank: Option<u64>,
    qk_rope_head_dim: Option<u64>,
    sliding_window: Option<u64>,
    /// Qwen names a window and does not use it.
    use_sliding_window: Option<bool>,
    /// Of each layer: `sliding_attention` or `full_attention`.
    layer_types: Option<Vec<String>>,
    /// Every so many layers one looks back on all: 6 of Gemma 3.
    sliding_window_pattern: Option<u64>,
    model_type: Option<String>,
    torch_dtype: Option<String>,
    /// The newer name.
    dtype: Option<String>,
}

/// Beyond any model's figures.
const MOST: u64 = 1 << 20;

impl ModelShape {
    /// Reads a `config.json`.
    ///
    /// # Errors
    ///
    /// [`ModelError`] where it is none, or lacks what the size follows from.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let config: Config = serde_json::from_str(text)?;
        let outer = config.torch_dtype.clone().or(config.dtype.clone());
        let config = config
            .text_config
            .map_or_else(|| serde_json::from_str::<Config>(text), |inner| Ok(*inner))?;
        let layers = need("num_hidden_layers", config.num_hidden_layers)?;
        let cache = config.cache()?;
        let layers = (0..layers).map(|index| Layer {
            cache,
            window: config.window(index),
        });
        let dtype = config.torch_dtype.as_deref().or(config.dtype.as_deref());
        Ok(Self {
            layers: layers.collect(),
            bytes: dtype.or(outer.as_deref()).and_then(bytes_of),
        })
    }

    /// Bytes that one sequence of so many tokens takes on each GPU, of which `tp` share the heads.
    /// `cache_bytes` is what an element takes; the model's own type unless given. `None` where
    /// nobody says.
    ///
    /// `2 × layers × kv_heads × head_dim × bytes × tokens`, by layers because of windows; heads are
    /// dealt out whole, so no GPU has less than one. A 32-layer model with 8 heads of 128 elements of
    /// 2 bytes: 131,072 bytes a token, 32,768 on each of 4 GPUs.
    pub fn sequence_bytes(&self, tokens: u64, tp: u32, cache_bytes: Option<u32>) -> Option<u64> {
        let bytes = u64::from(cache_bytes.or(self.bytes)?);
        let layer = |layer: &Layer| {
            let kept = layer
                .window
                .map_or(tokens, |window| tokens.min(window.into()));
            let elements = match layer.cache {
                Cache::Heads { heads, elements } => {
                    2 * u64::from(heads.div_ceil(tp.max(1))) * u64::from(elements)
                }
                Cache::Latent { elements } => u64::from(elements),
            };
            kept.checked_mul(elements)?.checked_mul(bytes)
        };
        let each: Option<Vec<u64>> = self.layers.iter().map(layer).collect();
        each?.into_iter().try_fold(0_u64, u64::checked_add)
    }

    /// Whether some layers look back on a window alone. An engine that keeps whole sequences for them all
    /// the same has less room than [`ModelShape::sequence_bytes`] says.
    pub fn has_windows(&self) -> bool {
        self.layers.iter().any(|layer| layer.window.is_some())
    }
}

impl Config {
    fn cache(&self) -> Result<Cache, ModelError> {
        if self.kv_lora_rank.is_some() {
            let rank = need("kv_lora_rank", self.kv_lora_rank)?;
            let rope = need("qk_rope_head_dim", self.qk_rope_head_dim)?;
            return Ok(Cache::Latent {
                elements: rank + rope,
            });
        }
        let all = self.num_attention_heads;
        let heads = need("num_key_value_heads", self.num_key_value_heads.or(all))?;
        let elements = if self.head_dim.is_some() {
            need("head_dim", self.head_dim)?
        } else {
            let hidden = need("hidden_size", self.hidden_size)?;
            hidden / need("num_attention_heads", all)?
        };
        Ok(Cache::Heads { heads, elements })
    }

    /// What a layer looks back on.
    fn window(&self, layer: u32) -> Option<u32> {
        let window = self.sliding_window.filter(|window| *window > 0)?;
        if self.use_sliding_window == Some(false) {
            return None;
        }
        let index = layer as usize;
        let slides = match (&self.layer_types, self.sliding_window_pattern) {
            (Some(types), _) => types
                .get(index)
                .is_some_and(|kind| kind.starts_with("sliding")),
            (None, Some(pattern)) if pattern > 0 => !u64::from(layer + 1).is_multiple_of(pattern),
            // Gemma 2 says nothing of its layers: every other one slides, the first to begin with.
            (None, _)
                if self
                    .model_type
                    .as_deref()
                    .is_some_and(|kind| kind.starts_with("gemma2")) =>
            {
                layer.is_multiple_of(2)
            }
            (None, _) => true,
        };
        slides.then(|| u32::try_from(window).unwrap_or(u32::MAX))
    }
}

fn need(field: &'static str, value: Option<u64>) -> Result<u32, ModelError> {
    let value = value.ok_or(ModelError::Lacks { field })?;
    let fits = u32::try_from(value)
        .ok()
        .filter(|_| (1..=MOST).contains(&value));
    fits.ok_or(ModelError::OutOfRange { field, value })
}

/// Bytes of an element of a type by its name, as models and engines write it: 2 of `bfloat16`, 1 of `fp8`.
pub fn bytes_of(dtype: &str) -> Option<u32> {
    let dtype = dtype.trim().to_ascii_lowercase();
    let name = dtype.strip_prefix("torch.").unwrap_or(&dtype);
    match name {
        "float32" | "fp32" | "f32" | "float" => Some(4),
        "bfloat16" | "bf16" | "float16" | "fp16" | "f16" | "half" => Some(2),
        name if name.starts_with("fp8") || name.starts_with("float8") || name == "int8" => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(name: &str) -> ModelShape {
        let path = format!(
            "{}/tests/fixtures/models/{name}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        ModelShape::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn grouped_queries() {
        // 2 × 32 layers × 8 heads × 128 × 2 bytes.
        let llama = shape("llama-3.1-8b");
        assert_eq!(llama.sequence_bytes(1, 1, None), Some(131_072));
        assert_eq!(llama.sequence_bytes(8192, 1, None), Some(1 << 30));
        // A cache of fp8 takes half of it, two GPUs half each.
        assert_eq!(llama.sequence_bytes(1, 1, Some(1)), Some(65_536));
        assert_eq!(llama.sequence_bytes(1, 2, None), Some(65_536));
        // Beyond 8 GPUs each still has a head.
        assert_eq!(llama.sequence_bytes(1, 16, None), Some(16_384));
        assert!(!llama.has_windows());
    }

    #[test]
    fn latent_attention() {
        // 61 layers × (512 + 64) × 2 bytes, whole on every GPU.
        let deepseek = shape("deepseek-v3");
        assert_eq!(deepseek.sequence_bytes(1, 1, None), Some(70_272));
        assert_eq!(deepseek.sequence_bytes(1, 8, None), Some(70_272));
    }

    #[test]
    fn sliding_windows() {
        // All 32 layers look back on 4,096 tokens: 131,072 × 4,096 bytes, however long it is.
        let mistral = shape("mistral-7b-v0.1");
        assert_eq!(mistral.sequence_bytes(1024, 1, None), Some(131_072 * 1024));
        assert_eq!(
            mistral.sequence_bytes(32_768, 1, None),
            Some(131_072 * 4096)
        );
        // Of 42 layers every other one: 2 × 8 heads × 256 × 2 bytes × (21 × 8,192 + 21 × 4,096).
        let gemma = shape("gemma-2-9b");
        let expected = 2 * 8 * 256 * 2 * (21 * 8192 + 21 * 4096);
        assert_eq!(gemma.sequence_bytes(8192, 1, None), Some(expected));
        assert!(gemma.has_windows());
    }

    #[test]
    fn what_is_inside_and_how_layers_are_told() {
        // Three local layers and a global one, in the part that answers.
        let text = r#"{"torch_dtype": "bfloat16", "text_config": {"num_hidden_layers": 4,
            "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
            "sliding_window": 10, "sliding_window_pattern": 4}}"#;
        let shape = ModelShape::parse(text).unwrap();
        // 2 × 1 × 8 × 2 bytes = 32 a token and layer.
        assert_eq!(
            shape.sequence_bytes(100, 1, None),
            Some(32 * (3 * 10 + 100))
        );
        let text = r#"{"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32,
            "sliding_window": 10, "use_sliding_window": false}"#;
        let shape = ModelShape::parse(text).unwrap();
        assert_eq!(
            shape.sequence_bytes(100, 1, None),
            None,
            "nobody says the type"
        );
        assert_eq!(
            shape.sequence_bytes(100, 1, Some(2)),
            Some(2 * 2 * 4 * 8 * 2 * 100)
        );
    }

    #[test]
    fn what_is_no_configuration_says_why() {
        let said = |text: &str| ModelShape::parse(text).unwrap_err().to_string();
        assert!(said("[]").starts_with("is not a model's `config.json`"));
        assert!(said("{}").contains("`num_hidden_layers`"));
        assert!(said(r#"{"num_hidden_layers": 0}"#).contains("has 0 as `num_hidden_layers`"));
        let no_heads = r#"{"num_hidden_layers": 2, "hidden_size": 32}"#;
        assert!(said(no_heads).contains("`num_key_value_heads`"));
        let most = r#"{"num_hidden_layers": 1048576, "num_key_value_heads": 1048576, "head_dim": 1048576, "dtype": "fp16"}"#;
        let shape = ModelShape::parse(most).unwrap();
        assert_eq!(shape.sequence_bytes(u64::MAX, 1, None), None);
    }
}
