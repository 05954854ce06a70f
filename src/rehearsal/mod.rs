//! How often is the procedure right? Whole comparisons on numbers drawn by a model of a machine, with
//! the functions that judge real ones.
//!
//! The model: a run's log statistics are `run SD · (√½ common + √½ own)` with a normal value common to
//! all gates of the run and one of each gate, plus, in a share of the runs, an outlier common to all
//! gates, uniform between 0.05 and 0.22. An archive of earlier sessions gives the noise. Within a pair
//! the session cancels; against stored sessions it doesn't. The candidate's first gate is worse by a
//! multiple of the tolerance. The constants are assumed, not fitted to any machine.
//!
//! Pure: repetition *k* draws from stream *k* of the seed, so a range of repetitions can be split among
//! threads and added up again to the same counts.

mod draws;
mod rates;
mod reference;
mod repetition;

use std::num::NonZeroUsize;
use std::ops::Range;

pub use draws::Draws;
pub use rates::{Estimate, Rates};
pub use reference::{Expected, reference};

use crate::stats::moderated::Evidence;
use crate::stats::sequential::Design;
use repetition::Repetition;

/// How runs of one thing scatter on a machine, in logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Standard deviation of a run within a session, outliers apart.
    pub run_sd: f64,
    /// Share of runs that something else slowed down by 5 to 25 %.
    pub outliers: f64,
    /// Change from one run to the next in order of time, positive where the machine gets slower.
    pub drift: f64,
}

/// Earlier sessions that the noise is learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Archive {
    /// Number of sessions.
    pub sessions: u32,
    /// Runs in each.
    pub runs: u32,
}

/// What the candidate's runs are held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// Baseline runs of the same session in turn: AB BA AB …
    Alternating,
    /// Baseline runs of the same session, all of which came first: AAA… BBB…
    Blocked,
    /// The archive's sessions themselves, whose means have this standard deviation.
    Stored {
        /// Standard deviation of a session's mean.
        session_sd: f64,
    },
}

/// Everything that a comparison's outcome depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Gated cells.
    pub gates: NonZeroUsize,
    /// Tolerance of each, as a share: 0.1 is 10 %.
    pub tolerance: f64,
    /// The machine.
    pub machine: Machine,
    /// By how many tolerances (in logarithms) the candidate's first gate is worse.
    pub effect: f64,
    /// What a regression has to be proven against.
    pub evidence: Evidence,
    /// Fewest repeats of a comparison.
    pub fewest: u32,
    /// Most repeats of a comparison.
    pub most: u32,
    /// Earlier sessions; `None` where the noise is assumed.
    pub archive: Option<Archive>,
    /// What the candidate's runs are held against.
    pub setting: Setting,
}

impl Default for Model {
    /// Eight gates of 10 %, run SD 2 %, 3 % outliers, no effect; pairs in turn, 3 to 10, and an archive
    /// of ten sessions of three runs.
    fn default() -> Self {
        Self {
            gates: NonZeroUsize::MIN.saturating_add(7),
            tolerance: 0.1,
            machine: Machine {
                run_sd: 0.02,
                outliers: 0.03,
                drift: 0.0,
            },
            effect: 0.0,
            evidence: Evidence::BeyondZero,
            fewest: 3,
            most: 10,
            archive: Some(Archive {
                sessions: 10,
                runs: 3,
            }),
            setting: Setting::Alternating,
        }
    }
}

impl Model {
    /// The looks that such a comparison takes.
    pub fn design(&self) -> Design {
        match (self.setting, self.archive) {
            (Setting::Stored { .. }, _) => Design::stored(self.fewest, self.most),
            (_, Some(_)) => Design::paired(self.fewest, self.most),
            (_, None) => Design::unarchived(self.fewest, self.most),
        }
    }

    /// The tolerance as a logarithm. 10 % is 0.0953102.
    pub fn log_tolerance(&self) -> f64 {
        self.tolerance.ln_1p()
    }
}

/// What becomes of the given repetitions of a model's comparison.
///
/// The same range of the same seed gives the same counts, and so do its parts added up. The default
/// model fails 1 or 2 comparisons of 10,000, and passes 98.4 %.
pub fn rates(model: &Model, repetitions: Range<u64>, seed: u64) -> Rates {
    let mut repetition = Repetition::new(model);
    let mut rates = Rates::default();
    for stream in repetitions {
        let (sequential, repeats) = repetition.compare(&mut Draws::new(seed, stream));
        rates.count(sequential.decisions(), repeats);
    }
    rates
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        let model = Model::default();
        let mut parts = rates(&model, 0..7, 3);
        parts.add(&rates(&model, 7..20, 3));
        assert_eq!(parts, rates(&model, 0..20, 3));
        assert_ne!(rates(&model, 0..20, 4), parts);
    }

    #[test]
    fn a_large_effect_is_found_in_every_setting() {
        for setting in [
            Setting::Alternating,
            Setting::Blocked,
            Setting::Stored { session_sd: 0.01 },
        ] {
            let model = Model {
                setting,
                effect: 4.0,
                ..Model::default()
            };
            let found = rates(&model, 0..20, 1);
            assert!(found.report_fail().value > 0.9, "{setting:?} {found:?}");
        }
    }

    #[test]
    fn drift_looks_like_a_change_only_where_runs_take_no_turns() {
        let of = |setting| {
            let machine = Machine {
                run_sd: 0.01,
                outliers: 0.0,
                drift: 0.015,
            };
            let model = Model {
                machine,
                setting,
                ..Model::default()
            };
            rates(&model, 0..50, 1).report_fail().value
        };
        assert!(of(Setting::Alternating) < 0.05);
        assert!(of(Setting::Blocked) > 0.95);
    }

    #[test]
    fn without_an_archive_the_first_look_comes_later() {
        let model = Model {
            archive: None,
            ..Model::default()
        };
        assert!(rates(&model, 0..20, 1).repeats() >= 5.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_model_has_rates(
            gates in 1..4_usize,
            numbers in prop::array::uniform4(prop_oneof![
                -1.0..1.0_f64, Just(f64::NAN), Just(f64::INFINITY), Just(0.0),
            ]),
            repeats in (0..5_u32, 0..5_u32),
            archive in prop::option::of((0..4_u32, 0..4_u32)),
            setting in prop_oneof![
                Just(Setting::Alternating),
                Just(Setting::Blocked),
                Just(Setting::Stored { session_sd: 0.01 }),
            ],
        ) {
            let model = Model {
                gates: NonZeroUsize::new(gates).unwrap(),
                tolerance: 0.1,
                machine: Machine { run_sd: numbers[0], outliers: numbers[1], drift: numbers[2] },
                effect: numbers[3],
                evidence: Evidence::BeyondZero,
                fewest: repeats.0,
                most: repeats.1,
                archive: archive.map(|(sessions, runs)| Archive { sessions, runs }),
                setting,
            };
            let found = rates(&model, 0..3, 1);
            prop_assert_eq!(found.repetitions(), 3);
            let sum = found.gate_regression().value + found.gate_pass().value
                + found.gate_undecided().value;
            prop_assert!((sum - 1.0).abs() < 1e-9);
        }
    }
}
