//! A cell against its absolute limit as it is, without a test.

use super::{Hypothesis, Test};
use crate::compare::Value;
use crate::stats::mean;
use crate::stats::proportion::Count;

impl Hypothesis<'_> {
    /// Plain comparison of one run with a limit: whether it is kept; `None` without a value.
    pub(in crate::verdict) fn keeps_limit(&self) -> Option<bool> {
        let measure = self.candidate.first()?;
        match (self.test, &measure.value) {
            (Test::Limit { .. } | Test::ShareLimit { .. }, Value::Failed) => Some(false),
            (Test::Limit { sign, limit }, Value::Measured(value)) => {
                Some(sign * (value - limit) <= 0.0)
            }
            (Test::ShareLimit { limit, of_good }, Value::Measured(_)) => {
                let bad = measure.bad.and_then(Count::share)?;
                Some(if of_good { 1.0 - bad } else { bad } <= limit)
            }
            _ => None,
        }
    }

    /// Whether the baseline's mean breaks the limit too.
    pub(in crate::verdict) fn baseline_breaks_limit(&self) -> bool {
        let worst = |ys: Vec<f64>| mean(&ys);
        match self.test {
            Test::Limit { sign, limit } => {
                worst(self.ys(&self.baseline)).is_some_and(|y| y > sign * limit.ln())
            }
            Test::ShareLimit { limit, of_good } => Count::pool(&Self::counts(&self.baseline))
                .share()
                .is_some_and(|bad| if of_good { 1.0 - bad } else { bad } > limit),
            Test::Ratio { .. } | Test::Points { .. } => false,
        }
    }
}
