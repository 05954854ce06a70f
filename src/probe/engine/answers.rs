//! What a target answered to the paths that engines are known by.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::probe::client::BRIEFLY;
use crate::probe::error::ProbeError;
use crate::wire::prometheus::samples;

/// A path that some engine answers with something about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Every engine.
    Models,
    /// vLLM, TensorRT-LLM, the embedded engine.
    Version,
    /// vLLM (with `VLLM_SERVER_DEV_MODE=1`) and newer SGLang.
    ServerInfo,
    /// SGLang.
    GetServerInfo,
    /// Newer SGLang.
    ModelInfo,
    /// SGLang.
    GetModelInfo,
    /// llama.cpp.
    Props,
    /// llama.cpp.
    Slots,
    /// Text Generation Inference.
    Info,
    /// LMDeploy.
    EngineInfo,
    /// Ollama.
    OllamaVersion,
    /// Ollama: the models that are loaded.
    OllamaLoaded,
    /// Ollama: a model, by POST.
    OllamaModel,
    /// Most engines; JSON of TensorRT-LLM.
    Metrics,
}

impl Source {
    /// Those that are asked by GET, all at once, beside the list of models and the metrics.
    pub const ASKED: [Self; 11] = [
        Self::Version,
        Self::ServerInfo,
        Self::GetServerInfo,
        Self::ModelInfo,
        Self::GetModelInfo,
        Self::Props,
        Self::Slots,
        Self::Info,
        Self::EngineInfo,
        Self::OllamaVersion,
        Self::OllamaLoaded,
    ];

    /// The path below the target's URL.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Models => "/v1/models",
            Self::Version => "/version",
            Self::ServerInfo => "/server_info",
            Self::GetServerInfo => "/get_server_info",
            Self::ModelInfo => "/model_info",
            Self::GetModelInfo => "/get_model_info",
            Self::Props => "/props",
            Self::Slots => "/slots",
            Self::Info => "/info",
            Self::EngineInfo => "/distserve/engine_info",
            Self::OllamaVersion => "/api/version",
            Self::OllamaLoaded => "/api/ps",
            Self::OllamaModel => "/api/show",
            Self::Metrics => "/metrics",
        }
    }

    /// What follows the path: vLLM's settings come as one text unless they are asked for as JSON.
    pub const fn query(self) -> &'static str {
        match self {
            Self::ServerInfo => "?config_format=json",
            _ => "",
        }
    }
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::probe) enum Reply {
    /// The body of an answer below status 400.
    Body(String),
    /// An answer that says no: there is no such path.
    Refused,
    /// No answer in time.
    Silent,
}

impl Reply {
    /// What becomes of an answer that may take some seconds.
    pub(in crate::probe) async fn briefly(
        answer: impl Future<Output = Result<String, ProbeError>>,
    ) -> Self {
        match tokio::time::timeout(BRIEFLY, answer).await {
            Ok(Ok(body)) => Self::Body(body),
            Ok(Err(ProbeError::Unreachable { .. })) | Err(_) => Self::Silent,
            Ok(Err(_)) => Self::Refused,
        }
    }
}

/// All answers of a target.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::probe) struct Answers {
    json: BTreeMap<Source, Value>,
    metrics: String,
    silent: Vec<Source>,
    /// Those that the spec forbids to ask.
    forbidden: Vec<Source>,
}

impl Answers {
    /// Takes in a reply. A body that is not what the source gives is as good as none.
    pub(in crate::probe) fn add(&mut self, source: Source, reply: Reply) {
        match reply {
            Reply::Refused => {}
            Reply::Silent => self.silent.push(source),
            Reply::Body(body) => match serde_json::from_str(&body) {
                // LMDeploy packs its JSON into a text.
                Ok(Value::String(packed)) => {
                    if let Ok(value) = serde_json::from_str(&packed) {
                        self.json.insert(source, value);
                    }
                }
                Ok(value) => {
                    self.json.insert(source, value);
                }
                Err(_) if source == Source::Metrics => self.metrics = body,
                Err(_) => {}
            },
        }
    }

    /// Notes that a source may not be asked.
    pub(in crate::probe) fn forbid(&mut self, source: Source) {
        self.forbidden.push(source);
    }

    /// A source's answer.
    pub(super) fn json(&self, source: Source) -> Option<&Value> {
        self.json.get(&source)
    }

    /// Which source gave the answer: older SGLang calls its one by another name.
    pub(super) fn told_by(&self, source: Source) -> Source {
        let by_old_name = source == Source::ServerInfo
            && !self.json.contains_key(&source)
            && self.json.contains_key(&Source::GetServerInfo);
        if by_old_name {
            Source::GetServerInfo
        } else {
            source
        }
    }

    /// A scalar of a source's answer.
    pub(super) fn text_at(&self, source: Source, pointer: &str) -> Option<String> {
        scalar(self.json(source)?.pointer(pointer)?)
    }

    /// A label of the first sample of a metric.
    pub(super) fn label(&self, metric: &str, label: &str) -> Option<String> {
        let mut of_name = samples(&self.metrics).filter(|sample| sample.name == metric);
        of_name.find_map(|sample| sample.label(label).map(str::to_owned))
    }

    /// Whether there is a list of models.
    pub(in crate::probe) fn has_models(&self) -> bool {
        self.json.contains_key(&Source::Models)
    }

    /// Whether an Ollama server answered, which is asked for its model by another method.
    pub(in crate::probe) fn is_ollama(&self) -> bool {
        self.json.contains_key(&Source::OllamaVersion)
    }

    /// The id of the first model that the target offers.
    pub(in crate::probe) fn first_model(&self) -> Option<String> {
        let mut ids = self.models().filter_map(|model| model.get("id")?.as_str());
        ids.find(|id| !id.is_empty()).map(str::to_owned)
    }

    /// The entries of `/v1/models`.
    pub(super) fn models(&self) -> impl Iterator<Item = &Value> {
        let data = self.json(Source::Models).and_then(|list| list.get("data"));
        data.and_then(Value::as_array).into_iter().flatten()
    }

    /// The entry of this model, or the first.
    pub(super) fn model(&self, name: &str) -> Option<&Value> {
        let named = |entry: &&Value| entry.get("id").and_then(Value::as_str) == Some(name);
        self.models().find(named).or_else(|| self.models().next())
    }

    /// Whom the models belong to, which is where engines name themselves.
    pub(super) fn owner(&self) -> Option<String> {
        self.models()
            .find_map(|model| scalar(model.get("owned_by")?))
    }

    /// Whether the source at this path was not asked, for the spec says so.
    pub(super) fn is_forbidden(&self, path: &str) -> bool {
        self.forbidden.iter().any(|source| source.path() == path)
    }

    /// Whether the source at this path did not answer in time.
    pub(super) fn is_silent(&self, path: &str) -> bool {
        self.silent.iter().any(|source| source.path() == path)
    }
}

/// A scalar as text; strings without their quotes.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
