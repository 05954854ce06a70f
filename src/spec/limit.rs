//! Where a cell breaks, and how that reads.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::metric::Metric;
use crate::unit::scale;

/// Where a cell breaks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Worse than the baseline by this ratio (0.05 is 5 %) and, if given, by `floor` as well.
    WorseBy {
        /// The tolerance as a fraction.
        ratio: f64,
        /// Smallest absolute difference that counts, in the metric's unit.
        floor: Option<f64>,
    },
    /// Worse than the baseline by this difference of proportions (0.002 is 0.2 pp).
    WorseByPoints(f64),
    /// Above this value, in the metric's unit.
    AtMost(f64),
    /// Below this value, in the metric's unit.
    AtLeast(f64),
}

impl Limit {
    /// Whether the limit needs a baseline.
    pub const fn is_relative(self) -> bool {
        matches!(self, Self::WorseBy { .. } | Self::WorseByPoints(_))
    }

    /// The field of a spec's cell that says it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::WorseBy { .. } | Self::WorseByPoints(_) => "worse_by",
            Self::AtMost(_) => "at_most",
            Self::AtLeast(_) => "at_least",
        }
    }

    /// The limit as text: `worse by 15 % and 10 ms`, `at most 1 s`.
    pub fn describe(self, metric: Metric) -> LimitText {
        LimitText {
            limit: self,
            metric,
        }
    }
}

/// A limit with its metric, ready to print.
#[derive(Debug, Clone, Copy)]
pub struct LimitText {
    limit: Limit,
    metric: Metric,
}

impl LimitText {
    /// Its size, `15 %`, and the least absolute change beside it, `10 ms`.
    pub fn figures(&self) -> (String, Option<String>) {
        let unit = self.metric.unit();
        // Limits are round numbers that someone typed, so their trailing zeros go.
        let plain = |value: f64| {
            let text = scale::value(unit, value);
            match text.split_once(' ') {
                Some((number, unit)) if number.contains('.') => {
                    format!(
                        "{} {unit}",
                        number.trim_end_matches('0').trim_end_matches('.')
                    )
                }
                _ => text,
            }
        };
        let percent = |ratio: f64| (ratio * 1e11).round() / 1e9;
        match self.limit {
            Limit::WorseBy { ratio, floor } => (format!("{} %", percent(ratio)), floor.map(plain)),
            Limit::WorseByPoints(points) => (format!("{} pp", percent(points)), None),
            Limit::AtMost(value) | Limit::AtLeast(value) => (plain(value), None),
        }
    }
}

impl fmt::Display for LimitText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, floor) = self.figures();
        match (self.limit, floor) {
            (Limit::WorseBy { .. }, Some(floor)) => write!(f, "worse by {size} and {floor}"),
            (Limit::WorseBy { .. } | Limit::WorseByPoints(_), _) => write!(f, "worse by {size}"),
            (Limit::AtMost(_), _) => write!(f, "at most {size}"),
            (Limit::AtLeast(_), _) => write!(f, "at least {size}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_print_as_they_were_meant() {
        let text = |limit: Limit, metric| limit.describe(metric).to_string();
        assert_eq!(
            text(
                Limit::WorseBy {
                    ratio: 0.15,
                    floor: Some(0.01)
                },
                Metric::Ttft
            ),
            "worse by 15 % and 10 ms"
        );
        assert_eq!(text(Limit::AtMost(1.0), Metric::Ttft), "at most 1000 ms");
        assert_eq!(
            text(Limit::AtMost(0.005), Metric::ErrorRatio),
            "at most 0.5 %"
        );
        assert_eq!(
            text(Limit::WorseByPoints(0.002), Metric::Attainment),
            "worse by 0.2 pp"
        );
    }
}
