//! Where a pin can be seen, and how it is read there.

use serde_json::Value;

use super::answers::{Answers, Source, scalar};
use crate::ident::Digest;
use crate::provenance::{Observation, Why};

/// One place where a pin can be seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) pin: &'static str,
    pub(super) source: Source,
    pub(super) read: Read,
}

/// How a value is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Read {
    /// The scalar at a place of the answer; of `/v1/models`, of the model's entry.
    At(&'static str),
    /// The same, a flag: `on` or `off`.
    Flag(&'static str),
    /// The same, where nothing means `none`, if the answer knows of the place at all.
    OrNone(&'static str),
    /// The digest of the text there.
    DigestAt(&'static str),
    /// A label of a metric; `None` is Python's way of saying nothing.
    Label(&'static str, &'static str),
    /// The same, a flag.
    LabelFlag(&'static str, &'static str),
    /// Worked out from the answers and the model's name.
    Made(fn(&Answers, &str) -> Option<String>),
}

impl Rule {
    pub(super) const fn new(pin: &'static str, source: Source, read: Read) -> Self {
        Self { pin, source, read }
    }

    /// What it shows; `None` where there is nothing.
    pub(super) fn observe(&self, answers: &Answers, model: &str) -> Option<Observation> {
        let value = self.value(answers, model)?;
        if is_placeholder(&value) {
            return Some(Observation::Unknown(Why::Placeholder(value)));
        }
        let source = answers.told_by(self.source).path().to_owned();
        (!value.is_empty()).then_some(Observation::Seen { value, source })
    }

    fn value(&self, answers: &Answers, model: &str) -> Option<String> {
        let root = || match self.source {
            Source::Models => answers.model(model),
            other => answers.json(other),
        };
        let at = |pointer| root()?.pointer(pointer);
        match self.read {
            Read::At(pointer) => scalar(at(pointer)?),
            Read::Flag(pointer) => flag(&scalar(at(pointer)?)?),
            Read::OrNone(pointer) => match at(pointer)? {
                Value::Null => Some("none".to_owned()),
                Value::Array(entries) if entries.is_empty() => Some("none".to_owned()),
                Value::Array(entries) => Some(entries.len().to_string()),
                Value::Object(_) => None,
                other => scalar(other),
            },
            Read::DigestAt(pointer) => {
                let text = scalar(at(pointer)?).filter(|text| !text.is_empty())?;
                Some(format!("sha256:{}", Digest::of(text.as_bytes()).short()))
            }
            Read::Label(metric, label) => {
                answers.label(metric, label).filter(|value| value != "None")
            }
            Read::LabelFlag(metric, label) => flag(&answers.label(metric, label)?),
            Read::Made(work_out) => work_out(answers, model),
        }
    }
}

/// A flag as JSON or Python writes it.
fn flag(text: &str) -> Option<String> {
    match text {
        "true" | "True" => Some("on".to_owned()),
        "false" | "False" => Some("off".to_owned()),
        _ => None,
    }
}

/// What builds without version control call themselves: llama.cpp's `b0-unknown`, vLLM's `dev`.
fn is_placeholder(value: &str) -> bool {
    matches!(value, "unknown" | "dev") || value.ends_with("-unknown") || value.starts_with("b0-")
}

/// A type of numbers without the library's name: `bf16` of `torch.bfloat16`.
pub(super) fn number_type(text: &str) -> Option<String> {
    let plain = text.strip_prefix("torch.").unwrap_or(text);
    let short = match plain {
        "auto" | "" => return None,
        "bfloat16" => "bf16",
        "float16" | "half" => "fp16",
        "float32" | "float" => "fp32",
        other => other,
    };
    Some(short.to_owned())
}

/// Weights by the method and the type that a server computes in: that type where nothing is quantized,
/// the method where its name is a type, and nothing where it could be either.
pub(super) fn weights(method: &str, computed: Option<String>) -> Option<String> {
    match method {
        "none" => computed,
        "fp8" | "mxfp4" | "mxfp8" | "nvfp4" => Some(method.to_owned()),
        _ => None,
    }
}

/// Activations likewise: of methods that quantize weights alone, the type that a server computes in.
pub(super) fn activations(method: &str, computed: Option<String>) -> Option<String> {
    const WEIGHTS_ALONE: [&str; 8] = [
        "none",
        "awq",
        "awq_marlin",
        "gptq",
        "gptq_marlin",
        "bitsandbytes",
        "gguf",
        "mxfp4",
    ];
    computed.filter(|_| WEIGHTS_ALONE.contains(&method))
}
