//! The names of each engine: the one place where they stand.
//!
//! Where an engine renamed a metric both names are given, the newer one first; the first that is there
//! counts, for some versions showed both. A counter's `_total` is left out: it may be there or not.

mod tensorrt_llm;

use super::{Counter, Level, Span};
use tensorrt_llm::{TENSORRT_LLM, TENSORRT_LLM_ON_TRITON};

/// A label that a sample has to have.
pub(super) type Label = Option<(&'static str, &'static str)>;

/// A metric.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) name: &'static str,
    pub(super) label: Label,
}

/// Times as their sum and count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    /// The name in front of `_sum`, `_count` and `_bucket`; with `count`, the counter of the sum.
    pub(super) source: Source,
    /// The counter of how many there were, where the two are no family.
    pub(super) count: Option<Source>,
    /// One of it in seconds.
    pub(super) unit_s: f64,
}

/// An engine's names.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) name: &'static str,
    pub(super) prompts_are_whole: bool,
    pub(super) counters: &'static [(Counter, &'static [Source])],
    pub(super) levels: &'static [(Level, &'static [Source])],
    pub(super) spans: &'static [(Span, &'static [Family])],
}

/// Without a label.
const fn plain(name: &'static str) -> Source {
    Source { name, label: None }
}

/// With one.
const fn with(name: &'static str, label: &'static str, value: &'static str) -> Source {
    Source {
        name,
        label: Some((label, value)),
    }
}

/// A histogram or summary in seconds.
const fn seconds(name: &'static str) -> Family {
    Family {
        source: plain(name),
        count: None,
        unit_s: 1.0,
    }
}

/// The same of one label alone.
const fn seconds_with(name: &'static str, label: &'static str, value: &'static str) -> Family {
    Family {
        source: with(name, label, value),
        count: None,
        unit_s: 1.0,
    }
}

/// A counter of time by a counter of what it was spent on.
const fn pair(sum: &'static str, count: &'static str, unit_s: f64) -> Family {
    Family {
        source: plain(sum),
        count: Some(plain(count)),
        unit_s,
    }
}

/// The engines, in the order in which they are looked for. The embedded engine speaks vLLM's names.
pub(super) const ENGINES: [&Engine; 6] = [
    &VLLM,
    &SGLANG,
    &LLAMA_CPP,
    &TENSORRT_LLM,
    &TENSORRT_LLM_ON_TRITON,
    &TGI,
];

/// What many servers show beside their own names: Python's and Go's clients of Prometheus do.
pub(super) const OF_ANY: &[(Level, &[Source])] =
    &[(Level::Memory, &[plain("process_resident_memory_bytes")])];

/// Prompt tokens count when the first token is out, cached ones included. `time_per_output_token` was,
/// for all its name, the gap between tokens.
const VLLM: Engine = Engine {
    name: "vllm",
    prompts_are_whole: true,
    counters: &[
        (Counter::PromptTokens, &[plain("vllm:prompt_tokens")]),
        (Counter::OutputTokens, &[plain("vllm:generation_tokens")]),
        (Counter::Finished, &[plain("vllm:request_success")]),
        (Counter::Preemptions, &[plain("vllm:num_preemptions")]),
        (
            Counter::PrefixQueries,
            &[
                plain("vllm:prefix_cache_queries"),
                plain("vllm:gpu_prefix_cache_queries"),
            ],
        ),
        (
            Counter::PrefixHits,
            &[
                plain("vllm:prefix_cache_hits"),
                plain("vllm:gpu_prefix_cache_hits"),
            ],
        ),
        (
            Counter::Drafted,
            &[plain("vllm:spec_decode_num_draft_tokens")],
        ),
        (
            Counter::Accepted,
            &[plain("vllm:spec_decode_num_accepted_tokens")],
        ),
    ],
    levels: &[
        (Level::Running, &[plain("vllm:num_requests_running")]),
        (Level::Waiting, &[plain("vllm:num_requests_waiting")]),
        (
            Level::KvUsage,
            &[
                plain("vllm:kv_cache_usage_perc"),
                plain("vllm:gpu_cache_usage_perc"),
            ],
        ),
        // The embedded engine's own.
        (Level::KvBlocks, &[plain("infergate:kv_blocks_usable")]),
    ],
    spans: &[
        (Span::Queue, &[seconds("vllm:request_queue_time_seconds")]),
        (
            Span::Prefill,
            &[seconds("vllm:request_prefill_time_seconds")],
        ),
        (Span::Decode, &[seconds("vllm:request_decode_time_seconds")]),
        (Span::Ttft, &[seconds("vllm:time_to_first_token_seconds")]),
        (
            Span::Tpot,
            &[seconds("vllm:request_time_per_output_token_seconds")],
        ),
        (
            Span::Itl,
            &[
                seconds("vllm:inter_token_latency_seconds"),
                seconds("vllm:time_per_output_token_seconds"),
            ],
        ),
        (Span::E2e, &[seconds("vllm:e2e_request_latency_seconds")]),
    ],
};

/// Tokens and requests count when a request ends. Speculation is told as a rate only, which can't be
/// added up.
const SGLANG: Engine = Engine {
    name: "sglang",
    prompts_are_whole: true,
    counters: &[
        (Counter::PromptTokens, &[plain("sglang:prompt_tokens")]),
        (Counter::OutputTokens, &[plain("sglang:generation_tokens")]),
        (Counter::Finished, &[plain("sglang:num_requests")]),
        (
            Counter::Preemptions,
            &[plain("sglang:num_retracted_requests")],
        ),
        (Counter::PrefixQueries, &[plain("sglang:prompt_tokens")]),
        (Counter::PrefixHits, &[plain("sglang:cached_tokens")]),
    ],
    levels: &[
        (Level::Running, &[plain("sglang:num_running_reqs")]),
        (Level::Waiting, &[plain("sglang:num_queue_reqs")]),
        (Level::KvUsage, &[plain("sglang:token_usage")]),
    ],
    spans: &[
        (Span::Queue, &[seconds("sglang:queue_time_seconds")]),
        (
            Span::Prefill,
            &[seconds_with(
                "sglang:per_stage_req_latency_seconds",
                "stage",
                "prefill_forward",
            )],
        ),
        (
            Span::Decode,
            &[seconds_with(
                "sglang:per_stage_req_latency_seconds",
                "stage",
                "decode_forward",
            )],
        ),
        (Span::Ttft, &[seconds("sglang:time_to_first_token_seconds")]),
        (
            Span::Tpot,
            &[seconds("sglang:request_time_per_output_token_seconds")],
        ),
        (
            Span::Itl,
            &[
                seconds("sglang:inter_token_latency_seconds"),
                seconds("sglang:time_per_output_token_seconds"),
            ],
        ),
        (Span::E2e, &[seconds("sglang:e2e_request_latency_seconds")]),
    ],
};

/// Tokens count when a request ends, and prompt tokens without those found in the cache. Of times it
/// has the sums alone; the one over generated tokens, of which the first takes no time in it, is a mean
/// gap between tokens.
const LLAMA_CPP: Engine = Engine {
    name: "llama.cpp",
    prompts_are_whole: false,
    counters: &[
        (Counter::PromptTokens, &[plain("llamacpp:prompt_tokens")]),
        (Counter::OutputTokens, &[plain("llamacpp:tokens_predicted")]),
        (
            Counter::PrefixHits,
            &[plain("llamacpp:prompt_tokens_cached")],
        ),
        (
            Counter::Drafted,
            &[plain("llamacpp:spec_decode_num_draft_tokens")],
        ),
        (
            Counter::Accepted,
            &[plain("llamacpp:spec_decode_num_accepted_tokens")],
        ),
    ],
    levels: &[
        (Level::Running, &[plain("llamacpp:requests_processing")]),
        (Level::Waiting, &[plain("llamacpp:requests_deferred")]),
        (Level::KvUsage, &[plain("llamacpp:kv_cache_usage_ratio")]),
    ],
    spans: &[(
        Span::Itl,
        &[pair(
            "llamacpp:tokens_predicted_seconds",
            "llamacpp:tokens_predicted",
            1.0,
        )],
    )],
};

/// A prefill is that of a batch, and a decode step is the gap between tokens of all in it. Its time per
/// token has the prefill in it, so it is none of ours.
const TGI: Engine = Engine {
    name: "tgi",
    prompts_are_whole: true,
    counters: &[
        (
            Counter::PromptTokens,
            &[plain("tgi_request_input_length_sum")],
        ),
        (
            Counter::OutputTokens,
            &[plain("tgi_request_generated_tokens_sum")],
        ),
        (Counter::Finished, &[plain("tgi_request_success")]),
    ],
    levels: &[
        (Level::Running, &[plain("tgi_batch_current_size")]),
        (Level::Waiting, &[plain("tgi_queue_size")]),
    ],
    spans: &[
        (Span::Queue, &[seconds("tgi_request_queue_duration")]),
        (
            Span::Prefill,
            &[seconds_with(
                "tgi_batch_inference_duration",
                "method",
                "prefill",
            )],
        ),
        (
            Span::Itl,
            &[seconds_with(
                "tgi_batch_inference_duration",
                "method",
                "decode",
            )],
        ),
        (Span::E2e, &[seconds("tgi_request_duration")]),
    ],
};
