//! What a target's engine says of itself: which engine it is, and what its answers show of each pin.
//!
//! Pure functions on answers. Each engine has a file with its rules, a rule for each place where a pin
//! can be seen; of several for one pin the first that gives a value holds. What no rule knows in an
//! answer is passed over, so later versions' fields never fail.

mod answers;
mod lists;
mod llama_cpp;
mod lmdeploy;
mod ollama;
mod rule;
mod sglang;
mod tensorrt_llm;
#[cfg(test)]
mod tests;
mod tgi;
mod vllm;

pub use answers::Source;
pub(super) use answers::{Answers, Reply};

use std::collections::BTreeMap;

use self::rule::Rule;
use crate::provenance::{Observation, PinPath, Why};
use crate::spec::MetricsPlace;

/// The engines that are known by their answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// llama.cpp's server.
    LlamaCpp,
    /// trtllm-serve.
    TensorRtLlm,
    /// Text Generation Inference.
    Tgi,
    /// LMDeploy.
    Lmdeploy,
    /// Ollama.
    Ollama,
    /// The embedded engine.
    Embedded,
    /// Any other that speaks OpenAI's API.
    Other,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Vllm,
        Self::Sglang,
        Self::LlamaCpp,
        Self::TensorRtLlm,
        Self::Tgi,
        Self::Lmdeploy,
        Self::Ollama,
        Self::Embedded,
        Self::Other,
    ];

    /// The name as the pin `engine.name` has it; `other` for those that are not known.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
            Self::LlamaCpp => "llama.cpp",
            Self::TensorRtLlm => "tensorrt-llm",
            Self::Tgi => "tgi",
            Self::Lmdeploy => "lmdeploy",
            Self::Ollama => "ollama",
            Self::Embedded => "infergate-sim",
            Self::Other => "other",
        }
    }

    /// Where each pin can be seen: the paths of its sources, in the order in which they are believed.
    pub fn sources(self) -> BTreeMap<PinPath, Vec<&'static str>> {
        let mut sources: BTreeMap<PinPath, Vec<&'static str>> = BTreeMap::new();
        for rule in self.rules() {
            if let Ok(pin) = rule.pin.parse() {
                let paths = sources.entry(pin).or_default();
                if !paths.contains(&rule.source.path()) {
                    paths.push(rule.source.path());
                }
            }
        }
        sources
    }

    fn rules(self) -> impl Iterator<Item = &'static Rule> {
        let own = match self {
            Self::Vllm => vllm::RULES,
            Self::Sglang => sglang::RULES,
            Self::LlamaCpp => llama_cpp::RULES,
            Self::TensorRtLlm => tensorrt_llm::RULES,
            Self::Tgi => tgi::RULES,
            Self::Lmdeploy => lmdeploy::RULES,
            Self::Ollama => ollama::RULES,
            Self::Embedded => lists::EMBEDDED,
            Self::Other => lists::OTHER,
        };
        lists::ANY.iter().chain(own)
    }

    /// Which engine gave these answers.
    pub(super) fn of(answers: &Answers) -> Self {
        let owner = answers.owner();
        let has = |source, pointer: &str| {
            let found = answers.json(source).and_then(|json| json.pointer(pointer));
            found.is_some_and(|value| !value.is_null())
        };
        let by_shape = || {
            if has(Source::Props, "/build_info") {
                Self::LlamaCpp
            } else if has(Source::Info, "/model_id") && has(Source::Info, "/version") {
                Self::Tgi
            } else if has(Source::OllamaVersion, "/version") {
                Self::Ollama
            } else if has(Source::GetServerInfo, "/tp_size") || has(Source::ServerInfo, "/tp_size")
            {
                Self::Sglang
            } else if has(Source::ServerInfo, "/vllm_config") {
                Self::Vllm
            } else {
                Self::Other
            }
        };
        if answers.text_at(Source::Version, "/engine").as_deref() == Some(Self::Embedded.name()) {
            return Self::Embedded;
        }
        match owner.as_deref() {
            Some("vllm") => Self::Vllm,
            Some("sglang") => Self::Sglang,
            Some("llamacpp") => Self::LlamaCpp,
            Some("tensorrt_llm") => Self::TensorRtLlm,
            Some("lmdeploy") => Self::Lmdeploy,
            _ => by_shape(),
        }
    }
}

/// Every pin that an engine's side could show, by what became of the paths that it was asked for: each
/// with the body that it answered.
pub fn pins(
    bodies: impl IntoIterator<Item = (Source, String)>,
    model: &str,
) -> BTreeMap<PinPath, Observation> {
    let mut answers = Answers::default();
    for (source, body) in bodies {
        answers.add(source, Reply::Body(body));
    }
    read(&answers, model)
}

/// Groups of pins that an engine's answers could show.
const GROUPS: [&str; 8] = [
    "model",
    "precision",
    "engine",
    "parallel",
    "limits",
    "scheduler",
    "cache",
    "speculative",
];

/// Reads every pin that an engine's side could show from the answers of a target that calls its model
/// so.
pub(super) fn read(answers: &Answers, model: &str) -> BTreeMap<PinPath, Observation> {
    let engine = Engine::of(answers);
    let mut found: BTreeMap<PinPath, Observation> = BTreeMap::new();
    for rule in engine.rules() {
        let Ok(pin) = rule.pin.parse::<PinPath>() else {
            continue;
        };
        let settled = matches!(found.get(&pin), Some(Observation::Seen { .. }));
        if !settled && let Some(observed) = rule.observe(answers, model) {
            found.insert(pin, observed);
        }
    }
    if let (Some(value), Ok(pin)) = (name(engine, answers), "engine.name".parse()) {
        let source = "its answers".to_owned();
        found.insert(pin, Observation::Seen { value, source });
    }
    let sources = engine.sources();
    for pin in PinPath::all().filter(|pin| GROUPS.contains(&pin.group())) {
        found
            .entry(pin)
            .or_insert_with(|| Observation::Unknown(why(sources.get(&pin), answers)));
    }
    found
}

/// The engine's name; of one that is not known what it calls itself, or whom its models belong to where
/// it tells a version at all.
fn name(engine: Engine, answers: &Answers) -> Option<String> {
    if engine != Engine::Other {
        return Some(engine.name().to_owned());
    }
    let version = answers.json(Source::Version)?;
    let own = version.pointer("/engine").and_then(answers::scalar);
    own.or_else(|| answers.owner())
        .filter(|name| !name.is_empty())
}

/// Why a pin was not seen, by what became of its sources.
fn why(sources: Option<&Vec<&'static str>>, answers: &Answers) -> Why {
    let Some(sources) = sources else {
        return Why::NotProbed;
    };
    if sources.iter().any(|path| answers.is_forbidden(path)) {
        Why::Because(MetricsPlace::OFF.to_owned())
    } else if sources.iter().any(|path| answers.is_silent(path)) {
        Why::Unreachable
    } else {
        Why::NotReported
    }
}
