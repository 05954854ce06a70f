//! What a hypothesis will be able to show, before there is any candidate.

use super::look::{RARE, resolve};
use super::{Hypothesis, PointsTolerance, Test};
use crate::metric::{Direction, Metric};
use crate::stats::mean;
use crate::stats::noise::Noise;
use crate::stats::proportion::{Count, Share, effective_share, newcombe, overdispersion, wilson};
use crate::stats::sequential::{ALPHA, PlannedLook};
use crate::verdict::explanation::NoiseOfRun;

impl Hypothesis<'_> {
    /// The noise that a look of `k` repeats starts from; `None` where the test needs none.
    pub(in crate::verdict) fn noise_of_run(&self, k: usize) -> Option<NoiseOfRun> {
        if matches!(
            self.test,
            Test::ShareLimit { .. } | Test::Score { .. } | Test::ScoreLimit { .. }
        ) {
            return None;
        }
        let Noise { sigma, df } = self.noise_at(k)?;
        let known = if self.noise.is_some() {
            self.values(&self.cell.noise)
        } else {
            Vec::new()
        };
        Some(NoiseOfRun {
            sigma,
            df,
            sessions: known.iter().filter(|runs| !runs.is_empty()).count() as u32,
            runs: known.iter().map(Vec::len).sum::<usize>() as u32,
        })
    }

    /// Whether the baseline has no run at all.
    pub(in crate::verdict) const fn has_no_runs(&self) -> bool {
        self.baseline.is_empty()
    }

    /// Noise of one run, on the scale of the test; `None` where nothing says.
    pub(in crate::verdict) fn expected_noise(&self) -> Option<Noise> {
        self.noise_of_baseline(self.baseline.len())
    }

    /// What a change may take, on the scale of the test: the tolerance, or how far the baseline's mean
    /// is from the limit. `None` without a run that says.
    pub(in crate::verdict) fn room(&self) -> Option<f64> {
        match self.test {
            Test::Ratio { .. } | Test::Points { .. } | Test::Score { .. } => {
                self.tolerance(self.baseline.len())
            }
            Test::ScoreLimit { limit } => Some(Self::score(&self.baseline)?.value - limit),
            Test::Limit { sign, limit } => {
                let mean = mean(&self.ys(&self.baseline))?;
                Some(sign * limit.ln() - mean).filter(|room| room.is_finite())
            }
            Test::ShareLimit { limit, of_good } => {
                let bad = Count::pool(&Self::counts(&self.baseline)).share()?;
                Some(limit - if of_good { 1.0 - bad } else { bad })
            }
        }
    }

    /// Smallest room that a planned look resolves with `power`, on the scale of the test; `None` where
    /// nothing says.
    ///
    /// Shares under a limit and rare failures are judged by intervals: theirs is the room at which the
    /// interval of what the baseline shows just passes, whatever the power.
    pub(in crate::verdict) fn smallest(&self, planned: PlannedLook, power: f64) -> Option<f64> {
        let runs = f64::from(planned.repeats);
        let confidence = 1.0 - 2.0 * ALPHA * planned.pass;
        match self.test {
            Test::Limit { .. } => Some(resolve(self.expected_noise()?.of_run(), planned, power)),
            Test::ShareLimit { of_good, .. } => {
                let bad = self.expected_share(runs)?;
                let p = if of_good { 1.0 - bad.p } else { bad.p };
                Some(wilson(p, bad.n, confidence).upper - p)
            }
            Test::Points { .. } if self.will_be_rare(runs) => {
                let bad = self.expected_share(runs)?;
                Some(newcombe(bad, bad, confidence).upper)
            }
            Test::Score { .. } | Test::ScoreLimit { .. } => self.score_resolution(planned, power),
            Test::Ratio { .. } | Test::Points { .. } => {
                self.resolution(self.baseline.len(), planned, power)
            }
        }
    }

    /// The baseline's share of bad requests with the trials that so many runs are worth.
    fn expected_share(&self, runs: f64) -> Option<Share> {
        let counts = Self::counts(&self.baseline);
        let all = effective_share(&counts, overdispersion(&[], self.scatter()))?;
        Some(Share {
            p: all.p,
            n: all.n / counts.len() as f64 * runs,
        })
    }

    /// Whether failures will be too rare for a t-test in so many runs of both sides.
    fn will_be_rare(&self, runs: f64) -> bool {
        let counts = Self::counts(&self.baseline);
        let events = Count::pool(&counts).events as f64 / counts.len().max(1) as f64;
        let ratio = matches!(self.metric(), Metric::ErrorRatio | Metric::TruncatedRatio);
        ratio && 2.0 * runs * events < RARE as f64
    }

    /// A difference on the scale of the test as people read it: a fraction of the baseline's value
    /// that it is worse by, or a difference of proportions.
    pub(in crate::verdict) fn as_change(&self, y: f64) -> f64 {
        match (self.test, self.metric().direction()) {
            (Test::Ratio { .. }, Direction::LowerIsBetter) => y.exp_m1(),
            (Test::Ratio { .. }, Direction::HigherIsBetter) => -(-y).exp_m1(),
            _ => y,
        }
    }

    /// The same in the unit in which the limit is declared; of limits in seconds or per second as a
    /// fraction of the limit.
    pub(in crate::verdict) fn as_declared(&self, y: f64) -> Option<f64> {
        match self.test {
            Test::Limit { sign, .. } if sign < 0.0 => Some(y.exp_m1()),
            Test::Limit { .. } => Some(-(-y).exp_m1()),
            Test::Points {
                tolerance: PointsTolerance::OfAttainment(_),
            } => {
                let bad = Count::pool(&Self::counts(&self.baseline)).share()?;
                (bad < 1.0).then(|| y / (1.0 - bad))
            }
            _ => Some(self.as_change(y)),
        }
    }
}
