//! What lies between two layers, with its interval where there are runs enough.

use serde::Serialize;

use super::StagePair;
use crate::metric::{CellMetric, Metric, Statistic};
use crate::stats::student::quantile;
use crate::stats::{mean, variance};
use crate::summary::StageSummary;

/// Pairs from which on their differences make an interval.
pub const LEAST_PAIRS: usize = 3;
const CONFIDENCE: f64 = 0.95;

/// A figure on both layers in one pair of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The engine's.
    pub engine: f64,
    /// The front's.
    pub front: f64,
}

/// What lies between the layers, in the metric's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gap {
    /// Mean of the engine's figures.
    pub engine: f64,
    /// Mean of the front's.
    pub front: f64,
    /// Front minus engine.
    pub difference: f64,
    /// 95 % interval of the difference; `None` of fewer than three pairs.
    pub interval: Option<Bounds>,
}

/// An interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Gap {
    /// Of pairs of runs: Student's t on the differences of the pairs, so that what both runs of a pair
    /// share takes no part. `None` of no pair.
    ///
    /// Differences of 40, 41 and 42 ms: 41 ms, with `4.302653 · 1 ms / √3` to either side, 38.52 to
    /// 43.48 ms.
    pub fn of(pairs: &[Pair]) -> Option<Self> {
        let side = |part: fn(&Pair) -> f64| -> Vec<f64> { pairs.iter().map(part).collect() };
        let differences = side(|pair| pair.front - pair.engine);
        let difference = mean(&differences)?;
        let interval = (pairs.len() >= LEAST_PAIRS).then(|| {
            let n = pairs.len() as f64;
            let t = quantile(0.5 + CONFIDENCE / 2.0, n - 1.0);
            let half = t * (variance(&differences) / n).sqrt();
            Bounds {
                low: difference - half,
                high: difference + half,
            }
        });
        Some(Self {
            engine: mean(&side(|pair| pair.engine))?,
            front: mean(&side(|pair| pair.front))?,
            difference,
            interval,
        })
    }

    /// The difference as a fraction of the engine's figure; `None` where that is 0.
    pub fn relative(&self) -> Option<f64> {
        (self.engine > 0.0).then(|| self.difference / self.engine)
    }

    /// Whether the interval leaves 0 out; `None` without one.
    pub fn is_shown(&self) -> Option<bool> {
        let bounds = self.interval?;
        Some(bounds.low > 0.0 || bounds.high < 0.0)
    }

    /// So many of it, as the tokens of an answer of the gap of one.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            engine: self.engine * factor,
            front: self.front * factor,
            difference: self.difference * factor,
            interval: self.interval.map(|bounds| Bounds {
                low: bounds.low * factor,
                high: bounds.high * factor,
            }),
        }
    }
}

/// A figure's gap, where every pair has it on both layers.
pub(super) fn over(pairs: &[StagePair<'_>], metric: CellMetric) -> Option<Gap> {
    let all: Option<Vec<Pair>> = pairs.iter().map(|pair| pair.figure(metric)).collect();
    Gap::of(&all?)
}

/// A figure of a stage, of all classes and of requests that succeeded.
pub(super) fn figure(stage: &StageSummary, metric: CellMetric) -> Option<f64> {
    let pooled = &stage.pooled;
    match (metric.metric(), metric.statistic()) {
        (metric, Statistic::Quantile(quantile)) => {
            let distribution = pooled.distributions.get(&metric)?;
            Some(distribution.quantiles.get(&quantile)?.value_s)
        }
        (metric, Statistic::Mean) => pooled.distributions.get(&metric)?.mean_s,
        (Metric::RequestThroughput, Statistic::Value) => Some(pooled.rates.completed_rps),
        (Metric::OutputThroughput, Statistic::Value) => pooled.rates.output_tps,
        (Metric::ErrorRatio, Statistic::Value) => {
            let counted = pooled.counted();
            (counted > 0).then(|| pooled.errors() as f64 / counted as f64)
        }
        (_, Statistic::Value | Statistic::Task(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(engine: &[f64], front: &[f64]) -> Vec<Pair> {
        let pairs = engine.iter().zip(front);
        pairs
            .map(|(&engine, &front)| Pair { engine, front })
            .collect()
    }

    #[test]
    fn a_gap_is_the_mean_of_the_pairs_differences() {
        let gap = Gap::of(&pairs(&[10.0, 20.0, 30.0], &[50.0, 61.0, 72.0])).unwrap();
        assert!((gap.difference - 41.0).abs() < 1e-12);
        let bounds = gap.interval.unwrap();
        assert!((bounds.low - 38.515_862).abs() < 1e-5, "{bounds:?}");
        assert!((bounds.high - 43.484_138).abs() < 1e-5, "{bounds:?}");
        assert_eq!(gap.is_shown(), Some(true));
        assert!((gap.relative().unwrap() - 2.05).abs() < 1e-12);
    }

    #[test]
    fn two_pairs_make_no_interval_and_none_no_gap() {
        let gap = Gap::of(&pairs(&[10.0, 0.0], &[50.0, 0.0])).unwrap();
        assert_eq!((gap.difference, gap.interval), (20.0, None));
        assert_eq!(gap.is_shown(), None);
        assert_eq!(Gap::of(&[]), None);
        let nothing = Gap::of(&pairs(&[0.0], &[1.0])).unwrap();
        assert_eq!(nothing.relative(), None, "of nothing there is no share");
    }

    #[test]
    fn differences_that_scatter_about_zero_show_nothing() {
        let gap = Gap::of(&pairs(&[10.0, 10.0, 10.0], &[9.0, 10.0, 11.0])).unwrap();
        assert_eq!(gap.is_shown(), Some(false));
    }
}
