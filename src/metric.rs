//! The metrics: name, unit, direction and definition of each, and what a cell speaks about.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::unit::scale::Unit;

/// Tag of the definitions in this file, stored in every run; figures with another tag are never
/// compared with ours.
pub const DEFINITION: &str = "infergate/1";

/// A quantity of a request or of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Time to first token.
    Ttft,
    /// Time to first answer token, that is after any reasoning.
    Ttfa,
    /// Time per output token after the first.
    Tpot,
    /// Gap between successive tokens.
    Itl,
    /// Gap between successive token-bearing events.
    ChunkGap,
    /// Largest chunk gap of a request.
    MaxStall,
    /// End-to-end latency.
    E2e,
    /// Requests per second that completed within every clause of their SLO.
    Goodput,
    /// Share of scheduled requests that were good.
    Attainment,
    /// Completions per second.
    RequestThroughput,
    /// Output tokens received per second.
    OutputThroughput,
    /// Input tokens of requests whose first token arrived, per second.
    InputThroughput,
    /// Output plus input token throughput.
    TotalThroughput,
    /// Share of scheduled requests that failed.
    ErrorRatio,
    /// Share of scheduled requests that were cut at their length limit though the spec pinned none.
    TruncatedRatio,
}

/// What kind of number a metric is, which decides its statistics and how it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One value a request (or token); reduced by quantiles or a mean.
    Distribution,
    /// One rate a stage; compared as a ratio.
    Rate,
    /// One share a stage; compared in percentage points.
    Proportion,
}

/// Which way is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Larger values are worse, as with latencies.
    LowerIsBetter,
    /// Smaller values are worse, as with rates.
    HigherIsBetter,
}

impl Direction {
    /// +1 where larger is worse, −1 where smaller is worse (the `s` of the decision procedure).
    pub const fn sign(self) -> f64 {
        match self {
            Self::LowerIsBetter => 1.0,
            Self::HigherIsBetter => -1.0,
        }
    }
}

impl Metric {
    /// All metrics, in the order in which reports show them.
    pub const ALL: [Self; 15] = [
        Self::Goodput,
        Self::Attainment,
        Self::ErrorRatio,
        Self::TruncatedRatio,
        Self::Ttft,
        Self::Ttfa,
        Self::Tpot,
        Self::Itl,
        Self::ChunkGap,
        Self::MaxStall,
        Self::E2e,
        Self::RequestThroughput,
        Self::OutputThroughput,
        Self::InputThroughput,
        Self::TotalThroughput,
    ];

    /// The name in specs, run files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ttft => "ttft",
            Self::Ttfa => "ttfa",
            Self::Tpot => "tpot",
            Self::Itl => "itl",
            Self::ChunkGap => "chunk_gap",
            Self::MaxStall => "max_stall",
            Self::E2e => "e2e",
            Self::Goodput => "goodput",
            Self::Attainment => "attainment",
            Self::RequestThroughput => "request_throughput",
            Self::OutputThroughput => "output_throughput",
            Self::InputThroughput => "input_throughput",
            Self::TotalThroughput => "total_throughput",
            Self::ErrorRatio => "error_ratio",
            Self::TruncatedRatio => "truncated_ratio",
        }
    }

    /// What kind of number it is.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Ttft
            | Self::Ttfa
            | Self::Tpot
            | Self::Itl
            | Self::ChunkGap
            | Self::MaxStall
            | Self::E2e => Kind::Distribution,
            Self::Goodput
            | Self::RequestThroughput
            | Self::OutputThroughput
            | Self::InputThroughput
            | Self::TotalThroughput => Kind::Rate,
            Self::Attainment | Self::ErrorRatio | Self::TruncatedRatio => Kind::Proportion,
        }
    }

    /// The unit of its values.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Ttft
            | Self::Ttfa
            | Self::Tpot
            | Self::Itl
            | Self::ChunkGap
            | Self::MaxStall
            | Self::E2e => Unit::Seconds,
            Self::Goodput | Self::RequestThroughput => Unit::RequestsPerSecond,
            Self::OutputThroughput | Self::InputThroughput | Self::TotalThroughput => {
                Unit::TokensPerSecond
            }
            Self::Attainment | Self::ErrorRatio | Self::TruncatedRatio => Unit::Proportion,
        }
    }

    /// Which way is worse.
    pub const fn direction(self) -> Direction {
        match self {
            Self::Ttft
            | Self::Ttfa
            | Self::Tpot
            | Self::Itl
            | Self::ChunkGap
            | Self::MaxStall
            | Self::E2e
            | Self::ErrorRatio
            | Self::TruncatedRatio => Direction::LowerIsBetter,
            Self::Goodput
            | Self::Attainment
            | Self::RequestThroughput
            | Self::OutputThroughput
            | Self::InputThroughput
            | Self::TotalThroughput => Direction::HigherIsBetter,
        }
    }

    /// The definition in one sentence, as printed in the glossary.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Ttft => "first token-bearing event − origin of latency",
            Self::Ttfa => "first token-bearing event that is not reasoning − origin of latency",
            Self::Tpot => "(last token − first token) / (output tokens − 1)",
            Self::Itl => {
                "gap between token-bearing events divided by, and weighted by, the tokens of the later one"
            }
            Self::ChunkGap => "raw gap between successive token-bearing events",
            Self::MaxStall => "largest chunk gap of a request",
            Self::E2e => {
                "last token − origin of latency; end of body where the answer is not streamed"
            }
            Self::Goodput => "completed requests within every clause of their SLO / window",
            Self::Attainment => "good requests / (scheduled − cancelled)",
            Self::RequestThroughput => "completions in the window / window",
            Self::OutputThroughput => "output tokens received in the window / window",
            Self::InputThroughput => {
                "input tokens of requests whose first token arrived in the window / window"
            }
            Self::TotalThroughput => "input plus output token throughput",
            Self::ErrorRatio => {
                "(http error, rejected, connect error, timeout, stream error, empty, unsent, unfinished) / (scheduled − cancelled)"
            }
            Self::TruncatedRatio => "truncated / (scheduled − cancelled)",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = CellMetricError;

    fn from_str(text: &str) -> Result<Self, CellMetricError> {
        Self::ALL
            .into_iter()
            .find(|metric| metric.name() == text)
            .ok_or_else(|| CellMetricError::UnknownMetric {
                name: text.to_owned(),
            })
    }
}

/// A quantile strictly between 0 and 1, in hundred-thousandths so that it can be a map key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantile(u32);

impl Quantile {
    /// p50.
    pub const P50: Self = Self(50_000);
    /// p90.
    pub const P90: Self = Self(90_000);
    /// p95.
    pub const P95: Self = Self(95_000);
    /// p99.
    pub const P99: Self = Self(99_000);
    /// Those that every run stores.
    pub const STANDARD: [Self; 4] = [Self::P50, Self::P90, Self::P95, Self::P99];

    /// As a fraction: 0.95 for p95.
    pub fn fraction(self) -> f64 {
        f64::from(self.0) / 100_000.0
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", f64::from(self.0) / 1000.0)
    }
}

impl FromStr for Quantile {
    type Err = CellMetricError;

    /// Reads `p50`, `p99`, `p99.9`.
    fn from_str(text: &str) -> Result<Self, CellMetricError> {
        let wrong = || CellMetricError::UnknownStatistic {
            name: text.to_owned(),
        };
        let digits = text.strip_prefix('p').ok_or_else(wrong)?;
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(wrong());
        }
        let percent: f64 = digits.parse().map_err(|_| wrong())?;
        let scaled = percent * 1000.0;
        if scaled > 0.0 && scaled < 100_000.0 && (scaled - scaled.round()).abs() < 1e-6 {
            Ok(Self(scaled.round() as u32))
        } else {
            Err(wrong())
        }
    }
}

impl Serialize for Quantile {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// A reduction of a metric to one number per stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statistic {
    /// A quantile of a distribution.
    Quantile(Quantile),
    /// The arithmetic mean of a distribution.
    Mean,
    /// A rate or proportion, which is one number already.
    Value,
}

/// A metric with its statistic, as a gate cell names it: `ttft.p95`, `goodput`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellMetric {
    metric: Metric,
    statistic: Statistic,
}

impl CellMetric {
    /// A quantile of a distribution metric; `None` for rates and proportions.
    pub fn quantile(metric: Metric, quantile: Quantile) -> Option<Self> {
        (metric.kind() == Kind::Distribution).then_some(Self {
            metric,
            statistic: Statistic::Quantile(quantile),
        })
    }

    /// A rate or proportion; `None` for distributions.
    pub fn value(metric: Metric) -> Option<Self> {
        (metric.kind() != Kind::Distribution).then_some(Self {
            metric,
            statistic: Statistic::Value,
        })
    }

    /// The metric.
    pub const fn metric(self) -> Metric {
        self.metric
    }

    /// The statistic; a quantile or mean exactly where the metric is a distribution.
    pub const fn statistic(self) -> Statistic {
        self.statistic
    }
}

impl fmt::Display for CellMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.statistic {
            Statistic::Quantile(q) => write!(f, "{}.{q}", self.metric),
            Statistic::Mean => write!(f, "{}.mean", self.metric),
            Statistic::Value => write!(f, "{}", self.metric),
        }
    }
}

/// Why a text names no metric with its statistic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CellMetricError {
    /// There is no such metric.
    #[error("unknown metric `{name}`")]
    UnknownMetric {
        /// The name as written.
        name: String,
    },
    /// There is no such statistic.
    #[error("unknown statistic `{name}`; a distribution takes `.p50`, `.p99.9` or `.mean`")]
    UnknownStatistic {
        /// The statistic as written.
        name: String,
    },
    /// A distribution was named without a statistic.
    #[error("`{metric}` is a distribution and needs a statistic, as in `{metric}.p95`")]
    NeedsStatistic {
        /// The metric.
        metric: Metric,
    },
    /// A rate or proportion was named with a statistic.
    #[error("`{metric}` is one number for a stage and takes no statistic")]
    TakesNoStatistic {
        /// The metric.
        metric: Metric,
    },
}

impl FromStr for CellMetric {
    type Err = CellMetricError;

    fn from_str(text: &str) -> Result<Self, CellMetricError> {
        let (name, statistic) = match text.split_once('.') {
            Some((name, statistic)) => (name, Some(statistic)),
            None => (text, None),
        };
        let metric: Metric = name.parse()?;
        match (metric.kind(), statistic) {
            (Kind::Distribution, None) => Err(CellMetricError::NeedsStatistic { metric }),
            (Kind::Distribution, Some("mean")) => Ok(Self {
                metric,
                statistic: Statistic::Mean,
            }),
            (Kind::Distribution, Some(q)) => Ok(Self {
                metric,
                statistic: Statistic::Quantile(q.parse()?),
            }),
            (Kind::Rate | Kind::Proportion, None) => Ok(Self {
                metric,
                statistic: Statistic::Value,
            }),
            (Kind::Rate | Kind::Proportion, Some(_)) => {
                Err(CellMetricError::TakesNoStatistic { metric })
            }
        }
    }
}

impl Serialize for CellMetric {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CellMetric {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// What tolerances and findings speak about: stage × class × metric × statistic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// The stage's name; `None` pools all measured stages (proportions only).
    pub stage: Option<String>,
    /// The class's name; `None` pools all classes.
    pub class: Option<String>,
    /// The metric with its statistic.
    pub metric: CellMetric,
}

impl fmt::Display for Cell {
    /// `steady/ttft.p95`, `steady/chat/ttft.p95`, `*/error_ratio`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.stage.as_deref().unwrap_or("*"))?;
        if let Some(class) = &self.class {
            write!(f, "{class}/")?;
        }
        write!(f, "{}", self.metric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_found_by_its_name() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
        }
    }

    #[test]
    fn statistics_belong_to_distributions_only() {
        assert_eq!(
            "ttft.p99.9".parse::<CellMetric>().unwrap().to_string(),
            "ttft.p99.9"
        );
        assert_eq!(
            "e2e.mean".parse::<CellMetric>().unwrap().to_string(),
            "e2e.mean"
        );
        assert!(matches!(
            "ttft".parse::<CellMetric>(),
            Err(CellMetricError::NeedsStatistic {
                metric: Metric::Ttft
            })
        ));
        assert!(matches!(
            "goodput.p95".parse::<CellMetric>(),
            Err(CellMetricError::TakesNoStatistic {
                metric: Metric::Goodput
            })
        ));
        for text in [
            "ttft.p0",
            "ttft.p100",
            "ttft.95",
            "ttft.p+5",
            "ttft.max",
            "tfft.p95",
        ] {
            assert!(text.parse::<CellMetric>().is_err(), "{text}");
        }
    }

    #[test]
    fn latencies_are_worse_when_larger() {
        assert!(Metric::Ttft.direction().sign() > 0.0);
        assert!(Metric::Goodput.direction().sign() < 0.0);
    }
}
