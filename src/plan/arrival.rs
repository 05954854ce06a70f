//! Arrival instants of an open-loop stage: an absolute schedule that no server can slow down.

use super::seed::Draws;
use super::share::Share;
use crate::spec::{ArrivalProcess, Extent, RateProfile, Replay, Stage};
use crate::unit::{Nanos, Rps};

/// When the requests of an open-loop stage are due, since the stage's start.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Schedule {
    /// Warm-up requests, ascending.
    pub warmup: Vec<Nanos>,
    /// Measured requests, ascending, all within the window.
    pub measured: Vec<Nanos>,
    /// Where the measured window starts.
    pub window_start: Nanos,
    /// Where it ends.
    pub window_end: Nanos,
}

impl Schedule {
    /// The schedule of a stage with this process and rate of requests, of which each arrival brings
    /// so many on average: it holds the first of each conversation.
    ///
    /// The warm-up runs at the rate that the window starts with, until both its parts are over. By
    /// duration, arrivals are the process itself. By requests, the window is as long as the rate
    /// takes for them, and the process is conditioned on their count: sorted uniform counts are a
    /// Poisson process, and gamma gaps as shares of their sum are a gamma process, for the shares do
    /// not depend on the sum.
    pub(super) fn new(
        seed: u64,
        stage: &Stage,
        (profile, each): (RateProfile, f64),
        process: ArrivalProcess,
    ) -> Self {
        let draws = |part: &str| draws(seed, stage, part);
        let warmup = warmup(stage, profile.first(), each);
        let window_start = warmup.window;
        let warmup = warmup.all(Counts::new(process, draws("warmup")));
        let (window, measured) = match stage.extent {
            Extent::Duration(window) => {
                let counts = Counts::new(process, draws("measured"));
                (window, Placed::new(profile, each, window).all(counts))
            }
            Extent::Requests(requests) => {
                let window = stretch(profile, requests);
                let arrivals = (f64::from(requests) / each).round().max(1.0);
                let counts = exactly(arrivals as u32, process, &mut draws("measured"));
                let each = f64::from(requests) / arrivals;
                (window, Placed::new(profile, each, window).each(&counts))
            }
        };
        Self {
            warmup,
            measured: measured.into_iter().map(|at| window_start + at).collect(),
            window_start,
            window_end: window_start + window,
        }
    }

    /// What one of several clients sends of it: its numbers' instants, in the same window.
    #[must_use]
    pub fn share(&self, share: Share) -> Self {
        let of = |instants: &[Nanos]| {
            let numbered = instants.iter().zip(0..);
            let own = numbered.filter(|(_, number)| share.has(*number));
            own.map(|(at, _)| *at).collect()
        };
        Self {
            warmup: of(&self.warmup),
            measured: of(&self.measured),
            ..*self
        }
    }

    /// The schedule of a replay: its rows' own instants, after a warm-up of evenly spaced requests
    /// at their mean rate.
    pub(super) fn replay(seed: u64, stage: &Stage, replay: &Replay) -> Self {
        let rate = Rps::try_new(replay.mean_rate());
        let warmup = rate.map(|rate| warmup(stage, rate, 1.0));
        let window_start = warmup
            .as_ref()
            .map_or(stage.warmup.duration, |warmup| warmup.window);
        let warmup = warmup.map_or(Vec::new(), |warmup| {
            let draws = draws(seed, stage, "warmup");
            warmup.all(Counts::new(ArrivalProcess::Constant, draws))
        });
        let measured = replay.rows.iter().map(|row| window_start + row.at);
        Self {
            warmup,
            measured: measured.collect(),
            window_start,
            window_end: window_start + replay.span,
        }
    }
}

fn draws(seed: u64, stage: &Stage, part: &str) -> Draws {
    let purpose = format!("arrival/{part}/{}", stage.name);
    Draws::new(&seed.to_string(), &purpose, 0)
}

/// A warm-up at this rate, until both its parts are over.
fn warmup(stage: &Stage, rate: Rps, each: f64) -> Placed {
    let rate = RateProfile::Steady(rate);
    let window = stretch(rate, stage.warmup.requests).max(stage.warmup.duration);
    Placed::new(rate, each, window)
}

fn stretch(profile: RateProfile, requests: u32) -> Nanos {
    Nanos::try_from_secs_f64(profile.window(f64::from(requests))).unwrap_or(Nanos::ZERO)
}

/// Where the arrivals of a process with mean gap 1 are due in a window, by their cumulative count.
struct Placed {
    profile: RateProfile,
    /// Requests that an arrival brings on average.
    each: f64,
    window: Nanos,
}

impl Placed {
    const fn new(profile: RateProfile, each: f64, window: Nanos) -> Self {
        Self {
            profile,
            each,
            window,
        }
    }

    /// When so many have arrived, in seconds.
    fn instant(&self, count: f64) -> f64 {
        let window = self.window.as_secs_f64();
        self.profile.instant(count * self.each, window)
    }

    /// Arrivals as long as they are due within the window.
    fn all(&self, counts: Counts) -> Vec<Nanos> {
        let window = self.window.as_secs_f64();
        let expected = self.profile.count(window) / self.each;
        let mut instants = Vec::with_capacity(expected as usize + 1);
        for count in counts {
            let at = self.instant(count);
            match Nanos::try_from_secs_f64(at) {
                Some(instant) if at < window => instants.push(instant),
                _ => break,
            }
        }
        instants
    }

    /// These arrivals, all within the window.
    fn each(&self, counts: &[f64]) -> Vec<Nanos> {
        let last = self.window.since(Nanos::new(1));
        counts
            .iter()
            .filter_map(|&count| Nanos::try_from_secs_f64(self.instant(count)))
            // Rounding may lift the last to the window's end.
            .map(|instant| instant.min(last))
            .collect()
    }
}

/// Endless arrivals of a process with mean gap 1.
struct Counts {
    process: ArrivalProcess,
    draws: Draws,
    number: f64,
    elapsed: f64,
}

impl Counts {
    const fn new(process: ArrivalProcess, draws: Draws) -> Self {
        Self {
            process,
            draws,
            number: 0.0,
            elapsed: 0.0,
        }
    }
}

impl Iterator for Counts {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let number = self.number;
        self.number += 1.0;
        self.elapsed += match self.process {
            // Not summed up, so that nothing is lost.
            ArrivalProcess::Constant => return Some(number),
            ArrivalProcess::Poisson => self.draws.exponential(),
            ArrivalProcess::Gamma { burstiness } => self.draws.gamma(burstiness) / burstiness,
        };
        Some(self.elapsed)
    }
}

/// The arrivals of a process with mean gap 1, given that there are exactly `n` before `n`.
fn exactly(n: u32, process: ArrivalProcess, draws: &mut Draws) -> Vec<f64> {
    let length = f64::from(n);
    match process {
        ArrivalProcess::Constant => (0..n).map(f64::from).collect(),
        ArrivalProcess::Poisson => {
            let mut counts: Vec<f64> = (0..n).map(|_| draws.unit() * length).collect();
            counts.sort_unstable_by(f64::total_cmp);
            counts
        }
        ArrivalProcess::Gamma { burstiness } => {
            let mut elapsed = 0.0;
            let mut counts: Vec<f64> = (0..n)
                .map(|_| {
                    elapsed += draws.gamma(burstiness);
                    elapsed
                })
                .collect();
            // The gap from the last to the window's end.
            let scale = length / (elapsed + draws.gamma(burstiness));
            for count in &mut counts {
                *count *= scale;
            }
            counts
        }
    }
}

#[cfg(test)]
mod tests;
