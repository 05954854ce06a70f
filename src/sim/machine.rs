//! The machine under the engine: what makes its steps slower or faster that is no property of the
//! engine.
//!
//! A run on a real machine has a speed of its own, some runs share the machine with something else,
//! and a machine gets warm. Comparisons have to live with that, so the embedded engine can do it
//! too, by known amounts.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::noise::normal;
use super::profile::NoiseLevel;
use crate::unit::Nanos;

/// The drift of a step's noise beside its jitter, as the profiles have it.
const DRIFT_BY_JITTER: f64 = 0.04;
/// How much slower an outlier is: uniform between these.
const OUTLIER: std::ops::Range<f64> = 0.05..0.25;
/// Keeps the draws of runs apart from the noise of steps under the same seed.
const STREAM: u64 = 1;

/// What the machine does to the engine's steps. The default is a machine that does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Machine {
    /// Standard deviation of the logarithm of a step's jitter, in place of the profile's; its drift
    /// is 1/25 of that, as in the profiles.
    pub step_noise: Option<f64>,
    /// Stalls per second of busy engine, in place of the profile's.
    pub stalls_per_s: Option<f64>,
    /// Standard deviation of the logarithm of a run's speed.
    pub run_noise: f64,
    /// Share of runs that are slower by 5 % to 25 %.
    pub run_outliers: f64,
    /// How much slower it is after each minute than before it, since the engine's start: 0.05 is
    /// 5 %. Below 0 it gets faster.
    pub drift_per_min: f64,
}

impl Machine {
    /// The noise of an engine's steps on this machine.
    pub(super) fn level(&self, profile: NoiseLevel) -> NoiseLevel {
        let steps = self.step_noise.map_or(profile, |jitter| NoiseLevel {
            jitter,
            drift: jitter * DRIFT_BY_JITTER,
            ..profile
        });
        NoiseLevel {
            stalls_per_s: self.stalls_per_s.unwrap_or(steps.stalls_per_s),
            ..steps
        }
    }
}

/// The speed of one engine on its machine, run by run.
#[derive(Debug)]
pub(super) struct Pace {
    machine: Machine,
    rng: ChaCha8Rng,
    /// The run under way, by its name; none before the first.
    run: String,
    /// Logarithm of how much longer its steps take.
    of_run: f64,
}

impl Pace {
    /// Before the first run; the same seed gives the same runs.
    pub(super) fn new(machine: Machine, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        Self {
            machine,
            rng,
            run: String::new(),
            of_run: 0.0,
        }
    }

    /// A request of this run was accepted: draws the speed of a run that is new. Requests without a
    /// run belong to the one under way.
    pub(super) fn see(&mut self, run: &str) {
        if run.is_empty() || run == self.run {
            return;
        }
        run.clone_into(&mut self.run);
        let outlier = self.rng.random::<f64>() < self.machine.run_outliers;
        let slower = self.rng.random_range(OUTLIER);
        self.of_run = self.machine.run_noise * normal(&mut self.rng)
            + if outlier { slower.ln_1p() } else { 0.0 };
    }

    /// How long a step takes that starts then, of one that ideally takes `ideal`.
    ///
    /// A drift of 5 % a minute makes 100 ms two minutes after the start 110.25 ms.
    pub(super) fn apply(&self, ideal: Nanos, start: Nanos) -> Nanos {
        let minutes = start.as_secs_f64() / 60.0;
        let log = self.of_run + minutes * libm::log1p(self.machine.drift_per_min);
        Nanos::new((ideal.get() as f64 * libm::exp(log)).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Nanos = Nanos::from_millis(100);

    /// Logarithms of the speeds of so many runs.
    fn runs(machine: Machine, seed: u64, count: usize) -> Vec<f64> {
        let mut pace = Pace::new(machine, seed);
        (0..count)
            .map(|run| {
                pace.see(&run.to_string());
                let taken = pace.apply(STEP, Nanos::ZERO);
                (taken.as_secs_f64() / STEP.as_secs_f64()).ln()
            })
            .collect()
    }

    #[test]
    fn a_machine_that_does_nothing_changes_no_step() {
        let mut pace = Pace::new(Machine::default(), 3);
        pace.see("a");
        assert_eq!(pace.apply(STEP, Nanos::from_secs(600)), STEP);
    }

    #[test]
    fn drift_goes_on_from_minute_to_minute() {
        let machine = Machine {
            drift_per_min: 0.05,
            ..Machine::default()
        };
        let pace = Pace::new(machine, 0);
        assert_eq!(pace.apply(STEP, Nanos::ZERO), STEP);
        let later = pace.apply(STEP, Nanos::from_secs(120));
        assert_eq!(later, Nanos::new(110_250_000));
        let faster = Machine {
            drift_per_min: -0.5,
            ..Machine::default()
        };
        let half = Pace::new(faster, 0).apply(STEP, Nanos::from_secs(60));
        assert_eq!(half, Nanos::from_millis(50));
    }

    #[test]
    fn runs_scatter_as_asked_and_a_run_keeps_its_speed() {
        let machine = Machine {
            run_noise: 0.02,
            ..Machine::default()
        };
        let logs = runs(machine, 1, 4000);
        let mean = logs.iter().sum::<f64>() / 4000.0;
        let sd = (logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        assert!(mean.abs() < 0.001, "{mean}");
        assert!((sd - 0.02).abs() < 0.001, "{sd}");
        assert_eq!(runs(machine, 1, 9), logs[..9]);
        assert_ne!(runs(machine, 2, 9), logs[..9]);

        let mut pace = Pace::new(machine, 1);
        pace.see("a");
        let taken = pace.apply(STEP, Nanos::ZERO);
        assert_ne!(taken, STEP);
        pace.see("");
        pace.see("a");
        assert_eq!(pace.apply(STEP, Nanos::ZERO), taken);
    }

    #[test]
    fn outliers_are_slower_and_as_rare_as_asked() {
        let machine = Machine {
            run_outliers: 0.03,
            ..Machine::default()
        };
        let slow: Vec<f64> = runs(machine, 1, 4000)
            .into_iter()
            .filter(|log| *log != 0.0)
            .map(f64::exp)
            .collect();
        // 120 are expected, with a standard deviation of 11.
        assert!((87..=153).contains(&slow.len()), "{}", slow.len());
        assert!(slow.iter().all(|by| (1.0499..1.2501).contains(by)));
    }

    #[test]
    fn step_noise_replaces_the_profiles_and_leaves_the_rest() {
        let profile = NoiseLevel {
            drift: 0.1,
            jitter: 0.2,
            stalls_per_s: 0.3,
        };
        assert_eq!(Machine::default().level(profile), profile);
        let machine = Machine {
            step_noise: Some(0.03),
            ..Machine::default()
        };
        let level = machine.level(profile);
        assert!((level.drift - 0.0012).abs() < 1e-12);
        assert_eq!((level.jitter, level.stalls_per_s), (0.03, 0.3));
        let calm = Machine {
            stalls_per_s: Some(0.0),
            ..Machine::default()
        };
        let without = NoiseLevel {
            stalls_per_s: 0.0,
            ..profile
        };
        assert_eq!(calm.level(profile), without);
    }
}
