//! A plan's size and what of it can be told from noise.

use serde::Serialize;

use super::replay::TraceSize;
use super::{conversations, rows, tolerances};
use crate::cli::archived::Archived;
use crate::metric::{Cell, Metric};
use crate::plan::{Plan, StagePlan};
use crate::spec::{Extent, GateCell, Layer, Limit, Spec, Stage};
use crate::unit::{Nanos, scale};

/// The size of a plan, for `--json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::cli) struct Size {
    /// Always `infergate.check/1`.
    pub format: &'static str,
    /// The spec's name.
    pub name: String,
    /// Digest of what has to be equal for two runs to be comparable.
    pub workload_digest: String,
    /// The stages, sweeps expanded.
    pub stages: Vec<StageSize>,
    /// What refining adds to a run of all stages at the most; empty where no sweep is refined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refined: Vec<RefinedSize>,
    /// One run of all stages, with what refining adds at the most.
    pub run_s: f64,
    /// Whether `run_s` is a bound and not the time itself.
    pub run_is_bound: bool,
    /// Three pairs, which many comparisons need no more than.
    pub three_pairs_s: f64,
    /// After how many pairs the comparison is looked at, and how long it has taken by then.
    pub looks: Vec<Look>,
    /// What is judged.
    pub cells: Vec<CellSize>,
    /// What of it can be told from noise, in each environment of the archive; on assumed noise where
    /// there is none.
    pub archive: Vec<Archived>,
    /// Tolerances that can't, in words: with any the exit is 2.
    pub mistakes: Vec<String>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// One stage in figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::cli) struct StageSize {
    /// The stage's name.
    pub name: String,
    /// How requests come, in words.
    pub arrival: String,
    /// Requests in the window; `None` where the target's speed decides.
    pub requests: Option<u64>,
    /// Warm-up, in words.
    pub warmup: String,
    /// The window; `None` where the target's speed decides.
    pub window_s: Option<f64>,
    /// Warm-up and window together.
    pub duration_s: f64,
    /// Whether `duration_s` is a bound: the time that the stage takes when every request just keeps
    /// its SLO.
    pub duration_is_bound: bool,
    /// Whether every pair repeats it; another stage runs once a side.
    pub repeated: bool,
    /// What it replays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSize>,
}

/// What refining a sweep adds at the most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::cli) struct RefinedSize {
    /// The sweep.
    pub sweep: String,
    /// Stages: steps, and of a closed loop the open one that bears its load out.
    pub stages: u32,
    /// All of them together.
    pub duration_s: f64,
}

/// One look of an `ab`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(in crate::cli) struct Look {
    /// Pairs done by then.
    pub pairs: u32,
    /// Time taken by then.
    pub total_s: f64,
}

/// One judged cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::cli) struct CellSize {
    /// As in `steady/ttft.p95`.
    pub cell: String,
    /// As in `worse by 10 %`.
    pub limit: String,
    /// Shown, but never in the verdict.
    pub informational: bool,
}

impl Size {
    /// The size of a spec's plan.
    pub(in crate::cli) fn of(spec: &Spec, plan: &Plan, archive: Vec<Archived>) -> Self {
        let latency = spec.workload.latency_at_slo();
        let stages: Vec<StageSize> = plan
            .stages()
            .iter()
            .enumerate()
            .map(|(index, stage)| {
                let repeated = spec.gate.repeats_stage(&stage.stage.name);
                StageSize::of(stage, (latency, plan.has_conversations(index)), repeated)
            })
            .collect();
        let refined: Vec<RefinedSize> = spec
            .refinings()
            .iter()
            .map(|refining| RefinedSize {
                sweep: refining.sweep.to_owned(),
                stages: refining.stages,
                duration_s: refining.at_most.as_secs_f64(),
            })
            .collect();
        let declared_s: f64 = stages.iter().map(|stage| stage.duration_s).sum();
        let added_s: f64 = refined.iter().map(|added| added.duration_s).sum();
        let run_s = declared_s + added_s;
        let repeated_s: f64 = stages
            .iter()
            .filter(|stage| stage.repeated)
            .map(|stage| stage.duration_s)
            .sum();
        // Both sides of each pair, and the other stages once a side.
        let total = |pairs: u32| 2.0 * (f64::from(pairs) * repeated_s + (run_s - repeated_s));
        // Later where some environment's noise has to be assumed.
        let later = archive.iter().find(|archived| archived.forecast.assumed);
        let looks = later
            .or(archive.first())
            .map_or(&[][..], |archived| archived.forecast.looks.as_slice());
        Self {
            format: "infergate.check/1",
            name: spec.name.to_string(),
            workload_digest: spec.workload_digest().hex(),
            run_s,
            run_is_bound: !refined.is_empty() || stages.iter().any(|stage| stage.duration_is_bound),
            three_pairs_s: total(3),
            looks: looks
                .iter()
                .map(|&pairs| Look {
                    pairs,
                    total_s: total(pairs),
                })
                .collect(),
            cells: spec.gate.cells.iter().map(CellSize::of).collect(),
            notes: [
                notes(spec),
                layers(spec),
                conversations::notes(plan.stages(), &spec.workload),
                rows::notes(&spec.workload),
                tolerances::notes(&archive),
            ]
            .concat(),
            mistakes: Vec::new(),
            refined,
            archive,
            stages,
        }
    }
}

impl StageSize {
    fn of(planned: &StagePlan, (latency, conversations): (Nanos, bool), repeated: bool) -> Self {
        let stage = &planned.stage;
        let (requests, window) = match &planned.schedule {
            Some(schedule) => (
                // Of conversations, the schedule has the first requests only.
                if conversations {
                    stage
                        .expected_requests()
                        .map(|requests| requests.round() as u64)
                } else {
                    Some(schedule.measured.len() as u64)
                },
                Some(schedule.window_end.since(schedule.window_start)),
            ),
            None => match stage.extent {
                Extent::Requests(requests) => (Some(requests.into()), None),
                Extent::Duration(window) => (None, Some(window)),
            },
        };
        Self {
            name: stage.name.clone(),
            arrival: stage.arrival.to_string(),
            requests,
            warmup: warmup(stage),
            window_s: window.map(Nanos::as_secs_f64),
            duration_s: stage.expected_duration(latency).as_secs_f64(),
            duration_is_bound: !stage.has_fixed_duration(),
            repeated,
            trace: TraceSize::of(&stage.arrival),
        }
    }
}

impl CellSize {
    fn of(cell: &GateCell) -> Self {
        Self {
            cell: cell.cell.to_string(),
            limit: cell.limit.describe(cell.cell.metric.metric()).to_string(),
            informational: cell.informational,
        }
    }
}

fn warmup(stage: &Stage) -> String {
    let requests = format!("{} requests", scale::count(stage.warmup.requests.into()));
    match (stage.warmup.requests, stage.warmup.duration) {
        (0, Nanos::ZERO) => "none".to_owned(),
        (0, time) => time.to_string(),
        (_, Nanos::ZERO) => requests,
        (_, time) => format!("{requests} and {time}"),
    }
}

/// What is measured of two layers.
fn layers(spec: &Spec) -> Vec<String> {
    let judged = match (&spec.beside, spec.target.layer) {
        (None, _) => return Vec::new(),
        (Some(_), Layer::Engine) => "engine",
        (Some(_), Layer::EndToEnd) => "front",
    };
    vec![format!(
        "`run` measures engine and front in turn, so it takes twice as long; `ab`, `gate`, `calibrate` and \
         promoted sessions have the {judged} alone, by `layer` of the gate"
    )]
}

fn notes(spec: &Spec) -> Vec<String> {
    let is_open = |name: &str| {
        let mut stages = spec.stages.iter();
        stages.any(|stage| stage.name == name && stage.arrival.is_open())
    };
    spec.gate
        .cells
        .iter()
        .filter(|gated| {
            let Cell { stage, metric, .. } = &gated.cell;
            metric.metric() == Metric::Goodput
                && matches!(gated.limit, Limit::WorseBy { .. })
                && stage.as_deref().is_some_and(is_open)
        })
        .map(|gated| {
            format!(
                "`{}` is judged as attainment, in points: at an open-loop stage goodput is attainment \
                 times the arrival rate",
                gated.cell
            )
        })
        .collect()
}
