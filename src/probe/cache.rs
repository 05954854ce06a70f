//! What the engine's prefix cache has found so far, by its own metrics.

use super::client::{ProbeClient, ProbeError};
use crate::sample::CacheTokens;
use crate::wire::prometheus::total;

/// How an engine counts. A name may end in `_total`.
struct Counters {
    /// Prompt tokens found.
    hits: &'static str,
    /// Prompt tokens looked up.
    prompts: &'static str,
    /// Whether those found are among them, or come on top.
    whole: bool,
}

/// llama.cpp counts what it computed and what it found apart: 100 computed and 300 found were 400
/// looked up, of which 75 % were found.
const ENGINES: [Counters; 3] = [
    Counters {
        hits: "vllm:prefix_cache_hits",
        prompts: "vllm:prefix_cache_queries",
        whole: true,
    },
    Counters {
        hits: "llamacpp:prompt_tokens_cached",
        prompts: "llamacpp:prompt_tokens",
        whole: false,
    },
    Counters {
        hits: "sglang:cached_tokens",
        prompts: "sglang:prompt_tokens",
        whole: true,
    },
];

/// What the metrics have counted; `None` where they count no prefix cache that is known.
pub(super) fn counted(text: &str) -> Option<CacheTokens> {
    let count = |name: &str| {
        let value = total(text, &format!("{name}_total")).or_else(|| total(text, name))?;
        // `as` saturates, and no engine finds half a token.
        Some(value as u64)
    };
    ENGINES.iter().find_map(|engine| {
        let prompts = count(engine.prompts)?;
        let hits = count(engine.hits)?;
        let found_apart = if engine.whole { 0 } else { hits };
        Some(CacheTokens {
            hits,
            queries: prompts.saturating_add(found_apart),
        })
    })
}

/// Asks the engine what its prefix cache has found since it started; else why it does not say.
pub async fn cache_counters(client: &ProbeClient) -> Result<CacheTokens, String> {
    let text = client
        .text("/metrics")
        .await
        .map_err(|error| why_no_metrics(&error))?;
    counted(&text).ok_or_else(|| "the metrics count no prefix cache that is known".to_owned())
}

/// Why there are no metrics.
pub(super) fn why_no_metrics(error: &ProbeError) -> String {
    match error {
        ProbeError::Status { status, .. } => format!("/metrics answers {status}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_counts_in_its_way() {
        let at = |hits, queries| Some(CacheTokens { hits, queries });
        let vllm = "vllm:prefix_cache_queries_total{engine=\"0\"} 60\n\
                    vllm:prefix_cache_queries_total{engine=\"1\"} 40\n\
                    vllm:prefix_cache_hits_total{engine=\"0\"} 40\n\
                    vllm:prefix_cache_hits_total{engine=\"1\"} 3.0\n\
                    vllm:external_prefix_cache_hits_total{engine=\"0\"} 9\n";
        assert_eq!(counted(vllm), at(43, 100));
        assert_eq!(counted(&vllm.replace("_total", "")), at(43, 100));
        let llama = "llamacpp:prompt_tokens_total 100\nllamacpp:prompt_tokens_cached_total 300\n";
        assert_eq!(counted(llama), at(300, 400));
        let sglang = "sglang:prompt_tokens_total 100\n";
        assert_eq!(counted(sglang), None, "no hit yet, or no such counter");
        let hits = "sglang:cached_tokens_total{cache_source=\"device\"} 20\n\
                    sglang:cached_tokens_total{cache_source=\"host\"} 5\n";
        assert_eq!(counted(&format!("{sglang}{hits}")), at(25, 100));
        assert_eq!(
            counted("llamacpp:prompt_tokens_total 100\n"),
            None,
            "an old build"
        );
        assert_eq!(
            counted("vllm:prefix_cache_hits_total 4\n"),
            None,
            "of how many?"
        );
        assert_eq!(counted("up 1\n"), None);
    }
}
