//! Which test a limit asks for.

use crate::compare::{ComparedCell, Measure};
use crate::metric::{Direction, Kind, Metric};
use crate::spec::Limit;
use crate::stats::proportion::Count;

/// Baseline attainment up to which goodput of a closed loop is judged as a rate.
const GOODPUT_AS_RATE: std::ops::RangeInclusive<f64> = 0.5..=0.99;

/// How a cell is tested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::verdict) enum Test {
    /// Logarithms, candidate against baseline.
    Ratio {
        /// Tolerance as a fraction.
        ratio: f64,
        /// Smallest absolute difference that counts.
        floor: f64,
    },
    /// Shares of bad requests, candidate against baseline.
    Points {
        /// Tolerance in points, or as a fraction of the baseline's good share.
        tolerance: PointsTolerance,
    },
    /// Logarithms of the candidate against a limit; `sign` is +1 where larger breaks it.
    Limit {
        /// Which way is worse.
        sign: f64,
        /// The limit.
        limit: f64,
    },
    /// A share of the candidate against a limit.
    ShareLimit {
        /// The most that is allowed of the share that breaks it.
        limit: f64,
        /// Whether good requests break it rather than bad ones.
        of_good: bool,
    },
    /// A score with its own standard error, candidate against baseline, in points.
    Score {
        /// Tolerance in points.
        tolerance: f64,
    },
    /// Such a score of the candidate against a limit.
    ScoreLimit {
        /// The least that is allowed.
        limit: f64,
    },
}

/// Tolerance of a difference of shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::verdict) enum PointsTolerance {
    /// In points.
    Absolute(f64),
    /// As a fraction of the baseline's share of good requests.
    OfAttainment(f64),
}

impl Test {
    /// Whether it needs a baseline.
    pub(in crate::verdict) const fn is_relative(self) -> bool {
        matches!(
            self,
            Self::Ratio { .. } | Self::Points { .. } | Self::Score { .. }
        )
    }
}

/// The test that a limit asks for.
///
/// Goodput follows the offered rate while all is well, so it is judged as the share of good
/// requests, except in a closed loop in which a fair part of them misses.
pub(super) fn test_of(cell: &ComparedCell, limit: Limit, baseline: &[&Measure]) -> Test {
    let metric = cell.cell.metric.metric();
    let attainment = || {
        let counts: Vec<Count> = baseline.iter().filter_map(|measure| measure.bad).collect();
        Count::pool(&counts).share().map(|bad| 1.0 - bad)
    };
    let as_rate =
        || cell.closed_loop && attainment().is_none_or(|share| GOODPUT_AS_RATE.contains(&share));
    match (limit, metric.kind()) {
        (Limit::WorseByPoints(tolerance), _) if metric == Metric::QualityImported => {
            Test::Score { tolerance }
        }
        (Limit::AtLeast(limit), _) if metric == Metric::QualityImported => {
            Test::ScoreLimit { limit }
        }
        (Limit::WorseByPoints(points), _) => Test::Points {
            tolerance: PointsTolerance::Absolute(points),
        },
        (Limit::WorseBy { ratio, .. }, Kind::Proportion) => Test::Points {
            tolerance: PointsTolerance::OfAttainment(ratio),
        },
        (Limit::WorseBy { ratio, .. }, Kind::Rate) if metric == Metric::Goodput && !as_rate() => {
            Test::Points {
                tolerance: PointsTolerance::OfAttainment(ratio),
            }
        }
        (
            Limit::WorseBy { ratio, floor },
            Kind::Rate
            | Kind::OfSweep
            | Kind::OfEvents
            | Kind::Energy
            | Kind::Distribution
            | Kind::OfRun,
        ) => Test::Ratio {
            ratio,
            floor: floor.unwrap_or(0.0),
        },
        (Limit::AtMost(limit), Kind::Proportion) => Test::ShareLimit {
            limit,
            of_good: metric.direction() == Direction::HigherIsBetter,
        },
        (Limit::AtLeast(limit), Kind::Proportion) => Test::ShareLimit {
            limit: 1.0 - limit,
            of_good: metric.direction() == Direction::LowerIsBetter,
        },
        (
            Limit::AtMost(limit),
            Kind::Rate
            | Kind::OfSweep
            | Kind::OfEvents
            | Kind::Energy
            | Kind::Distribution
            | Kind::OfRun,
        ) => Test::Limit { sign: 1.0, limit },
        (
            Limit::AtLeast(limit),
            Kind::Rate
            | Kind::OfSweep
            | Kind::OfEvents
            | Kind::Energy
            | Kind::Distribution
            | Kind::OfRun,
        ) => Test::Limit { sign: -1.0, limit },
    }
}
