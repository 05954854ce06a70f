//! vLLM: `/version`, `/v1/models`, the info series of `/metrics`, and `/server_info` in its development
//! mode.

use serde_json::Value;

use super::answers::{Answers, Source, scalar};
use super::rule::{Read, Rule, activations, number_type, weights};

const CACHE: &str = "vllm:cache_config_info";

/// Read from vLLM 0.32's own answers. `kv_blocks` of the metrics is one engine's of several in parallel.
pub(super) const RULES: &[Rule] = &[
    Rule::new("engine.version", Source::Version, Read::At("/version")),
    info("engine.build", Read::At("/vllm_env/VLLM_BUILD_COMMIT")),
    info(
        "model.revision",
        Read::At("/vllm_config/model_config/revision"),
    ),
    info("model.tokenizer", Read::Made(tokenizer)),
    Rule::new("model.adapters", Source::Models, Read::Made(adapters)),
    info(
        "precision.weights",
        Read::Made(|answers, _| weights(&method(answers)?, computed(answers))),
    ),
    info(
        "precision.activations",
        Read::Made(|answers, _| activations(&method(answers)?, computed(answers))),
    ),
    info("precision.method", Read::Made(|answers, _| method(answers))),
    Rule::new(
        "precision.kv_cache",
        Source::Metrics,
        Read::Made(|answers, _| kv_cache(&answers.label(CACHE, "cache_dtype")?, answers)),
    ),
    info(
        "precision.kv_cache",
        Read::Made(|answers, _| {
            kv_cache(
                &scalar(config(answers, "/cache_config/cache_dtype")?)?,
                answers,
            )
        }),
    ),
    info(
        "parallel.tp",
        Read::At("/vllm_config/parallel_config/tensor_parallel_size"),
    ),
    info(
        "parallel.pp",
        Read::At("/vllm_config/parallel_config/pipeline_parallel_size"),
    ),
    info(
        "parallel.dp",
        Read::At("/vllm_config/parallel_config/data_parallel_size"),
    ),
    info("parallel.ep", Read::Made(experts)),
    info("parallel.role", Read::Made(role)),
    info(
        "limits.max_model_len",
        Read::At("/vllm_config/model_config/max_model_len"),
    ),
    info(
        "limits.max_num_seqs",
        Read::At("/vllm_config/scheduler_config/max_num_seqs"),
    ),
    info(
        "limits.max_num_batched_tokens",
        Read::At("/vllm_config/scheduler_config/max_num_batched_tokens"),
    ),
    Rule::new(
        "limits.block_size",
        Source::Metrics,
        Read::Label(CACHE, "block_size"),
    ),
    info(
        "limits.block_size",
        Read::At("/vllm_config/cache_config/block_size"),
    ),
    Rule::new(
        "limits.kv_blocks",
        Source::Metrics,
        Read::Label(CACHE, "num_gpu_blocks"),
    ),
    info(
        "limits.kv_blocks",
        Read::At("/vllm_config/cache_config/num_gpu_blocks"),
    ),
    Rule::new(
        "limits.gpu_memory_utilization",
        Source::Metrics,
        Read::Label(CACHE, "gpu_memory_utilization"),
    ),
    info(
        "limits.gpu_memory_utilization",
        Read::At("/vllm_config/cache_config/gpu_memory_utilization"),
    ),
    info(
        "scheduler.policy",
        Read::At("/vllm_config/scheduler_config/policy"),
    ),
    info(
        "scheduler.chunked_prefill",
        Read::Flag("/vllm_config/scheduler_config/enable_chunked_prefill"),
    ),
    Rule::new(
        "cache.prefix",
        Source::Metrics,
        Read::LabelFlag(CACHE, "enable_prefix_caching"),
    ),
    info(
        "cache.prefix",
        Read::Flag("/vllm_config/cache_config/enable_prefix_caching"),
    ),
    info(
        "speculative.method",
        Read::OrNone("/vllm_config/speculative_config"),
    ),
    info(
        "speculative.method",
        Read::At("/vllm_config/speculative_config/method"),
    ),
    info(
        "speculative.model",
        Read::OrNone("/vllm_config/speculative_config"),
    ),
    info(
        "speculative.model",
        Read::At("/vllm_config/speculative_config/model"),
    ),
    info(
        "speculative.tokens",
        Read::OrNone("/vllm_config/speculative_config"),
    ),
    info(
        "speculative.tokens",
        Read::At("/vllm_config/speculative_config/num_speculative_tokens"),
    ),
    info("hardware.gpu", Read::Made(products)),
    info(
        "hardware.driver",
        Read::At("/system_env/nvidia_driver_version"),
    ),
];

const fn info(pin: &'static str, read: Read) -> Rule {
    Rule::new(pin, Source::ServerInfo, read)
}

fn config<'a>(answers: &'a Answers, pointer: &str) -> Option<&'a Value> {
    answers
        .json(Source::ServerInfo)?
        .get("vllm_config")?
        .pointer(pointer)
}

/// The model's own goes by the model's name.
fn tokenizer(answers: &Answers, model: &str) -> Option<String> {
    let tokenizer = scalar(config(answers, "/model_config/tokenizer")?)?;
    let path = config(answers, "/model_config/model").and_then(scalar);
    Some(if path.as_deref() == Some(&tokenizer) {
        model.to_owned()
    } else {
        tokenizer
    })
}

/// Models with a parent are adapters of it.
fn adapters(answers: &Answers, _: &str) -> Option<String> {
    let mut entries = answers.models().peekable();
    entries.peek()?;
    let is_adapter = |entry: &&Value| entry.get("parent").is_some_and(Value::is_string);
    let mut names: Vec<&str> = entries
        .filter(is_adapter)
        .filter_map(|entry| entry.get("id")?.as_str())
        .collect();
    names.sort_unstable();
    Some(if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    })
}

fn method(answers: &Answers) -> Option<String> {
    match config(answers, "/model_config/quantization")? {
        Value::Null => Some("none".to_owned()),
        other => scalar(other),
    }
}

fn computed(answers: &Answers) -> Option<String> {
    number_type(&scalar(config(answers, "/model_config/dtype")?)?)
}

/// `auto` is the type that the model is computed in, where that is known.
fn kv_cache(declared: &str, answers: &Answers) -> Option<String> {
    number_type(declared).or_else(|| computed(answers))
}

/// Over how many experts are spread: all of a tensor- and data-parallel group, or none.
fn experts(answers: &Answers, _: &str) -> Option<String> {
    let on = config(answers, "/parallel_config/enable_expert_parallel")?.as_bool()?;
    let size = |pointer| config(answers, pointer)?.as_u64();
    let group = size("/parallel_config/tensor_parallel_size")?
        .checked_mul(size("/parallel_config/data_parallel_size")?)?;
    Some(if on { group } else { 1 }.to_string())
}

/// What it does of a request where prefill and decode are on different engines.
fn role(answers: &Answers, _: &str) -> Option<String> {
    let transfer = config(answers, "/kv_transfer_config")?;
    let role = match transfer {
        Value::Null => return Some("prefill and decode".to_owned()),
        other => other.get("kv_role")?.as_str()?,
    };
    Some(match role {
        "kv_producer" => "prefill".to_owned(),
        "kv_consumer" => "decode".to_owned(),
        "kv_both" => "prefill and decode".to_owned(),
        other => other.to_owned(),
    })
}

/// The products in `GPU 0: NVIDIA H200`, each once.
fn products(answers: &Answers, _: &str) -> Option<String> {
    let lines = answers.text_at(Source::ServerInfo, "/system_env/nvidia_gpu_models")?;
    let mut products: Vec<&str> = Vec::new();
    for line in lines.lines() {
        let product = line
            .split_once(": ")
            .map_or(line, |(_, product)| product)
            .trim();
        if !product.is_empty() && !products.contains(&product) {
            products.push(product);
        }
    }
    Some(products.join(" + "))
}
