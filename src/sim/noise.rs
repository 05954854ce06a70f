//! Seeded noise on the time of a step.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::profile::NoiseLevel;
use crate::unit::Nanos;

/// How much of the drift is left after one step: half of it after 346 steps.
const PHI: f64 = 0.998;
const STALL_LEAST_S: f64 = 0.050;
const STALL_MEAN_MORE_S: f64 = 0.150;

/// One path of noise; the same seed gives the same path.
#[derive(Debug)]
pub(super) struct Noise {
    level: NoiseLevel,
    rng: ChaCha8Rng,
    drift: f64,
}

impl Noise {
    /// A path that starts without drift.
    pub(super) fn new(level: NoiseLevel, seed: u64) -> Self {
        Self {
            level,
            rng: ChaCha8Rng::seed_from_u64(seed),
            drift: 0.0,
        }
    }

    /// The noisy time of a step that ideally takes `ideal`.
    pub(super) fn apply(&mut self, ideal: Nanos) -> Nanos {
        if self.level == NoiseLevel::NONE {
            return ideal;
        }
        self.drift = PHI * self.drift + self.level.drift * normal(&mut self.rng);
        let jitter = self.level.jitter * normal(&mut self.rng);
        let mut secs = ideal.as_secs_f64() * libm::exp(self.drift + jitter);
        // At most one stall a step: a step is far shorter than the time between stalls.
        let stalls = self.rng.random::<f64>() < self.level.stalls_per_s * secs;
        if stalls {
            secs += STALL_LEAST_S - STALL_MEAN_MORE_S * libm::log(open01(&mut self.rng));
        }
        Nanos::try_from_secs_f64(secs).unwrap_or(ideal)
    }
}

/// Uniform in (0, 1].
fn open01(rng: &mut ChaCha8Rng) -> f64 {
    1.0 - rng.random::<f64>()
}

/// Standard normal, by Box and Muller (1958).
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(open01(rng)));
    radius * libm::cos(std::f64::consts::TAU * rng.random::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Nanos = Nanos::from_millis(10);

    fn path(level: NoiseLevel, seed: u64, steps: usize) -> Vec<f64> {
        let mut noise = Noise::new(level, seed);
        (0..steps)
            .map(|_| (noise.apply(STEP).as_secs_f64() / STEP.as_secs_f64()).ln())
            .collect()
    }

    #[test]
    fn without_noise_a_step_takes_its_ideal_time() {
        assert_eq!(Noise::new(NoiseLevel::NONE, 1).apply(STEP), STEP);
    }

    #[test]
    fn jitter_has_the_spread_that_its_level_says() {
        let level = NoiseLevel {
            jitter: 0.03,
            ..NoiseLevel::NONE
        };
        let logs = path(level, 1, 20_000);
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / logs.len() as f64;
        assert!(mean.abs() < 0.001, "{mean}");
        assert!((variance.sqrt() - 0.03).abs() < 0.001, "{variance}");
    }

    #[test]
    fn stalls_come_at_their_rate_and_last_50_ms_or_more() {
        let level = NoiseLevel {
            stalls_per_s: 0.5,
            ..NoiseLevel::NONE
        };
        let stalls: Vec<f64> = path(level, 1, 40_000)
            .into_iter()
            .filter(|log| *log > 1e-6)
            .collect();
        // 400 s of busy engine, 0.5 stalls a second.
        assert!((160..=240).contains(&stalls.len()), "{}", stalls.len());
        assert!(stalls.iter().all(|log| log.exp() * 0.010 >= 0.059));
    }

    #[test]
    fn the_seed_chooses_the_path() {
        let level = NoiseLevel {
            drift: 0.001,
            jitter: 0.01,
            stalls_per_s: 0.0,
        };
        assert_eq!(path(level, 1, 50), path(level, 1, 50));
        assert_ne!(path(level, 1, 50), path(level, 2, 50));
    }
}
