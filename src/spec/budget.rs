//! `limits` and `cost`: what a comparison may take, and what it costs.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::unit::Nanos;

/// What one comparison may take; what is not named may take anything.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Budget {
    /// Time, starts of engines included.
    pub time: Option<Nanos>,
    /// Requests sent.
    pub requests: Option<f64>,
    /// Tokens in and out.
    pub tokens: Option<f64>,
    /// Money, in the currency of `cost`.
    pub money: Option<Money>,
    /// Where the text says so, as a byte range.
    pub place: Range<usize>,
}

/// A limit on money, with what turns time into it.
#[derive(Debug, Clone, PartialEq)]
pub struct Money {
    /// The most that may be spent.
    pub most: f64,
    /// What an hour costs: of a GPU, times their number.
    pub hour: f64,
    /// As in `USD`; empty where the spec names none.
    pub currency: String,
}

/// What GPUs cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// One GPU for an hour.
    pub gpu_hour: f64,
    /// As in `USD`; empty where the spec names none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub currency: String,
}

/// What was or will be taken.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outlay {
    /// Seconds.
    pub seconds: f64,
    /// Requests sent.
    pub requests: f64,
    /// Tokens in and out.
    pub tokens: f64,
}

impl Outlay {
    /// This and another.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            seconds: self.seconds + other.seconds,
            requests: self.requests + other.requests,
            tokens: self.tokens + other.tokens,
        }
    }

    /// So many times this.
    #[must_use]
    pub fn times(self, n: f64) -> Self {
        Self {
            seconds: self.seconds * n,
            requests: self.requests * n,
            tokens: self.tokens * n,
        }
    }
}

impl Budget {
    /// The first limit that this breaks, in words: `2 h of the 90 min that the spec allows`.
    ///
    /// 2 GPUs at 3.50 an hour for 30 minutes are 3.50.
    pub fn broken_by(&self, outlay: Outlay) -> Option<String> {
        use crate::unit::scale::{count, elapsed};
        let whole = |n: f64| count(n.ceil() as u64);
        if let Some(time) = self.time.map(Nanos::as_secs_f64)
            && outlay.seconds > time
        {
            let (taken, time) = (elapsed(outlay.seconds), elapsed(time));
            return Some(format!("{taken} of the {time} that `limits` allows"));
        }
        for (what, taken, limit) in [
            ("requests", outlay.requests, self.requests),
            ("tokens", outlay.tokens, self.tokens),
        ] {
            if let Some(limit) = limit.filter(|limit| taken > *limit) {
                let (taken, limit) = (whole(taken), whole(limit));
                return Some(format!(
                    "{taken} of the {limit} {what} that `limits` allows"
                ));
            }
        }
        let money = self.money.as_ref()?;
        let spent = outlay.seconds / 3600.0 * money.hour;
        (spent > money.most).then(|| {
            let text = format!(
                "{spent:.2} of the {:.2} {} that `limits` allows",
                money.most, money.currency
            );
            text.replace("  ", " ")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_broken_is_named() {
        let budget = Budget {
            time: Some(Nanos::from_secs(5400)),
            requests: Some(1e5),
            tokens: None,
            money: Some(Money {
                most: 5.0,
                hour: 7.0,
                currency: "USD".to_owned(),
            }),
            place: 0..0,
        };
        let outlay = |seconds, requests| Outlay {
            seconds,
            requests,
            tokens: 1e12,
        };
        let said = |seconds, requests| budget.broken_by(outlay(seconds, requests));
        assert_eq!(said(1800.0, 1e5), None);
        let broken = |seconds, requests| said(seconds, requests).unwrap();
        assert_eq!(
            broken(60.0, 1e5 + 1.0),
            "100,001 of the 100,000 requests that `limits` allows"
        );
        assert!(broken(7200.0, 0.0).ends_with("that `limits` allows"));
        // 43 minutes at 7.00 an hour are 5.02.
        assert_eq!(
            broken(43.0 * 60.0, 0.0),
            "5.02 of the 5.00 USD that `limits` allows"
        );
    }
}
