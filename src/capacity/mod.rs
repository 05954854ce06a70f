//! What a server carries, what a service needs, and what it costs: from runs, and nothing else.
//!
//! | file | question |
//! |---|---|
//! | [`step`] | is a load too little, enough or too much? |
//! | [`sweep`] | where is the knee, and which load keeps the SLO? |
//! | [`replicas`] | how many servers does a peak need, and what if one is lost? |
//! | [`model`] | how much memory does a model keep of each token? |
//! | [`kv`] | how many sequences does the KV cache hold? |
//! | [`cost`] | what does a good request cost, and a day? |
//! | [`claim`] | what can these runs not say? |
//! | [`difference`] | and how did all that change? |
//! | [`refine`] | which load is to be measured next? |
//!
//! It holds no prose: reasons are data, and `report` words them.

pub mod claim;
pub mod cost;
pub mod difference;
#[cfg(test)]
mod difference_tests;
pub mod estimate;
pub mod known;
pub mod kv;
pub mod model;
pub mod refine;
pub mod replicas;
pub mod step;
pub mod sweep;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use claim::NoClaim;
pub use cost::{CostFigures, Fleet, MONTH, Share, Whose};
pub use difference::{Compared, Difference, Verdict};
pub use estimate::{Bounds, Change, Estimate};
pub use known::{Known, Why};
pub use kv::{KvBound, KvSource, Memory, ModelInMemory};
pub use model::{ModelError, ModelShape};
pub use replicas::{AfterLoss, CountRange, PerReplica, Replicas};
pub use step::{SlowStart, Step, StepClass, StepEvidence, StepFigures, StepLatencies};
pub use sweep::{Axis, KneeReading, KneeRule, Sustained, SweepReading, WithinSlo};

use crate::spec::{CapacityPlan, Slo};
use crate::summary::{Run, StageSummary};

/// Format tag of the file: name and major version.
pub const CAPACITY_FORMAT: &str = "infergate.capacity/1";

/// A capacity file. Keys come in this order; newer minor versions may add some.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CapacityFile {
    /// [`CAPACITY_FORMAT`].
    pub format: String,
    /// The capacity; of two sides the later one.
    pub capacity: Capacity,
    /// The earlier side, and what lies between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
}

/// The earlier of two sides, and what lies between.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Against {
    /// The earlier side.
    pub before: Capacity,
    /// What changed.
    pub difference: Difference,
}

impl CapacityFile {
    /// Of one side.
    pub fn of_one(capacity: Capacity) -> Self {
        Self {
            format: CAPACITY_FORMAT.to_owned(),
            capacity,
            against: None,
        }
    }

    /// Of both.
    pub fn of_both(compared: Compared) -> Self {
        let Compared {
            before,
            after,
            difference,
        } = compared;
        Self {
            against: Some(Against { before, difference }),
            ..Self::of_one(after)
        }
    }
}

/// What some runs of one server say of its capacity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Capacity {
    /// The spec's name.
    pub name: String,
    /// Ids of the runs.
    pub runs: Vec<String>,
    /// What was declared, and the factors.
    pub plan: CapacityPlan,
    /// The SLO of each class that has one, in nanoseconds; empty in files of earlier versions too.
    pub slos: BTreeMap<String, Slo>,
    /// Servers behind the target that the figures are of.
    pub replicas_measured: u32,
    /// The sweeps.
    pub sweeps: Vec<SweepReading>,
    /// What one replica carries within the SLO.
    pub carries: Known<Carries>,
    /// How many sequences its KV cache holds.
    pub kv: Known<KvBound>,
    /// Replicas for the declared peak.
    pub replicas: Known<Replicas>,
    /// What it costs.
    pub cost: Known<CostFigures>,
    /// What these runs can't say.
    pub no_claims: Vec<NoClaim>,
}

/// The load of one replica within the SLO: the step by which a service grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Carries {
    /// The sweep and step that say so.
    pub stage: String,
    /// Users in flight, the smaller of what was measured and what the KV cache holds.
    pub users: f64,
    /// Users as measured.
    pub measured_users: f64,
    /// Whether the KV cache holds fewer: then the rates below are less in proportion.
    pub bound_by_kv: bool,
    /// Requests a second.
    pub rps: Estimate,
    /// Input tokens a second.
    pub input_tps: f64,
    /// Output tokens a second.
    pub output_tps: Estimate,
    /// Mean time in service.
    pub service_s: f64,
    /// Input tokens of a request.
    pub input_tokens: f64,
    /// Output tokens of a request.
    pub output_tokens: f64,
}

impl Capacity {
    /// The sweep that the load within the SLO is of; without such a load the first.
    pub fn principal(&self) -> Option<&SweepReading> {
        let stage = self.carries.figure().map(|carries| carries.stage.as_str());
        let own = |sweep: &&SweepReading| {
            let within = sweep.within_slo.figure();
            within.is_some_and(|within| Some(within.stage.as_str()) == stage)
        };
        let mut sweeps = self.sweeps.iter();
        sweeps.find(own).or_else(|| self.sweeps.first())
    }
}

/// Reads runs of one server; `model` is what its engine serves, where the user says.
pub fn read(runs: &[Run], model: Option<&ModelInMemory>) -> Capacity {
    let first = runs.first();
    let plan = first
        .and_then(|run| run.spec.capacity.clone())
        .unwrap_or_default();
    let servers = first.map_or(1, servers);
    let sweeps = sweep::read(runs, &plan);
    let within = best(&sweeps);
    let at = within
        .map(|within| (within.stage.as_str(), &within.figures))
        .or_else(|| busiest(&sweeps));
    let tokens = at.map(|(_, figures)| figures.input_tokens + figures.output_tokens);
    let kv = kv(runs, tokens, model, &sweeps);
    let carries = match within {
        Some(within) => carries(within, kv.as_ref().ok(), servers),
        None => Err(why_not(&sweeps)),
    };
    let replicas = carries
        .as_ref()
        .map_err(|_| Why::NoLoad)
        .and_then(|one| replicas_of(&plan, one));
    let gpus = first.and_then(|run| kv::number(&run.pins, "hardware.count"));
    let price = first.and_then(|run| run.spec.cost.as_ref());
    let each = gpus.map(|gpus| gpus as f64 / f64::from(servers));
    let cost = match at {
        None => Err(Why::NoSweep),
        Some((stage, figures)) => cost::figures(price, each, stage, figures, f64::from(servers))
            .map(|cost| {
                let cost = cost.with_shares(stages(runs, stage));
                match &replicas {
                    Ok(replicas) => cost.with_fleet(replicas.needed, &plan),
                    Err(_) => cost,
                }
            }),
    };
    Capacity {
        name: first.map(|run| run.spec.name.clone()).unwrap_or_default(),
        runs: runs.iter().map(|run| run.id.clone()).collect(),
        slos: first.map(|run| run.spec.slos.clone()).unwrap_or_default(),
        plan,
        replicas_measured: servers,
        no_claims: claim::claims(runs, &sweeps, servers),
        sweeps,
        carries: carries.into(),
        kv: kv.into(),
        replicas: replicas.into(),
        cost: cost.into(),
    }
}

/// For the peak of a plan, with how many they may be by the intervals of what one carries.
fn replicas_of(plan: &CapacityPlan, one: &Carries) -> Result<Replicas, Why> {
    let found = Replicas::of(plan, one.per_replica(), one.input_tokens)?;
    let at = |end: fn(&Bounds) -> f64| {
        let one_end = one.at_end(end)?;
        let replicas = Replicas::of(plan, one_end, one.input_tokens).ok()?;
        Some(replicas.needed)
    };
    Ok(Replicas {
        range: at(|bounds| bounds.upper)
            .zip(at(|bounds| bounds.lower))
            .map(|(least, most)| CountRange { least, most }),
        ..found
    })
}

/// Servers behind the target of a run: its addresses.
fn servers(run: &Run) -> u32 {
    run.client.target.split(", ").count().max(1) as u32
}

fn stages<'a>(runs: &'a [Run], name: &'a str) -> impl Iterator<Item = &'a StageSummary> {
    let all = sweep::readable(runs).flat_map(|run| &run.stages);
    all.filter(move |stage| stage.name == name)
}

/// Of several sweeps the one whose load within the SLO brings most requests.
fn best(sweeps: &[SweepReading]) -> Option<&WithinSlo> {
    let within = sweeps.iter().filter_map(|sweep| sweep.within_slo.figure());
    within.max_by(|one, other| {
        let rate = |within: &WithinSlo| within.figures.completed_rps.value;
        rate(one).total_cmp(&rate(other))
    })
}

/// Without a load within the SLO costs are those of the step with most output.
fn busiest(sweeps: &[SweepReading]) -> Option<(&str, &StepFigures)> {
    let steps = sweeps.iter().flat_map(|sweep| &sweep.steps);
    let measured = steps.filter_map(|step| Some((step.stage.as_str(), step.figures.as_ref()?)));
    measured.max_by(|(_, one), (_, other)| one.output_tps.value.total_cmp(&other.output_tps.value))
}

/// Why no sweep has a load within the SLO: what the first says.
fn why_not(sweeps: &[SweepReading]) -> Why {
    let first = sweeps.iter().find_map(|sweep| sweep.within_slo.why());
    first.cloned().unwrap_or(Why::NoSweep)
}

fn kv(
    runs: &[Run],
    tokens: Option<f64>,
    model: Option<&ModelInMemory>,
    sweeps: &[SweepReading],
) -> Result<KvBound, Why> {
    let run = runs.first().ok_or(Why::NoSweep)?;
    let bound = KvBound::of(&run.pins, tokens.ok_or(Why::NoSweep)?, model)?;
    let steps = sweeps.iter().flat_map(|sweep| &sweep.steps);
    let seen = steps.filter_map(|step| step.figures.as_ref()?.preemptions);
    Ok(KvBound {
        preemptions: seen.reduce(u64::saturating_add),
        ..bound
    })
}

/// One replica at the load within the SLO, with no more users than its cache holds.
fn carries(within: &WithinSlo, kv: Option<&KvBound>, servers: u32) -> Result<Carries, Why> {
    let figures = &within.figures;
    let one = 1.0 / f64::from(servers);
    let measured = within.users * one;
    let bound = kv.map(|kv| kv.sequences as f64);
    let fits = bound.filter(|bound| *bound < measured);
    // Fewer users bring less, in proportion at the most.
    let one = one * fits.map_or(1.0, |fits| fits / measured);
    Ok(Carries {
        stage: within.stage.clone(),
        users: fits.unwrap_or(measured),
        measured_users: measured,
        bound_by_kv: fits.is_some(),
        rps: figures.completed_rps.times(one),
        input_tps: figures.input_tps * one,
        output_tps: figures.output_tps.times(one),
        service_s: figures.service_s.ok_or(Why::NothingGood)?,
        input_tokens: figures.input_tokens,
        output_tokens: figures.output_tokens,
    })
}

impl Carries {
    /// The same at an end of its intervals; `None` where a rate has none. As many users bring fewer requests
    /// because each takes longer (Little's law).
    fn at_end(&self, end: fn(&Bounds) -> f64) -> Option<PerReplica> {
        let rps = end(&self.rps.interval?);
        Some(PerReplica {
            rps,
            service_s: self.service_s * self.rps.value / rps,
            output_tps: end(&self.output_tps.interval?),
            ..self.per_replica()
        })
    }

    /// What replicas are counted by.
    pub fn per_replica(&self) -> PerReplica {
        PerReplica {
            users: self.users,
            rps: self.rps.value,
            service_s: self.service_s,
            output_tokens: self.output_tokens,
            output_tps: self.output_tps.value,
        }
    }
}
