//! TensorRT-LLM's names, of its own server and of its backend in Triton.

use super::{Counter, Engine, Family, Level, Span, plain, seconds, with};

/// `trtllm-serve`; what counts iterations is there only with iteration statistics on. Dynamo writes
/// the prefix with a colon.
pub(super) const TENSORRT_LLM: Engine = Engine {
    name: "tensorrt-llm",
    prompts_are_whole: true,
    counters: &[
        (
            Counter::PromptTokens,
            &[plain("trtllm_prompt_tokens"), plain("trtllm:prompt_tokens")],
        ),
        (
            Counter::OutputTokens,
            &[
                plain("trtllm_generation_tokens"),
                plain("trtllm:generation_tokens"),
            ],
        ),
        (
            Counter::Finished,
            &[
                plain("trtllm_request_success"),
                plain("trtllm:request_success"),
            ],
        ),
        (
            Counter::PrefixQueries,
            &[plain("trtllm_prompt_tokens"), plain("trtllm:prompt_tokens")],
        ),
        (
            Counter::PrefixHits,
            &[
                plain("trtllm_prompt_cached_tokens"),
                plain("trtllm:prompt_cached_tokens"),
            ],
        ),
        (
            Counter::Drafted,
            &[
                plain("trtllm_spec_decode_drafted_tokens"),
                plain("trtllm_spec_decode_num_draft_tokens"),
            ],
        ),
        (
            Counter::Accepted,
            &[
                plain("trtllm_spec_decode_accepted_tokens"),
                plain("trtllm_spec_decode_num_accepted_tokens"),
            ],
        ),
    ],
    levels: &[
        (
            Level::Running,
            &[
                plain("trtllm_num_requests_running"),
                plain("trtllm:num_requests_running"),
            ],
        ),
        (
            Level::Waiting,
            &[
                plain("trtllm_num_requests_waiting"),
                plain("trtllm:num_requests_waiting"),
            ],
        ),
        (
            Level::KvUsage,
            &[
                plain("trtllm_kv_cache_utilization"),
                plain("trtllm:kv_cache_utilization"),
            ],
        ),
    ],
    spans: &[
        (
            Span::Queue,
            &[
                seconds("trtllm_request_queue_time_seconds"),
                seconds("trtllm:request_queue_time_seconds"),
            ],
        ),
        (
            Span::Prefill,
            &[
                seconds("trtllm_request_prefill_time_seconds"),
                seconds("trtllm:request_prefill_time_seconds"),
            ],
        ),
        (
            Span::Decode,
            &[
                seconds("trtllm_request_decode_time_seconds"),
                seconds("trtllm:request_decode_time_seconds"),
            ],
        ),
        (
            Span::Ttft,
            &[
                seconds("trtllm_time_to_first_token_seconds"),
                seconds("trtllm:time_to_first_token_seconds"),
            ],
        ),
        (
            Span::Tpot,
            &[
                seconds("trtllm_time_per_output_token_seconds"),
                seconds("trtllm:time_per_output_token_seconds"),
            ],
        ),
        (
            Span::E2e,
            &[
                seconds("trtllm_e2e_request_latency_seconds"),
                seconds("trtllm:e2e_request_latency_seconds"),
            ],
        ),
    ],
};

/// Triton's TensorRT-LLM backend: its queue ends where the backend takes a request, which then waits
/// inside it.
pub(super) const TENSORRT_LLM_ON_TRITON: Engine = Engine {
    name: "tensorrt-llm",
    prompts_are_whole: true,
    counters: &[(
        Counter::Finished,
        &[with(
            "nv_inference_request_success",
            "model",
            "tensorrt_llm",
        )],
    )],
    levels: &[
        (
            Level::Running,
            &[with("nv_trt_llm_request_metrics", "request_type", "active")],
        ),
        (
            Level::Waiting,
            &[with(
                "nv_trt_llm_request_metrics",
                "request_type",
                "waiting",
            )],
        ),
        (
            Level::KvUsage,
            &[with(
                "nv_trt_llm_kv_cache_block_metrics",
                "kv_cache_block_type",
                "fraction",
            )],
        ),
    ],
    spans: &[
        (
            Span::Ttft,
            &[Family {
                source: with(
                    "nv_inference_first_response_histogram_ms",
                    "model",
                    "tensorrt_llm",
                ),
                count: None,
                unit_s: 1e-3,
            }],
        ),
        (
            Span::E2e,
            &[pair_of_model(
                "nv_inference_request_duration_us",
                "nv_inference_request_success",
            )],
        ),
    ],
};

/// Of the engine's model alone: an ensemble around it counts each request again.
const fn pair_of_model(sum: &'static str, count: &'static str) -> Family {
    Family {
        source: with(sum, "model", "tensorrt_llm"),
        count: Some(with(count, "model", "tensorrt_llm")),
        unit_s: 1e-6,
    }
}
