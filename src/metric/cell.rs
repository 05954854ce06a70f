//! Cells: what of a metric is judged, and where.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Kind, Metric, TaskName};

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

crate::schema::text!(Quantile, r"^p[0-9]+(\.[0-9]+)?$");

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
    /// A rate, a proportion or a time of the whole run, which is one number already.
    Value,
    /// The imported share of this name.
    Task(TaskName),
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

    /// The mean of a distribution metric; `None` for rates and proportions.
    pub fn mean(metric: Metric) -> Option<Self> {
        (metric.kind() == Kind::Distribution).then_some(Self {
            metric,
            statistic: Statistic::Mean,
        })
    }

    /// The imported share of this name.
    pub const fn imported(name: TaskName) -> Self {
        Self {
            metric: Metric::QualityImported,
            statistic: Statistic::Task(name),
        }
    }

    /// A metric of one number; `None` for distributions, and for imported shares, which have names.
    pub fn value(metric: Metric) -> Option<Self> {
        let is_one = metric.kind() != Kind::Distribution && metric != Metric::QualityImported;
        is_one.then_some(Self {
            metric,
            statistic: Statistic::Value,
        })
    }

    /// The metric.
    pub const fn metric(self) -> Metric {
        self.metric
    }

    /// The statistic; a quantile or mean exactly where the metric is a distribution, a task exactly
    /// where it is imported.
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
            Statistic::Task(name) => write!(f, "{}.{name}", self.metric),
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
    /// An imported share was named without its name, or with one that is none.
    #[error("`quality.imported` needs the name of a score, as in `quality.imported.gsm8k`")]
    NeedsTask,
    /// A metric of one number was named with a statistic.
    #[error("`{metric}` is one number already and takes no statistic")]
    TakesNoStatistic {
        /// The metric.
        metric: Metric,
    },
}

impl FromStr for CellMetric {
    type Err = CellMetricError;

    fn from_str(text: &str) -> Result<Self, CellMetricError> {
        // Metrics of quality have a point in their names.
        let own = usize::from(text.starts_with("quality."));
        let (name, statistic) = match text.match_indices('.').nth(own) {
            Some((at, _)) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let metric: Metric = name.parse()?;
        if metric == Metric::QualityImported {
            let name = statistic.and_then(|name| name.parse().ok());
            return name.map(Self::imported).ok_or(CellMetricError::NeedsTask);
        }
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
            (
                Kind::Rate
                | Kind::OfSweep
                | Kind::OfEvents
                | Kind::Energy
                | Kind::Proportion
                | Kind::OfRun,
                statistic,
            ) => match statistic {
                None => Ok(Self {
                    metric,
                    statistic: Statistic::Value,
                }),
                Some(_) => Err(CellMetricError::TakesNoStatistic { metric }),
            },
        }
    }
}

crate::schema::text!(CellMetric, r"^[a-z][a-z0-9_]*(\.[a-z0-9_-]+)*$");

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
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Cell {
    /// The stage's name, or the sweep's where the cell is of all its steps; `None` pools all measured stages
    /// (proportions only), or says that the cell is of the whole run.
    pub stage: Option<String>,
    /// The class's name; `None` pools all classes.
    pub class: Option<String>,
    /// The metric with its statistic.
    pub metric: CellMetric,
}

impl fmt::Display for Cell {
    /// `steady/ttft.p95`, `steady/chat/ttft.p95`, `*/error_ratio`, `run/cold_ready`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = match self.metric.metric().kind() {
            Kind::OfRun => "run",
            Kind::Distribution
            | Kind::Rate
            | Kind::OfSweep
            | Kind::OfEvents
            | Kind::Energy
            | Kind::Proportion => "*",
        };
        write!(f, "{}/", self.stage.as_deref().unwrap_or(whole))?;
        if let Some(class) = &self.class {
            write!(f, "{class}/")?;
        }
        write!(f, "{}", self.metric)
    }
}

/// Why a text names no cell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CellError {
    /// It has no stage before its metric, or more than a stage and a class.
    #[error(
        "`{text}` is no cell: write it like `steady/ttft.p95`, `steady/chat/ttft.p95` or `*/error_ratio`"
    )]
    Shape {
        /// The text.
        text: String,
    },
    /// Its last part is no metric.
    #[error(transparent)]
    Metric(#[from] CellMetricError),
}

impl FromStr for Cell {
    type Err = CellError;

    /// Reads what its `Display` writes.
    fn from_str(text: &str) -> Result<Self, CellError> {
        let shape = || CellError::Shape {
            text: text.to_owned(),
        };
        let parts: Vec<&str> = text.split('/').collect();
        let (stage, class, metric) = match parts[..] {
            [stage, metric] => (stage, None, metric),
            [stage, class, metric] => (stage, Some(class), metric),
            _ => return Err(shape()),
        };
        let metric: CellMetric = metric.parse()?;
        if stage.is_empty() || class.is_some_and(str::is_empty) {
            return Err(shape());
        }
        let of_run = metric.metric().kind() == Kind::OfRun;
        let pooled = stage == if of_run { "run" } else { "*" };
        Ok(Self {
            stage: (!pooled).then(|| stage.to_owned()),
            class: class.map(str::to_owned),
            metric,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn cells_read_back_as_they_are_written() {
        for text in [
            "steady/ttft.p95",
            "sweep@8/chat/tpot.p99.9",
            "sweep/max_goodput",
            "*/error_ratio",
            "run/ttft.p50",
            "run/cold_ready",
            "steady/quality.imported.gsm8k",
        ] {
            assert_eq!(text.parse::<Cell>().unwrap().to_string(), text);
        }
        for text in [
            "ttft.p95",
            "/ttft.p95",
            "a//ttft.p95",
            "a/b/c/ttft.p95",
            "a/tfft.p95",
            "",
        ] {
            assert!(text.parse::<Cell>().is_err(), "{text}");
        }
    }
}
