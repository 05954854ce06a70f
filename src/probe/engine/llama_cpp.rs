//! llama.cpp's server: `/props`, `/slots` and the metadata in `/v1/models`.

use super::answers::{Answers, Source};
use super::rule::{Read, Rule};

/// Read from a server's own answers, and from those of a build of 2025.
pub(super) const RULES: &[Rule] = &[
    Rule::new("engine.version", Source::Props, Read::At("/build_info")),
    Rule::new(
        "model.chat_template",
        Source::Props,
        Read::DigestAt("/chat_template"),
    ),
    Rule::new(
        "model.adapters",
        Source::Props,
        Read::OrNone("/default_generation_settings/params/lora"),
    ),
    Rule::new("precision.weights", Source::Props, Read::At("/model_ftype")),
    Rule::new("precision.weights", Source::Models, Read::At("/meta/ftype")),
    Rule::new(
        "limits.max_num_seqs",
        Source::Props,
        Read::At("/total_slots"),
    ),
    Rule::new(
        "limits.max_model_len",
        Source::Props,
        Read::At("/default_generation_settings/n_ctx"),
    ),
    Rule::new(
        "limits.max_model_len",
        Source::Models,
        Read::At("/meta/n_ctx"),
    ),
    Rule::new(
        "speculative.method",
        Source::Props,
        Read::At("/default_generation_settings/params/speculative.types"),
    ),
    Rule::new("speculative.method", Source::Slots, Read::Made(speculates)),
];

/// Whether any slot has a draft model.
fn speculates(answers: &Answers, _: &str) -> Option<String> {
    let slots = answers.json(Source::Slots)?.as_array()?;
    let mut flags = slots.iter().map(|slot| slot.get("speculative"));
    let any = flags.try_fold(false, |any, flag| Some(any | flag?.as_bool()?))?;
    (!slots.is_empty()).then(|| if any { "draft" } else { "none" }.to_owned())
}
