//! A sweep read: the class of each step, the knee, and the load within the SLO.

use serde::{Deserialize, Serialize};

use super::known::{Known, Why};
use super::step::{Step, StepFigures, classify, measured};
use crate::spec::CapacityPlan;
use crate::stats::knee::{
    Knee as ThroughputKnee, Rung, by_goodput, by_throughput, throughput_candidates,
};
use crate::stats::moderated::Interval;
use crate::stats::noise::Noise;
use crate::stats::proportion::{
    Count, ScatterPrior, Share, effective_share, overdispersion, wilson,
};
use crate::summary::{Run, RunEnd, Saturation, StageSummary};

/// A last step that raised goodput by so much has not reached its best.
const RISING: f64 = 0.05;
/// How much more good requests of a stage scatter than independent ones, with what that assumption is worth.
const SHARED_QUEUE: ScatterPrior = ScatterPrior { phi: 2.0, df: 3.0 };
/// How far below the load that is to be verified an open loop may lie, as a share of it.
const NEAR: f64 = 0.05;

/// A sweep with what it says of one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SweepReading {
    /// The sweep, `sweep` of `sweep@8`.
    pub name: String,
    /// What its loads are.
    pub axis: Axis,
    /// The steps, by load.
    pub steps: Vec<Step>,
    /// Where more load stops to help.
    pub knee: Known<KneeReading>,
    /// The largest load within the SLO.
    pub within_slo: Known<WithinSlo>,
}

/// What the loads of a sweep are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Users of a closed loop.
    Users,
    /// Requests a second of an open one.
    Rate,
}

/// The knee of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KneeReading {
    /// The smallest load that gives nearly the best.
    pub load: f64,
    /// Of what.
    pub by: KneeRule,
    /// Loads that may be it, or may be as good as the best.
    pub set: Vec<f64>,
    /// The next lower load that was measured; `None` where the knee is the smallest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// Share of the knee's load from which on somebody is to be told.
    pub alert_share: f64,
    /// That load.
    pub alert: f64,
}

/// What a knee is the knee of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KneeRule {
    /// 97 % of the best mean goodput.
    Goodput,
    /// 95 % of the largest throughput, where there is no SLO.
    Throughput,
}

/// The largest load within the SLO.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WithinSlo {
    /// The step.
    pub stage: String,
    /// Its load.
    pub load: f64,
    /// Loads that may be the largest, by intervals of the share of good requests; empty in files of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<f64>,
    /// Users of its closed loop; of an open one the requests in flight.
    pub users: f64,
    /// Share of its requests that were good.
    pub attainment: f64,
    /// Its figures.
    pub figures: StepFigures,
    /// Whether it is the largest load that was tried: then this is no more than "at least".
    pub is_last: bool,
    /// Whether an open loop bears it out.
    pub sustained: Sustained,
}

/// Whether a load holds where requests come whatever the server does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sustained {
    /// It was measured in an open loop.
    Measured,
    /// An open stage at that rate kept the SLO and its backlog.
    Verified {
        /// The stage.
        stage: String,
        /// Its rate.
        rate_rps: f64,
        /// Share of its requests that were good.
        attainment: f64,
    },
    /// An open stage near that rate did not.
    Refuted {
        /// The stage.
        stage: String,
        /// Its rate.
        rate_rps: f64,
        /// Share of its requests that were good.
        attainment: f64,
    },
    /// There is no such stage.
    NotTried {
        /// The rate that it would have.
        rate_rps: f64,
    },
}

/// Runs whose figures may be read: all but those that somebody stopped.
pub(super) fn readable(runs: &[Run]) -> impl Iterator<Item = &Run> {
    runs.iter().filter(|run| run.end != RunEnd::Interrupted)
}

/// The sweeps of these runs of one server, in the order of their stages.
pub(super) fn read(runs: &[Run], plan: &CapacityPlan) -> Vec<SweepReading> {
    let stages: Vec<&StageSummary> = readable(runs).flat_map(|run| &run.stages).collect();
    let mut names: Vec<&str> = Vec::new();
    for stage in &stages {
        if let Some((sweep, _)) = stage.name.rsplit_once('@')
            && !names.contains(&sweep)
        {
            names.push(sweep);
        }
    }
    let all = names.into_iter().map(|name| of_stages(name, &stages, plan));
    all.filter(|sweep| sweep.steps.len() > 1).collect()
}

/// The sweep of this name among stages of one server, each as often as it was run.
pub fn of_stages(name: &str, stages: &[&StageSummary], plan: &CapacityPlan) -> SweepReading {
    let own = |stage: &&&StageSummary| {
        stage
            .name
            .rsplit_once('@')
            .is_some_and(|(sweep, _)| sweep == name)
    };
    let axis = if stages.iter().filter(own).any(|stage| stage.users.is_some()) {
        Axis::Users
    } else {
        Axis::Rate
    };
    let mut steps: Vec<Step> = Vec::new();
    for stage in stages.iter().filter(own) {
        let Some(load) = load(stage) else { continue };
        if steps.iter().all(|step| step.stage != stage.name) {
            let each: Vec<&StageSummary> = stages
                .iter()
                .copied()
                .filter(|other| other.name == stage.name)
                .collect();
            steps.push(measured(&stage.name, load, &each));
        }
    }
    steps.sort_by(|one, other| one.load.total_cmp(&other.load));
    let completed = |figures: &StepFigures| Some(figures.completed_rps.runs.clone());
    let throughput = rungs(&steps, completed);
    let flat = by_throughput(&throughput);
    let reached = match flat {
        Some(ThroughputKnee::At(load)) => Some(load),
        Some(ThroughputKnee::NotReached(_)) | None => None,
    };
    classify(&mut steps, reached);
    let good = |figures: &StepFigures| Some(figures.goodput_rps.as_ref()?.runs.clone());
    let goodput = rungs(&steps, good);
    let knee = if goodput.is_empty() {
        knee_by_throughput(&throughput, flat)
    } else {
        knee_by_goodput(&goodput)
    };
    let knee = knee.map(|(load, by, set)| KneeReading {
        load,
        by,
        set,
        below: measured_loads(&steps).rfind(|below| *below < load),
        alert_share: plan.alert,
        alert: plan.alert * load,
    });
    let within = within(&steps, axis, stages, plan.attainment);
    SweepReading {
        name: name.to_owned(),
        axis,
        steps,
        knee: knee.into(),
        within_slo: within.into(),
    }
}

/// Users of a closed stage, the rate of an open one; `None` of a file with neither, or with a load that is
/// none.
fn load(stage: &StageSummary) -> Option<f64> {
    let load = stage.users.map(f64::from).or(stage.rate_rps)?;
    (load.is_finite() && load > 0.0).then_some(load)
}

fn measured_loads(steps: &[Step]) -> impl DoubleEndedIterator<Item = f64> {
    let valid = steps.iter().filter(|step| step.figures.is_some());
    valid.map(|step| step.load)
}

/// Loads with a value a run, of the steps that have as many runs as most; none where one has no value.
fn rungs(steps: &[Step], of: impl Fn(&StepFigures) -> Option<Vec<f64>>) -> Vec<Rung> {
    let each = steps
        .iter()
        .filter_map(|step| Some((step.load, step.figures.as_ref()?)));
    let all: Option<Vec<Rung>> = each
        .map(|(load, figures)| {
            Some(Rung {
                load,
                values: of(figures)?,
            })
        })
        .collect();
    all.unwrap_or_default()
}

type Found = (f64, KneeRule, Vec<f64>);

fn knee_by_goodput(rungs: &[Rung]) -> Result<Found, Why> {
    let [.., before, last] = rungs else {
        return Err(Why::NoSweep);
    };
    let capacity = by_goodput(rungs, Noise::ASSUMED).ok_or(Why::NothingGood)?;
    let mean = |rung: &Rung| crate::stats::mean(&rung.values).unwrap_or(0.0);
    let gain = mean(last) / mean(before) - 1.0;
    if capacity.best_load >= last.load && gain > RISING {
        return Err(Why::NotReached {
            load: last.load,
            gain,
        });
    }
    Ok((capacity.load, KneeRule::Goodput, capacity.candidates))
}

fn knee_by_throughput(rungs: &[Rung], knee: Option<ThroughputKnee>) -> Result<Found, Why> {
    let [_, .., last] = rungs else {
        return Err(Why::NoSweep);
    };
    match knee {
        Some(ThroughputKnee::At(load)) => {
            let set = throughput_candidates(rungs, Noise::ASSUMED);
            Ok((load, KneeRule::Throughput, set))
        }
        Some(ThroughputKnee::NotReached(gain)) => Err(Why::NotReached {
            load: last.load,
            gain,
        }),
        None => Err(Why::NothingGood),
    }
}

/// The largest load that, as all smaller ones, keeps the SLO in the share of requests that is asked for.
fn within(
    steps: &[Step],
    axis: Axis,
    stages: &[&StageSummary],
    wanted: f64,
) -> Result<WithinSlo, Why> {
    let measured = steps
        .iter()
        .filter_map(|step| Some((step, step.figures.as_ref()?)));
    let mut found = None;
    let mut left = false;
    for (step, figures) in measured {
        let attainment = figures.attainment.ok_or(Why::NoSlo)?;
        if attainment < wanted {
            if found.is_none() {
                return Err(Why::NeverWithin {
                    load: step.load,
                    attainment,
                });
            }
            left = true;
            break;
        }
        found = Some((step, figures, attainment));
    }
    let (step, figures, attainment) = found.ok_or(Why::NoSweep)?;
    let sustained = match axis {
        Axis::Rate => Sustained::Measured,
        Axis::Users => verified(stages, figures.completed_rps.value, wanted),
    };
    Ok(WithinSlo {
        stage: step.stage.clone(),
        load: step.load,
        set: may_be(steps, stages, wanted),
        users: match axis {
            Axis::Users => step.load,
            Axis::Rate => figures.in_flight,
        },
        attainment,
        figures: figures.clone(),
        is_last: !left,
        sustained,
    })
}

/// Loads that may be the largest within the SLO: at which, as at all smaller ones, the share of good requests may
/// be as wanted, and at the next one below.
///
/// Shares have Wilson's intervals of 95 %; requests of one stage share its queue, so they count as half as many
/// until runs say how much they scatter. 950 of 1,000 good at 16 users and 700 at 32, 95 % wanted: 8 and 16.
fn may_be(steps: &[Step], stages: &[&StageSummary], wanted: f64) -> Vec<f64> {
    let intervals: Vec<(f64, Interval)> = steps
        .iter()
        .filter(|step| step.figures.is_some())
        .filter_map(|step| Some((step.load, share_of(step, stages)?)))
        .collect();
    let mut set = Vec::new();
    for (number, (load, share)) in intervals.iter().enumerate() {
        if share.upper < wanted {
            break;
        }
        let next = intervals.get(number + 1);
        if next.is_none_or(|(_, next)| next.lower < wanted) {
            set.push(*load);
        }
    }
    set
}

/// The interval of a step's share of good requests, over its valid runs.
fn share_of(step: &Step, stages: &[&StageSummary]) -> Option<Interval> {
    let own = stages
        .iter()
        .filter(|stage| stage.name == step.stage && stage.invalid.is_empty());
    let counts: Vec<Count> = own
        .filter_map(|stage| {
            let attained = stage.pooled.attainment.as_ref()?;
            Some(Count {
                events: attained.good,
                trials: attained.of,
            })
        })
        .collect();
    let phi = overdispersion(&[&counts], SHARED_QUEUE);
    let Share { p, n } = effective_share(&counts, phi)?;
    Some(wilson(p, n, 0.95))
}

/// What open stages say of a rate that a closed loop reached.
fn verified(stages: &[&StageSummary], rate: f64, wanted: f64) -> Sustained {
    let (low, high) = (rate * (1.0 - NEAR), rate * (1.0 + NEAR));
    let mut refuted = None;
    for stage in stages.iter().filter(|stage| stage.invalid.is_empty()) {
        let (Some(rate_rps), Some(load)) = (stage.rate_rps, stage.load_state) else {
            continue;
        };
        let Some(attained) = &stage.pooled.attainment else {
            continue;
        };
        let attainment = attained.good as f64 / attained.of.max(1) as f64;
        let keeps = attainment >= wanted && load.state != Saturation::Overloaded;
        let stage = stage.name.clone();
        if keeps && rate_rps >= low {
            return Sustained::Verified {
                stage,
                rate_rps,
                attainment,
            };
        }
        if !keeps && rate_rps <= high && refuted.is_none() {
            refuted = Some(Sustained::Refuted {
                stage,
                rate_rps,
                attainment,
            });
        }
    }
    refuted.unwrap_or(Sustained::NotTried { rate_rps: rate })
}
