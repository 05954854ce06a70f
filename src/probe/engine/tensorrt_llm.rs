//! trtllm-serve: `/version`, and `/metrics`, which is JSON with the newest iterations.

use super::answers::{Answers, Source, scalar};
use super::rule::{Read, Rule};

/// By `tensorrt_llm/serve/openai_server.py` and the documentation of its metrics.
pub(super) const RULES: &[Rule] = &[
    Rule::new("engine.version", Source::Version, Read::At("/version")),
    Rule::new(
        "limits.max_num_seqs",
        Source::Metrics,
        Read::Made(|answers, _| newest(answers, "/maxBatchSizeStatic")),
    ),
    Rule::new(
        "limits.block_size",
        Source::Metrics,
        Read::Made(|answers, _| newest(answers, "/kvCacheStats/tokensPerBlock")),
    ),
    Rule::new(
        "limits.kv_blocks",
        Source::Metrics,
        Read::Made(|answers, _| newest(answers, "/kvCacheStats/maxNumBlocks")),
    ),
];

/// A figure of the newest iteration; there is none before the first request.
fn newest(answers: &Answers, pointer: &str) -> Option<String> {
    let iterations = answers.json(Source::Metrics)?.as_array()?;
    scalar(iterations.last()?.pointer(pointer)?)
}
