//! Arrival instants of an open-loop stage: an absolute schedule that no server can slow down.

use super::seed::Draws;
use crate::spec::{ArrivalProcess, Extent, Replay, Stage};
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
    /// The schedule of a stage with this rate and process.
    ///
    /// The warm-up runs at the stage's rate until both its parts are over. By duration, arrivals
    /// are the process itself; by requests, the window is `requests / rate` long and a Poisson
    /// process is conditioned on its count (sorted uniform instants), so that the count is pinned.
    pub(super) fn new(seed: u64, stage: &Stage, rate: Rps, process: ArrivalProcess) -> Self {
        let window_start = warmup_window(stage, rate);
        let draws = |part: &str| draws(seed, stage, part);
        let warmup = within(&mut draws("warmup"), window_start, rate, process);
        let (window, measured) = match stage.extent {
            Extent::Duration(window) => (
                window,
                within(&mut draws("measured"), window, rate, process),
            ),
            Extent::Requests(requests) => {
                let window = stretch(requests, rate);
                (
                    window,
                    exactly(&mut draws("measured"), requests, window, process),
                )
            }
        };
        Self {
            warmup,
            measured: measured.into_iter().map(|at| window_start + at).collect(),
            window_start,
            window_end: window_start + window,
        }
    }

    /// The schedule of a replay: its rows' own instants, after a warm-up of evenly spaced requests
    /// at their mean rate.
    pub(super) fn replay(seed: u64, stage: &Stage, replay: &Replay) -> Self {
        let rate = Rps::try_new(replay.mean_rate());
        let window_start = rate.map_or(stage.warmup.duration, |rate| warmup_window(stage, rate));
        let warmup = rate.map_or(Vec::new(), |rate| {
            let draws = &mut draws(seed, stage, "warmup");
            within(draws, window_start, rate, ArrivalProcess::Constant)
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

fn warmup_window(stage: &Stage, rate: Rps) -> Nanos {
    stretch(stage.warmup.requests, rate).max(stage.warmup.duration)
}

fn stretch(requests: u32, rate: Rps) -> Nanos {
    Nanos::try_from_secs_f64(f64::from(requests) / rate.get()).unwrap_or(Nanos::ZERO)
}

fn within(draws: &mut Draws, window: Nanos, rate: Rps, process: ArrivalProcess) -> Vec<Nanos> {
    let window = window.as_secs_f64();
    let mut instants = Vec::with_capacity((window * rate.get()) as usize + 1);
    let mut number = 0.0;
    let mut elapsed = 0.0;
    loop {
        let at = match process {
            ArrivalProcess::Constant => number / rate.get(),
            ArrivalProcess::Poisson => {
                elapsed += draws.exponential() / rate.get();
                elapsed
            }
        };
        number += 1.0;
        match Nanos::try_from_secs_f64(at) {
            Some(instant) if at < window => instants.push(instant),
            _ => return instants,
        }
    }
}

fn exactly(draws: &mut Draws, n: u32, window: Nanos, process: ArrivalProcess) -> Vec<Nanos> {
    let window = window.as_secs_f64();
    let mut instants: Vec<Nanos> = (0..n)
        .filter_map(|number| {
            let share = match process {
                ArrivalProcess::Constant => f64::from(number) / f64::from(n),
                ArrivalProcess::Poisson => draws.unit(),
            };
            Nanos::try_from_secs_f64(share * window)
        })
        .collect();
    instants.sort_unstable();
    instants
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Arrival, Warmup};

    fn stage(extent: Extent, warmup: Warmup) -> Stage {
        Stage {
            name: "steady".to_owned(),
            arrival: Arrival::Closed {
                users: 1,
                ramp: None,
            },
            extent,
            warmup,
            in_flight: 1000,
            drain_timeout: Nanos::from_secs(60),
            stop_when: None,
            soak: false,
            labels: Vec::new(),
        }
    }

    fn rate(per_second: f64) -> Rps {
        Rps::try_new(per_second).unwrap()
    }

    const NO_WARMUP: Warmup = Warmup {
        requests: 0,
        duration: Nanos::ZERO,
    };

    #[test]
    fn constant_arrivals_are_evenly_spaced() {
        let stage = stage(Extent::Duration(Nanos::from_secs(1)), NO_WARMUP);
        let schedule = Schedule::new(1, &stage, rate(4.0), ArrivalProcess::Constant);
        assert_eq!(
            schedule.measured,
            [0, 250, 500, 750].map(Nanos::from_millis)
        );
        assert_eq!(schedule.window_end, Nanos::from_secs(1));
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_exponential_gaps() {
        let stage = stage(Extent::Duration(Nanos::from_secs(1000)), NO_WARMUP);
        let schedule = Schedule::new(1, &stage, rate(10.0), ArrivalProcess::Poisson);
        let n = schedule.measured.len() as f64;
        assert!((n - 10_000.0).abs() < 300.0, "{n}");
        let gaps: Vec<f64> = schedule
            .measured
            .windows(2)
            .map(|w| w[1].since(w[0]).as_secs_f64())
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        let variation = variance.sqrt() / mean;
        assert!((variation - 1.0).abs() < 0.05, "{variation}");
    }

    #[test]
    fn a_stage_by_requests_has_exactly_so_many() {
        let stage = stage(
            Extent::Requests(500),
            Warmup {
                requests: 20,
                duration: Nanos::ZERO,
            },
        );
        let schedule = Schedule::new(1, &stage, rate(50.0), ArrivalProcess::Poisson);
        assert_eq!(schedule.measured.len(), 500);
        assert_eq!(schedule.window_start, Nanos::from_millis(400));
        assert_eq!(schedule.window_end, Nanos::from_millis(10_400));
        assert!(schedule.measured.is_sorted());
        assert!(schedule.measured[0] >= schedule.window_start);
        assert!(schedule.measured[499] < schedule.window_end);
    }

    #[test]
    fn the_warmup_lasts_as_long_as_its_longer_part() {
        let warmup = Warmup {
            requests: 20,
            duration: Nanos::from_secs(3),
        };
        let stage = stage(Extent::Requests(10), warmup);
        let schedule = Schedule::new(1, &stage, rate(50.0), ArrivalProcess::Constant);
        assert_eq!(schedule.window_start, Nanos::from_secs(3));
        assert_eq!(schedule.warmup.len(), 150);
    }
}
