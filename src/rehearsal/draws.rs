//! Seeded random runs.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::Machine;

/// The random numbers of one repetition.
#[derive(Debug)]
pub struct Draws {
    rng: ChaCha8Rng,
    /// The transform makes two normal values at a time.
    spare: Option<f64>,
}

impl Draws {
    /// One stream of a seed; streams are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self { rng, spare: None }
    }

    /// A standard normal value, by Box and Muller's transform.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// A value from 0 to below 1.
    pub fn uniform(&mut self) -> f64 {
        self.rng.random()
    }

    /// One run: a log statistic for each gate, without any drift.
    pub fn run(&mut self, machine: &Machine, gates: &mut [f64]) {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let common = self.normal();
        let outlier = if self.uniform() < machine.outliers {
            0.05 + 0.17 * self.uniform()
        } else {
            0.0
        };
        for gate in gates {
            *gate = machine.run_sd * half * (common + self.normal()) + outlier;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{mean, variance};

    #[test]
    fn runs_scatter_as_the_machine_says() {
        let machine = Machine {
            run_sd: 0.02,
            outliers: 0.0,
            drift: 0.0,
        };
        let mut draws = Draws::new(1, 0);
        let (mut first, mut both) = (Vec::new(), Vec::new());
        for _ in 0..4000 {
            let mut gates = [0.0; 2];
            draws.run(&machine, &mut gates);
            first.push(gates[0]);
            both.push(gates[0] + gates[1]);
        }
        assert!(mean(&first).unwrap().abs() < 0.002);
        assert!((variance(&first).sqrt() - 0.02).abs() < 0.001);
        // Two gates of one run correlate by a half: 2 + 2 · ½ of one's variance.
        assert!((variance(&both) / variance(&first) - 3.0).abs() < 0.2);
    }

    #[test]
    fn outliers_come_as_often_as_asked_and_hit_all_gates() {
        let machine = Machine {
            run_sd: 0.0,
            outliers: 0.03,
            drift: 0.0,
        };
        let mut draws = Draws::new(1, 7);
        let mut hits = 0;
        for _ in 0..10_000 {
            let mut gates = [0.0; 3];
            draws.run(&machine, &mut gates);
            if gates[0] > 0.0 {
                hits += 1;
                assert!((0.05..0.22).contains(&gates[0]));
                assert!(gates.iter().all(|gate| (gate - gates[0]).abs() < 1e-15));
            }
        }
        assert!((240..360).contains(&hits), "{hits}");
    }
}
