//! Time as integer nanoseconds.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{UnitError, split_number};

/// A span of time, or an instant since a stated start, in nanoseconds.
///
/// A `u64` of nanoseconds spans 584 years, so sums of real spans never overflow.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Nanos(u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// From a count of nanoseconds.
    pub const fn new(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// From whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// From seconds; `None` where they are negative, not finite or beyond 584 years.
    ///
    /// `Nanos::try_from_secs_f64(0.0015)` is 1,500,000 ns.
    pub fn try_from_secs_f64(secs: f64) -> Option<Self> {
        let nanos = secs * 1e9;
        (nanos >= 0.0 && nanos < u64::MAX as f64).then(|| Self(nanos.round() as u64))
    }

    /// The count of nanoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// In seconds, exact to the nanosecond below 104 days.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self − earlier`, or zero where `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// As the standard library's type, for timers.
    pub const fn to_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Add for Nanos {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    /// Reads `250us`, `500ms`, `15s`, `2m`, `1.5h`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const EXAMPLE: &str = "500ms";
        let (number, unit) = split_number(text, EXAMPLE)?;
        let scale = match unit {
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => {
                return Err(UnitError::UnknownUnit {
                    example: EXAMPLE,
                    units: "us, ms, s, m, h",
                });
            }
        };
        Self::try_from_secs_f64(number * scale).ok_or(UnitError::OutOfRange {
            rule: "a time is below 584 years",
        })
    }
}

impl fmt::Display for Nanos {
    /// The shortest exact form that [`FromStr`] reads back: `1500ms`, `2m`, `15s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, size) in [
            ("h", 3_600_000_000_000),
            ("m", 60_000_000_000),
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
        ] {
            if self.0 >= size && self.0.is_multiple_of(size) {
                return write!(f, "{}{unit}", self.0 / size);
            }
        }
        if self.0 == 0 {
            return f.write_str("0s");
        }
        write!(f, "{}us", self.0 as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_unit() {
        for (text, nanos) in [
            ("250us", 250_000),
            ("500ms", 500_000_000),
            ("1.5s", 1_500_000_000),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("10 ms", 10_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Nanos::new(nanos)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_time() {
        for text in [
            "",
            "ms",
            "12",
            "-1s",
            "12 parsecs",
            "1e3s",
            "1..2s",
            "99999999999999h",
        ] {
            assert!(text.parse::<Nanos>().is_err(), "{text}");
        }
    }

    #[test]
    fn displays_what_it_reads_back() {
        for text in ["0s", "1500ms", "15s", "2m", "3h", "250us", "1.5us"] {
            let nanos: Nanos = text.parse().unwrap();
            assert_eq!(nanos.to_string(), text);
        }
    }
}
