//! A figure of several runs with its interval, and the change from one to another.

use serde::{Deserialize, Serialize};

use crate::stats::noise::Noise;
use crate::stats::student::quantile;
use crate::stats::{mean, variance};

/// Upper quantile of a two-sided interval of 95 %.
const UPPER: f64 = 0.975;

/// A figure with what its runs say of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Estimate {
    /// Mean of the runs; the geometric one where every run has more than 0.
    pub value: f64,
    /// 95 % interval of what other runs would give on average; `None` where a run has 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Bounds>,
    /// The figure of each run.
    pub runs: Vec<f64>,
}

/// Both ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Bounds {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Estimate {
    /// Of one value a run. Runs scatter by 3 % with 3 degrees of freedom until they say otherwise, as
    /// everywhere without archived sessions.
    ///
    /// One run of 10 a second: 10 × exp(±3.182 × 0.03), 9.09 to 11.00. `None` without a run, and where
    /// a value is no finite number from 0 on.
    pub fn of(runs: Vec<f64>) -> Option<Self> {
        let plain = mean(&runs)?;
        if runs.iter().any(|value| !value.is_finite() || *value < 0.0) {
            return None;
        }
        let Some(logs) = logs(&runs) else {
            return Some(Self {
                value: plain,
                interval: None,
                runs,
            });
        };
        let centre = mean(&logs)?;
        let spread = Spread::of(&[&logs]);
        let half = spread.half((1.0 / logs.len() as f64).sqrt());
        Some(Self {
            value: centre.exp(),
            interval: Some(Bounds {
                lower: (centre - half).exp(),
                upper: (centre + half).exp(),
            }),
            runs,
        })
    }

    /// So many times as much, its interval too.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        self.map(|value| value * factor)
    }

    /// So much by this, as a price by a rate: 7 an hour by 2 a second, ends of the interval changed
    /// over. `None` where it may be 0.
    pub fn under(&self, amount: f64) -> Option<Self> {
        let least = self
            .interval
            .map_or(self.value, |bounds| bounds.lower)
            .min(self.value);
        if least <= 0.0 || self.runs.contains(&0.0) {
            return None;
        }
        let turned = self.map(|value| amount / value);
        let interval = turned.interval.map(|bounds| Bounds {
            lower: bounds.upper,
            upper: bounds.lower,
        });
        Some(Self { interval, ..turned })
    }

    fn map(&self, of: impl Fn(f64) -> f64) -> Self {
        Self {
            value: of(self.value),
            interval: self.interval.map(|bounds| Bounds {
                lower: of(bounds.lower),
                upper: of(bounds.upper),
            }),
            runs: self.runs.iter().map(|value| of(*value)).collect(),
        }
    }
}

/// How a figure changed from one side to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Change {
    /// The ratio less 1: −0.2 is a fifth less.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Bounds,
}

impl Change {
    /// Of two figures; `None` where a run of either has 0.
    ///
    /// With `n` and `m` runs the logarithms' scatter within the sides is pooled with the assumed noise,
    /// and the error of the difference is that scatter × √(1/n + 1/m). One run each, 10 and 8: −20 %,
    /// from −30.1 % to −8.4 %.
    pub fn between(before: &Estimate, after: &Estimate) -> Option<Self> {
        let (one, other) = (logs(&before.runs)?, logs(&after.runs)?);
        let difference = mean(&other)? - mean(&one)?;
        let runs = 1.0 / one.len() as f64 + 1.0 / other.len() as f64;
        let half = Spread::of(&[&one, &other]).half(runs.sqrt());
        Some(Self {
            ratio: difference.exp_m1(),
            interval: Bounds {
                lower: (difference - half).exp_m1(),
                upper: (difference + half).exp_m1(),
            },
        })
    }

    /// Whether the interval leaves out "no change".
    pub fn is_beyond_noise(self) -> bool {
        self.interval.lower > 0.0 || self.interval.upper < 0.0
    }
}

/// Logarithms; `None` of nothing, and where one does not exist.
fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let each = values.iter().map(|value| value.ln());
    let all: Vec<f64> = each.collect();
    (!all.is_empty() && all.iter().all(|log| log.is_finite())).then_some(all)
}

/// Scatter of runs, and what that knowledge is worth.
struct Spread {
    sigma: f64,
    df: f64,
}

impl Spread {
    /// Of groups whose means have nothing to do with each other.
    fn of(groups: &[&[f64]]) -> Self {
        let Noise { sigma, df } = Noise::ASSUMED;
        let (mut squares, mut freedom) = (sigma * sigma * df, df);
        for group in groups {
            let more = group.len().saturating_sub(1) as f64;
            squares += more * variance(group);
            freedom += more;
        }
        Self {
            sigma: (squares / freedom).sqrt(),
            df: freedom,
        }
    }

    fn half(&self, runs: f64) -> f64 {
        quantile(UPPER, self.df) * self.sigma * runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_has_the_assumed_noise() {
        let one = Estimate::of(vec![10.0]).unwrap();
        let bounds = one.interval.unwrap();
        // t.975 of 3 degrees of freedom is 3.182446.
        let half = 3.182_446 * 0.03_f64;
        assert!((one.value - 10.0).abs() < 1e-9);
        assert!((bounds.lower - 10.0 * (-half).exp()).abs() < 1e-5);
        assert!((bounds.upper - 10.0 * half.exp()).abs() < 1e-5);
    }

    #[test]
    fn runs_that_agree_narrow_the_interval() {
        let width = |runs| {
            let bounds = Estimate::of(runs).unwrap().interval.unwrap();
            bounds.upper - bounds.lower
        };
        assert!(width(vec![10.0; 5]) < 0.5 * width(vec![10.0]));
        assert!(width(vec![8.0, 10.0, 12.0]) > width(vec![10.0; 3]));
    }

    #[test]
    fn a_price_by_a_rate_turns_its_interval_over() {
        let rate = Estimate::of(vec![2.0, 2.0]).unwrap();
        let price = rate.under(7.0).unwrap();
        let bounds = price.interval.unwrap();
        assert!((price.value - 3.5).abs() < 1e-9);
        assert!(bounds.lower < 3.5 && bounds.upper > 3.5);
        assert_eq!(Estimate::of(vec![0.0, 2.0]).unwrap().under(7.0), None);
    }

    #[test]
    fn a_change_is_that_of_the_means() {
        let of = |value| Estimate::of(vec![value]).unwrap();
        let change = Change::between(&of(10.0), &of(8.0)).unwrap();
        let half = 3.182_446 * 0.03 * 2.0_f64.sqrt();
        assert!((change.ratio + 0.2).abs() < 1e-9);
        assert!((change.interval.lower - (0.8 * (-half).exp() - 1.0)).abs() < 1e-5);
        assert!(change.is_beyond_noise());
        assert!(
            !Change::between(&of(10.0), &of(9.9))
                .unwrap()
                .is_beyond_noise()
        );
        assert_eq!(Change::between(&of(0.0), &of(1.0)), None);
    }

    #[test]
    fn what_is_no_figure_is_none() {
        assert_eq!(Estimate::of(Vec::new()), None);
        assert_eq!(Estimate::of(vec![f64::NAN]), None);
        assert_eq!(Estimate::of(vec![-1.0]), None);
        assert_eq!(Estimate::of(vec![0.0, 1.0]).unwrap().interval, None);
    }
}
