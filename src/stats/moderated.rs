//! One look at repeated values (differences of pairs, say) with the archive's noise as prior: the
//! moderated t-test of Smyth (2004), which is also the Bayesian answer under a scaled inverse
//! chi-square prior.

use serde::{Deserialize, Serialize};

use super::noise::Prior;
use super::student::{cdf, quantile, sf};
use super::{mean, variance};

/// What a regression has to be proven against.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Worse than no change, with the best estimate at or over the tolerance.
    #[default]
    BeyondZero,
    /// Worse than the tolerance itself.
    BeyondTolerance,
}

/// An interval of real numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// What some repeats say about a change, where positive is worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Number of repeats.
    pub repeats: usize,
    /// Best estimate of the change.
    pub estimate: f64,
    /// Variance among the repeats; 0 of one.
    pub variance: f64,
    /// Standard error of the estimate.
    pub standard_error: f64,
    /// Degrees of freedom behind it.
    pub df: f64,
    /// P-value against "not worse" (or "not beyond the tolerance").
    pub p_worse: f64,
    /// P-value against "worse by the tolerance or more".
    pub p_within: f64,
    /// P-value against "not better".
    pub p_better: f64,
}

impl Look {
    /// From an estimate and its standard error, `tolerance` in the same unit.
    pub fn from_estimate(
        repeats: usize,
        estimate: Estimate,
        tolerance: f64,
        evidence: Evidence,
    ) -> Self {
        let Estimate {
            value,
            variance,
            standard_error,
            df,
        } = estimate;
        let null = match evidence {
            Evidence::BeyondZero => 0.0,
            Evidence::BeyondTolerance => tolerance,
        };
        Self {
            repeats,
            estimate: value,
            variance,
            standard_error,
            df,
            p_worse: sf((value - null) / standard_error, df),
            p_within: cdf((value - tolerance) / standard_error, df),
            p_better: cdf(value / standard_error, df),
        }
    }

    /// Smallest tolerance that a look with this error resolves, as [`smallest_resolvable`] has it
    /// for the error that the prior alone foresees.
    ///
    /// A standard error of 1 % with 12 degrees of freedom, w = .2, power .9: 4.04 %.
    pub fn smallest_resolvable(&self, weight: f64, power: f64) -> f64 {
        (quantile(1.0 - super::sequential::ALPHA * weight, self.df) + quantile(power, self.df))
            * self.standard_error
    }

    /// Two-sided confidence interval of the change, not adjusted for other cells or looks.
    pub fn interval(&self, confidence: f64) -> Interval {
        let half = quantile(0.5 + confidence / 2.0, self.df) * self.standard_error;
        Interval {
            lower: self.estimate - half,
            upper: self.estimate + half,
        }
    }
}

/// An estimated change with its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The change.
    pub value: f64,
    /// Variance among the repeats, as observed.
    pub variance: f64,
    /// Standard error of the change.
    pub standard_error: f64,
    /// Degrees of freedom behind it.
    pub df: f64,
}

/// One look at `values`, one per repeat, positive where worse.
///
/// With `k` values of mean `m` and variance `v`, and a prior `v₀` of `ν₀` degrees of freedom:
/// `vm = (ν₀ v₀ + (k − 1) v) / (ν₀ + k − 1)`, `se = √(vm / k)`, `df = ν₀ + k − 1`. In a `noisy`
/// session the prior is only a floor: `vm = max(v, v₀)`, `df = k − 1`.
/// `[.012, −.008, .021]` with noise 2 % of 8 degrees of freedom: estimate .0083333, standard error
/// .0151004, p worse .2965804. `None` where there is no value, or one is not finite.
pub fn look(
    values: &[f64],
    prior: Prior,
    tolerance: f64,
    evidence: Evidence,
    noisy: bool,
) -> Option<Look> {
    let value = mean(values).filter(|mean| mean.is_finite())?;
    let more = (values.len() - 1) as f64;
    let variance = variance(values);
    let (moderated, df) = if noisy && values.len() > 1 {
        (variance.max(prior.variance), more)
    } else {
        let df = prior.df + more;
        ((prior.df * prior.variance + more * variance) / df, df)
    };
    let estimate = Estimate {
        value,
        variance,
        standard_error: (moderated / values.len() as f64).sqrt(),
        df,
    };
    Some(Look::from_estimate(
        values.len(),
        estimate,
        tolerance,
        evidence,
    ))
}

/// One look at two sets of runs that took no turns, positive where worse; `prior` is that of one run.
///
/// The pooled variance within the sides is moderated as in [`look`], and
/// `se = √(vm (1/k_b + 1/k_c))`. It does not know of a drift between the sides, so no verdict may
/// rest on it. `None` where a side has no value, or one is not finite.
pub fn unpaired(
    baseline: &[f64],
    candidate: &[f64],
    prior: Prior,
    tolerance: f64,
    evidence: Evidence,
) -> Option<Look> {
    let value = mean(candidate)? - mean(baseline)?;
    let freedom = |side: &[f64]| (side.len() - 1) as f64;
    let (base, head) = (freedom(baseline), freedom(candidate));
    let squares = base * variance(baseline) + head * variance(candidate);
    let df = prior.df + base + head;
    let moderated = (prior.df * prior.variance + squares) / df;
    let estimate = Estimate {
        value,
        variance: if base + head > 0.0 {
            squares / (base + head)
        } else {
            0.0
        },
        standard_error: (moderated * (1.0 / (base + 1.0) + 1.0 / (head + 1.0))).sqrt(),
        df,
    };
    value
        .is_finite()
        .then(|| Look::from_estimate(candidate.len(), estimate, tolerance, evidence))
}

/// Smallest tolerance that `repeats` can resolve with the given `power`, in the unit of the values
/// (for logarithms `exp(…) − 1` is the relative change).
///
/// `(t_{1 − .05 w, df} + t_{power, df}) √(v₀ / k)` with `df = ν₀ + k − 1`, where `w` is the look's
/// share of the error. Noise of 2 % with 8 degrees of freedom, 10 pairs, w = .2, power .9: 3.55 %.
pub fn smallest_resolvable(prior: Prior, repeats: u32, weight: f64, power: f64) -> f64 {
    let k = f64::from(repeats.max(1));
    let df = prior.df + k - 1.0;
    (quantile(1.0 - super::sequential::ALPHA * weight, df) + quantile(power, df))
        * (prior.variance / k).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::noise::Noise;
    use crate::stats::tests::close;

    fn one(d: &[f64], sigma: f64, df: f64) -> Look {
        let prior = Noise { sigma, df }.of_pair();
        look(d, prior, 1.1_f64.ln(), Evidence::BeyondZero, false).unwrap()
    }

    #[test]
    fn reference_looks() {
        // values; sigma, df; estimate, variance, standard error, df, p worse, p within, interval
        type Row = (&'static [f64], [f64; 2], [f64; 8]);
        let rows: [Row; 5] = [
            (
                &[0.012, -0.008, 0.021],
                [0.02, 8.0],
                [
                    0.008_333_333,
                    0.000_220_333_3,
                    0.015_100_404_7,
                    10.0,
                    0.296_580_4,
                    9.133_909e-5,
                    -0.025_312_465,
                    0.041_979_132,
                ],
            ),
            (
                &[0.151, 0.118, 0.172],
                [0.03, 8.0],
                [
                    0.147,
                    0.000_741,
                    0.023_008_694,
                    10.0,
                    3.972_402e-5,
                    0.975_768_05,
                    0.095_733_435,
                    0.198_266_565,
                ],
            ),
            (
                &[0.02],
                [0.02, 8.0],
                [
                    0.02,
                    0.0,
                    0.028_284_271,
                    8.0,
                    0.249_787_95,
                    0.014_344_403,
                    -0.045_223_646,
                    0.085_223_646,
                ],
            ),
            (
                &[0.105, 0.09, 0.131, 0.118, 0.097],
                [0.02, 8.0],
                [
                    0.108_2,
                    0.000_270_7,
                    0.011_167_512,
                    12.0,
                    2.517_006_7e-7,
                    0.864_561_27,
                    0.083_868_081,
                    0.132_531_919,
                ],
            ),
            (
                &[-0.08, -0.06, -0.075],
                [0.02, 6.0],
                [
                    -0.071_666_667,
                    0.000_108_333_3,
                    0.014_457_793,
                    8.0,
                    0.999_444_43,
                    1.434_309_85e-6,
                    -0.105_006_397,
                    -0.038_326_936,
                ],
            ),
        ];
        for (d, [sigma, df], expected) in rows {
            let look = one(d, sigma, df);
            let interval = look.interval(0.95);
            let got = [
                look.estimate,
                look.variance,
                look.standard_error,
                look.df,
                look.p_worse,
                look.p_within,
                interval.lower,
                interval.upper,
            ];
            for (got, expected) in got.into_iter().zip(expected) {
                close(got, expected);
            }
        }
        close(
            one(&[-0.08, -0.06, -0.075], 0.02, 6.0).p_better,
            5.555_66e-4,
        );
    }

    #[test]
    fn a_noisy_session_keeps_the_prior_only_as_a_floor() {
        let prior = Noise {
            sigma: 0.02,
            df: 8.0,
        }
        .of_pair();
        let noisy = |d: &[f64]| look(d, prior, 0.1, Evidence::BeyondZero, true).unwrap();
        let calm = noisy(&[0.01, 0.01, 0.01]);
        close(calm.standard_error, (prior.variance / 3.0).sqrt());
        close(calm.df, 2.0);
        let wild = noisy(&[0.3, -0.3, 0.0]);
        close(wild.standard_error, (0.09_f64 / 3.0).sqrt());
    }

    #[test]
    fn strict_evidence_starts_at_the_tolerance() {
        let prior = Noise {
            sigma: 0.02,
            df: 8.0,
        }
        .of_pair();
        let at_tolerance = look(&[0.1, 0.1], prior, 0.1, Evidence::BeyondTolerance, false).unwrap();
        close(at_tolerance.p_worse, 0.5);
    }

    #[test]
    fn nothing_or_infinite_is_no_look() {
        let prior = Noise::ASSUMED.of_pair();
        for d in [&[][..], &[f64::INFINITY], &[f64::NAN, 0.0]] {
            assert!(look(d, prior, 0.1, Evidence::BeyondZero, false).is_none());
        }
    }

    #[test]
    fn two_sets_of_one_run_each_rest_on_the_prior_alone() {
        let noise = Noise {
            sigma: 0.02,
            df: 8.0,
        };
        let one =
            |values: &[f64]| unpaired(&[0.0], values, noise.of_run(), 0.1, Evidence::BeyondZero);
        let look = one(&[0.02]).unwrap();
        close(look.p_worse, 0.249_787_95);
        close(look.standard_error, 0.028_284_271);
        assert!(one(&[]).is_none());
    }

    #[test]
    #[expect(clippy::approx_constant, reason = "6.28 is a percentage here")]
    fn smallest_resolvable_tolerances() {
        let table = [
            (0.01, [4.71, 3.09, 2.59, 2.14, 1.76, 1.20]),
            (0.015, [7.15, 4.68, 3.90, 3.23, 2.65, 1.81]),
            (0.02, [9.65, 6.28, 5.24, 4.33, 3.55, 2.42]),
            (0.03, [14.82, 9.57, 7.96, 6.57, 5.37, 3.66]),
            (0.05, [25.89, 16.46, 13.62, 11.19, 9.11, 6.17]),
            (0.08, [44.54, 27.60, 22.66, 18.50, 14.97, 10.05]),
        ];
        let looks = [(1, 1.0), (3, 0.4), (5, 0.2), (7, 0.2), (10, 0.2), (20, 0.2)];
        for (sigma, row) in table {
            for ((k, w), expected) in looks.into_iter().zip(row) {
                let prior = Noise { sigma, df: 8.0 }.of_pair();
                let percent = 100.0 * smallest_resolvable(prior, k, w, 0.9).exp_m1();
                assert!((percent - expected).abs() < 0.006, "{sigma} {k}: {percent}");
            }
        }
        // Without an archive no 5 % gate is resolvable.
        for (k, w, expected) in [(10, 0.3, 5.9), (5, 0.4, 8.7)] {
            let percent =
                100.0 * smallest_resolvable(Noise::ASSUMED.of_pair(), k, w, 0.95).exp_m1();
            assert!((percent - expected).abs() < 0.06, "{k}: {percent}");
        }
    }
}
