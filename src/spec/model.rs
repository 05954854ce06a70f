//! The valid spec: whatever is here can be planned, run and judged.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cache::CacheRegime;
use super::class::Class;
use super::connection::{TargetConnection, Wire};
use super::limit::Limit;
use super::place::TargetPlace;
use super::rate::RateProfile;
use super::replay::{Replay, ReplayStamp};
use super::rows::RowsStamp;
use super::think::Think;
use super::trade::Trade;
use crate::ident::{Digest, Name};
use crate::metric::Cell;
use crate::provenance::{Declared, PinPath, UnderTest};
use crate::stats::moderated::Evidence;
use crate::unit::Nanos;

/// Pins that the spec declares.
pub type DeclaredPins = BTreeMap<PinPath, Declared>;

/// A whole spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The spec's name, which is the baseline folder's name too.
    pub name: Name,
    /// What is measured.
    pub target: Target,
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
    /// The text as read, for provenance; variables are not expanded in it.
    pub text: String,
    /// Labels that were selected: [`Spec::select`].
    pub select: Vec<String>,
}

impl Spec {
    /// Digest of the text: for provenance.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
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
        self
    }

    /// What a run keeps of its classes' files.
    pub fn row_stamps(&self) -> Vec<RowsStamp> {
        let classes = self.workload.classes.iter();
        classes.filter_map(Class::row_stamp).collect()
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
}

/// Which of the OpenAI-compatible APIs is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The engine itself.
    Engine,
    /// Everything between client and engine too: gateways, network.
    EndToEnd,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

/// One steady stretch of load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stage {
    /// The stage's name; `sweep@8` for a step of a sweep.
    pub name: String,
    /// How requests come.
    pub arrival: Arrival,
    /// How long the measured window is.
    pub extent: Extent,
    /// What precedes the window and is not measured.
    pub warmup: Warmup,
    /// Most requests in flight at once; a request due beyond it is `unsent`.
    pub in_flight: u32,
    /// How long the end waits for what is in flight.
    pub drain_timeout: Nanos,
    /// When it ends early, and the rest of its sweep with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_when: Option<StopWhen>,
    /// Whether it is there for drift over a long time: cut in minutes, no percentile of its whole
    /// gates.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub soak: bool,
    /// It is run only where one of these is selected; always where there is none.
    #[serde(skip)]
    pub labels: Vec<String>,
}

/// What ends a stage early.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StopWhen {
    /// Share of failed ones among the latest requests.
    pub error_ratio: Option<f64>,
    /// The target does not keep up: known at the stage's end, so it ends a sweep.
    pub overload: bool,
}

/// How requests come.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Users who send their next request when the last one has ended.
    Closed {
        /// How many.
        users: u32,
        /// Their first requests are spread over this time; `None` spreads them over the first
        /// request's latency.
        ramp: Option<Nanos>,
        /// From the end of an answer to its user's next request.
        think: Think,
    },
    /// By the clock, whatever the server does.
    Open {
        /// How the rate runs over the window.
        profile: RateProfile,
        /// How the gaps are distributed where the rate is steady.
        process: ArrivalProcess,
    },
    /// By the clock too, as they once came.
    Trace(Box<Replay>),
}

/// How the gaps between open-loop requests are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalProcess {
    /// All equal.
    Constant,
    /// Exponential.
    Poisson,
    /// Gamma: in clumps below a shape of 1, evener than Poisson above it.
    Gamma {
        /// The shape k; the gaps' coefficient of variation is 1/√k, 1.58 at 0.4.
        burstiness: f64,
    },
}

/// How long the measured window of a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Until so many requests were sent.
    Requests(u32),
    /// So long.
    Duration(Nanos),
}

/// What precedes the measured window: over when both parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Warmup {
    /// At least so many requests.
    pub requests: u32,
    /// At least so long.
    pub duration: Nanos,
}

/// When a request is given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Nanos,
    /// Until the first token; per class, as its default follows from the class's SLO.
    pub first_token: Vec<Nanos>,
    /// Between two token-bearing events.
    pub stall: Nanos,
    /// For the whole request, per class.
    pub total: Vec<Nanos>,
}

/// What is judged and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// How often the plan is repeated; `None` takes the mode's default.
    pub repeats: Option<Repeats>,
    /// The cells that are judged; at least one is not informational.
    pub cells: Vec<GateCell>,
    /// What becomes of an undecided verdict.
    pub undecided: Policy,
    /// What becomes of a missing baseline.
    pub no_baseline: Policy,
    /// What becomes of pins that differ outside `under_test`.
    pub incomparable: Policy,
    /// Largest difference of tokens between plan and observation, as a fraction.
    pub token_mismatch: f64,
    /// What a regression has to be proven against.
    pub evidence: Evidence,
}

impl Gate {
    /// Whether every pair repeats a stage: a gated cell names it or trades for a gain in it, or all
    /// gated cells are pooled.
    ///
    /// Another stage runs once a side, and pooled cells take what there is of it.
    pub fn repeats_stage(&self, stage: &str) -> bool {
        let gains = |cell: &'_ GateCell| cell.trade.as_ref()?.gain.stage.clone();
        let mut named = self
            .cells
            .iter()
            .filter(|cell| !cell.informational)
            .flat_map(|cell| cell.cell.stage.clone().into_iter().chain(gains(cell)))
            .peekable();
        named.peek().is_none() || named.any(|name| name == stage)
    }
}

/// Bounds on repeats: pairs in `ab`, candidate runs against stored sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// No verdict before so many.
    pub min: u32,
    /// No more than so many.
    pub max: u32,
}

/// What a repository makes of an outcome that is neither pass nor regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Exit 3.
    #[default]
    Undecided,
    /// Exit 0, said so in the report.
    Pass,
    /// Exit 1, said so in the report.
    Fail,
}

/// One cell with its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct GateCell {
    /// What is judged.
    pub cell: Cell,
    /// Where it breaks.
    pub limit: Limit,
    /// Judged and shown, but never in the verdict.
    pub informational: bool,
    /// What it may lose more for a gain elsewhere; only beside a [`Limit::WorseBy`].
    pub trade: Option<Trade>,
    /// Where the text says so, as a byte range: the limit, or the metric where that is the usual one.
    /// `None` where the spec declares no cells.
    pub place: Option<std::ops::Range<usize>>,
}
