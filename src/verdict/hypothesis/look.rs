//! What the first repeats say about a hypothesis.

use super::{Gained, Hypothesis, Test};
use crate::compare::{Arrangement, Measure};
use crate::metric::Metric;
use crate::spec::Trade;
use crate::stats::moderated::{Estimate, Evidence, Look, look, smallest_resolvable, unpaired};
use crate::stats::noise::Prior;
use crate::stats::proportion::{
    Count, ScatterPrior, effective_share, newcombe, overdispersion, score_test,
};
use crate::stats::sequential::PlannedLook;
use crate::stats::variance;
use crate::verdict::power::DEMOTION_POWER;

/// Events on both sides under which a failure ratio can't be told apart by a t-test.
pub(super) const RARE: u64 = 20;

/// What a look says, with the tolerance that it was taken with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::verdict) struct Looked {
    /// The look; positive is worse.
    pub(in crate::verdict) look: Look,
    /// The tolerance in its unit.
    pub(in crate::verdict) tolerance: f64,
    /// Smallest tolerance that these repeats resolve, in the same unit; `None` for limits.
    pub(in crate::verdict) resolvable: Option<f64>,
    /// What the cell's trade says; `None` without one, or where nothing can be said of the gain.
    pub(in crate::verdict) gained: Option<Gained>,
}

impl Hypothesis<'_> {
    /// Observed variance by that of the archive, for the guard against a noisy session; `None`
    /// where the guard does not look at this cell.
    pub(in crate::verdict) fn variance_ratio(&self, k: usize) -> Option<f64> {
        if !matches!(self.test, Test::Ratio { .. }) {
            return None;
        }
        let sigma = self.noise_at(k)?.sigma;
        let ys = self.ys(self.first(k));
        let ratio = match self.arrangement {
            Arrangement::Interleaved => {
                let bases = self.ys(self.against(k));
                let d: Vec<f64> = ys
                    .iter()
                    .zip(bases)
                    .map(|(head, base)| head - base)
                    .collect();
                variance(&d) / (2.0 * sigma.powi(2))
            }
            Arrangement::Stored => variance(&ys) / sigma.powi(2),
            Arrangement::SameRun | Arrangement::Unpaired => return None,
        };
        ratio.is_finite().then_some(ratio)
    }

    /// What the first `k` repeats say; `None` where they can't be tested.
    pub(in crate::verdict) fn at(
        &self,
        k: usize,
        planned: PlannedLook,
        noisy: bool,
    ) -> Option<Looked> {
        if k == 0 || k > self.candidate.len() {
            return None;
        }
        let gained = self
            .trade
            .as_ref()
            .and_then(|gain| gain.at(k, planned, noisy));
        let tolerance = self
            .tolerance_with(gained, k)
            .filter(|tolerance| tolerance.is_finite())?;
        if matches!(self.test, Test::Score { .. } | Test::ScoreLimit { .. }) {
            return self.scored(k, planned);
        }
        let heads = self.first(k);
        let evidence = self.evidence;
        if let Test::ShareLimit { limit, of_good } = self.test {
            return self.share_limit(heads, limit, of_good);
        }
        let noise = self.noise_at(k)?;
        if let Test::Limit { sign, limit } = self.test {
            let ys: Vec<f64> = self
                .ys(heads)
                .iter()
                .map(|y| y - sign * limit.ln())
                .collect();
            let look = look(&ys, noise.of_run(), 0.0, evidence, noisy)?;
            return Some(Looked {
                look,
                tolerance,
                resolvable: None,
                gained: None,
            });
        }
        if self.is_rare(k) {
            return self.rare(k, tolerance);
        }
        let ys = self.ys(heads);
        let (look, resolvable) = match self.arrangement {
            Arrangement::Interleaved => {
                let bases = self.ys(self.against(k));
                let d: Vec<f64> = ys
                    .iter()
                    .zip(bases)
                    .map(|(head, base)| head - base)
                    .collect();
                let prior = noise.of_pair();
                let look = look(&d, prior, tolerance, evidence, noisy)?;
                // A session that is noisier than its prior resolves less than the prior foresees.
                let resolvable = if noisy {
                    look.smallest_resolvable(planned.pass, DEMOTION_POWER)
                } else {
                    resolve(prior, planned, DEMOTION_POWER)
                };
                (look, resolvable)
            }
            Arrangement::Stored => {
                let stored = self.stored(Some(noise))?;
                let look = stored.look(&ys, tolerance, evidence, noisy)?;
                (
                    look,
                    stored.smallest_resolvable(planned.repeats, planned.pass, DEMOTION_POWER),
                )
            }
            Arrangement::SameRun | Arrangement::Unpaired => {
                let bases = self.ys(&self.baseline);
                let prior = noise.of_run();
                let look = unpaired(&bases, &ys, prior, tolerance, evidence)?;
                (look, resolve(noise.of_pair(), planned, DEMOTION_POWER))
            }
        };
        Some(Looked {
            look,
            tolerance,
            resolvable: Some(resolvable),
            gained,
        })
    }

    pub(super) fn scatter(&self) -> ScatterPrior {
        let counts: Vec<Vec<Count>> = self
            .cell
            .noise
            .iter()
            .map(|session| session.iter().filter_map(|measure| measure.bad).collect())
            .collect();
        ScatterPrior::from_sessions(&counts)
    }

    /// The score test of the candidate's pooled share, its trials divided by the overdispersion.
    fn share_limit(&self, heads: &[&Measure], limit: f64, of_good: bool) -> Option<Looked> {
        if heads.iter().any(|measure| measure.bad.is_none()) {
            return None;
        }
        let counts = Self::counts(heads);
        let mut share = effective_share(&counts, overdispersion(&[&counts], self.scatter()))?;
        if of_good {
            share.p = 1.0 - share.p;
        }
        let score = score_test(share, limit);
        let look = Look {
            repeats: heads.len(),
            estimate: share.p - limit,
            variance: 0.0,
            standard_error: (share.p * (1.0 - share.p) / share.n).sqrt(),
            df: f64::INFINITY,
            p_worse: score.p_over,
            p_within: score.p_under,
            p_better: 1.0,
        };
        Some(Looked {
            look,
            tolerance: 0.0,
            resolvable: None,
            gained: None,
        })
    }

    /// Whether failures are too rare for a t-test of their ratio.
    fn is_rare(&self, k: usize) -> bool {
        let ratio = matches!(self.metric(), Metric::ErrorRatio | Metric::TruncatedRatio);
        let events = Count::pool(&Self::counts(self.against(k))).events
            + Count::pool(&Self::counts(self.first(k))).events;
        ratio && matches!(self.test, Test::Points { .. }) && events < RARE
    }

    /// Rare failures: passes by Newcombe's upper limit, never regresses (a limit has to).
    fn rare(&self, k: usize, tolerance: f64) -> Option<Looked> {
        let (bases, heads) = (Self::counts(self.against(k)), Self::counts(self.first(k)));
        let phi = overdispersion(&[&bases, &heads], self.scatter());
        let (base, head) = (effective_share(&bases, phi)?, effective_share(&heads, phi)?);
        // The smallest one-sided error at which the upper limit lies within the tolerance.
        let (mut within, mut beyond) = (0.5, 0.0);
        if newcombe(head, base, 0.0).upper > tolerance {
            beyond = 0.5;
            within = 1.0;
        }
        for _ in 0..40 {
            let middle = f64::midpoint(within, beyond);
            if middle < 0.5 && newcombe(head, base, 1.0 - 2.0 * middle).upper <= tolerance {
                within = middle;
            } else {
                beyond = middle;
            }
        }
        let interval = newcombe(head, base, 0.95);
        let estimate = Estimate {
            value: head.p - base.p,
            variance: 0.0,
            standard_error: (interval.upper - interval.lower) / (2.0 * 1.959_964),
            df: f64::INFINITY,
        };
        let mut look = Look::from_estimate(heads.len(), estimate, tolerance, Evidence::BeyondZero);
        look.p_worse = 1.0;
        look.p_within = within;
        look.p_better = 1.0;
        Some(Looked {
            look,
            tolerance,
            resolvable: None,
            gained: None,
        })
    }

    /// Smallest tolerance that a look of so many pairs resolves, shown beside a look whose scatter
    /// stays as `look` has it; `None` of limits.
    pub(in crate::verdict) fn resolvable_at(
        &self,
        planned: PlannedLook,
        look: &Look,
    ) -> Option<f64> {
        self.test
            .is_relative()
            .then(|| look.smallest_resolvable(planned.pass, DEMOTION_POWER))
    }

    /// The trade, where there is one.
    pub(in crate::verdict) fn trade(&self) -> Option<&Trade> {
        Some(self.trade.as_ref()?.trade)
    }

    /// Whether the best estimate is at or over the tolerance that holds without the trade.
    pub(in crate::verdict) fn is_over_plain(&self, looked: &Looked) -> bool {
        self.tolerance(looked.look.repeats)
            .is_some_and(|plain| looked.look.estimate >= plain)
    }

    /// The tolerance at a look: the cap of a trade whose gain is shown, else the plain one.
    fn tolerance_with(&self, gained: Option<Gained>, k: usize) -> Option<f64> {
        let plain = self.tolerance(k)?;
        match (&self.trade, gained, self.test) {
            (Some(gain), Some(Gained { shown: true, .. }), Test::Ratio { floor, .. }) => {
                let cap = self.tolerance_of(gain.trade.up_to, floor, k);
                Some(cap.max(plain))
            }
            _ => Some(plain),
        }
    }

    /// Whether the last planned look can't resolve the tolerance.
    pub(in crate::verdict) fn is_beyond_resolution(&self, last: PlannedLook) -> bool {
        let k = self.candidate.len();
        if !self.test.is_relative() || k == 0 || self.is_rare(k) {
            return false;
        }
        self.resolution(k, last, DEMOTION_POWER)
            .zip(self.tolerance(k))
            .is_some_and(|(smallest, tolerance)| tolerance < smallest)
    }

    /// Smallest tolerance of a difference that a planned look resolves, by the noise that `k` repeats
    /// of the baseline and its archive show; `None` where nothing says.
    pub(super) fn resolution(&self, k: usize, planned: PlannedLook, power: f64) -> Option<f64> {
        if matches!(self.test, Test::Score { .. }) {
            return self.score_resolution(planned, power);
        }
        let noise = self.noise_of_baseline(k);
        match self.arrangement {
            Arrangement::Interleaved => noise.map(|noise| resolve(noise.of_pair(), planned, power)),
            Arrangement::Stored => self
                .stored(noise)
                .map(|stored| stored.smallest_resolvable(planned.repeats, planned.pass, power)),
            Arrangement::SameRun | Arrangement::Unpaired => None,
        }
    }
}

pub(super) fn resolve(prior: Prior, planned: PlannedLook, power: f64) -> f64 {
    smallest_resolvable(prior, planned.repeats, planned.pass, power)
}
