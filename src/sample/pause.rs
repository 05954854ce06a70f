//! A stage that was cut off and went on: when, for how long, and whether it was the same engine after.

use serde::{Deserialize, Serialize};

/// A pause within a stage's window. Its windows stay in measured time: none of them holds the pause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Pause {
    /// Whole windows before it.
    pub after_windows: u64,
    /// The same in measured seconds.
    pub after_s: f64,
    /// From the end of the last of them to the opening of the next, by the clock on the wall.
    pub lasted_s: f64,
    /// The run that was cut off.
    pub run: String,
    /// Whether it was the same engine after.
    pub engine: AcrossPause,
}

/// What became of the engine in a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AcrossPause {
    /// It ran on.
    RanOn,
    /// It was started anew.
    Anew {
        /// How that shows.
        how: String,
    },
    /// Nobody can tell.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// What tells an engine from the same one started anew, by its own metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct EngineTrack {
    /// Where its metrics are.
    pub url: String,
    /// When its process started, in seconds since 1970; `None` where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_s: Option<f64>,
    /// What it had counted: tokens of prompts and of answers, requests that ended; `None` each where it
    /// does not count them.
    pub counted: [Option<f64>; 3],
}

impl AcrossPause {
    /// Of the engines before and after, replica by replica.
    ///
    /// An engine that says when it started ran on where it started at the same time. Of one that does not,
    /// counts that went back tell that it was started anew; counts that went on tell that it was not, for
    /// an engine started anew would have had to answer more in the pause than in all the time before.
    pub fn of(before: &[EngineTrack], after: &[EngineTrack]) -> Self {
        let unknown = |why: &str| Self::Unknown {
            why: why.to_owned(),
        };
        if before.is_empty() || before.len() != after.len() {
            return unknown("the engine's metrics were not read on both sides of it");
        }
        let mut vague = false;
        for (before, after) in before.iter().zip(after) {
            let starts = before.started_s.zip(after.started_s);
            // Fractions of a second are rounded in some versions' text.
            if starts.is_some_and(|(before, after)| (before - after).abs() > 0.5) {
                return Self::Anew {
                    how: "its process started at another time".to_owned(),
                };
            }
            let counts = before.counted.iter().zip(&after.counted);
            let mut counts = counts.filter_map(|(before, after)| (*before).zip(*after));
            if counts.any(|(before, after)| after < before) {
                return Self::Anew {
                    how: "its counters went back".to_owned(),
                };
            }
            let counted = before.counted.iter().flatten().any(|count| *count > 0.0);
            vague |= starts.is_none() && !counted;
        }
        if vague {
            return unknown("the engine says neither when it started nor what it counted");
        }
        Self::RanOn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(started_s: Option<f64>, tokens: Option<f64>) -> EngineTrack {
        EngineTrack {
            url: "http://a/metrics".to_owned(),
            started_s,
            counted: [None, tokens, None],
        }
    }

    #[test]
    fn an_engine_that_began_anew_is_told_from_one_that_ran_on() {
        let of = |before: EngineTrack, after: EngineTrack| AcrossPause::of(&[before], &[after]);
        let anew = |how: &str| AcrossPause::Anew {
            how: how.to_owned(),
        };
        let ran = track(Some(100.0), Some(50.0));
        assert_eq!(
            of(ran.clone(), track(Some(100.2), Some(80.0))),
            AcrossPause::RanOn
        );
        assert_eq!(
            of(ran.clone(), track(Some(130.0), Some(80.0))),
            anew("its process started at another time")
        );
        assert_eq!(
            of(ran.clone(), track(None, Some(7.0))),
            anew("its counters went back")
        );
        assert_eq!(
            of(track(None, Some(50.0)), track(None, Some(50.0))),
            AcrossPause::RanOn
        );
        for unclear in [
            of(track(None, None), track(None, None)),
            of(track(None, Some(0.0)), track(None, Some(9.0))),
            AcrossPause::of(&[ran], &[]),
            AcrossPause::of(&[], &[]),
        ] {
            assert!(
                matches!(unclear, AcrossPause::Unknown { .. }),
                "{unclear:?}"
            );
        }
    }
}
