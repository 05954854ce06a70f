//! The view models: what a report shows, in order and already decided. Renderers add no facts.

use serde::{Deserialize, Serialize};

use super::capacity::CapacitySection;
use super::span::Text;
use super::sweep::SweepView;
use super::textdiff::Diff;

/// What a line means, for renderers that have colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// Something broke.
    Bad,
    /// Something needs a look.
    Unsure,
    /// All is well.
    Good,
    /// Everything else.
    Neutral,
    /// Secondary.
    Faint,
}

/// The report of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportModel {
    /// The whole message: the verdict as a word, counts, the spec's name.
    pub headline: Text,
    /// What the headline means.
    pub tone: Tone,
    /// The worst finding as a sentence, and what a policy or a demotion changed.
    pub lead: Vec<Text>,
    /// Model, engine, hardware and design on one line; what differs, one line each.
    pub environment: Environment,
    /// Gated cells beyond their limit, worst first.
    pub broken: CellTable,
    /// Gated cells that were not measured or not compared.
    pub unmeasured: CellTable,
    /// The heading above those.
    pub unmeasured_title: Text,
    /// Gated cells that could not be decided.
    pub undecided: CellTable,
    /// Why figures moved, as far as anything tells.
    pub why: Vec<WhyRow>,
    /// Which clause lost requests, where goodput moved.
    pub goodput: Vec<ClauseRow>,
    /// What to do next.
    pub advice: Vec<AdviceRow>,
    /// Gated cells within their limits.
    pub within: CellTable,
    /// Cells that the verdict does not depend on, worst first.
    pub observed: CellTable,
    /// How many of those are worse than their limit.
    pub observed_broken: Option<Text>,
    /// How requests ended, by stage and side.
    pub outcomes: Vec<OutcomeRow>,
    /// The clauses of the other stages.
    pub clauses: Vec<ClauseRow>,
    /// All pins that differ.
    pub pins: Vec<PinRow>,
    /// Pins that are equal on both sides.
    pub shared_pins: Vec<SharedPin>,
    /// The pins of both sides as a unified diff; `None` where none differs.
    pub pins_diff: Option<Diff>,
    /// What a replica carries, how many a peak needs and what that costs; `None` where nothing sweeps.
    pub capacity: Option<CapacitySection>,
    /// Latency and throughput over the steps of sweeps.
    pub sweeps: Vec<SweepView>,
    /// What both sides' engines and GPUs say.
    pub engines: Vec<EngineRow>,
    /// Reasons to trust the figures less.
    pub caveats: Vec<Text>,
    /// How the figures came about.
    pub method: Vec<Text>,
    /// Commands that make this report again.
    pub reproduce: Vec<Text>,
    /// What was left out to fit, and where it is.
    pub left_out: Option<Text>,
}

/// What was compared, and what differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Environment {
    /// Model, precision, engine, hardware of the candidate; empty where nothing is known.
    pub setup: Text,
    /// How the runs were taken.
    pub design: Text,
    /// What is under test, or that nothing is.
    pub under_test: Vec<Text>,
    /// Differences that forbid the comparison.
    pub blocking: Vec<Text>,
    /// Differences that are caveats.
    pub caveats: Vec<Text>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellRow {
    /// `steady/ttft.p95`, as `explain` takes it.
    pub cell: Text,
    /// The baseline's value and what it rests on.
    pub baseline: Text,
    /// The candidate's.
    pub candidate: Text,
    /// Signed change, interval and direction as a word.
    pub change: Text,
    /// Its limit.
    pub limit: Text,
    /// Its state as a word.
    pub state: Text,
    /// What the state means.
    pub tone: Tone,
    /// The smallest change that the repeats can show, where that kept it undecided.
    pub resolvable: Option<Text>,
}

/// Cells in order, with reasons that several of them may share.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CellTable {
    /// The cells, worst first.
    pub rows: Vec<CellRow>,
    /// Whether a row says what its repeats can show.
    pub resolvable: bool,
    /// Why, where the numbers do not say.
    pub reasons: Vec<CellReason>,
    /// How many more there are, where they do not fit.
    pub more: Option<Text>,
}

/// Why some cells have their state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellReason {
    /// The cells, separated by commas.
    pub cells: Text,
    /// Why.
    pub why: Text,
}

/// One cause in one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct WhyRow {
    /// The stage.
    pub stage: Text,
    /// What happened.
    pub cause: Text,
    /// The figures that show it, and what would have told more.
    pub evidence: Text,
}

/// One clause of an SLO in one stage, or the requests that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClauseRow {
    /// The stage.
    pub stage: Text,
    /// `TTFT`, `failed`, `any clause`.
    pub clause: Text,
    /// Requests of the baseline that missed it.
    pub baseline: Text,
    /// Requests of the candidate that missed it.
    pub candidate: Text,
}

/// How the requests of one stage and side ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeRow {
    /// The stage.
    pub stage: Text,
    /// `baseline` or `candidate`.
    pub side: Text,
    /// Runs that the counts add up.
    pub runs: Text,
    /// Scheduled requests.
    pub scheduled: Text,
    /// Sent requests.
    pub sent: Text,
    /// Completed requests.
    pub completed: Text,
    /// Requests that failed, by kind; `–` where none did.
    pub failed: Text,
    /// Requests within their SLO; `–` where no class has one.
    pub good: Text,
}

/// One figure of both sides' engines or GPUs in one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EngineRow {
    /// The stage.
    pub stage: Text,
    /// Which figure.
    pub figure: Text,
    /// The mean of the baseline's runs.
    pub baseline: Text,
    /// The mean of the candidate's runs.
    pub candidate: Text,
}

/// A pin that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PinRow {
    /// Its path.
    pub pin: Text,
    /// The baseline's value.
    pub baseline: Text,
    /// The candidate's value.
    pub candidate: Text,
    /// `under test`, `blocks the comparison`, `caveat`.
    pub role: Text,
}

/// A pin that is equal on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SharedPin {
    /// Its path.
    pub pin: Text,
    /// Its value.
    pub value: Text,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AdviceRow {
    /// One sentence.
    pub text: Text,
    /// A command to run.
    pub command: Option<Text>,
}

/// The report of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunModel {
    /// The whole message: how it ended, counts, the spec's name.
    pub headline: Text,
    /// What the headline means.
    pub tone: Tone,
    /// Model, precision, engine, hardware; empty where nothing is known.
    pub setup: Text,
    /// When, how long, where, by what.
    pub facts: Vec<Text>,
    /// What was measured and on what: values by group, then what is unknown by reason.
    pub provenance: Vec<Text>,
    /// The stages, in order.
    pub stages: Vec<StageView>,
    /// Steps of sweeps that were not run, and why.
    pub skipped: Vec<Text>,
    /// Scores that another tool measured of what was run.
    pub scores: Vec<ScoreRow>,
    /// Pins with their values.
    pub pins: Vec<SharedPin>,
    /// What the marks in the tables mean; only those that occur.
    pub notes: Vec<Text>,
}

/// One stage of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageView {
    /// Its name.
    pub name: Text,
    /// Its load: rate or users, window.
    pub load: Text,
    /// Why it can be neither baseline nor pass, and what to do.
    pub invalid: Vec<Text>,
    /// What keeps its figures from speaking of a steady load.
    pub conditions: Vec<Text>,
    /// Scheduled, sent, completed, failed.
    pub counts: Text,
    /// Requests that failed, by kind.
    pub failed: Option<Text>,
    /// Why models stopped, by answers; `None` where none said so.
    pub finish: Option<Text>,
    /// Goodput and attainment.
    pub goodput: Option<Text>,
    /// Clauses with the requests that met them.
    pub clauses: Vec<Text>,
    /// Percentiles.
    pub latencies: Vec<LatencyRow>,
    /// What its answers are worth, where a class asks.
    pub quality: Vec<QualityRow>,
    /// By tenant, where requests have one.
    pub tenants: Option<TenantTable>,
    /// Throughput.
    pub throughput: Text,
    /// What a prefix cache found of its prompts; `None` where nobody says.
    pub cache: Option<Text>,
    /// What its engine says, or why nothing.
    pub engine: Vec<Text>,
    /// What its GPUs did, or why nobody knows.
    pub gpus: Vec<Text>,
    /// How the client fared.
    pub client: Text,
    /// What crept in it, or that nothing did; empty where it is no soak.
    pub soak: Vec<Text>,
    /// What happened in it on purpose, and what followed.
    pub events: Vec<Text>,
    /// What its figures can't show.
    pub remarks: Vec<Text>,
    /// First error texts with their counts.
    pub errors: Vec<ErrorRow>,
}

/// Percentiles of one metric in one stage and class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LatencyRow {
    /// The metric, its class where there are several, and `failed = ∞` where adjusted.
    pub metric: Text,
    /// Values.
    pub n: Text,
    /// Median.
    pub p50: Text,
    /// 90th percentile.
    pub p90: Text,
    /// 95th percentile.
    pub p95: Text,
    /// 99th percentile.
    pub p99: Text,
}

/// How many answers of a stage or class pass a kind of check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QualityRow {
    /// The check, and its class where there are several.
    pub check: Text,
    /// Answers that were checked.
    pub answers: Text,
    /// Of those, passed.
    pub passed: Text,
    /// The share.
    pub share: Text,
}

/// A score that another tool measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScoreRow {
    /// The name that cells have for it.
    pub score: Text,
    /// The share of answers that were right.
    pub value: Text,
    /// Its standard error.
    pub standard_error: Text,
    /// Questions behind it.
    pub questions: Text,
}

/// The tenants of a stage with most requests, and what the others had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TenantTable {
    /// Most first.
    pub rows: Vec<TenantRow>,
    /// Requests of all others, and of no tenant.
    pub rest: Vec<Text>,
}

/// One tenant of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TenantRow {
    /// `tenant-3`, as it is sent.
    pub tenant: Text,
    /// Scheduled requests.
    pub requests: Text,
    /// Of those, completed.
    pub completed: Text,
    /// Of those, failed.
    pub failed: Text,
    /// Median of TTFT.
    pub ttft_p50: Text,
    /// Its 95th percentile.
    pub ttft_p95: Text,
    /// Median of E2E.
    pub e2e_p50: Text,
    /// Its 95th percentile.
    pub e2e_p95: Text,
    /// Requests within their SLO; `–` where no class has one.
    pub good: Text,
}

/// An error text of the server or the client stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorRow {
    /// The text.
    pub text: Text,
    /// How often it came.
    pub count: Text,
}
