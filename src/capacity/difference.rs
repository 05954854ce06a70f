//! Two capacities side by side: what a change makes of them.

use serde::{Deserialize, Serialize};

use super::estimate::{Change, Estimate};
use super::known::Known;
use super::sweep::{KneeReading, SweepReading};
use super::{Capacity, Carries, CostFigures};

/// Both sides, and what lies between.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Compared {
    /// Before.
    pub before: Capacity,
    /// After.
    pub after: Capacity,
    /// The differences.
    pub difference: Difference,
}

/// What changed; `None` where a side has no figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Difference {
    /// Whether both sides' sweeps have the same loads, without which best figures are not comparable.
    pub same_loads: bool,
    /// The knee's load.
    pub knee: Option<Verdict>,
    /// The largest goodput over the loads that both have; without an SLO, the largest throughput.
    pub best: Option<Moved>,
    /// Requests a second of one replica at its load within the SLO.
    pub rps: Option<Moved>,
    /// Replicas for the peak.
    pub replicas: Option<i64>,
    /// Sequences that the KV cache holds.
    pub kv: Option<i64>,
    /// A good request's price.
    pub good_request: Option<Moved>,
}

/// A change with what may be said of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Moved {
    /// The figure before.
    pub before: f64,
    /// The figure after.
    pub after: f64,
    /// The change's size.
    pub change: Change,
    /// What may be said.
    pub verdict: Verdict,
}

/// What may be said of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is less.
    Less,
    /// It is more.
    More,
    /// No difference beyond noise.
    Noise,
}

impl Compared {
    /// Of both sides.
    pub fn of(before: Capacity, after: Capacity) -> Self {
        let pair = before.sweeps.iter().find_map(|one| {
            let mut others = after.sweeps.iter();
            Some((one, others.find(|other| other.name == one.name)?))
        });
        let carries = |one: &Capacity| {
            one.carries
                .figure()
                .map(|carries: &Carries| carries.rps.clone())
        };
        let price = |one: &Capacity| {
            one.cost
                .figure()
                .and_then(|cost: &CostFigures| cost.good_request.clone())
        };
        let same_currency = before
            .cost
            .figure()
            .zip(after.cost.figure())
            .is_none_or(|(one, other)| one.price.currency == other.price.currency);
        let difference = Difference {
            same_loads: pair.is_some_and(|(one, other)| loads(one) == loads(other)),
            knee: pair.and_then(|(one, other)| knee(&one.knee, &other.knee)),
            best: pair.and_then(|(one, other)| {
                let common: Vec<&str> = stages(one)
                    .filter(|name| stages(other).any(|own| own == *name))
                    .collect();
                moved(&best(one, &common)?, &best(other, &common)?)
            }),
            rps: carries(&before)
                .zip(carries(&after))
                .and_then(|(one, other)| moved(&one, &other)),
            replicas: less(&before.replicas, &after.replicas, |replicas| {
                replicas.needed
            }),
            kv: less(&before.kv, &after.kv, |kv| kv.sequences),
            good_request: price(&before)
                .zip(price(&after))
                .filter(|_| same_currency)
                .and_then(|(one, other)| moved(&one, &other)),
        };
        Self {
            before,
            after,
            difference,
        }
    }

    /// Whether anything has a difference beyond noise.
    pub fn moved(&self) -> bool {
        let Difference {
            knee,
            best,
            rps,
            good_request,
            ..
        } = &self.difference;
        let figures = [best, rps, good_request].into_iter().flatten();
        let verdicts = figures.map(|moved| moved.verdict).chain(*knee);
        verdicts
            .into_iter()
            .any(|verdict| verdict != Verdict::Noise)
    }
}

fn loads(sweep: &SweepReading) -> Vec<&str> {
    stages(sweep).collect()
}

fn stages(sweep: &SweepReading) -> impl Iterator<Item = &str> {
    let measured = sweep.steps.iter().filter(|step| step.figures.is_some());
    measured.map(|step| step.stage.as_str())
}

/// The best goodput, or throughput where there is no SLO, over these steps: each run's own best.
fn best(sweep: &SweepReading, common: &[&str]) -> Option<Estimate> {
    let steps = sweep
        .steps
        .iter()
        .filter(|step| common.contains(&step.stage.as_str()));
    let figures: Vec<_> = steps.filter_map(|step| step.figures.as_ref()).collect();
    let good: Option<Vec<&Estimate>> = figures
        .iter()
        .map(|figures| figures.goodput_rps.as_ref())
        .collect();
    let each = good.unwrap_or_else(|| {
        figures
            .iter()
            .map(|figures| &figures.completed_rps)
            .collect()
    });
    let runs = each.iter().map(|estimate| estimate.runs.len()).min()?;
    let of_run = |run: usize| {
        each.iter()
            .map(|estimate| estimate.runs[run])
            .fold(0.0, f64::max)
    };
    Estimate::of((0..runs).map(of_run).collect())
}

fn moved(before: &Estimate, after: &Estimate) -> Option<Moved> {
    let change = Change::between(before, after)?;
    let verdict = match change {
        change if !change.is_beyond_noise() => Verdict::Noise,
        change if change.ratio < 0.0 => Verdict::Less,
        _ => Verdict::More,
    };
    Some(Moved {
        before: before.value,
        after: after.value,
        change,
        verdict,
    })
}

/// Sets that share a load may have the same knee.
fn knee(before: &Known<KneeReading>, after: &Known<KneeReading>) -> Option<Verdict> {
    let (before, after) = (before.figure()?, after.figure()?);
    let shared = before.set.iter().any(|load| after.set.contains(load));
    Some(match (before.load, after.load) {
        _ if shared => Verdict::Noise,
        (one, other) if other < one => Verdict::Less,
        (one, other) if other > one => Verdict::More,
        _ => Verdict::Noise,
    })
}

fn less<T>(before: &Known<T>, after: &Known<T>, of: impl Fn(&T) -> u64) -> Option<i64> {
    let count = |one: &Known<T>| i64::try_from(of(one.figure()?)).ok();
    Some(count(after)? - count(before)?)
}
