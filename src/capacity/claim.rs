//! What these runs can't claim.

use serde::{Deserialize, Serialize};

use super::known::Why;
use super::sweep::{Axis, Sustained, SweepReading};
use crate::metric::Metric;
use crate::summary::{Run, StageSummary};

/// Something that somebody might read out of the figures, and that they don't say.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NoClaim {
    /// No sweep: nothing of how much more load the server would carry.
    Capacity,
    /// No SLO: nothing of what users would call good.
    Slo,
    /// The largest load did not saturate the server: its limit is not known.
    Limit,
    /// The closed loop was not verified by an open one: users who don't wait may do worse.
    Arrivals,
    /// The closed loop's answers are pinned to one length: its users go on in step, and what requests of unlike
    /// lengths do to each other is not seen.
    Waves,
    /// No stage of hours: nothing of leaks, fragmentation and drift.
    Hours,
    /// No tenants: nothing of one user who takes the place of others.
    Tenants,
    /// Answers came whole: nothing of times to first tokens.
    FirstToken,
    /// Too few runs: their scatter is assumed, not measured.
    Scatter,
    /// One replica was measured: nothing of how a balancer deals out requests.
    Balancing,
}

/// Windows from here on say something of hours.
const SOAK_S: f64 = 2.0 * 3600.0;

/// In the order in which they are told.
pub(super) fn claims(runs: &[Run], sweeps: &[SweepReading], replicas: u32) -> Vec<NoClaim> {
    let stages = || runs.iter().flat_map(|run| &run.stages);
    let within = || sweeps.iter().filter_map(|sweep| sweep.within_slo.figure());
    let no_slo = stages().all(|stage| stage.pooled.attainment.is_none());
    let limit = sweeps
        .iter()
        .all(|sweep| matches!(sweep.knee.why(), Some(Why::NotReached { .. })));
    let unverified = within().any(|within| {
        !matches!(
            within.sustained,
            Sustained::Measured | Sustained::Verified { .. }
        )
    });
    let closed_alone = no_slo && sweeps.iter().all(|sweep| sweep.axis == Axis::Users);
    let longest = stages().map(|stage| stage.window_s).fold(0.0, f64::max);
    let told = |stage: &StageSummary| stage.pooled.distributions.contains_key(&Metric::Ttft);
    let all = [
        (NoClaim::Capacity, sweeps.is_empty()),
        (NoClaim::Slo, no_slo),
        (NoClaim::Limit, !sweeps.is_empty() && limit),
        (
            NoClaim::Arrivals,
            !sweeps.is_empty() && (unverified || closed_alone),
        ),
        (NoClaim::Waves, in_waves(runs, sweeps)),
        (NoClaim::Hours, longest < SOAK_S),
        (
            NoClaim::Tenants,
            stages().all(|stage| stage.tenants.is_none()),
        ),
        (
            NoClaim::FirstToken,
            stages().next().is_some() && !stages().any(told),
        ),
        (NoClaim::Scatter, runs.len() < 3),
        (NoClaim::Balancing, replicas < 2),
    ];
    let held = all.into_iter().filter(|(_, holds)| *holds);
    held.map(|(claim, _)| claim).collect()
}

/// Whether a sweep's users go on in step: no one thinks, and all of their answers have one length.
fn in_waves(runs: &[Run], sweeps: &[SweepReading]) -> bool {
    let closed = sweeps.iter().any(|sweep| sweep.axis == Axis::Users);
    let mut stages = runs.iter().flat_map(|run| &run.spec.in_step);
    closed && stages.any(|stage| sweeps.iter().any(|sweep| is_step(stage, &sweep.name)))
}

fn is_step(stage: &str, sweep: &str) -> bool {
    stage
        .rsplit_once('@')
        .is_some_and(|(name, _)| name == sweep)
}
