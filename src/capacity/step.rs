//! One step of a sweep: its figures over the runs, and what they say of its load.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use crate::metric::{Metric, Quantile};
use crate::spec::SloClause;
use crate::stats::{mean, median};
use crate::summary::{EngineView, Saturation, StageSummary};

/// Throughput below this share of a smaller load's has fallen.
const FALLEN: f64 = 0.95;
/// Share of failed requests from which on a server is beyond what it carries.
const FAILING: f64 = 0.05;
/// First TTFTs by later ones from which on a stage began cold, where its latencies have not settled.
const SLOWER: f64 = 1.25;
/// The same where nobody can say whether they have.
const MUCH_SLOWER: f64 = 2.0;
/// Windows with a TTFT, at the least, of a stage that is looked at for a cold start.
const WINDOWS: usize = 8;

/// One step of a sweep as its valid runs measured it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Step {
    /// The stage, as in `sweep@8`.
    pub stage: String,
    /// Its load: users of a closed loop, or requests a second.
    pub load: f64,
    /// What its load is to the server.
    pub class: StepClass,
    /// What that rests on.
    pub evidence: StepEvidence,
    /// The figures; `None` without a valid run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<StepFigures>,
}

/// What a load is to a server.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum StepClass {
    /// Throughput still grows with load.
    Unsaturated,
    /// Throughput is flat: more load only waits longer.
    Knee,
    /// Throughput falls, the backlog grows, or requests fail.
    Overloaded,
    /// Slow at first and quicker then: to be measured again after a longer warm-up.
    Cold,
    /// Invalid by the client's fault in every run.
    Invalid,
}

/// What the class of a step rests on; a figure that nobody measured is absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct StepEvidence {
    /// Load by that of the step before, less 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_change: Option<f64>,
    /// Completed requests by those of the step before, less 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_change: Option<f64>,
    /// Median TTFT by that of the step before, less 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_change: Option<f64>,
    /// Growth of the backlog by requests due, of an open loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_growth: Option<f64>,
    /// Runs that were overloaded by their backlog.
    pub overloaded_runs: u32,
    /// Requests that waited in the engine, on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// Share of requests that failed.
    pub failed: f64,
    /// How the stage began, where it began slowly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<SlowStart>,
}

/// A stage that began slowly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SlowStart {
    /// Median TTFT of the first quarter of its window.
    pub first_s: f64,
    /// The same of its second half.
    pub later_s: f64,
}

/// Figures of a step: means over its valid runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StepFigures {
    /// Valid runs.
    pub runs: u32,
    /// Length of the window.
    pub window_s: f64,
    /// Completed requests a second.
    pub completed_rps: Estimate,
    /// Good requests a second; `None` where no class has an SLO.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_rps: Option<Estimate>,
    /// Share of requests that were good; `None` where no class has an SLO.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attainment: Option<f64>,
    /// Share of requests that met each clause of their SLO.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clauses: BTreeMap<SloClause, f64>,
    /// Output tokens a second.
    pub output_tps: Estimate,
    /// Input tokens a second.
    pub input_tps: f64,
    /// Output tokens of a completed request.
    pub output_tokens: f64,
    /// Input tokens of a request.
    pub input_tokens: f64,
    /// Requests in flight.
    pub in_flight: f64,
    /// Mean time of a request from its origin to its last token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_s: Option<f64>,
    /// Latencies that tables show.
    pub latencies: StepLatencies,
    /// Requests that were thrown out of the KV cache, all runs together; `None` where the engine was not
    /// asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u64>,
}

/// Latencies of a step in seconds, failed requests counted as infinite; `None` where that makes one infinite in
/// some run, or nobody measured it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct StepLatencies {
    /// Median TTFT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_p50_s: Option<f64>,
    /// 95th percentile of TTFT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_p95_s: Option<f64>,
    /// 99th percentile of TTFT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_p99_s: Option<f64>,
    /// 95th percentile of gaps between tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itl_p95_s: Option<f64>,
    /// 99th percentile of gaps between tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itl_p99_s: Option<f64>,
}

/// A step as it was measured, before it is held against the others.
pub(super) fn measured(stage: &str, load: f64, runs: &[&StageSummary]) -> Step {
    let valid: Vec<&StageSummary> = runs
        .iter()
        .copied()
        .filter(|stage| stage.invalid.is_empty())
        .collect();
    let figures = figures(&valid);
    let overloaded = |stage: &&&StageSummary| {
        stage
            .load_state
            .is_some_and(|load| load.state == Saturation::Overloaded)
    };
    let failed =
        |stage: &StageSummary| stage.pooled.errors() as f64 / stage.pooled.counted().max(1) as f64;
    let evidence = StepEvidence {
        backlog_growth: average(&valid, |stage| Some(stage.load_state?.backlog_growth)),
        overloaded_runs: valid.iter().filter(overloaded).count() as u32,
        waiting: average(&valid, waiting),
        failed: average(&valid, |stage| Some(failed(stage))).unwrap_or(0.0),
        slow_start: slow_start(&valid),
        ..StepEvidence::default()
    };
    Step {
        stage: stage.to_owned(),
        load,
        class: if figures.is_some() {
            StepClass::Unsaturated
        } else {
            StepClass::Invalid
        },
        evidence,
        figures,
    }
}

/// Says what each load is, from the steps in ascending order of load. `knee` is the load from which on
/// throughput is flat, where the sweep reached it.
pub(super) fn classify(steps: &mut [Step], knee: Option<f64>) {
    let mut before: Option<(f64, f64, Option<f64>)> = None;
    let mut most = 0.0_f64;
    for step in steps {
        let Some(figures) = &step.figures else {
            continue;
        };
        let (rps, ttft) = (figures.completed_rps.value, figures.latencies.ttft_p50_s);
        let ratio = |now: f64, then: f64| (then > 0.0).then(|| now / then - 1.0);
        if let Some((load, rps_before, ttft_before)) = before {
            step.evidence.load_change = ratio(step.load, load);
            step.evidence.throughput_change = ratio(rps, rps_before);
            step.evidence.ttft_change = ttft
                .zip(ttft_before)
                .and_then(|(now, then)| ratio(now, then));
        }
        let evidence = &step.evidence;
        step.class =
            if 2 * evidence.overloaded_runs >= figures.runs.max(1) || evidence.failed > FAILING {
                StepClass::Overloaded
            } else if evidence.slow_start.is_some() {
                StepClass::Cold
            } else if rps < FALLEN * most {
                StepClass::Overloaded
            } else if knee.is_some_and(|knee| step.load >= knee) {
                StepClass::Knee
            } else {
                StepClass::Unsaturated
            };
        if step.class != StepClass::Cold {
            most = most.max(rps);
            before = Some((step.load, rps, ttft));
        }
    }
}

/// Whether a step's stages began slowly and became quicker, in at least half of the runs.
fn slow_start(valid: &[&StageSummary]) -> Option<SlowStart> {
    let starts: Vec<SlowStart> = valid.iter().filter_map(|stage| start(stage)).collect();
    if starts.is_empty() || 2 * starts.len() < valid.len() {
        return None;
    }
    let of = |figure: fn(&SlowStart) -> f64| median(starts.iter().map(figure).collect());
    Some(SlowStart {
        first_s: of(|start| start.first_s)?,
        later_s: of(|start| start.later_s)?,
    })
}

fn start(stage: &StageSummary) -> Option<SlowStart> {
    let windows = stage.windows.iter();
    let ttfts: Vec<f64> = windows.filter_map(|window| window.ttft_p50_s).collect();
    if ttfts.len() < WINDOWS {
        return None;
    }
    let first_s = median(ttfts[..ttfts.len() / 4].to_vec())?;
    let later_s = median(ttfts[ttfts.len() / 2..].to_vec())?;
    let slower = match stage.settling {
        Some(settling) if settling.settled => return None,
        Some(_) => SLOWER,
        None => MUCH_SLOWER,
    };
    (first_s > slower * later_s).then_some(SlowStart { first_s, later_s })
}

fn waiting(stage: &StageSummary) -> Option<f64> {
    match stage.engine.as_ref()? {
        EngineView::Seen(figures) => Some(figures.waiting?.mean),
        EngineView::Unknown { .. } => None,
    }
}

fn preemptions(stage: &StageSummary) -> Option<u64> {
    match stage.engine.as_ref()? {
        EngineView::Seen(figures) => figures.preemptions,
        EngineView::Unknown { .. } => None,
    }
}

/// The mean of what stages have; `None` where none has it.
fn average(valid: &[&StageSummary], of: impl Fn(&StageSummary) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = valid.iter().filter_map(|stage| of(stage)).collect();
    mean(&values).filter(|mean| mean.is_finite())
}

fn figures(valid: &[&StageSummary]) -> Option<StepFigures> {
    let each = |of: fn(&StageSummary) -> f64| -> Vec<f64> {
        valid.iter().map(|stage| of(stage)).collect()
    };
    // A figure that one of the runs lacks is none of the step.
    let told = |of: fn(&StageSummary) -> Option<f64>| -> Option<Vec<f64>> {
        valid.iter().map(|stage| of(stage)).collect()
    };
    let has_slo = valid.iter().all(|stage| stage.pooled.attainment.is_some());
    let attainment = |stage: &StageSummary| {
        let attainment = stage.pooled.attainment.as_ref()?;
        Some(attainment.good as f64 / attainment.of.max(1) as f64)
    };
    let latency = |metric: Metric, quantile: Quantile| {
        let each = valid.iter().map(|stage| {
            let distribution = stage.pooled.distributions.get(&metric)?;
            distribution.quantiles.get(&quantile)?.adjusted_s
        });
        let all: Option<Vec<f64>> = each.collect();
        mean(&all?)
    };
    Some(StepFigures {
        runs: valid.len() as u32,
        window_s: mean(&each(|stage| stage.window_s))?,
        completed_rps: Estimate::of(each(|stage| stage.pooled.rates.completed_rps))?,
        goodput_rps: if has_slo {
            Estimate::of(each(|stage| stage.pooled.rates.goodput_rps))
        } else {
            None
        },
        attainment: has_slo.then(|| average(valid, attainment)).flatten(),
        clauses: clauses(valid),
        output_tps: Estimate::of(told(|stage| stage.pooled.rates.output_tps)?)?,
        input_tps: mean(&told(|stage| stage.pooled.rates.input_tps)?)?,
        output_tokens: tokens(valid, output)?,
        input_tokens: tokens(valid, input)?,
        in_flight: mean(&told(in_flight)?)?,
        service_s: average(valid, |stage| {
            stage.pooled.distributions.get(&Metric::E2e)?.mean_s
        }),
        latencies: StepLatencies {
            ttft_p50_s: latency(Metric::Ttft, Quantile::P50),
            ttft_p95_s: latency(Metric::Ttft, Quantile::P95),
            ttft_p99_s: latency(Metric::Ttft, Quantile::P99),
            itl_p95_s: latency(Metric::Itl, Quantile::P95),
            itl_p99_s: latency(Metric::Itl, Quantile::P99),
        },
        preemptions: valid
            .iter()
            .filter_map(|stage| preemptions(stage))
            .reduce(u64::saturating_add),
    })
}

/// Requests in flight: as the client counted them, else, of another tool's run, by Little's law: 5 requests a
/// second that take 2 s each keep 10 in flight.
fn in_flight(stage: &StageSummary) -> Option<f64> {
    let counted = stage.health.as_ref().map(|health| health.in_flight_mean);
    let pooled = &stage.pooled;
    let by_law =
        || Some(pooled.rates.completed_rps * pooled.distributions.get(&Metric::E2e)?.mean_s?);
    counted.or_else(by_law)
}

/// The share that met each clause, over all runs.
fn clauses(valid: &[&StageSummary]) -> BTreeMap<SloClause, f64> {
    let mut counts: BTreeMap<SloClause, Counted> = BTreeMap::new();
    let all = valid
        .iter()
        .filter_map(|stage| stage.pooled.attainment.as_ref());
    for (clause, count) in all.flat_map(|attainment| &attainment.clauses) {
        let (met, of) = counts.entry(*clause).or_default();
        *met = met.saturating_add(count.met);
        *of = of.saturating_add(count.of);
    }
    let share = |(clause, (met, of)): (SloClause, Counted)| (clause, met as f64 / of.max(1) as f64);
    counts.into_iter().map(share).collect()
}

/// Tokens and the requests that they are of.
type Counted = (u64, u64);

/// A request's tokens on average, over all runs; 0 without one.
fn tokens(valid: &[&StageSummary], of: fn(&StageSummary) -> Counted) -> Option<f64> {
    let all = valid.iter().map(|stage| of(stage));
    let (tokens, requests) =
        all.reduce(|one, other| (one.0.saturating_add(other.0), one.1.saturating_add(other.1)))?;
    Some(tokens as f64 / requests.max(1) as f64)
}

fn output(stage: &StageSummary) -> Counted {
    let pooled = &stage.pooled;
    (pooled.tokens.output_observed, pooled.ended_well())
}

/// A server tells its usage at an answer's end, so these are of the same requests.
fn input(stage: &StageSummary) -> Counted {
    let pooled = &stage.pooled;
    (pooled.tokens.input_observed, pooled.ended_well())
}
