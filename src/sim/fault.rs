//! What goes wrong on purpose, and for which requests.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::SimError;
use crate::unit::Nanos;

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing special.
    Normal,
    /// Status 500 instead of an answer.
    Error,
    /// An error event after half of the tokens.
    MidstreamError,
    /// The stream ends after half of the tokens, without finish reason or `[DONE]`.
    Truncate,
    /// Nothing comes for a while after half of the tokens.
    Stall,
    /// The model stops after half of the tokens, unless told to ignore its end of text.
    EarlyStop,
}

/// The shares of requests that meet each [`Fate`]; a request meets at most one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shares {
    error: f64,
    midstream_error: f64,
    truncate: f64,
    stall: f64,
    early_stop: f64,
}

impl Shares {
    /// From shares between 0 and 1 that sum to at most 1.
    pub fn try_new(
        error: f64,
        midstream_error: f64,
        truncate: f64,
        stall: f64,
        early_stop: f64,
    ) -> Result<Self, SimError> {
        let all = [error, midstream_error, truncate, stall, early_stop];
        // Sums of decimal fractions may be off in the last digit.
        if all.iter().all(|s| (0.0..=1.0).contains(s)) && all.iter().sum::<f64>() <= 1.0 + 1e-9 {
            Ok(Self {
                error,
                midstream_error,
                truncate,
                stall,
                early_stop,
            })
        } else {
            Err(SimError::Shares)
        }
    }

    /// Share of requests answered with status 500.
    pub const fn error(&self) -> f64 {
        self.error
    }

    /// Share of requests whose stream breaks off with an error event.
    pub const fn midstream_error(&self) -> f64 {
        self.midstream_error
    }

    /// Share of requests whose stream ends without finish reason and `[DONE]`.
    pub const fn truncate(&self) -> f64 {
        self.truncate
    }

    /// Share of requests that stall.
    pub const fn stall(&self) -> f64 {
        self.stall
    }

    /// Share of requests that stop early.
    pub const fn early_stop(&self) -> f64 {
        self.early_stop
    }

    /// The fate of the request with that arrival number, the same on every run.
    ///
    /// The fractional parts of n · 0.618… (the golden ratio's) spread evenly for any stretch of
    /// consecutive n, so a share of 10 % hits 9 to 11 of any 100 requests, without a period.
    pub fn fate(&self, arrival: u64) -> Fate {
        let at = arrival.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) as f64 / 2f64.powi(64);
        let mut upper = 0.0;
        for (share, fate) in [
            (self.error, Fate::Error),
            (self.midstream_error, Fate::MidstreamError),
            (self.truncate, Fate::Truncate),
            (self.stall, Fate::Stall),
            (self.early_stop, Fate::EarlyStop),
        ] {
            upper += share;
            if at < upper {
                return fate;
            }
        }
        Fate::Normal
    }
}

/// When the server dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DieAfter {
    /// With the acceptance of that many requests.
    Requests(u64),
    /// After that time.
    Time(Nanos),
}

impl FromStr for DieAfter {
    type Err = SimError;

    /// Reads `20` (requests) and `2s` (time).
    fn from_str(text: &str) -> Result<Self, SimError> {
        let number = text.parse().ok().filter(|n| *n > 0).map(Self::Requests);
        number
            .or_else(|| text.parse().ok().map(Self::Time))
            .ok_or_else(|| SimError::DieAfter {
                text: text.to_owned(),
            })
    }
}

impl fmt::Display for DieAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests(requests) => write!(f, "{requests}"),
            Self::Time(time) => write!(f, "{time}"),
        }
    }
}

/// All that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faults {
    /// Which requests fail, and how.
    pub shares: Shares,
    /// How long a stalled request stalls.
    pub stall_for: Nanos,
    /// Answer 429 while that many requests wait.
    pub queue_limit: Option<NonZeroU32>,
    /// When the server dies.
    pub die_after: Option<DieAfter>,
    /// The engine freezes once, with the acceptance of that many requests.
    pub freeze_after: Option<NonZeroU32>,
    /// How long it freezes.
    pub freeze_for: Nanos,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            shares: Shares::default(),
            stall_for: Nanos::from_millis(500),
            queue_limit: None,
            die_after: None,
            freeze_after: None,
            freeze_for: Nanos::from_secs(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_hits_its_part_of_any_stretch_of_requests() {
        let shares = Shares::try_new(0.1, 0.0, 0.25, 0.0, 0.0).unwrap();
        for start in [0, 57, 1_000_000] {
            let count = |fate| {
                (start..start + 100)
                    .filter(|n| shares.fate(*n) == fate)
                    .count()
            };
            assert!((9..=11).contains(&count(Fate::Error)));
            assert!((24..=26).contains(&count(Fate::Truncate)));
            assert_eq!(count(Fate::Stall), 0);
        }
    }

    #[test]
    fn a_share_of_everything_hits_everything() {
        let shares = Shares::try_new(0.0, 0.0, 0.0, 0.0, 1.0).unwrap();
        assert!((0..1000).all(|n| shares.fate(n) == Fate::EarlyStop));
    }

    #[test]
    fn shares_sum_to_at_most_one() {
        assert!(Shares::try_new(0.6, 0.3, 0.1, 0.0, 0.0).is_ok());
        assert!(Shares::try_new(0.6, 0.6, 0.0, 0.0, 0.0).is_err());
        assert!(Shares::try_new(-0.1, 0.0, 0.0, 0.0, 0.0).is_err());
        assert!(Shares::try_new(f64::NAN, 0.0, 0.0, 0.0, 0.0).is_err());
    }

    #[test]
    fn death_comes_by_count_or_by_time() {
        assert_eq!("20".parse::<DieAfter>().unwrap(), DieAfter::Requests(20));
        let two = DieAfter::Time(Nanos::from_secs(2));
        assert_eq!("2s".parse::<DieAfter>().unwrap(), two);
        assert_eq!(two.to_string(), "2s");
        assert!("0".parse::<DieAfter>().is_err());
        assert!("soon".parse::<DieAfter>().is_err());
    }
}
