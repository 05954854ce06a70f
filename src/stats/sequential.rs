//! Look after look: a regression, a pass, or one look more.

use super::moderated::Look;
use super::multiple::holm;

/// Error that the family of all gates may make in claiming regressions, and each gate in passing.
pub const ALPHA: f64 = 0.05;

/// One planned look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedLook {
    /// Repeats seen by then.
    pub repeats: u32,
    /// Share of the error spent on regressions here; 0 where none may be claimed.
    pub worse: f64,
    /// Share of the error spent on passes here.
    pub pass: f64,
}

/// The looks of a comparison, by ascending number of repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    looks: Vec<PlannedLook>,
}

/// A look before its shares are scaled: repeats, and the shares for regressions and passes.
type Weight = (u32, f64, f64);

/// Pairs, with an archive.
const PAIRED: [Weight; 4] = [(3, 0.4, 0.4), (5, 0.2, 0.2), (7, 0.2, 0.2), (10, 0.2, 0.2)];
/// Pairs, without one: the noise is assumed, so the first look comes later.
const UNARCHIVED: [Weight; 3] = [(5, 0.4, 0.4), (7, 0.3, 0.3), (10, 0.3, 0.3)];
/// Candidate runs against stored sessions: one run may pass, never fail.
const STORED: [Weight; 3] = [(1, 0.0, 0.4), (3, 0.6, 0.3), (5, 0.4, 0.3)];

impl Design {
    /// Of interleaved pairs with an archive: 3, 5, 7, 10 within `[min, max]`.
    pub fn paired(min: u32, max: u32) -> Self {
        Self::within(&PAIRED, min, max)
    }

    /// Of interleaved pairs without an archive: 5, 7, 10 within `[min, max]`.
    pub fn unarchived(min: u32, max: u32) -> Self {
        Self::within(&UNARCHIVED, min, max)
    }

    /// Of candidate runs against stored sessions: 1, 3, 5 within `[min, max]`.
    pub fn stored(min: u32, max: u32) -> Self {
        Self::within(&STORED, min, max)
    }

    /// The looks within the bounds, their shares scaled to 1; one look at `max` where none is.
    ///
    /// A single repeat never claims a regression: an outlier looks the same.
    fn within(looks: &[Weight], min: u32, max: u32) -> Self {
        let mut kept: Vec<Weight> = looks
            .iter()
            .copied()
            .filter(|&(repeats, ..)| (min..=max).contains(&repeats))
            .collect();
        if kept.is_empty() {
            let repeats = max.max(1);
            kept.push((repeats, if repeats > 1 { 1.0 } else { 0.0 }, 1.0));
        }
        let worse: f64 = kept.iter().map(|(_, worse, _)| worse).sum();
        let pass: f64 = kept.iter().map(|(_, _, pass)| pass).sum();
        let scale = |share: f64, sum: f64| if sum > 0.0 { share / sum } else { 0.0 };
        Self {
            looks: kept
                .into_iter()
                .map(|(repeats, w, p)| PlannedLook {
                    repeats,
                    worse: scale(w, worse),
                    pass: scale(p, pass),
                })
                .collect(),
        }
    }

    /// The looks; at least one.
    pub fn looks(&self) -> &[PlannedLook] {
        &self.looks
    }

    /// The last look.
    pub fn last(&self) -> PlannedLook {
        *self.looks.last().expect("a design has at least one look")
    }
}

/// What one look says about one hypothesis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// Best estimate, positive where worse.
    pub estimate: f64,
    /// Tolerance, in the same unit.
    pub tolerance: f64,
    /// P-value against "not worse".
    pub p_worse: f64,
    /// P-value against "worse by the tolerance or more".
    pub p_within: f64,
}

impl Outlook {
    /// What a look says against its tolerance, in the same unit.
    pub const fn of(look: &Look, tolerance: f64) -> Self {
        Self {
            estimate: look.estimate,
            tolerance,
            p_worse: look.p_worse,
            p_within: look.p_within,
        }
    }
}

/// What has been decided about one hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Nothing yet.
    Open,
    /// It is a regression.
    Regression,
    /// A change as large as the tolerance is ruled out.
    Pass,
}

/// The hypotheses of one comparison on their way through the looks.
#[derive(Debug, Clone)]
pub struct Sequential {
    design: Design,
    taken: usize,
    smallest: Vec<f64>,
    adjusted: Vec<f64>,
    decisions: Vec<Decision>,
}

impl Sequential {
    /// Before the first look, for `hypotheses` of them.
    pub fn new(design: Design, hypotheses: usize) -> Self {
        Self {
            design,
            taken: 0,
            smallest: vec![1.0; hypotheses],
            adjusted: vec![1.0; hypotheses],
            decisions: vec![Decision::Open; hypotheses],
        }
    }

    /// The planned looks.
    pub const fn design(&self) -> &Design {
        &self.design
    }

    /// The look to take next; `None` after the last one.
    pub fn next(&self) -> Option<PlannedLook> {
        self.design.looks.get(self.taken).copied()
    }

    /// Takes the next look. `outlooks` has one entry per hypothesis, always in the same order;
    /// `None` where it can't be tested, which enters with p = 1. Does nothing after the last look.
    ///
    /// Each look's p-value is divided by the look's share of the error (a Bonferroni split over
    /// looks, valid under any dependence), the smallest so far is adjusted by Holm over all
    /// hypotheses, decided or not. A regression needs an adjusted p ≤ 0.05 *and* an estimate at or
    /// over the tolerance; a pass needs `p_within` ≤ 0.05 · share and no correction, because all
    /// gates must pass.
    pub fn take(&mut self, outlooks: &[Option<Outlook>]) {
        let Some(look) = self.next() else { return };
        self.taken += 1;
        for (smallest, outlook) in self.smallest.iter_mut().zip(outlooks) {
            if let Some(outlook) = outlook
                && look.worse > 0.0
            {
                *smallest = smallest.min(outlook.p_worse / look.worse);
            }
        }
        self.adjusted = holm(&self.smallest);
        for ((decision, adjusted), outlook) in
            self.decisions.iter_mut().zip(&self.adjusted).zip(outlooks)
        {
            let (Decision::Open, Some(outlook)) = (*decision, outlook) else {
                continue;
            };
            if look.worse > 0.0 && *adjusted <= ALPHA && outlook.estimate >= outlook.tolerance {
                *decision = Decision::Regression;
            } else if outlook.p_within <= ALPHA * look.pass {
                *decision = Decision::Pass;
            }
        }
    }

    /// Number of looks taken.
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// What is decided, one entry per hypothesis.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// The p-values against "not worse", adjusted for looks and hypotheses.
    pub fn adjusted(&self) -> &[f64] {
        &self.adjusted
    }

    /// Whether no further look is needed: a regression stands, or all is decided.
    pub fn is_settled(&self) -> bool {
        self.decisions.contains(&Decision::Regression) || !self.decisions.contains(&Decision::Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::moderated::{Evidence, look};
    use crate::stats::noise::{LOG_FLOOR, Noise, is_noisy};
    use crate::stats::tests::close;

    const TTFT: [f64; 5] = [0.14, 0.17, 0.12, 0.16, 0.15];
    const TPOT: [f64; 5] = [0.01, -0.02, 0.015, 0.0, 0.01];
    const E2E: [f64; 5] = [0.06, 0.10, 0.04, 0.09, 0.07];

    struct Step {
        looks: Vec<Look>,
        noisy: bool,
    }

    /// The reference decision: three gates, tolerance 10 %, one archive.
    fn decide(gates: [[f64; 5]; 3]) -> (Sequential, Vec<Step>) {
        let archive = [
            vec![0.0, 0.02, -0.01],
            vec![0.03, 0.01, 0.02],
            vec![-0.02, 0.0, -0.01],
            vec![0.01, 0.03, 0.04],
        ];
        let prior = Noise::from_sessions(&archive, LOG_FLOOR).unwrap().of_pair();
        let tolerance = 1.1_f64.ln();
        let mut sequential = Sequential::new(Design::paired(3, 10), 3);
        let mut steps = Vec::new();
        while let Some(planned) = sequential.next().filter(|look| look.repeats <= 5) {
            let k = planned.repeats as usize;
            let at = |noisy: bool| {
                gates.map(|d| look(&d[..k], prior, tolerance, Evidence::BeyondZero, noisy).unwrap())
            };
            let ratios = at(false).map(|look| look.variance / prior.variance);
            let noisy = is_noisy(ratios.into());
            let looks = at(noisy);
            sequential.take(&looks.map(|look| Some(Outlook::of(&look, tolerance))));
            steps.push(Step {
                looks: looks.into(),
                noisy,
            });
            if sequential.is_settled() {
                break;
            }
        }
        (sequential, steps)
    }

    #[test]
    fn reference_decision_with_a_regression() {
        use Decision::{Open, Pass, Regression};
        let (sequential, steps) = decide([TTFT, TPOT, E2E]);
        assert_eq!(sequential.decisions(), [Regression, Pass, Open]);
        assert_eq!(steps.len(), 1, "stops at the first regression");
        assert!(!steps[0].noisy);
        let looks = &steps[0].looks;
        close(looks[0].p_worse, 3.702_803_7e-7);
        close(looks[0].p_within, 0.997_730_26);
        close(looks[1].p_worse, 0.448_206_78);
        close(looks[1].p_within, 1.027_574e-5);
        close(looks[2].p_worse, 3.699_434e-4);
        close(looks[2].p_within, 0.033_417_56);
        close(sequential.adjusted()[0], 2.777_102_8e-6);
        close(sequential.adjusted()[1], 1.0);
        close(sequential.adjusted()[2], 0.001_849_717_2);
    }

    #[test]
    fn reference_decision_that_needs_more_pairs() {
        use Decision::{Open, Pass};
        let (sequential, steps) = decide([TTFT.map(|d| d - 0.14), TPOT, E2E]);
        assert_eq!(sequential.decisions(), [Pass, Pass, Open]);
        assert_eq!(steps.len(), 2);
        close(steps[0].looks[0].p_worse, 0.402_835_2);
        close(steps[0].looks[0].p_within, 1.924_35e-5);
        close(steps[1].looks[2].standard_error, 0.010_194_90);
        close(steps[1].looks[2].p_worse, 6.573_66e-6);
        close(steps[1].looks[2].p_within, 0.020_597_4);
        close(sequential.adjusted()[2], 9.860_50e-5);
        assert_eq!(sequential.next().unwrap().repeats, 7);
    }

    #[test]
    fn bounds_select_looks_and_scale_their_shares() {
        let repeats = |design: &Design| -> Vec<u32> {
            design.looks().iter().map(|look| look.repeats).collect()
        };
        assert_eq!(repeats(&Design::paired(3, 8)), [3, 5, 7]);
        close(Design::paired(3, 8).looks()[0].worse, 0.5);
        assert_eq!(repeats(&Design::unarchived(3, 10)), [5, 7, 10]);
        let fixed = Design::unarchived(5, 5);
        assert_eq!(repeats(&fixed), [5]);
        close(fixed.last().pass, 1.0);
        assert_eq!(repeats(&Design::paired(4, 4)), [4], "a fixed design");
        let stored = Design::stored(1, 5);
        assert_eq!(repeats(&stored), [1, 3, 5]);
        close(stored.looks()[1].worse, 0.6);
        close(stored.looks()[0].worse, 0.0);
    }

    #[test]
    fn a_single_repeat_never_claims_a_regression() {
        let worst = Some(Outlook {
            estimate: 9.0,
            tolerance: 0.1,
            p_worse: 0.0,
            p_within: 1.0,
        });
        for design in [Design::stored(1, 1), Design::paired(1, 1)] {
            let mut sequential = Sequential::new(design, 1);
            sequential.take(&[worst]);
            assert_eq!(sequential.decisions(), [Decision::Open]);
            assert_eq!(sequential.next(), None);
        }
    }

    #[test]
    fn what_cannot_be_tested_stays_open_and_counts_in_the_correction() {
        let clear = Some(Outlook {
            estimate: 0.2,
            tolerance: 0.1,
            p_worse: 0.01,
            p_within: 1.0,
        });
        let mut sequential = Sequential::new(Design::paired(5, 5), 2);
        sequential.take(&[clear, None]);
        close(sequential.adjusted()[0], 0.02);
        assert_eq!(
            sequential.decisions(),
            [Decision::Regression, Decision::Open]
        );
    }
}
