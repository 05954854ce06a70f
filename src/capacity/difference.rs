//! Two capacities side by side: what a change makes of them.

use serde::{Deserialize, Serialize};

use super::Capacity;
use super::estimate::{Change, Estimate};
use super::known::Known;
use super::sweep::{KneeReading, SweepReading, WithinSlo};

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
    /// The largest load within the SLO.
    #[serde(default)]
    pub within: Option<Verdict>,
    /// The largest goodput over the loads that both have; without an SLO, the largest throughput.
    pub best: Option<Moved>,
    /// Requests a second of one replica at its load within the SLO.
    pub rps: Option<Moved>,
    /// Replicas for the peak.
    pub replicas: Option<i64>,
    /// What may be said of those: more or fewer where what one carries differs beyond noise.
    #[serde(default)]
    pub replicas_verdict: Option<Verdict>,
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
    ///
    /// What is read at the load within the SLO (requests, replicas, prices) differs beyond noise only where that
    /// load is surely the same or surely another: a share of good requests close to the one that is wanted makes
    /// it jump by a step of the grid.
    pub fn of(before: Capacity, after: Capacity) -> Self {
        let pair = after.principal().and_then(|other| {
            let mut ones = before.sweeps.iter();
            Some((ones.find(|one| one.name == other.name)?, other))
        });
        let within = pair.and_then(|(one, other)| within(&one.within_slo, &other.within_slo));
        let jumps = pair.is_some_and(|(one, other)| may_jump(&one.within_slo, &other.within_slo));
        let at_load = |moved: Moved| Moved {
            verdict: if jumps { Verdict::Noise } else { moved.verdict },
            ..moved
        };
        let carries = |one: &Capacity| one.carries.figure().map(|carries| carries.rps.clone());
        let price = |one: &Capacity| one.cost.figure()?.good_request.clone();
        let same_currency = before
            .cost
            .figure()
            .zip(after.cost.figure())
            .is_none_or(|(one, other)| one.price.currency == other.price.currency);
        let rps = carries(&before)
            .zip(carries(&after))
            .and_then(|(one, other)| moved(&one, &other))
            .map(at_load);
        let replicas = less(&before.replicas, &after.replicas, |replicas| {
            replicas.needed
        });
        let difference = Difference {
            same_loads: pair.is_some_and(|(one, other)| loads(one) == loads(other)),
            knee: pair.and_then(|(one, other)| knee(&one.knee, &other.knee)),
            within,
            best: pair.and_then(|(one, other)| {
                let common: Vec<&str> = stages(one)
                    .filter(|name| stages(other).any(|own| own == *name))
                    .collect();
                moved(&best(one, &common)?, &best(other, &common)?)
            }),
            rps,
            replicas,
            replicas_verdict: replicas.map(|by| match rps.map(|rps| rps.verdict) {
                Some(Verdict::Less | Verdict::More) if by > 0 => Verdict::More,
                Some(Verdict::Less | Verdict::More) if by < 0 => Verdict::Less,
                _ => Verdict::Noise,
            }),
            kv: less(&before.kv, &after.kv, |kv| kv.sequences),
            good_request: price(&before)
                .zip(price(&after))
                .filter(|_| same_currency)
                .and_then(|(one, other)| moved(&one, &other))
                .map(at_load),
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
            within,
            best,
            rps,
            good_request,
            ..
        } = &self.difference;
        let figures = [best, rps, good_request].into_iter().flatten();
        let verdicts = figures.map(|moved| moved.verdict);
        verdicts
            .chain(*knee)
            .chain(*within)
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
    Some(apart((before.load, &before.set), (after.load, &after.set)))
}

/// The same of the largest load within the SLO.
fn within(before: &Known<WithinSlo>, after: &Known<WithinSlo>) -> Option<Verdict> {
    let (before, after) = (before.figure()?, after.figure()?);
    Some(apart((before.load, &before.set), (after.load, &after.set)))
}

/// Whether the loads differ, and may be one all the same.
fn may_jump(before: &Known<WithinSlo>, after: &Known<WithinSlo>) -> bool {
    let both = before.figure().zip(after.figure());
    both.is_some_and(|(before, after)| {
        let same = before.load.total_cmp(&after.load).is_eq();
        !same && shared(&before.set, &after.set)
    })
}

fn apart(before: (f64, &[f64]), after: (f64, &[f64])) -> Verdict {
    match (before.0, after.0) {
        _ if shared(before.1, after.1) => Verdict::Noise,
        (one, other) if other < one => Verdict::Less,
        (one, other) if other > one => Verdict::More,
        _ => Verdict::Noise,
    }
}

fn shared(one: &[f64], other: &[f64]) -> bool {
    one.iter().any(|load| other.contains(load))
}

fn less<T>(before: &Known<T>, after: &Known<T>, of: impl Fn(&T) -> u64) -> Option<i64> {
    let count = |one: &Known<T>| i64::try_from(of(one.figure()?)).ok();
    Some(count(after)? - count(before)?)
}
