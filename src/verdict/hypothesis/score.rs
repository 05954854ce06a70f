//! Scores that bring their own standard error: one test, however often it is looked at.

use super::{Hypothesis, Looked, Test};
use crate::compare::{Measure, Value};
use crate::stats::moderated::{Estimate, Look};
use crate::stats::sequential::{ALPHA, PlannedLook};
use crate::stats::student::normal_quantile;
use crate::verdict::power::DEMOTION_POWER;

/// A side's score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    /// The share of right answers.
    pub(super) value: f64,
    standard_error: f64,
}

impl Hypothesis<'_> {
    /// The score of a side: that of its newest run, for all runs of one side in a session have the
    /// same.
    pub(super) fn score(side: &[&Measure]) -> Option<Scored> {
        let with_error = |measure: &&Measure| match (&measure.value, measure.standard_error) {
            (Value::Measured(value), Some(standard_error)) => Some(Scored {
                value: *value,
                standard_error,
            }),
            _ => None,
        };
        side.iter().rev().find_map(with_error)
    }

    /// What a score says, which is the same at every look: `base − head` with
    /// `se = √(se_base² + se_head²)`, normal; against a limit `limit − head` with its own error.
    ///
    /// 0.75 ± 0.012 against 0.72 ± 0.0125: 3 pp ± 1.73 pp, z = 1.731, p = 0.0417 of "not worse".
    /// More runs bring no more questions, so a look is only another time at which the same number is
    /// read; its error is not spent twice.
    pub(super) fn scored(&self, k: usize, planned: PlannedLook) -> Option<Looked> {
        let head = Self::score(self.first(k))?;
        let (value, standard_error, tolerance) = match self.test {
            Test::Score { tolerance } => {
                let base = Self::score(self.against(k))?;
                let error = base.standard_error.hypot(head.standard_error);
                (base.value - head.value, error, tolerance)
            }
            Test::ScoreLimit { limit } => (limit - head.value, head.standard_error, 0.0),
            Test::Ratio { .. }
            | Test::Points { .. }
            | Test::Limit { .. }
            | Test::ShareLimit { .. } => return None,
        };
        let estimate = Estimate {
            value,
            variance: 0.0,
            standard_error,
            df: f64::INFINITY,
        };
        Some(Looked {
            look: Look::from_estimate(k, estimate, tolerance, self.evidence),
            tolerance,
            resolvable: self
                .test
                .is_relative()
                .then(|| resolvable(standard_error, planned, DEMOTION_POWER)),
            gained: None,
        })
    }

    /// Smallest tolerance that two scores with the baseline's error resolve; `None` without one.
    pub(super) fn score_resolution(&self, planned: PlannedLook, power: f64) -> Option<f64> {
        let error = Self::score(&self.baseline)?.standard_error;
        let error = match self.test {
            Test::ScoreLimit { .. } => error,
            _ => error * 2.0_f64.sqrt(),
        };
        Some(resolvable(error, planned, power))
    }
}

/// `(z(1 − α w) + z(power)) · se`: at the last look (w = 1) and power 0.9 an error of 1.73 pp
/// resolves 5.06 pp.
fn resolvable(standard_error: f64, planned: PlannedLook, power: f64) -> f64 {
    (normal_quantile(1.0 - ALPHA * planned.pass) + normal_quantile(power)) * standard_error
}
