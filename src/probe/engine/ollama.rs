//! Ollama: `/api/version`, the model by `/api/show`, and what is loaded of it by `/api/ps`.

use serde_json::Value;

use super::answers::{Answers, Source, scalar};
use super::rule::{Read, Rule};

/// By `api/types.go`. Before the first request nothing is loaded.
pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "engine.version",
        Source::OllamaVersion,
        Read::At("/version"),
    ),
    Rule::new(
        "model.revision",
        Source::OllamaLoaded,
        Read::Made(|answers, model| loaded(answers, model, "/digest")),
    ),
    Rule::new(
        "model.chat_template",
        Source::OllamaModel,
        Read::DigestAt("/template"),
    ),
    Rule::new(
        "precision.weights",
        Source::OllamaModel,
        Read::At("/details/quantization_level"),
    ),
    Rule::new(
        "precision.weights",
        Source::OllamaLoaded,
        Read::Made(|answers, model| loaded(answers, model, "/details/quantization_level")),
    ),
    Rule::new(
        "limits.max_model_len",
        Source::OllamaLoaded,
        Read::Made(|answers, model| loaded(answers, model, "/context_length")),
    ),
];

fn loaded(answers: &Answers, model: &str, pointer: &str) -> Option<String> {
    let models = answers
        .json(Source::OllamaLoaded)?
        .get("models")?
        .as_array()?;
    let of_name = |entry: &&Value| {
        let names = ["name", "model"].map(|field| entry.get(field).and_then(Value::as_str));
        // Without a tag it is the latest.
        names.contains(&Some(model)) || names.contains(&Some(&format!("{model}:latest")))
    };
    scalar(models.iter().find(of_name)?.pointer(pointer)?)
}
