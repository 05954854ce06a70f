//! Does the gate gate? False alarms and detections of the decision procedure on a seeded model.
//!
//! The model: 8 gates with a tolerance of 10 %. A run's log statistics are
//! `run SD × (√½ common + √½ own) + outlier`, the outlier hitting all gates of a run with some
//! probability, uniform between 0.05 and 0.22. The archive has 10 sessions of 3 runs, the session
//! cancels within a pair. Gate 0 of the candidate is worse by a multiple of the tolerance.
//! Expected rates come from 20,000 repetitions of an independent implementation; 2,000 here have a
//! standard error of at most 0.011.

use infergate::stats::moderated::{Evidence, look};
use infergate::stats::noise::{LOG_FLOOR, Noise, is_noisy};
use infergate::stats::sequential::{Decision, Design, Outlook, Sequential};
use infergate::stats::stored::StoredBaseline;
use infergate::stats::variance;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

const GATES: usize = 8;
const REPETITIONS: u32 = 2000;
const BOUND: f64 = 0.03;

/// One run: a log statistic per gate.
type Run = [f64; GATES];

struct Model {
    rng: ChaCha8Rng,
    run_sd: f64,
    outliers: f64,
}

impl Model {
    fn new(run_sd: f64, outliers: f64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(2024),
            run_sd,
            outliers,
        }
    }

    /// A standard normal by the Box–Muller transform.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.rng.random::<f64>()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.rng.random::<f64>()).cos()
    }

    fn run(&mut self) -> Run {
        let common = self.normal();
        let outlier = if self.rng.random::<f64>() < self.outliers {
            self.rng.random_range(0.05..0.22)
        } else {
            0.0
        };
        std::array::from_fn(|_| {
            self.run_sd * (0.5_f64.sqrt() * common + 0.5_f64.sqrt() * self.normal()) + outlier
        })
    }

    /// Sessions of three runs, each shifted by its session, by gate.
    fn archive(&mut self, sessions: usize, session_sd: f64) -> Vec<Vec<Vec<f64>>> {
        let mut gates = vec![Vec::new(); GATES];
        for _ in 0..sessions {
            let shift = session_sd * self.normal();
            let runs = [self.run(), self.run(), self.run()];
            for (gate, values) in gates.iter_mut().enumerate() {
                values.push(runs.iter().map(|run| run[gate] + shift).collect());
            }
        }
        gates
    }
}

/// Rates over all repetitions.
#[derive(Debug, Default)]
struct Rates {
    gate0_regression: f64,
    gate0_pass: f64,
    report_fail: f64,
    report_pass: f64,
    repeats: f64,
}

impl Rates {
    fn count(&mut self, decisions: &[Decision], repeats: u32) {
        let share = |yes: bool| f64::from(u8::from(yes)) / f64::from(REPETITIONS);
        self.gate0_regression += share(decisions[0] == Decision::Regression);
        self.gate0_pass += share(decisions[0] == Decision::Pass);
        self.report_fail += share(decisions.contains(&Decision::Regression));
        self.report_pass += share(decisions.iter().all(|d| *d == Decision::Pass));
        self.repeats += f64::from(repeats) / f64::from(REPETITIONS);
    }

    #[track_caller]
    fn check(&self, expected: [f64; 4], repeats: f64) {
        let got = [
            self.gate0_regression,
            self.gate0_pass,
            self.report_fail,
            self.report_pass,
        ];
        for (got, expected) in got.into_iter().zip(expected) {
            assert!(
                (got - expected).abs() <= BOUND,
                "{self:?}, expected {expected}"
            );
        }
        assert!(
            (self.repeats - repeats).abs() <= 0.15,
            "{self:?}, {repeats}"
        );
    }
}

fn noise_of(sessions: &[Vec<f64>]) -> Noise {
    Noise::from_sessions(sessions, LOG_FLOOR).expect("each session has three runs")
}

fn stored_of(sessions: &[Vec<f64>]) -> StoredBaseline {
    StoredBaseline::from_sessions(sessions, 0, LOG_FLOOR).expect("there are ten sessions")
}

/// Interleaved pairs with looks at 3, 5, 7 and 10.
fn paired(model: &mut Model, shift: f64, evidence: Evidence) -> Rates {
    let tolerance = 1.1_f64.ln();
    let mut rates = Rates::default();
    for _ in 0..REPETITIONS {
        let priors: Vec<_> = model
            .archive(10, 0.0)
            .iter()
            .map(|sessions| noise_of(sessions).of_pair())
            .collect();
        let mut differences = vec![Vec::new(); GATES];
        let mut sequential = Sequential::new(Design::paired(3, 10), GATES);
        let mut taken = 0;
        while let Some(planned) = sequential.next().filter(|_| !sequential.is_settled()) {
            taken = planned.repeats;
            while differences[0].len() < taken as usize {
                let (base, head) = (model.run(), model.run());
                for (gate, d) in differences.iter_mut().enumerate() {
                    let worse = if gate == 0 { shift * tolerance } else { 0.0 };
                    d.push(head[gate] + worse - base[gate]);
                }
            }
            let ratios = differences.iter().zip(&priors);
            let noisy = is_noisy(
                ratios
                    .map(|(d, prior)| variance(d) / prior.variance)
                    .collect(),
            );
            let outlooks: Vec<Option<Outlook>> = differences
                .iter()
                .zip(&priors)
                .map(|(d, prior)| {
                    look(d, *prior, tolerance, evidence, noisy).map(|look| Outlook {
                        estimate: look.estimate,
                        tolerance,
                        p_worse: look.p_worse,
                        p_within: look.p_within,
                    })
                })
                .collect();
            sequential.take(&outlooks);
        }
        rates.count(sequential.decisions(), taken);
    }
    rates
}

/// Candidate runs against ten stored sessions, with looks at 1, 3 and 5.
fn stored(model: &mut Model, shift: f64) -> Rates {
    let (tolerance, session_sd) = (1.1_f64.ln(), 0.015);
    let mut rates = Rates::default();
    for _ in 0..REPETITIONS {
        let baselines: Vec<StoredBaseline> = model
            .archive(10, session_sd)
            .iter()
            .map(|sessions| stored_of(sessions))
            .collect();
        let session = session_sd * model.normal();
        let mut runs = vec![Vec::new(); GATES];
        let mut sequential = Sequential::new(Design::stored(1, 5), GATES);
        let mut taken = 0;
        while let Some(planned) = sequential.next().filter(|_| !sequential.is_settled()) {
            taken = planned.repeats;
            while runs[0].len() < taken as usize {
                let run = model.run();
                for (gate, values) in runs.iter_mut().enumerate() {
                    let worse = if gate == 0 { shift * tolerance } else { 0.0 };
                    values.push(run[gate] + session + worse);
                }
            }
            let outlooks: Vec<Option<Outlook>> = runs
                .iter()
                .zip(&baselines)
                .map(|(values, baseline)| {
                    let look = baseline.look(values, tolerance, Evidence::BeyondZero, false)?;
                    Some(Outlook {
                        estimate: look.estimate,
                        tolerance,
                        p_worse: look.p_worse,
                        p_within: look.p_within,
                    })
                })
                .collect();
            sequential.take(&outlooks);
        }
        rates.count(sequential.decisions(), taken);
    }
    rates
}

#[test]
fn two_versions_that_are_alike_pass() {
    let rates = paired(&mut Model::new(0.02, 0.03), 0.0, Evidence::BeyondZero);
    rates.check([0.0001, 0.9915, 0.0001, 0.9837], 3.66);
    assert!(rates.report_fail <= 0.005, "{rates:?}");
}

#[test]
fn a_noisy_machine_raises_no_false_alarms() {
    let rates = paired(&mut Model::new(0.04, 0.03), 0.0, Evidence::BeyondZero);
    rates.check([0.0014, 0.9657, 0.0086, 0.8994], 6.62);
}

#[test]
fn half_a_tolerance_rarely_fails() {
    let rates = paired(&mut Model::new(0.02, 0.03), 0.5, Evidence::BeyondZero);
    rates.check([0.0095, 0.9001, 0.0095, 0.9001], 4.98);
}

#[test]
fn a_change_of_the_tolerance_fails_two_times_of_three() {
    let rates = paired(&mut Model::new(0.02, 0.03), 1.0, Evidence::BeyondZero);
    rates.check([0.6975, 0.0250, 0.6975, 0.0250], 6.00);
}

#[test]
fn a_change_of_two_tolerances_is_found() {
    let rates = paired(&mut Model::new(0.02, 0.03), 2.0, Evidence::BeyondZero);
    rates.check([0.9998, 0.0, 0.9998, 0.0], 3.44);
}

#[test]
fn strict_evidence_convicts_only_beyond_the_tolerance() {
    let rates = paired(&mut Model::new(0.02, 0.03), 1.5, Evidence::BeyondTolerance);
    rates.check([0.7561, 0.0001, 0.7561, 0.0001], 7.05);
}

#[test]
fn stored_sessions_judge_more_carefully() {
    let alike = stored(&mut Model::new(0.02, 0.03), 0.0);
    alike.check([0.0005, 0.942, 0.0012, alike.report_pass], 2.3);
    let worse = stored(&mut Model::new(0.02, 0.03), 2.0);
    worse.check([0.996, 0.0, 0.996, 0.0], worse.repeats);
}
