//! Whether a signal moved between the sides, by how much and how surely.

use super::signal::{Scale, Signal};
use crate::stats::student::quantile;
use crate::stats::{mean, variance};

/// Standard deviation of one run's logarithm that is assumed beside what the runs show, and its
/// degrees of freedom: those of a comparison without an archive.
const ASSUMED: f64 = 0.03;
const ASSUMED_DF: f64 = 3.0;
/// The same of a share.
const ASSUMED_SHARE: f64 = 0.02;
/// Smallest change that is spoken of: ratios, in logarithms.
const LEAST: f64 = 0.048_790_164_169_432; // ln 1.05
/// Smallest change of shares.
const LEAST_SHARE: f64 = 0.05;
/// Two-sided confidence of the interval.
const CONFIDENCE: f64 = 0.95;

/// The two sides of a signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moved {
    pub(super) signal: Signal,
    /// Arithmetic mean over the baseline's runs.
    pub(super) baseline: f64,
    /// The same of the candidate.
    pub(super) candidate: f64,
    /// Change as a logarithm, or as a difference.
    pub(super) estimate: f64,
    /// Its 95 % interval.
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Moved {
    /// From the runs of both sides, in step where they are `paired`. Times are softened by `grain`,
    /// seconds that don't matter, so that a queue of 10 µs may double.
    ///
    /// Pairs of 1.0 and 1.2 s three times: +18.2 % in logarithms; the runs show no scatter, so the
    /// assumed 3 % a run is behind the interval: √2 · .03 · √(3 / (3 + 2)) / √3 is a standard error of
    /// .019, with 5 degrees of freedom ± .049.
    pub(super) fn new(
        signal: Signal,
        baseline: &[f64],
        candidate: &[f64],
        paired: bool,
        grain: f64,
    ) -> Option<Self> {
        let softened = |value: f64| match signal.scale() {
            Scale::Ratio => (value > 0.0).then(|| value.ln()),
            Scale::Time => Some((value.max(0.0) + grain).ln()),
            Scale::Points => Some(value),
        };
        let on_scale = |values: &[f64]| -> Option<Vec<f64>> {
            let known = values
                .iter()
                .copied()
                .map(|value| value.is_finite().then_some(value));
            let values: Option<Vec<f64>> = known.map(|value| softened(value?)).collect();
            values.filter(|values| values.iter().all(|value| value.is_finite()))
        };
        let (base, head) = (on_scale(baseline)?, on_scale(candidate)?);
        let (estimate, error, df) = if paired && base.len() == head.len() {
            let pairs: Vec<f64> = base.iter().zip(&head).map(|(b, c)| c - b).collect();
            let more = pairs.len().checked_sub(1)? as f64;
            let assumed = 2.0 * assumed(signal).powi(2);
            let (v, df) = moderated(assumed, more * variance(&pairs), more);
            (mean(&pairs)?, (v / pairs.len() as f64).sqrt(), df)
        } else {
            let more = (base.len() + head.len()).checked_sub(2)? as f64;
            let squares = |values: &[f64]| variance(values) * (values.len() as f64 - 1.0).max(0.0);
            let (v, df) = moderated(
                assumed(signal).powi(2),
                squares(&base) + squares(&head),
                more,
            );
            let n = 1.0 / base.len() as f64 + 1.0 / head.len() as f64;
            (mean(&head)? - mean(&base)?, (v * n).sqrt(), df)
        };
        let half = quantile(0.5 + CONFIDENCE / 2.0, df) * error;
        Some(Self {
            signal,
            baseline: mean(baseline)?,
            candidate: mean(candidate)?,
            estimate,
            low: estimate - half,
            high: estimate + half,
        })
    }

    /// Whether it grew, beyond doubt and by enough to speak of.
    pub(super) fn up(&self) -> bool {
        self.low > 0.0 && self.estimate >= self.least()
    }

    /// Whether it shrank.
    pub(super) fn down(&self) -> bool {
        self.high < 0.0 && self.estimate <= -self.least()
    }

    /// Whether it did either.
    pub(super) fn changed(&self) -> bool {
        self.up() || self.down()
    }

    /// Candidate less baseline, in the signal's unit.
    pub(super) fn difference(&self) -> f64 {
        self.candidate - self.baseline
    }

    const fn least(&self) -> f64 {
        match self.signal.scale() {
            Scale::Ratio | Scale::Time => LEAST,
            Scale::Points => LEAST_SHARE,
        }
    }
}

const fn assumed(signal: Signal) -> f64 {
    match signal.scale() {
        Scale::Ratio | Scale::Time => ASSUMED,
        Scale::Points => ASSUMED_SHARE,
    }
}

/// Variance with what is assumed as prior, and its degrees of freedom.
fn moderated(assumed: f64, squares: f64, more: f64) -> (f64, f64) {
    let df = ASSUMED_DF + more;
    ((ASSUMED_DF * assumed + squares) / df, df)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_show_what_their_runs_do() {
        let moved = Moved::new(Signal::Ttft, &[1.0; 3], &[1.2; 3], true, 0.0).unwrap();
        assert!((moved.estimate - 1.2_f64.ln()).abs() < 1e-12);
        let error = (0.6 * 2.0 * 0.03_f64.powi(2) / 3.0).sqrt();
        assert!((error - 0.019).abs() < 1e-4);
        assert!((moved.high - moved.estimate - 2.570_582 * error).abs() < 1e-6);
        assert!(moved.up() && !moved.down());
        let same = Moved::new(Signal::Ttft, &[1.0; 3], &[1.03; 3], true, 0.0).unwrap();
        assert!(!same.changed(), "3 % is nothing to speak of");
    }

    #[test]
    fn without_pairs_sides_of_any_size_are_compared() {
        let (base, head) = ([1.0, 1.02, 0.98, 1.0], [1.3, 1.31]);
        let moved = Moved::new(Signal::Prefill, &base, &head, false, 0.0).unwrap();
        assert!(moved.up());
        let back = Moved::new(Signal::Prefill, &head, &base, false, 0.0).unwrap();
        assert!(back.down());
        assert!((moved.estimate + back.estimate).abs() < 1e-12);
    }

    #[test]
    fn what_is_next_to_nothing_may_double() {
        let (base, head) = ([10e-6; 3], [20e-6; 3]);
        let fine = Moved::new(Signal::Queue, &base, &head, true, 1e-3).unwrap();
        assert!(!fine.changed());
        let coarse = Moved::new(Signal::Queue, &base, &head, true, 1e-6).unwrap();
        assert!(coarse.up());
    }

    #[test]
    fn shares_differ_in_points() {
        let moved = Moved::new(Signal::PrefixHits, &[0.6; 3], &[0.1; 3], true, 0.0).unwrap();
        assert!(moved.down());
        assert!((moved.difference() + 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_compared_has_not_moved() {
        assert_eq!(Moved::new(Signal::Ttft, &[], &[], true, 0.0), None);
        assert_eq!(Moved::new(Signal::Ttft, &[0.0], &[1.0], true, 0.0), None);
        assert_eq!(
            Moved::new(Signal::Queue, &[f64::NAN], &[1.0], true, 1.0),
            None
        );
    }
}
