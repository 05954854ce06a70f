//! Text Generation Inference: `/info`.

use super::answers::{Answers, Source};
use super::rule::{Read, Rule, number_type};

/// By `router/src/lib.rs`. Versions from 2 on leave the type of numbers out.
pub(super) const RULES: &[Rule] = &[
    Rule::new("engine.version", Source::Info, Read::At("/version")),
    Rule::new("engine.build", Source::Info, Read::At("/sha")),
    Rule::new("model.revision", Source::Info, Read::At("/model_sha")),
    Rule::new("precision.activations", Source::Info, Read::Made(computed)),
    Rule::new(
        "limits.max_model_len",
        Source::Info,
        Read::At("/max_total_tokens"),
    ),
    Rule::new(
        "limits.max_num_seqs",
        Source::Info,
        Read::At("/max_batch_size"),
    ),
    Rule::new(
        "limits.max_num_batched_tokens",
        Source::Info,
        Read::At("/max_batch_total_tokens"),
    ),
];

fn computed(answers: &Answers, _: &str) -> Option<String> {
    number_type(&answers.text_at(Source::Info, "/model_dtype")?)
}
