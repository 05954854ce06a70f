//! What this machine's load client can truthfully drive, and whether a spec asks for more.
//!
//! Measuring is [`crate::session`]'s, in trials that [`Search`] chooses; here a trial becomes a
//! [`Reading`], readings a [`Headroom`], and a spec's stages its [`Fit`]s. Nothing here touches the
//! machine, so a headroom that was stored judges as one that was just measured.

mod demand;
mod fit;
mod machine;
mod reading;
mod search;

use serde::{Deserialize, Serialize};

pub use demand::Demand;
pub use fit::{Aspect, Check, Fit, judge};
pub use machine::{Machine, OpenFiles, Ports};
pub use reading::{Pace, Reading, Strain};
pub use search::Search;

/// What the client can drive on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headroom {
    /// Open loop: loads are requests a second.
    pub requests: Found,
    /// Closed loop on an engine that gives every stream a token each 10 ms: loads are streams.
    pub streams: Found,
    /// The machine.
    pub machine: Machine,
}

/// Where a search over loads ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Found {
    /// The largest load at which every rule held; `None` where it held at none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Reading>,
    /// The smallest load above it at which one broke; `None` where all held up to the search's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broke: Option<Reading>,
    /// The smallest load at which every rule held: how the client fares with little to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Reading>,
}

impl Found {
    /// Takes the reading of one trial.
    pub fn take(&mut self, reading: Reading) {
        let below = |kept: &Option<Reading>| kept.as_ref().is_none_or(|k| reading.load < k.load);
        if reading.fits() {
            if below(&self.least) {
                self.least = Some(reading.clone());
            }
            if self
                .best
                .as_ref()
                .is_none_or(|best| reading.load > best.load)
            {
                self.best = Some(reading);
            }
        } else if below(&self.broke) {
            self.broke = Some(reading);
        }
        // A second chance may have come out better than the first.
        if let (Some(best), Some(broke)) = (&self.best, &self.broke)
            && broke.load <= best.load
        {
            self.broke = None;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A reading at this load with these events a second.
    pub(crate) fn reading(load: f64, events_per_s: f64, strain: Option<Strain>) -> Reading {
        Reading {
            load,
            events_per_s,
            lateness_p50_s: 60e-6,
            lateness_p99_s: 0.0012,
            loop_lag_p99_s: Some(0.0004),
            cpu_share: Some(0.61),
            strain,
        }
    }

    /// A machine of two cores that drives 4,000 requests or 1,000 streams.
    pub(crate) fn headroom() -> Headroom {
        Headroom {
            requests: Found {
                best: Some(reading(4000.0, 64_000.0, None)),
                broke: Some(reading(
                    5657.0,
                    80_000.0,
                    Some(Strain::Late {
                        p99_s: 0.0213,
                        limit_s: 0.005,
                    }),
                )),
                least: Some(reading(250.0, 4000.0, None)),
            },
            streams: Found {
                best: Some(reading(1000.0, 100_000.0, None)),
                broke: Some(reading(
                    2000.0,
                    160_000.0,
                    Some(Strain::Cpu { share: 0.97 }),
                )),
                least: Some(reading(64.0, 6400.0, None)),
            },
            machine: Machine {
                cores: 2.0,
                online: Some(8),
                quota: Some(2.0),
                open_files: Some(OpenFiles {
                    soft: 1024,
                    hard: 524_288,
                    used: 20,
                }),
                ports: Some(Ports {
                    range: 28_232,
                    in_use: 32,
                }),
                load_average: Some(0.2),
                stolen: Some(0.001),
                release: true,
            },
        }
    }

    #[test]
    fn best_is_the_largest_that_fits_and_broke_the_smallest_above_it() {
        let mut found = Found::default();
        let late = || Some(Strain::Cpu { share: 1.0 });
        for (load, strain) in [
            (250.0, None),
            (1000.0, None),
            (4000.0, late()),
            (2000.0, late()),
            // The second chance.
            (2000.0, None),
            (2800.0, late()),
        ] {
            found.take(reading(load, 0.0, strain));
        }
        let load = |reading: &Option<Reading>| reading.as_ref().map(|reading| reading.load);
        assert_eq!(load(&found.best), Some(2000.0));
        assert_eq!(load(&found.broke), Some(2800.0));
        assert_eq!(load(&found.least), Some(250.0));
    }
}
