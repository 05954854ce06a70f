//! SGLang: all arguments of the server by `/server_info`, which older versions call
//! `/get_server_info`.

use serde_json::Value;

use super::answers::{Answers, Source, scalar};
use super::rule::{Read, Rule, activations, number_type, weights};

/// By `srt/entrypoints/http_server.py` and `srt/server_args.py`.
pub(super) const RULES: &[Rule] = &[
    info(
        "engine.version",
        Read::Made(|answers, _| text(answers, "/version")),
    ),
    info(
        "model.revision",
        Read::Made(|answers, _| text(answers, "/revision")),
    ),
    info("model.tokenizer", Read::Made(tokenizer)),
    Rule::new(
        "model.tokenizer",
        Source::ModelInfo,
        Read::At("/tokenizer_path"),
    ),
    Rule::new(
        "model.tokenizer",
        Source::GetModelInfo,
        Read::At("/tokenizer_path"),
    ),
    info(
        "model.chat_template",
        Read::Made(|answers, _| text(answers, "/chat_template")),
    ),
    info(
        "model.adapters",
        Read::Made(|answers, _| or_none(answers, "/lora_paths")),
    ),
    info(
        "precision.weights",
        Read::Made(|answers, _| weights(&method(answers)?, computed(answers))),
    ),
    info(
        "precision.activations",
        Read::Made(|answers, _| activations(&method(answers)?, computed(answers))),
    ),
    info("precision.method", Read::Made(|answers, _| method(answers))),
    info("precision.kv_cache", Read::Made(kv_cache)),
    info(
        "parallel.tp",
        Read::Made(|answers, _| text(answers, "/tp_size")),
    ),
    info(
        "parallel.pp",
        Read::Made(|answers, _| text(answers, "/pp_size")),
    ),
    info(
        "parallel.ep",
        Read::Made(|answers, _| text(answers, "/ep_size")),
    ),
    info(
        "parallel.dp",
        Read::Made(|answers, _| text(answers, "/dp_size")),
    ),
    info("parallel.role", Read::Made(role)),
    info(
        "limits.max_model_len",
        Read::Made(|answers, _| text(answers, "/context_length")),
    ),
    info(
        "limits.max_num_seqs",
        Read::Made(|answers, _| text(answers, "/max_running_requests")),
    ),
    info(
        "limits.max_num_seqs",
        Read::Made(|answers, _| {
            text(
                answers,
                "/internal_states/0/effective_max_running_requests_per_dp",
            )
        }),
    ),
    info(
        "limits.max_num_batched_tokens",
        Read::Made(|answers, _| text(answers, "/max_prefill_tokens")),
    ),
    info(
        "limits.block_size",
        Read::Made(|answers, _| text(answers, "/page_size")),
    ),
    info("limits.kv_blocks", Read::Made(blocks)),
    info(
        "limits.gpu_memory_utilization",
        Read::Made(|answers, _| text(answers, "/mem_fraction_static")),
    ),
    info(
        "scheduler.policy",
        Read::Made(|answers, _| text(answers, "/schedule_policy")),
    ),
    info("scheduler.chunked_prefill", Read::Made(chunks)),
    info("cache.prefix", Read::Made(prefix)),
    info(
        "speculative.method",
        Read::Made(|answers, _| or_none(answers, "/speculative_algorithm")),
    ),
    info(
        "speculative.model",
        Read::Made(|answers, _| or_none(answers, "/speculative_draft_model_path")),
    ),
    info(
        "speculative.tokens",
        Read::Made(|answers, _| or_none(answers, "/speculative_num_draft_tokens")),
    ),
];

/// Both names of the one answer; [`at`] takes the one that is there.
const fn info(pin: &'static str, read: Read) -> Rule {
    Rule::new(pin, Source::ServerInfo, read)
}

fn at<'a>(answers: &'a Answers, pointer: &str) -> Option<&'a Value> {
    let sources = [Source::ServerInfo, Source::GetServerInfo];
    sources
        .into_iter()
        .find_map(|source| answers.json(source)?.pointer(pointer))
}

fn text(answers: &Answers, pointer: &str) -> Option<String> {
    scalar(at(answers, pointer)?)
}

/// `none` where the server has the argument and nothing was given.
fn or_none(answers: &Answers, pointer: &str) -> Option<String> {
    match at(answers, pointer)? {
        Value::Null => Some("none".to_owned()),
        Value::Array(entries) if entries.is_empty() => Some("none".to_owned()),
        Value::Array(entries) => {
            let names: Vec<String> = entries.iter().map(Value::to_string).collect();
            Some(names.join(", "))
        }
        Value::Object(entries) => {
            let names: Vec<&str> = entries.keys().map(String::as_str).collect();
            Some(names.join(", "))
        }
        other => scalar(other),
    }
}

/// The model's own goes by the model's name.
fn tokenizer(answers: &Answers, model: &str) -> Option<String> {
    let tokenizer = text(answers, "/tokenizer_path")?;
    let is_own = text(answers, "/model_path").as_ref() == Some(&tokenizer);
    Some(if is_own { model.to_owned() } else { tokenizer })
}

fn method(answers: &Answers) -> Option<String> {
    or_none(answers, "/quantization")
}

fn computed(answers: &Answers) -> Option<String> {
    number_type(&text(answers, "/dtype")?)
}

fn kv_cache(answers: &Answers, _: &str) -> Option<String> {
    number_type(&text(answers, "/kv_cache_dtype")?).or_else(|| computed(answers))
}

fn role(answers: &Answers, _: &str) -> Option<String> {
    let mode = text(answers, "/disaggregation_mode")?;
    Some(match mode.as_str() {
        "null" => "prefill and decode".to_owned(),
        other => other.to_owned(),
    })
}

/// Tokens of the cache in pages.
fn blocks(answers: &Answers, _: &str) -> Option<String> {
    let tokens = at(answers, "/max_total_num_tokens")?.as_u64()?;
    let page = at(answers, "/page_size")
        .and_then(Value::as_u64)
        .unwrap_or(1);
    Some(tokens.checked_div(page)?.to_string())
}

/// Tokens of a chunk; `off` where prompts are not cut.
fn chunks(answers: &Answers, _: &str) -> Option<String> {
    let size = at(answers, "/chunked_prefill_size")?.as_i64()?;
    Some(if size > 0 {
        size.to_string()
    } else {
        "off".to_owned()
    })
}

fn prefix(answers: &Answers, _: &str) -> Option<String> {
    let disabled = at(answers, "/disable_radix_cache")?.as_bool()?;
    Some(if disabled { "off" } else { "on" }.to_owned())
}
