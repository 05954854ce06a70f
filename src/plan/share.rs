//! Part of a plan: what one of several clients sends, and when its stages begin.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::spec::{Arrival, Extent, Stage};
use crate::unit::Nanos;

/// From a stage's drain to the next stage, at least: clients end their drains and prepare.
const PAUSE: Nanos = Nanos::from_secs(5);

/// One of several equal shares of a plan: every N-th user and every N-th request or conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Share {
    /// From 1 to `count`.
    index: u32,
    count: u32,
}

/// A text that names no share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is no share: write `2/4` for the second of four (1/1 to 1000/1000)")]
pub struct ShareError;

impl Share {
    /// All there is.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// Share `index` of `count`, counted from 1; `None` where there is no such share.
    pub const fn new(index: u32, count: u32) -> Option<Self> {
        if index >= 1 && index <= count && count <= 1000 {
            Some(Self { index, count })
        } else {
            None
        }
    }

    /// Which share, from 1.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// How many there are.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// Whether the user or request of this number, from 0, is in it.
    pub const fn has(self, number: u32) -> bool {
        number % self.count == self.index - 1
    }

    /// How many of so many, numbered from 0, are in it: of 10, share 1/4 has 3 (0, 4 and 8).
    pub const fn of(self, all: u32) -> u32 {
        all / self.count + (all % self.count >= self.index) as u32
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let (index, count) = text.split_once('/').ok_or(ShareError)?;
        let number = |text: &str| text.trim().parse().map_err(|_| ShareError);
        Self::new(number(index)?, number(count)?).ok_or(ShareError)
    }
}

/// Why a plan cannot be shared out: clients that don't talk to each other would not know when.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("stage `{stage}` cannot be shared out: {why}")]
pub struct Unshareable {
    /// The stage.
    pub stage: String,
    /// Why, and what to write instead.
    pub why: String,
}

impl Plan {
    /// When each stage begins since the run's start, for clients that share the plan out: each stage has
    /// its warm-up, window and whole drain timeout, and 5 s.
    pub fn timetable(&self, count: u32) -> Result<Vec<Nanos>, Unshareable> {
        let mut start = Nanos::ZERO;
        let mut starts = Vec::with_capacity(self.stages.len());
        for planned in &self.stages {
            let stage = &planned.stage;
            let why = refusal(stage, count);
            let end = match (&planned.schedule, stage.extent) {
                (Some(schedule), _) => Ok(schedule.window_end),
                (None, Extent::Duration(window)) => Ok(stage.warmup.duration + window),
                (None, Extent::Requests(_)) => Err(
                    "nobody knows when so many requests of a closed loop end; write `duration: 5m` for `requests`"
                        .to_owned(),
                ),
            };
            let end = why.map_or(end, Err).map_err(|why| Unshareable {
                stage: stage.name.clone(),
                why,
            })?;
            starts.push(start);
            start = start + end + stage.drain_timeout + PAUSE;
        }
        Ok(starts)
    }
}

fn refusal(stage: &Stage, count: u32) -> Option<String> {
    if stage.stop_when.is_some() {
        return Some(
            "`stop_when` looks at all requests and a share knows only its own; leave it out"
                .to_owned(),
        );
    }
    match stage.arrival {
        Arrival::Closed { users, .. } if users < count => Some(format!(
            "it has {users} users for {count} shares; use fewer shares"
        )),
        Arrival::Closed { .. } if stage.warmup.requests > 0 => Some(
            "nobody knows when so many requests of a warm-up end; write `warmup: 30s`".to_owned(),
        ),
        Arrival::Closed {
            ramp: Some(ramp), ..
        } if ramp > stage.warmup.duration => Some(
            "its users are still starting when the window opens; make `warmup` as long as `ramp`"
                .to_owned(),
        ),
        Arrival::Open { .. } | Arrival::Trace(_) if stage.in_flight < count => Some(format!(
            "its `in_flight` of {} cannot be split into {count}; raise it",
            stage.in_flight
        )),
        Arrival::Closed { .. } | Arrival::Open { .. } | Arrival::Trace(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_are_written_as_fractions() {
        let share: Share = "2/4".parse().unwrap();
        assert_eq!(
            (share.index(), share.count(), share.to_string()),
            (2, 4, "2/4".to_owned())
        );
        for text in ["", "2", "0/4", "5/4", "1/0", "a/b", "1/1001", "-1/4"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_number_is_in_exactly_one_share(count in 1..12_u32, all in 0..100_u32) {
            let shares: Vec<Share> = (1..=count).map(|i| Share::new(i, count).unwrap()).collect();
            for number in 0..all {
                prop_assert_eq!(shares.iter().filter(|share| share.has(number)).count(), 1);
            }
            for share in &shares {
                prop_assert_eq!(share.of(all) as usize, (0..all).filter(|n| share.has(*n)).count());
            }
        }
    }
}
