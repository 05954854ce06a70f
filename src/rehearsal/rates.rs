//! What became of many repetitions.

use crate::stats::moderated::Interval;
use crate::stats::proportion::{Count, wilson};
use crate::stats::sequential::Decision;

/// Counts over repetitions of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates {
    repetitions: u64,
    gate_regressions: u64,
    gate_passes: u64,
    report_fails: u64,
    report_passes: u64,
    repeats: u64,
}

/// A share with its interval at 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The share; 0 of no repetition.
    pub value: f64,
    /// Wilson's interval.
    pub interval: Interval,
}

impl Rates {
    /// Counts one comparison: what was decided of each gate, and after how many repeats.
    pub(super) fn count(&mut self, decisions: &[Decision], repeats: u32) {
        let first = decisions.first();
        self.repetitions += 1;
        self.gate_regressions += u64::from(first == Some(&Decision::Regression));
        self.gate_passes += u64::from(first == Some(&Decision::Pass));
        self.report_fails += u64::from(decisions.contains(&Decision::Regression));
        self.report_passes += u64::from(decisions.iter().all(|d| *d == Decision::Pass));
        self.repeats += u64::from(repeats);
    }

    /// Adds another range of repetitions of the same model.
    pub fn add(&mut self, other: &Self) {
        self.repetitions += other.repetitions;
        self.gate_regressions += other.gate_regressions;
        self.gate_passes += other.gate_passes;
        self.report_fails += other.report_fails;
        self.report_passes += other.report_passes;
        self.repeats += other.repeats;
    }

    /// Number of repetitions.
    pub const fn repetitions(&self) -> u64 {
        self.repetitions
    }

    /// How often the first gate, the one with the effect, regressed.
    pub fn gate_regression(&self) -> Estimate {
        self.share(self.gate_regressions)
    }

    /// How often the first gate passed.
    pub fn gate_pass(&self) -> Estimate {
        self.share(self.gate_passes)
    }

    /// How often the first gate stayed undecided.
    pub fn gate_undecided(&self) -> Estimate {
        self.share(self.repetitions - self.gate_regressions - self.gate_passes)
    }

    /// How often any gate regressed, by which the comparison fails.
    pub fn report_fail(&self) -> Estimate {
        self.share(self.report_fails)
    }

    /// How often all gates passed.
    pub fn report_pass(&self) -> Estimate {
        self.share(self.report_passes)
    }

    /// Mean number of repeats that were taken; 0 of no repetition.
    pub fn repeats(&self) -> f64 {
        self.repeats as f64 / self.repetitions.max(1) as f64
    }

    fn share(&self, events: u64) -> Estimate {
        let trials = self.repetitions;
        let value = Count { events, trials }.share().unwrap_or(0.0);
        Estimate {
            value,
            interval: wilson(value, trials as f64, 0.95),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_carry_their_interval() {
        let mut rates = Rates::default();
        for _ in 0..20 {
            rates.count(&[Decision::Pass, Decision::Pass], 3);
        }
        rates.count(&[Decision::Pass, Decision::Regression], 5);
        rates.count(&[Decision::Open, Decision::Pass], 10);
        assert_eq!(rates.repetitions(), 22);
        let fails = rates.report_fail();
        assert!((fails.value - 1.0 / 22.0).abs() < 1e-12);
        assert!(fails.interval.lower < fails.value && fails.value < fails.interval.upper);
        assert!((rates.gate_pass().value - 21.0 / 22.0).abs() < 1e-12);
        assert!((rates.gate_undecided().value - 1.0 / 22.0).abs() < 1e-12);
        assert!((rates.repeats() - 75.0 / 22.0).abs() < 1e-12);
        let nothing = Rates::default().report_pass();
        assert!(nothing.value.abs() < 1e-12 && (nothing.interval.upper - 1.0).abs() < 1e-12);
    }
}
