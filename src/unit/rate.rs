//! Rates of requests.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Nanos, UnitError, split_number};

/// Requests per second: finite and above zero.
#[derive(
    Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Rps(f64);

impl Rps {
    /// `None` unless finite and above zero.
    pub fn try_new(per_second: f64) -> Option<Self> {
        (per_second.is_finite() && per_second > 0.0).then_some(Self(per_second))
    }

    /// Requests per second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The mean time between requests: 125 ms at 8/s.
    pub fn mean_gap(self) -> Nanos {
        Nanos::try_from_secs_f64(1.0 / self.0).unwrap_or(Nanos::new(u64::MAX))
    }
}

impl FromStr for Rps {
    type Err = UnitError;

    /// Reads `8/s`, `0.5/s`, `480/min`, `1200/h`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const EXAMPLE: &str = "8/s";
        let (number, unit) = split_number(text, EXAMPLE)?;
        let seconds = match unit {
            "/s" => 1.0,
            "/m" | "/min" => 60.0,
            "/h" => 3600.0,
            _ => {
                return Err(UnitError::UnknownUnit {
                    example: EXAMPLE,
                    units: "/s, /min, /h",
                });
            }
        };
        Self::try_new(number / seconds).ok_or(UnitError::OutOfRange {
            rule: "a rate is finite and above zero",
        })
    }
}

impl fmt::Display for Rps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rates_with_their_unit() {
        assert_eq!("8/s".parse(), Ok(Rps(8.0)));
        assert_eq!("480/min".parse(), Ok(Rps(8.0)));
        assert_eq!(
            "8/s".parse::<Rps>().unwrap().mean_gap(),
            Nanos::from_millis(125)
        );
    }

    #[test]
    fn refuses_what_is_no_rate() {
        for text in ["8", "0/s", "-1/s", "8/day", "/s", "nan/s", "inf/s"] {
            assert!(text.parse::<Rps>().is_err(), "{text}");
        }
    }
}
