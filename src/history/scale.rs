//! The scale on which a cell's values are averaged and compared.

use serde::Serialize;

use crate::compare::{Measure, Value};
use crate::metric::{Kind, Metric};
use crate::stats::change_point::LOG_SMALLEST;

/// Smallest change of a share that is one: the usual tolerance of an error ratio.
const SMALLEST_POINTS: f64 = 0.005;

/// How a cell's values are averaged, and how a change of them is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// By their logarithms: a change is a ratio minus 1.
    Ratio,
    /// As they are: a change is a difference of shares.
    Points,
}

impl Scale {
    /// That of a metric.
    pub const fn of(metric: Metric) -> Self {
        match metric.kind() {
            Kind::Distribution
            | Kind::Rate
            | Kind::OfSweep
            | Kind::OfEvents
            | Kind::Energy
            | Kind::OfRun => Self::Ratio,
            Kind::Proportion => Self::Points,
        }
    }

    /// A measured value on this scale; `None` where there is none, and of a target that failed.
    ///
    /// A rate of zero counts as half an event in its window, so that it has a logarithm.
    pub(super) fn y(self, measure: &Measure) -> Option<f64> {
        let Value::Measured(value) = measure.value else {
            return None;
        };
        Some(match self {
            Self::Points => value,
            Self::Ratio if value > 0.0 => value.ln(),
            Self::Ratio if measure.window_s > 0.0 => (0.5 / measure.window_s).ln(),
            Self::Ratio => return None,
        })
    }

    /// A mean on this scale as a value again.
    pub(super) fn value(self, y: f64) -> f64 {
        match self {
            Self::Ratio => y.exp(),
            Self::Points => y,
        }
    }

    /// A value on this scale, the inverse of [`Self::value`].
    pub(super) fn of_value(self, value: f64) -> f64 {
        match self {
            Self::Ratio => value.ln(),
            Self::Points => value,
        }
    }

    /// The change from one mean to another: `0.1` for ln 1.1 after ln 1.
    pub(super) fn change(self, before: f64, after: f64) -> f64 {
        match self {
            Self::Ratio => (after - before).exp_m1(),
            Self::Points => after - before,
        }
    }

    /// Smallest difference of means that is a change of level.
    pub(super) const fn smallest(self) -> f64 {
        match self {
            Self::Ratio => LOG_SMALLEST,
            Self::Points => SMALLEST_POINTS,
        }
    }
}
