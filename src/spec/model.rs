//! The valid spec: whatever is here can be planned, run and judged.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::archive::Archive;
use super::budget::{Budget, Cost};
use super::cache::CacheRegime;
use super::capacity::CapacityPlan;
use super::class::Class;
use super::connection::{TargetConnection, Wire};
use super::files::SchemaStamp;
use super::gate::Gate;
use super::import::Import;
use super::keep_text::KeepText;
use super::metrics::MetricsPlace;
use super::place::TargetPlace;
use super::replay::ReplayStamp;
use super::rows::RowsStamp;
use super::stage::{Arrival, Stage};
use super::timeouts::Timeouts;
use crate::diag::Sources;
use crate::ident::{Digest, Name};
use crate::provenance::{Declared, PinPath, UnderTest};
use crate::unit::Nanos;

/// Pins that the spec declares.
pub type DeclaredPins = BTreeMap<PinPath, Declared>;

/// A whole spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The spec's name, which is the baseline folder's name too.
    pub name: Name,
    /// What is measured; of two layers the one that is judged.
    pub target: Target,
    /// The other of two layers, which `run` measures beside it.
    pub beside: Option<Target>,
    /// What `ab` compares it with, where the spec says.
    pub baseline: Option<TargetPlace>,
    /// What must hold of it.
    pub pins: DeclaredPins,
    /// Pins that may differ between baseline and candidate, and whether all others have to match.
    pub under_test: UnderTest,
    /// Extra fields of every request's body, such as `temperature`.
    pub request: BTreeMap<String, serde_json::Value>,
    /// What the traffic is.
    pub workload: Workload,
    /// The stretches of load, in order; at least one.
    pub stages: Vec<Stage>,
    /// What is judged and how.
    pub gate: Gate,
    /// When a request is given up.
    pub timeouts: Timeouts,
    /// What a comparison may take, where the spec says.
    pub limits: Option<Budget>,
    /// What GPUs cost, where the spec says.
    pub cost: Option<Cost>,
    /// What its service has to carry, where the spec says.
    pub capacity: Option<CapacityPlan>,
    /// Scores that other tools measured.
    pub imports: Vec<Import>,
    /// Where promoted sessions are kept, where the spec says.
    pub archive: Option<Archive>,
    /// What is kept of prompts and answers.
    pub keep_text: KeepText,
    /// The text as it was read, variables not expanded; of a spec that extends others what they say together.
    pub text: String,
    /// Digest of what the text says.
    pub content: Digest,
    /// What it was read from.
    pub sources: Sources,
    /// Labels that were selected: [`Spec::select`].
    pub select: Vec<String>,
}

impl Spec {
    /// Digest of what it says, for provenance: whatever the order of its fields, its comments, and which of
    /// the files that it extends says what.
    pub fn digest(&self) -> Digest {
        self.content
    }

    /// Digest of what has to be equal for two runs to be comparable: workload, stages, SLO, API and
    /// request fields, HTTP where it is not the plain one; neither tolerances nor the target's
    /// address.
    pub fn workload_digest(&self) -> Digest {
        let asked = (
            &self.workload,
            &self.stages,
            &self.request,
            self.target.api,
            &self.timeouts,
        );
        match self.target.connection.wire() {
            Wire::PLAIN => Digest::of_json(&asked),
            wire => Digest::of_json(&(asked, wire)),
        }
    }

    /// With what it names of files and folders found from this folder, its own.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.target.connection = self.target.connection.in_folder(folder);
        self.target.place = self.target.place.in_folder(folder);
        self.baseline = self.baseline.map(|place| place.in_folder(folder));
        self.beside = self.beside.map(|mut target| {
            target.connection = target.connection.in_folder(folder);
            target.place = target.place.in_folder(folder);
            target
        });
        for stage in &mut self.stages {
            let events = std::mem::take(&mut stage.events).into_iter();
            stage.events = events.map(|event| event.in_folder(folder)).collect();
        }
        let imports = self.imports.into_iter();
        self.imports = imports.map(|import| import.in_folder(folder)).collect();
        self
    }

    /// The spec at each of its two layers, the engine first; `None` where it names one target.
    pub fn layers(&self) -> Option<[Self; 2]> {
        let beside = self.beside.clone()?;
        let at = |target: &Target| Self {
            target: target.clone(),
            beside: None,
            ..self.clone()
        };
        let (judged, beside) = (at(&self.target), at(&beside));
        Some(match self.target.layer {
            Layer::Engine => [judged, beside],
            Layer::EndToEnd => [beside, judged],
        })
    }

    /// The SLO of each class that has one.
    pub fn slos(&self) -> BTreeMap<String, Slo> {
        let classes = self.workload.classes.iter();
        classes
            .filter(|class| !class.slo.is_empty())
            .map(|class| (class.name.to_string(), class.slo.clone()))
            .collect()
    }

    /// What a run keeps of its classes' files.
    pub fn row_stamps(&self) -> Vec<RowsStamp> {
        let classes = self.workload.classes.iter();
        classes.filter_map(Class::row_stamp).collect()
    }

    /// What a run keeps of the schemas of its checks.
    pub fn schema_stamps(&self) -> Vec<SchemaStamp> {
        let classes = self.workload.classes.iter();
        classes.flat_map(Class::schema_stamps).collect()
    }

    /// What a run keeps of the traces, so that its spec can be read without them.
    pub fn replays(&self) -> Vec<ReplayStamp> {
        self.stages
            .iter()
            .filter_map(|stage| match &stage.arrival {
                Arrival::Trace(replay) => Some(replay.stamp(&stage.name)),
                Arrival::Closed { .. } | Arrival::Open { .. } => None,
            })
            .collect()
    }
}

/// The server under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where it is.
    pub place: TargetPlace,
    /// Which API is spoken.
    pub api: Api,
    /// The model's name in requests; `None` takes the first of `/v1/models`.
    pub model: Option<String>,
    /// Which layer is measured.
    pub layer: Layer,
    /// How it is spoken to.
    pub connection: TargetConnection,
    /// Where the metrics of its engines are.
    pub metrics: MetricsPlace,
}

/// Which of the OpenAI-compatible APIs is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/completions`.
    Completions,
}

impl Api {
    /// The path below the target's URL.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
        }
    }

    /// The name in specs and pins.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Completions => "completions",
        }
    }
}

/// What the figures speak about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The engine itself.
    Engine,
    /// Everything between client and engine too: gateways, network.
    EndToEnd,
}

impl Layer {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Engine, Self::EndToEnd];

    /// The name in specs and pins.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::EndToEnd => "end-to-end",
        }
    }
}

/// What the traffic is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Workload {
    /// Seed of everything random in the plan.
    pub seed: u64,
    /// What a prefix cache may find of it.
    #[serde(skip_serializing_if = "CacheRegime::is_default")]
    pub cache: CacheRegime,
    /// The classes; at least one.
    pub classes: Vec<Class>,
}

/// Limits that a request has to keep, all of them, to count as good.
pub type Slo = BTreeMap<SloClause, Nanos>;

/// What a limit speaks about; a request keeps it with `value ≤ limit`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SloClause {
    /// Time to first token.
    Ttft,
    /// Time to first answer token.
    Ttfa,
    /// Time per output token.
    Tpot,
    /// Largest gap between tokens.
    ItlMax,
    /// End-to-end latency.
    E2e,
}

impl SloClause {
    /// All clauses.
    pub const ALL: [Self; 5] = [Self::Ttft, Self::Ttfa, Self::Tpot, Self::ItlMax, Self::E2e];

    /// The name in specs and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ttft => "ttft",
            Self::Ttfa => "ttfa",
            Self::Tpot => "tpot",
            Self::ItlMax => "itl_max",
            Self::E2e => "e2e",
        }
    }
}
