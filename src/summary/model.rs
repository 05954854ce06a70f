//! The run file: everything that comparisons, reports and the archive know of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::aftermath::{Bursts, EventSummary};
use super::cold_start::ColdStart;
use super::distribution::Distribution;
use super::engine::EngineView;
use super::gpu::GpuView;
use super::health::ClientHealth;
use super::invalid::InvalidReason;
use super::load_state::LoadState;
use super::network::Network;
use super::origin::Origin;
use super::prefix_cache::PrefixCache;
use super::settling::Settling;
use super::shard::{MergedShard, ShardStamp};
use super::soak::SoakView;
use super::source::SourceStamp;
use super::tenants::Tenants;
use super::totals::{Rates, TokenTotals};
use super::window::Window;
use crate::ident::Digest;
use crate::metric::{Metric, TaskName};
use crate::plan::PromptCalibration;
use crate::provenance::Pins;
use crate::quality::{AnswerQuality, Score};
use crate::sample::{EngineQueue, FinishReason, OutcomeKind, StopReason};
use crate::spec::{
    CacheRegime, CapacityPlan, Cost, ReplayStamp, RowsStamp, SchemaStamp, Slo, SloClause, Spec,
};

/// Format tag of a run file: name and major version.
pub const RUN_FORMAT: &str = "infergate.run/1";

/// One execution of one plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Run {
    /// [`RUN_FORMAT`].
    pub format: String,
    /// Tag of the metrics' definitions ([`crate::metric::DEFINITION`]).
    pub definition: String,
    /// `<utc>-<spec digest>-<random>`: unique, and the file's name.
    pub id: String,
    /// Runs of one sitting share a session: what differs between sessions but not within is
    /// machine state.
    pub session: String,
    /// Number of the interleaved pair, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<u32>,
    /// Which side of the pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// When it started, RFC 3339, UTC.
    pub started: String,
    /// How long it took, load and drain.
    pub elapsed_s: f64,
    /// How it ended.
    pub end: RunEnd,
    /// The spec it executed.
    pub spec: SpecStamp,
    /// The state of the spec's repository; `None` outside of one, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceStamp>,
    /// Whether it came from a job whose code nobody had accepted, and whose figures could be anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
    /// Digest of lengths, instants and groups; equal for every run of a comparison.
    pub trace_digest: Digest,
    /// First tokens of every prompt or shared prefix, distinct per run.
    pub salt: String,
    /// How planned token counts became words.
    pub prompt_calibration: PromptCalibration,
    /// What was measured and on what.
    pub pins: Pins,
    /// How the engine came up; `None` where it was not launched for the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_start: Option<ColdStart>,
    /// What the way to the target took; `None` where it could not be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Who measured.
    pub client: ClientStamp,
    /// The stages, in order.
    pub stages: Vec<StageSummary>,
    /// Steps of sweeps that were not run, for an earlier one broke `stop_when`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedStage>,
    /// Scores that other tools measured of what it ran against.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub imported: BTreeMap<TaskName, Score>,
    /// The tool that measured it and the file that it was read from; `None` of our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Which shard it is, where it is one: then it can't be judged alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardStamp>,
    /// The shards that it was put together from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedShard>,
}

impl Run {
    /// Whether both were sent the same requests. Of runs of other tools nobody has the requests: what both
    /// know of their load has to be the same, and one of them is never of a load of ours.
    pub fn is_of_load(&self, other: &Self) -> bool {
        match (&self.spec.settings, &other.spec.settings) {
            (Some(ours), Some(theirs)) => ours
                .iter()
                .all(|(what, value)| theirs.get(what).is_none_or(|other| other == value)),
            (None, None) => {
                self.spec.workload_digest == other.spec.workload_digest
                    && self.trace_digest == other.trace_digest
            }
            _ => false,
        }
    }
}

/// A step of a sweep that was not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SkippedStage {
    /// The step's name.
    pub name: String,
    /// The step that ended the sweep.
    pub after: String,
    /// Why it did.
    pub reason: StopReason,
}

/// Which side of a comparison a run stands on.
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
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What is compared with.
    Baseline,
    /// What is judged.
    Candidate,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// As planned.
    Complete,
    /// Stopped by a signal: can be read, never judged.
    Interrupted,
    /// The target stopped answering.
    TargetLost {
        /// The last error.
        error: String,
    },
}

/// The spec of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SpecStamp {
    /// Its name.
    pub name: String,
    /// Digest of what it says, whatever its comments, the order of its fields and the files they are in; of its
    /// text in runs of versions before 0.2.
    pub digest: Digest,
    /// Digest of what has to be equal for two runs to be comparable.
    pub workload_digest: Digest,
    /// Its text, variables not expanded.
    pub text: String,
    /// Labels that were selected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub select: Vec<String>,
    /// What it takes from the traces that it replays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<ReplayStamp>,
    /// What a prefix cache may find of its prompts.
    #[serde(default, skip_serializing_if = "CacheRegime::is_default")]
    pub cache: CacheRegime,
    /// What it takes from the files of its classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<RowsStamp>,
    /// Schemas that it checks answers by and has from files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemas: Vec<SchemaStamp>,
    /// What its GPUs cost, where it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What is known of a workload that no spec describes: what both sides know has to be the same, and
    /// stands in for the digests. `None` where the text above is what was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
    /// What its service has to carry, where it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityPlan>,
    /// What makes a request of each class good; classes without an SLO are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slos: BTreeMap<String, Slo>,
    /// Closed stages whose users go on in step with each other: none thinks, and all answers have one pinned
    /// length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_step: Vec<String>,
}

impl SpecStamp {
    /// Of a spec whose prompts are of this regime.
    pub fn of(spec: &Spec, cache: CacheRegime) -> Self {
        Self {
            name: spec.name.to_string(),
            digest: spec.digest(),
            workload_digest: spec.workload_digest(),
            text: spec.text.clone(),
            select: spec.select.clone(),
            replays: spec.replays(),
            cache,
            rows: spec.row_stamps(),
            schemas: spec.schema_stamps(),
            cost: spec.cost.clone(),
            settings: None,
            capacity: spec.capacity.clone(),
            slos: spec.slos(),
            in_step: spec.in_step(),
        }
    }
}

/// Who measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClientStamp {
    /// Version of infergate.
    pub version: String,
    /// Where the target was, without credentials.
    pub target: String,
}

/// One stage of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StageSummary {
    /// The stage's name.
    pub name: String,
    /// Whether latencies count from the scheduled instant (open loop) or from the send (closed).
    pub from_schedule: bool,
    /// Users of a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Mean rate of an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_rps: Option<f64>,
    /// Length of the measured window.
    pub window_s: f64,
    /// Whether it is no stage of the spec, and was added to refine a sweep.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refined: bool,
    /// Why the stage can be neither baseline nor pass; empty where it can. Client's fault only.
    pub invalid: Vec<InvalidReason>,
    /// Whether the latencies had settled; `None` with too few of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
    /// Whether the target kept up; `None` in a closed loop, and where the stage is too short to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_state: Option<LoadState>,
    /// Why it ended early; `None` where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<StopReason>,
    /// What the engine still held after the drain; `None` where it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_queue: Option<EngineQueue>,
    /// What a prefix cache found of its prompts; `None` where the engine was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_cache: Option<PrefixCache>,
    /// What the engine's own metrics say of the window; `None` where it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineView>,
    /// What the GPUs did in it; `None` where they were not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<GpuView>,
    /// How the client fared; `None` where another tool measured, and nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<ClientHealth>,
    /// All classes together.
    pub pooled: ClassSummary,
    /// Each class; left out where there is only one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, ClassSummary>,
    /// What happened in it on purpose, and what followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventSummary>,
    /// What followed from its bursts; `None` where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
    /// What crept in it; `None` where it is no soak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak: Option<SoakView>,
    /// By tenant; `None` where no request has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Tenants>,
    /// The window in equal slices (of a soak stage, in its windows), for drift and for plots.
    #[serde(with = "super::window")]
    #[schemars(with = "super::window::Kept")]
    pub windows: Vec<Window>,
}

/// One class of a stage, or all of them pooled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClassSummary {
    /// Requests scheduled in the window.
    pub scheduled: u64,
    /// Of those, sent.
    pub sent: u64,
    /// How they ended; kinds that did not occur are left out.
    pub outcomes: BTreeMap<OutcomeKind, u64>,
    /// Why models stopped, by as many answers as said so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub finish: BTreeMap<FinishReason, u64>,
    /// Requests that completed within every clause of their SLO; without an SLO, all completed.
    pub good: u64,
    /// Goodness in detail; `None` where no class has an SLO.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attainment: Option<Attainment>,
    /// Tokens.
    pub tokens: TokenTotals,
    /// Rates over the window.
    pub rates: Rates,
    /// Distributions; a metric without one value is left out.
    pub distributions: BTreeMap<Metric, Distribution>,
    /// Metrics that nobody could tell, and why: their values above stand for nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub untold: BTreeMap<Metric, String>,
    /// What its answers are worth; `None` where no class asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<AnswerQuality>,
    /// The error texts that came first by schedule, with their counts, at most five.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
}

impl ClassSummary {
    /// Requests of one outcome.
    pub fn count(&self, kind: OutcomeKind) -> u64 {
        self.outcomes.get(&kind).copied().unwrap_or(0)
    }

    /// Requests whose answer is whole, whatever its text is worth.
    pub fn ended_well(&self) -> u64 {
        self.count(OutcomeKind::Completed) + self.count(OutcomeKind::InvalidOutput)
    }

    /// Requests that count in `error_ratio`.
    pub fn errors(&self) -> u64 {
        self.outcomes
            .iter()
            .filter(|(kind, _)| kind.is_error())
            .map(|(_, n)| n)
            .sum()
    }

    /// The denominator of attainment and `error_ratio`: scheduled without cancelled.
    pub fn counted(&self) -> u64 {
        self.scheduled - self.count(OutcomeKind::Cancelled).min(self.scheduled)
    }
}

/// How many requests were good, in all and by clause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Attainment {
    /// Requests that met every clause.
    pub good: u64,
    /// Scheduled without cancelled.
    pub of: u64,
    /// Each clause alone.
    pub clauses: BTreeMap<SloClause, ClauseCount>,
}

/// How many requests met one clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClauseCount {
    /// Requests that met it.
    pub met: u64,
    /// Requests whose class has it, without cancelled.
    pub of: u64,
}
