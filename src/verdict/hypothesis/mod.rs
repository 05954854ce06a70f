//! One gated cell as a hypothesis: its values, its noise, and what a look at them says.

use crate::compare::{Arrangement, ComparedCell, Measure, Value};
use crate::metric::{Kind, Metric, Statistic};
use crate::spec::Limit;
use crate::stats::mean;
use crate::stats::moderated::Evidence;
use crate::stats::noise::{LOG_FLOOR, Noise};
use crate::stats::order::{Support, smallest_gating_sample, support};
use crate::stats::proportion::{Count, chance_sigma, paired_sigma};
use crate::stats::stored::StoredBaseline;

mod ahead;
mod collapse;
mod gain;
mod level;
mod look;
mod score;
mod test;

pub(super) use collapse::Collapse;
pub(super) use gain::{Gain, Gained};
use level::Level;
pub(super) use look::Looked;
use test::test_of;
pub(super) use test::{PointsTolerance, Test};

/// A cell with its kept repeats.
#[derive(Debug, Clone)]
pub(super) struct Hypothesis<'a> {
    /// The cell.
    pub(super) cell: &'a ComparedCell,
    /// Its limit.
    pub(super) limit: Limit,
    /// How it is tested.
    pub(super) test: Test,
    pub(super) arrangement: Arrangement,
    evidence: Evidence,
    baseline: Vec<&'a Measure>,
    candidate: Vec<&'a Measure>,
    /// `None` where there is no archive and noise is assumed.
    noise: Option<Noise>,
    /// The newest change of the stored baseline's level.
    level: Option<Level>,
    /// What widens its tolerance.
    trade: Option<Box<Gain<'a>>>,
}

impl<'a> Hypothesis<'a> {
    /// Of a cell under `limit`, over the kept repeats (indices into its candidate runs, and into
    /// its baseline runs where interleaved).
    pub(super) fn new(
        cell: &'a ComparedCell,
        limit: Limit,
        arrangement: Arrangement,
        kept: &[usize],
    ) -> Self {
        let pick = |side: &'a [Measure]| kept.iter().filter_map(|&i| side.get(i)).collect();
        let baseline: Vec<&Measure> = if arrangement == Arrangement::Interleaved {
            pick(&cell.baseline)
        } else {
            cell.baseline.iter().filter(|m| m.is_usable()).collect()
        };
        let mut hypothesis = Self {
            test: test_of(cell, limit, &baseline),
            limit,
            cell,
            arrangement,
            evidence: Evidence::BeyondZero,
            baseline,
            candidate: pick(&cell.candidate),
            noise: None,
            level: None,
            trade: None,
        };
        let floor = if hypothesis.is_log() { LOG_FLOOR } else { 0.0 };
        hypothesis.noise = Noise::from_sessions(&hypothesis.values(&cell.noise), floor);
        if arrangement == Arrangement::Stored {
            hypothesis.level = hypothesis.last_change();
        }
        hypothesis
    }

    /// With another proof asked of a regression.
    pub(super) const fn with_evidence(mut self, evidence: Evidence) -> Self {
        self.evidence = evidence;
        self
    }

    /// With a wider tolerance while a gain elsewhere is shown.
    pub(super) fn with_trade(mut self, gain: Option<Gain<'a>>) -> Self {
        self.trade = gain.map(Box::new);
        self
    }

    const fn metric(&self) -> Metric {
        self.cell.cell.metric.metric()
    }

    /// Whether its values are logarithms.
    pub(super) const fn is_log(&self) -> bool {
        matches!(self.test, Test::Ratio { .. } | Test::Limit { .. })
    }

    /// What a regression has to be proven against.
    pub(super) const fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// Whether its noise had to be assumed.
    pub(super) const fn is_assumed(&self) -> bool {
        let needs_none = matches!(
            self.test,
            Test::ShareLimit { .. } | Test::Score { .. } | Test::ScoreLimit { .. }
        );
        self.noise.is_none() && !needs_none
    }

    /// One run on the scale of the test, positive where worse; +∞ where it failed.
    fn y(&self, measure: &Measure) -> f64 {
        let sign = match self.test {
            Test::Limit { sign, .. } => sign,
            Test::Ratio { .. }
            | Test::Points { .. }
            | Test::ShareLimit { .. }
            | Test::Score { .. }
            | Test::ScoreLimit { .. } => self.metric().direction().sign(),
        };
        match &measure.value {
            Value::Failed => f64::INFINITY,
            Value::Measured(_) if !self.is_log() => {
                measure.bad.and_then(Count::share).unwrap_or(f64::NAN)
            }
            Value::Measured(value) if self.metric().kind() == Kind::Rate => {
                // Half an event, so that a rate of zero has a logarithm.
                let least = if measure.window_s > 0.0 {
                    0.5 / measure.window_s
                } else {
                    1e-9
                };
                sign * value.max(least).ln()
            }
            Value::Measured(value) => sign * value.ln(),
            Value::Invalid(_) | Value::Absent(_) | Value::Untold(_) => f64::NAN,
        }
    }

    fn ys(&self, side: &[&Measure]) -> Vec<f64> {
        side.iter().map(|measure| self.y(measure)).collect()
    }

    /// Sessions on the scale of the test, without the runs that have no finite value.
    fn values(&self, sessions: &[Vec<Measure>]) -> Vec<Vec<f64>> {
        let finite = |session: &Vec<Measure>| {
            session
                .iter()
                .map(|measure| self.y(measure))
                .filter(|y| y.is_finite())
                .collect()
        };
        sessions.iter().map(finite).collect()
    }

    fn counts(side: &[&Measure]) -> Vec<Count> {
        side.iter().filter_map(|measure| measure.bad).collect()
    }

    /// The baseline's runs that stand against `k` repeats of the candidate.
    fn against(&self, k: usize) -> &[&'a Measure] {
        match self.arrangement {
            Arrangement::Interleaved => &self.baseline[..k.min(self.baseline.len())],
            Arrangement::Stored | Arrangement::SameRun | Arrangement::Unpaired => &self.baseline,
        }
    }

    fn first(&self, k: usize) -> &[&'a Measure] {
        &self.candidate[..k.min(self.candidate.len())]
    }

    /// The tolerance on the scale of the test, without any trade.
    fn tolerance(&self, k: usize) -> Option<f64> {
        match self.test {
            Test::Ratio { ratio, floor } => Some(self.tolerance_of(ratio, floor, k)),
            Test::Points {
                tolerance: PointsTolerance::Absolute(points),
            } => Some(points),
            Test::Points {
                tolerance: PointsTolerance::OfAttainment(ratio),
            } => {
                let bad = Count::pool(&Self::counts(self.against(k))).share()?;
                Some(ratio * (1.0 - bad))
            }
            Test::Score { tolerance } => Some(tolerance),
            Test::Limit { .. } | Test::ShareLimit { .. } | Test::ScoreLimit { .. } => Some(0.0),
        }
    }

    /// A ratio and a floor as a difference of logarithms; the ratio alone where no run says what the
    /// floor is of.
    fn tolerance_of(&self, ratio: f64, floor: f64, k: usize) -> f64 {
        let sign = self.metric().direction().sign();
        let base = mean(&self.ys(self.against(k))).map(|y| (sign * y).exp());
        let worst = ratio.max(base.map_or(0.0, |base| floor / base));
        if sign > 0.0 {
            worst.ln_1p()
        } else {
            // Losing everything is the most that a rate can lose.
            -(-worst.min(1.0 - 1e-9)).ln_1p()
        }
    }

    /// Noise of one run at a look of `k` repeats.
    fn noise_at(&self, k: usize) -> Option<Noise> {
        let mut counts = Self::counts(self.against(k));
        counts.extend(Self::counts(self.first(k)));
        self.noise_over(&counts, self.first(k))
    }

    /// Noise of one run on the baseline's side alone: what a tolerance has to be held against, so
    /// that a candidate's failures don't make its own tolerance unresolvable.
    fn noise_of_baseline(&self, k: usize) -> Option<Noise> {
        self.noise_over(&Self::counts(self.against(k)), self.against(k))
    }

    /// By the shares of these runs; where the runs `paired` answered the same prompts as those they are
    /// held against, by the requests on which the two differ.
    fn noise_over(&self, counts: &[Count], paired: &[&Measure]) -> Option<Noise> {
        if self.is_log() {
            return Some(self.noise.unwrap_or(Noise::ASSUMED));
        }
        let discordant: Option<Vec<Count>> =
            paired.iter().map(|measure| measure.discordant).collect();
        let chance = discordant
            .filter(|_| self.arrangement == Arrangement::Interleaved)
            .and_then(|discordant| paired_sigma(&discordant, counts))
            .or_else(|| chance_sigma(counts))?;
        Some(match self.noise {
            Some(noise) => Noise {
                sigma: noise.sigma.max(chance),
                df: noise.df,
            },
            None => Noise {
                sigma: chance * 3.0_f64.sqrt(),
                df: Noise::ASSUMED.df,
            },
        })
    }

    /// The archived sessions, where a run scatters no less than `noise` says.
    fn stored(&self, noise: Option<Noise>) -> Option<StoredBaseline> {
        let floor = if self.is_log() {
            LOG_FLOOR
        } else {
            noise?.sigma
        };
        let at_least = |noise: Noise| Noise {
            sigma: noise.sigma.max(floor),
            ..noise
        };
        let stored = StoredBaseline::from_sessions(
            &self.values(&self.cell.sessions),
            self.level_since(),
            floor,
        )?;
        let stored = stored.with_noise(self.noise.map(at_least));
        if self.cell.anchored {
            stored.seen_from(&self.ys(&self.baseline))
        } else {
            Some(stored)
        }
    }

    /// Values of the run with the fewest, and how many its quantile needs; `None` where they suffice.
    pub(super) fn too_few_samples(&self) -> Option<(u64, u64)> {
        let Statistic::Quantile(quantile) = self.cell.cell.metric.statistic() else {
            return None;
        };
        let q = quantile.fraction();
        // A candidate that is slow gets through fewer requests: that is no reason to spare it.
        let side = if self.baseline.is_empty() {
            &self.candidate
        } else {
            &self.baseline
        };
        let fewest = side.iter().map(|measure| measure.n).min()?;
        (support(fewest, q) != Support::Gates).then(|| (fewest, smallest_gating_sample(q)))
    }

    /// Plain comparison of one run with a limit: whether it is kept; `None` without a value.
    pub(super) fn keeps_limit(&self) -> Option<bool> {
        let measure = self.candidate.first()?;
        match (self.test, &measure.value) {
            (
                Test::Limit { .. } | Test::ShareLimit { .. } | Test::ScoreLimit { .. },
                Value::Failed,
            ) => Some(false),
            (Test::Limit { sign, limit }, Value::Measured(value)) => {
                Some(sign * (value - limit) <= 0.0)
            }
            (Test::ShareLimit { limit, of_good }, Value::Measured(_)) => {
                let bad = measure.bad.and_then(Count::share)?;
                Some(if of_good { 1.0 - bad } else { bad } <= limit)
            }
            (Test::ScoreLimit { limit }, Value::Measured(value)) => Some(*value >= limit),
            _ => None,
        }
    }

    /// Whether the baseline's mean breaks the limit too.
    pub(super) fn baseline_breaks_limit(&self) -> bool {
        let worst = |ys: Vec<f64>| mean(&ys);
        match self.test {
            Test::Limit { sign, limit } => {
                worst(self.ys(&self.baseline)).is_some_and(|y| y > sign * limit.ln())
            }
            Test::ShareLimit { limit, of_good } => Count::pool(&Self::counts(&self.baseline))
                .share()
                .is_some_and(|bad| if of_good { 1.0 - bad } else { bad } > limit),
            Test::ScoreLimit { limit } => {
                Self::score(&self.baseline).is_some_and(|score| score.value < limit)
            }
            Test::Ratio { .. } | Test::Points { .. } | Test::Score { .. } => false,
        }
    }
}
