//! How long a user thinks between an answer and the next request.

use std::fmt;

use serde::Serialize;

use crate::unit::Nanos;

/// The 95th percentile of the standard normal.
const Z95: f64 = 1.644_853_626_951_472_2;

/// A distribution of times that users think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Think {
    /// Always the same.
    Fixed(Nanos),
    /// Evenly between two times.
    Uniform {
        /// Shortest.
        low: Nanos,
        /// Longest; not below the shortest.
        high: Nanos,
    },
    /// Log-normal by its median and 95th percentile.
    Lognormal {
        /// The median.
        p50: Nanos,
        /// The 95th percentile; above the median.
        p95: Nanos,
    },
    /// Exponential.
    Exponential {
        /// The mean.
        mean: Nanos,
    },
}

impl Think {
    /// No time at all.
    pub const NONE: Self = Self::Fixed(Nanos::ZERO);

    /// The mean: 3 s of 1 s to 5 s, 10.93 s of `{lognormal: {p50: 10s, p95: 20s}}`.
    pub fn mean(self) -> Nanos {
        let seconds = match self {
            Self::Fixed(time) | Self::Exponential { mean: time } => return time,
            Self::Uniform { low, high } => f64::midpoint(low.as_secs_f64(), high.as_secs_f64()),
            Self::Lognormal { p50, p95 } => {
                let sigma = sigma(p50, p95);
                p50.as_secs_f64() * libm::exp(sigma * sigma / 2.0)
            }
        };
        nanos(seconds)
    }

    /// The time at a place of the distribution, by what was drawn for it: `unit` is uniform in
    /// [0, 1), `normal` standard normal. A log-normal of median 10 s and 95th percentile 20 s has
    /// 20 s at a normal of 1.645.
    pub fn at(self, unit: f64, normal: f64) -> Nanos {
        match self {
            Self::Fixed(time) => time,
            Self::Uniform { low, high } => low + nanos(high.since(low).as_secs_f64() * unit),
            // `libm` gives the same bits on every machine; std does not.
            Self::Lognormal { p50, p95 } => {
                nanos(p50.as_secs_f64() * libm::exp(sigma(p50, p95) * normal))
            }
            Self::Exponential { mean } => nanos(mean.as_secs_f64() * -libm::log(1.0 - unit)),
        }
    }
}

fn sigma(p50: Nanos, p95: Nanos) -> f64 {
    libm::log(p95.as_secs_f64() / p50.as_secs_f64()) / Z95
}

/// Seconds as time; a tail beyond what time can hold ends there.
fn nanos(seconds: f64) -> Nanos {
    Nanos::try_from_secs_f64(seconds).unwrap_or(Nanos::from_secs(1 << 30))
}

impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(time) => write!(f, "{time}"),
            Self::Uniform { low, high } => write!(f, "{low} to {high}"),
            Self::Lognormal { p50, p95 } => write!(f, "{p50} median, {p95} p95"),
            Self::Exponential { mean } => write!(f, "{mean} on average"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: fn(u64) -> Nanos = Nanos::from_secs;

    #[test]
    fn means_can_be_worked_out_by_hand() {
        let uniform = Think::Uniform {
            low: SECOND(1),
            high: SECOND(5),
        };
        let lognormal = Think::Lognormal {
            p50: SECOND(10),
            p95: SECOND(20),
        };
        assert_eq!(uniform.mean(), SECOND(3));
        assert!((lognormal.mean().as_secs_f64() - 10.93).abs() < 0.01);
        assert_eq!(Think::Exponential { mean: SECOND(4) }.mean(), SECOND(4));
        assert_eq!(Think::NONE.mean(), Nanos::ZERO);
    }

    #[test]
    fn places_of_a_distribution_are_its_quantiles() {
        let uniform = Think::Uniform {
            low: SECOND(1),
            high: SECOND(5),
        };
        assert_eq!(uniform.at(0.0, 0.0), SECOND(1));
        assert_eq!(uniform.at(0.5, 9.0), SECOND(3));
        let lognormal = Think::Lognormal {
            p50: SECOND(10),
            p95: SECOND(20),
        };
        assert_eq!(lognormal.at(0.9, 0.0), SECOND(10));
        assert!((lognormal.at(0.0, Z95).as_secs_f64() - 20.0).abs() < 1e-6);
        let exponential = Think::Exponential { mean: SECOND(10) };
        assert!((exponential.at(0.5, 0.0).as_secs_f64() - 6.931).abs() < 1e-3);
    }
}
