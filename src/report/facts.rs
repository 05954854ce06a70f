//! What a report shows of the runs behind a judgement, so that it can be rendered without them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capacity::{self, CapacityFile, Compared};
use crate::lang::say;
use crate::metric::{Metric, Quantile};
use crate::provenance::Pins;
use crate::spec::SloClause;
use crate::stats::mean;
use crate::summary::{Run, RunEnd, Side, StageSummary};
use crate::unit::scale;

use super::build::Sides;
use super::model::EngineRow;
use super::outcomes::{self, StageCounts};
use super::span::Text;
use super::{conditions, engines, method, setup, words};

/// What a report shows of the runs; a report file keeps it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Facts {
    /// The pinned facts of each side, those of its first run.
    pub pins: BothPins,
    /// Sides with figures from a job that is not trusted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<Side>,
    /// How requests ended, by stage and side.
    pub counts: Vec<StageCounts>,
    /// Latency and throughput of the steps of sweeps, by side.
    pub steps: Vec<StepFigures>,
    /// Thresholds of the SLOs of classes, by metric in seconds, smallest first.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub slo: BTreeMap<Metric, Vec<f64>>,
    /// What the engines and GPUs say, both sides beside each other.
    pub engines: Vec<EngineRow>,
    /// What the sweeps of both sides say of capacity; `None` where nothing sweeps and no spec declares a
    /// capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Box<CapacityFile>>,
    /// Reasons to trust the figures less that the runs tell.
    pub caveats: Vec<Text>,
    /// Where the figures come from.
    pub method: Vec<Text>,
    /// Commands that make the report again.
    pub reproduce: Vec<String>,
}

/// The pinned facts of both sides; empty where there is no run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct BothPins {
    /// The baseline's.
    pub baseline: Pins,
    /// The candidate's.
    pub candidate: Pins,
}

/// One step of a sweep as one side measured it: means over its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StepFigures {
    /// The step, as in `sweep@8`.
    pub stage: String,
    /// The side.
    pub side: Side,
    /// Completed requests, in requests a second.
    pub completed_rps: f64,
    /// Output tokens a second.
    pub output_tps: f64,
    /// 95th percentiles in seconds, failed requests counted as infinite; `None` where that makes it
    /// infinite in some run.
    pub p95_s: BTreeMap<Metric, Option<f64>>,
}

/// Latencies that are shown against throughput.
pub(super) const LATENCIES: [Metric; 3] = [Metric::Ttft, Metric::Tpot, Metric::E2e];

impl StepFigures {
    /// The sweep, `sweep` of `sweep@8`.
    pub fn sweep(&self) -> &str {
        self.stage
            .rsplit_once('@')
            .map_or(&self.stage, |(sweep, _)| sweep)
    }
}

/// The sweeps of two steps or more, in the order of the steps.
pub(super) fn sweeps<'a>(steps: impl Iterator<Item = &'a StepFigures>) -> Vec<String> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for step in steps {
        match found.iter_mut().find(|(name, _)| *name == step.sweep()) {
            Some((_, stages)) if stages.contains(&step.stage.as_str()) => {}
            Some((_, stages)) => stages.push(&step.stage),
            None => found.push((step.sweep(), vec![&step.stage])),
        }
    }
    found.retain(|(_, stages)| stages.len() > 1);
    found
        .into_iter()
        .map(|(sweep, _)| sweep.to_owned())
        .collect()
}

impl Facts {
    /// Of the runs of both sides.
    pub fn of(sides: &Sides<'_>) -> Self {
        let pins = |runs: &[Run]| runs.first().map_or_else(Pins::new, |run| run.pins.clone());
        Self {
            pins: BothPins {
                baseline: pins(sides.baseline),
                candidate: pins(sides.candidate),
            },
            untrusted: both(sides)
                .into_iter()
                .filter(|(_, runs)| runs.iter().any(|run| run.untrusted))
                .map(|(side, _)| side)
                .collect(),
            counts: outcomes::counts(sides),
            steps: both(sides)
                .into_iter()
                .flat_map(|(side, runs)| steps(side, runs))
                .collect(),
            slo: limits_of(sides.candidate.iter().chain(sides.baseline)),
            engines: engines::rows(sides.baseline, sides.candidate),
            capacity: capacity_of(sides).map(Box::new),
            caveats: caveats(sides),
            method: method::of_runs(sides),
            reproduce: sides.reproduce.to_vec(),
        }
    }
}

/// What the runs say of capacity, where a sweep was run or a capacity is declared.
fn capacity_of(sides: &Sides<'_>) -> Option<CapacityFile> {
    let after = capacity::read(sides.candidate, None);
    let declared = |run: &Run| run.spec.capacity.is_some();
    if after.sweeps.is_empty() && !sides.candidate.iter().any(declared) {
        return None;
    }
    if sides.baseline.is_empty() {
        return Some(CapacityFile::of_one(after));
    }
    let before = capacity::read(sides.baseline, None);
    Some(CapacityFile::of_both(Compared::of(before, after)))
}

/// Thresholds of the SLOs that runs were measured by and charts can show, each once, smallest first.
pub(super) fn limits_of<'a>(runs: impl Iterator<Item = &'a Run>) -> BTreeMap<Metric, Vec<f64>> {
    let mut found: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
    for (clause, limit) in runs.flat_map(|run| run.spec.slos.values().flatten()) {
        let metric = match clause {
            SloClause::Ttft => Metric::Ttft,
            SloClause::Tpot => Metric::Tpot,
            SloClause::E2e => Metric::E2e,
            SloClause::Ttfa | SloClause::ItlMax => continue,
        };
        let limits = found.entry(metric).or_default();
        if !limits.contains(&limit.as_secs_f64()) {
            limits.push(limit.as_secs_f64());
        }
    }
    for limits in found.values_mut() {
        limits.sort_by(f64::total_cmp);
    }
    found
}

const fn both<'a>(sides: &Sides<'a>) -> [(Side, &'a [Run]); 2] {
    [
        (Side::Baseline, sides.baseline),
        (Side::Candidate, sides.candidate),
    ]
}

/// The steps of the sweeps of one side, in the order of the stages.
pub(super) fn steps(side: Side, runs: &[Run]) -> Vec<StepFigures> {
    let mut names: Vec<&str> = Vec::new();
    let stages = || runs.iter().flat_map(|run| &run.stages);
    for stage in stages() {
        if stage.name.contains('@') && !names.contains(&stage.name.as_str()) {
            names.push(&stage.name);
        }
    }
    let step = |name: &str| {
        let own: Vec<&StageSummary> = stages().filter(|stage| stage.name == name).collect();
        let over = |of: fn(&StageSummary) -> f64| {
            mean(&own.iter().map(|stage| of(stage)).collect::<Vec<f64>>())
        };
        let p95_s = LATENCIES.into_iter().filter_map(|metric| {
            let seen: Option<Vec<Option<f64>>> = own
                .iter()
                .map(|stage| {
                    let distribution = stage.pooled.distributions.get(&metric)?;
                    Some(distribution.quantiles.get(&Quantile::P95)?.adjusted_s)
                })
                .collect();
            let finite: Option<Vec<f64>> = seen?.into_iter().collect();
            Some((metric, finite.and_then(|values| mean(&values))))
        });
        Some(StepFigures {
            stage: name.to_owned(),
            side,
            completed_rps: over(|stage| stage.pooled.rates.completed_rps)?,
            output_tps: over(|stage| stage.pooled.rates.output_tps.unwrap_or(0.0))?,
            p95_s: p95_s.collect(),
        })
    };
    names.into_iter().filter_map(step).collect()
}

/// Reasons to trust the figures less that the runs tell.
fn caveats(sides: &Sides<'_>) -> Vec<Text> {
    let mut out = Vec::new();
    for (side, runs) in both(sides) {
        for (stage, state, over, of) in conditions::saturated(runs) {
            let args = [
                Text::value(stage),
                setup::side(side),
                conditions::state(state),
                Text::just(scale::count(over as u64)),
                Text::just(scale::count(of as u64)),
            ];
            out.push(Text::say(say::SATURATED, args));
        }
        for (number, run) in runs.iter().enumerate() {
            if let RunEnd::TargetLost { error } = &run.end {
                let why = Text::default().prose(error);
                out.push(Text::say(
                    say::LOST_TARGET,
                    [setup::side(side), number_of(number), why],
                ));
            }
            for stage in &run.stages {
                for reason in &stage.invalid {
                    let args = [
                        Text::value(&stage.name),
                        setup::side(side),
                        number_of(number),
                        words::invalid(reason),
                    ];
                    out.push(Text::say(say::INVALID_STAGE, args));
                }
            }
        }
        out.extend(of_engines(side, runs));
    }
    out
}

/// What the engine's metrics leave open, once a stage and kind: the first run that says it, and how many others
/// say the same with other figures. An archive of 100 runs would fill the report with it.
fn of_engines(side: Side, runs: &[Run]) -> Vec<Text> {
    struct Told<'a> {
        stage: &'a str,
        kind: String,
        first: usize,
        others: u64,
        text: Text,
    }
    let mut all: Vec<Told<'_>> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        for stage in &run.stages {
            for text in stage.engine.iter().flat_map(engines::caveats) {
                let kind = text.plain().replace(|c: char| c.is_ascii_digit(), "");
                let alike = |told: &&mut Told<'_>| told.stage == stage.name && told.kind == kind;
                match all.iter_mut().find(alike) {
                    Some(told) => told.others += 1,
                    None => all.push(Told {
                        stage: &stage.name,
                        kind,
                        first: number + 1,
                        others: 0,
                        text,
                    }),
                }
            }
        }
    }
    let text = |told: Told<'_>| {
        let phrase = match told.others {
            0 => say::ENGINE_CAVEAT,
            1 => say::ENGINE_CAVEAT_TWO,
            _ => say::ENGINE_CAVEAT_MORE,
        };
        let mut args = vec![
            Text::value(told.stage),
            setup::side(side),
            Text::just(told.first.to_string()),
            told.text,
        ];
        if told.others > 1 {
            args.push(Text::just(scale::count(told.others)));
        }
        Text::say(phrase, args)
    };
    all.into_iter().map(text).collect()
}

/// The number of a run, from 1.
fn number_of(index: usize) -> Text {
    Text::just((index + 1).to_string())
}
