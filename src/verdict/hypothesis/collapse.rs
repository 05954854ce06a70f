//! Sides that failed so thoroughly that no number is left to test.

use super::Hypothesis;
use crate::compare::{Arrangement, Measure, Value};
use crate::metric::Kind;

/// Whether a side failed so thoroughly that no number is left to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::verdict) enum Collapse {
    /// No.
    None,
    /// Some of the candidate's runs did, too few to be sure.
    Partly,
    /// The candidate did where the baseline did not: a regression without a test.
    Candidate,
    /// The baseline did too.
    Both,
}

impl Hypothesis<'_> {
    /// Whether a side collapsed over the first `k` repeats.
    ///
    /// A quantile that failures push to infinity in two thirds of the repeats, at least two, or a
    /// rate that is zero in all of them, is a regression where the baseline is healthy.
    pub(in crate::verdict) fn collapse(&self, k: usize) -> Collapse {
        let is_rate = self.metric().kind() == Kind::Rate;
        let zero = |measure: &Measure| is_rate && measure.measured().is_some_and(|v| v <= 0.0);
        let failed = |measure: &Measure| measure.value == Value::Failed;
        let down = |measure: &Measure| zero(measure) || failed(measure);
        let heads = self.first(k);
        let fallen: Vec<bool> = heads.iter().map(|measure| down(measure)).collect();
        if !fallen.contains(&true) {
            let base = self.test.is_relative() && self.against(k).iter().any(|m| failed(m));
            return if base { Collapse::Both } else { Collapse::None };
        }
        let base_down = |i: usize| match self.arrangement {
            _ if !self.test.is_relative() => false,
            Arrangement::Interleaved => self.baseline.get(i).is_some_and(|m| down(m)),
            Arrangement::Stored | Arrangement::SameRun | Arrangement::Unpaired => {
                self.baseline.iter().all(|m| down(m))
            }
        };
        let alone = (0..heads.len())
            .filter(|&i| fallen[i] && !base_down(i))
            .count();
        let enough = if heads.iter().any(|measure| failed(measure)) {
            alone >= 2 && 3 * alone >= 2 * heads.len()
        } else {
            alone >= 2 && alone == heads.len()
        };
        if enough {
            Collapse::Candidate
        } else if alone == 0 {
            Collapse::Both
        } else {
            Collapse::Partly
        }
    }

    /// Whether the candidate's rate is zero, rather than its quantile infinite.
    pub(in crate::verdict) fn fell_to_zero(&self) -> bool {
        self.candidate
            .iter()
            .all(|measure| measure.measured().is_some())
    }
}
