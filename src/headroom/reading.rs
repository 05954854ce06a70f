//! One trial: how the client fared at one load.

use serde::{Deserialize, Serialize};

use crate::metric::{Metric, Quantile};
use crate::sample::OutcomeKind;
use crate::summary::{InvalidReason, StageSummary};

/// How late the event loop may wake: tokens get instants that are off by as much.
const LAG: f64 = 0.005;
/// How far from its pace an engine's tokens may arrive.
const OFF_PACE: f64 = 1.1;
/// Share of requests that may fail.
const FAILED: f64 = 0.01;

/// How the client fared at one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Requests a second, or streams.
    pub load: f64,
    /// Token events received a second.
    pub events_per_s: f64,
    /// How late requests left, at the median.
    pub lateness_p50_s: f64,
    /// At the 99th percentile.
    pub lateness_p99_s: f64,
    /// How late the event loop woke, at the 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_lag_p99_s: Option<f64>,
    /// CPU time as a share of the cores that the client may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// The rule that broke; `None` where all held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strain: Option<Strain>,
}

/// A rule that broke: those that make a stage invalid, and those that a target would be blamed for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strain {
    /// Requests left too late.
    Late {
        /// At the 99th percentile.
        p99_s: f64,
        /// The most that is allowed.
        limit_s: f64,
    },
    /// Too few of the offered requests were sent.
    SentShort {
        /// Sent by offered.
        ratio: f64,
    },
    /// Too much of the CPU.
    Cpu {
        /// Share of the cores that the client may use.
        share: f64,
    },
    /// The event loop woke too late.
    LoopLag {
        /// At the 99th percentile.
        p99_s: f64,
    },
    /// Tokens came slower than the engine was to send them.
    OffPace {
        /// Median time per output token.
        tpot_s: f64,
        /// What it was to be.
        pace_s: f64,
    },
    /// Requests failed, or were kept back because those before them had not ended.
    Failed {
        /// Of all.
        share: f64,
    },
    /// The stage was spoilt in another way.
    Spoilt,
}

/// What an engine's tokens are to come at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As fast as it can.
    AtOnce,
    /// One each so many microseconds.
    Micros(u32),
}

impl Reading {
    /// The reading of a trial that was summarised as a stage.
    pub fn new(load: f64, pace: Pace, stage: &StageSummary) -> Self {
        let health = stage.health.as_ref();
        Self {
            load,
            events_per_s: stage.pooled.rates.output_tps.unwrap_or(0.0),
            lateness_p50_s: health.map_or(0.0, |health| health.lateness_p50_s),
            lateness_p99_s: health.map_or(0.0, |health| health.lateness_p99_s),
            loop_lag_p99_s: health.and_then(|health| health.loop_lag_p99_s),
            cpu_share: health.and_then(|health| health.cpu_share),
            strain: strain(pace, stage),
        }
    }

    /// Whether every rule held.
    pub const fn fits(&self) -> bool {
        self.strain.is_none()
    }
}

fn strain(pace: Pace, stage: &StageSummary) -> Option<Strain> {
    if let Some(reason) = stage.invalid.first() {
        return Some(match *reason {
            InvalidReason::Late { p99_s, limit_s } => Strain::Late { p99_s, limit_s },
            InvalidReason::SentShort { ratio } => Strain::SentShort { ratio },
            InvalidReason::ClientCpu { share } => Strain::Cpu { share },
            InvalidReason::TokensOffPlan { .. }
            | InvalidReason::NoRequests
            | InvalidReason::Interrupted
            | InvalidReason::Event { .. }
            | InvalidReason::Shard { .. } => Strain::Spoilt,
        });
    }
    let pooled = &stage.pooled;
    let completed = pooled.count(OutcomeKind::Completed);
    let share = 1.0 - completed as f64 / pooled.scheduled.max(1) as f64;
    if share > FAILED {
        return Some(Strain::Failed { share });
    }
    let lag = stage
        .health
        .as_ref()
        .and_then(|health| health.loop_lag_p99_s);
    if let Some(p99_s) = lag.filter(|lag| *lag > LAG) {
        return Some(Strain::LoopLag { p99_s });
    }
    let Pace::Micros(micros) = pace else {
        return None;
    };
    let pace_s = f64::from(micros) / 1e6;
    let tpot = pooled.distributions.get(&Metric::Tpot)?;
    let tpot_s = tpot.quantiles.get(&Quantile::P50)?.value_s;
    (tpot_s > pace_s * OFF_PACE).then_some(Strain::OffPace { tpot_s, pace_s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic;

    #[test]
    fn a_reading_fits_where_every_rule_holds() {
        let mut stage = synthetic::stage("open");
        stage.health.as_mut().unwrap().loop_lag_p99_s = Some(0.001);
        let of = |stage: &StageSummary, pace| Reading::new(100.0, pace, stage).strain;
        assert_eq!(of(&stage, Pace::AtOnce), None);

        let tpot_s = stage.pooled.distributions[&Metric::Tpot].quantiles[&Quantile::P50].value_s;
        let micros = (tpot_s * 1e6) as u32;
        assert_eq!(of(&stage, Pace::Micros(micros)), None);
        let off = of(&stage, Pace::Micros(micros / 2));
        assert!(matches!(off, Some(Strain::OffPace { .. })), "{off:?}");

        stage.health.as_mut().unwrap().loop_lag_p99_s = Some(0.006);
        let lag = Some(Strain::LoopLag { p99_s: 0.006 });
        assert_eq!(of(&stage, Pace::AtOnce), lag);

        let failed = stage.pooled.scheduled / 10;
        let completed = stage.pooled.scheduled - failed;
        let outcomes = &mut stage.pooled.outcomes;
        outcomes.insert(OutcomeKind::Completed, completed);
        outcomes.insert(OutcomeKind::Unsent, failed);
        let failed = of(&stage, Pace::AtOnce);
        assert!(matches!(failed, Some(Strain::Failed { .. })), "{failed:?}");

        stage.invalid = vec![InvalidReason::ClientCpu { share: 0.95 }];
        assert_eq!(of(&stage, Pace::AtOnce), Some(Strain::Cpu { share: 0.95 }));
    }
}
