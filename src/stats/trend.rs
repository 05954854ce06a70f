//! Does a series creep up? Mann and Kendall's test and the slope of Theil and Sen, on batch means,
//! for neighbours in time are alike and would make any wobble look like a trend.
//!
//! Of 240 level windows with a correlation of 0, 0.3, 0.6 and 0.9 between neighbours the test on the
//! values themselves calls 2.8, 7.4, 16 and 33 % rising at 2.5 %, on batch means 2.6, 2.8, 2.9 and
//! 5.4 %; a drift by one standard deviation is seen in 98 % without and 51 % with a correlation of 0.6.

use super::moderated::Interval;
use super::student::{normal_cdf, normal_quantile};
use super::{mean, median};

/// Batches where neighbours are alike.
const BATCHES: usize = 12;
/// Batches where they are not.
const FINE_BATCHES: usize = 24;
/// Correlation of neighbours from which on they count as alike.
const ALIKE: f64 = 0.5;
/// Windows below which no trend can be told from chance.
const LEAST: usize = 8;
/// P-value up to which a series rises beyond doubt.
const P: f64 = 0.01;
/// Confidence of the slope's interval.
const CONFIDENCE: f64 = 0.95;

/// Mann and Kendall's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannKendall {
    /// Pairs that rise minus pairs that fall.
    pub s: f64,
    /// Variance of `s` where there is no trend.
    pub variance: f64,
    /// Standard score, corrected for continuity.
    pub z: f64,
    /// One-sided p-value against "does not rise".
    pub p_rising: f64,
}

/// Tests whether a series rises.
///
/// `S = Σ_{i<j} sgn(yⱼ − yᵢ)`, `var = (n(n−1)(2n+5) − Σ t(t−1)(2t+5)) / 18` over groups of `t` equal
/// values, `z = (S − sgn S) / √var`. Twelve values from 10 to 12.8, rising but for a few, have
/// S = 56, var = 212.67, z = 3.7715. A series without any variance has z = 0.
pub fn mann_kendall(y: &[f64]) -> MannKendall {
    let s: f64 = (1..y.len())
        .flat_map(|j| y[..j].iter().map(move |earlier| sign(y[j] - earlier)))
        .sum();
    let spread = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted = y.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let ties: f64 = sorted
        .chunk_by(|a, b| sign(a - b) == 0.0)
        .map(|equal| spread(equal.len() as f64))
        .sum();
    let variance = (spread(y.len() as f64) - ties) / 18.0;
    let z = if variance > 0.0 {
        (s - sign(s)) / variance.sqrt()
    } else {
        0.0
    };
    MannKendall {
        s,
        variance,
        z,
        p_rising: normal_cdf(-z),
    }
}

/// −1, 0 or 1.
fn sign(x: f64) -> f64 {
    f64::from(i8::from(x > 0.0) - i8::from(x < 0.0))
}

/// The slope of Theil and Sen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// Median of the slopes of all pairs.
    pub estimate: f64,
    /// Its confidence interval.
    pub interval: Interval,
}

/// The median slope of `y` over `x`, which ascends, and its interval; `None` of fewer than two values.
///
/// Of the `N = n(n−1)/2` slopes in order, the interval goes from the `round((N − C)/2)`th to the
/// `round((N + C)/2) + 1`st, where `C = z √var` with Kendall's variance (Sen 1968). Twelve values from
/// 10 to 12.8: .25, .20 to .28.
pub fn sen(x: &[f64], y: &[f64], confidence: f64) -> Option<Slope> {
    let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    let mut slopes: Vec<f64> = (1..points.len())
        .flat_map(|j| {
            let (x, y) = points[j];
            points[..j]
                .iter()
                .map(move |earlier| (y - earlier.1) / (x - earlier.0))
        })
        .collect();
    slopes.sort_unstable_by(f64::total_cmp);
    let n = slopes.len() as f64;
    let c = normal_quantile(0.5 + confidence / 2.0) * mann_kendall(y).variance.sqrt();
    // Counted from 1; a short series has no slope beyond its ends.
    let rank = |rank: f64| {
        slopes
            .get((rank.clamp(1.0, n.max(1.0)) - 1.0) as usize)
            .copied()
    };
    Some(Slope {
        interval: Interval {
            lower: rank(f64::midpoint(n, -c).round())?,
            upper: rank(f64::midpoint(n, c).round() + 1.0)?,
        },
        estimate: median(slopes)?,
    })
}

/// How a series of windows moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Batches that the windows were averaged into.
    pub batches: usize,
    /// One-sided p-value against "does not rise".
    pub p_rising: f64,
    /// Slope, in values per window.
    pub slope: Slope,
    /// Slope of the last half, in values per window: a plateau after growth isn't a leak.
    pub late_slope: f64,
    /// What the slope makes of the whole series, as a share of its median: `slope · windows / median`.
    pub growth: f64,
}

impl Trend {
    /// Whether the series creeps up: it rises beyond doubt (p ≤ .01), by more than `tolerance` (a
    /// share of its median) in all, and it hasn't stopped.
    ///
    /// Memory that rises from 10 to 12.8 in twelve windows grows by 27 %: a leak at 5 %.
    pub fn is_leak(&self, tolerance: f64) -> bool {
        self.p_rising <= P && self.growth > tolerance && self.late_slope > 0.0
    }
}

/// The trend of a soak's windows, one value each in order of time: a percentile, or memory.
///
/// The windows are averaged into 12 batches, into 24 where the correlation of neighbours is under
/// 0.5, and into one each where there are fewer. A saw-tooth needs windows of a period or longer.
/// `None` of fewer than eight windows, where one isn't finite, or where the median isn't positive.
pub fn trend(windows: &[f64]) -> Option<Trend> {
    if windows.len() < LEAST || windows.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let level = median(windows.to_vec()).filter(|median| *median > 0.0)?;
    let wanted = if neighbours(windows) < ALIKE {
        FINE_BATCHES
    } else {
        BATCHES
    };
    let batches = batch(windows, wanted.min(windows.len()));
    let (x, y): (Vec<f64>, Vec<f64>) = batches.into_iter().unzip();
    let slope = sen(&x, &y, CONFIDENCE)?;
    let half = y.len() / 2;
    let trend = Trend {
        batches: y.len(),
        p_rising: mann_kendall(&y).p_rising,
        slope,
        late_slope: sen(&x[half..], &y[half..], CONFIDENCE)?.estimate,
        growth: slope.estimate * windows.len() as f64 / level,
    };
    // Values near the largest float overflow on the way.
    (trend.growth.is_finite() && trend.late_slope.is_finite()).then_some(trend)
}

/// Centre, in windows, and mean of each of `count` batches whose lengths differ by one at most.
fn batch(windows: &[f64], count: usize) -> Vec<(f64, f64)> {
    let edge = |batch: usize| batch * windows.len() / count;
    (0..count)
        .filter_map(|i| {
            let (from, to) = (edge(i), edge(i + 1));
            let centre = f64::midpoint(from as f64, to as f64) - 0.5;
            mean(&windows[from..to]).map(|mean| (centre, mean))
        })
        .collect()
}

/// Correlation of neighbours (lag 1, autocovariances with 1/n); 0 of a level series.
fn neighbours(values: &[f64]) -> f64 {
    let Some(mean) = mean(values) else { return 0.0 };
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let products: f64 = values
        .windows(2)
        .map(|w| (w[0] - mean) * (w[1] - mean))
        .sum();
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::tests::close;

    const A: [f64; 12] = [
        10.0, 10.4, 10.1, 10.9, 11.0, 10.7, 11.5, 11.9, 11.6, 12.3, 12.1, 12.8,
    ];
    const B: [f64; 20] = [
        5.1, 5.3, 5.0, 5.6, 5.4, 5.9, 5.8, 6.2, 6.0, 6.5, 6.3, 6.1, 6.8, 6.6, 7.0, 6.9, 7.3, 7.1,
        7.6, 7.4,
    ];

    fn steps(n: usize) -> Vec<f64> {
        (0..n).map(|i| i as f64).collect()
    }

    #[test]
    fn reference_tests_and_slopes() {
        for (y, s, variance, z, slope, lower, upper) in [
            (&A[..], 56.0, 212.666_67, 3.771_490, 0.25, 0.20, 0.28),
            (
                &B[..],
                164.0,
                950.0,
                5.288_418,
                0.128_571_4,
                0.114_285_7,
                0.15,
            ),
        ] {
            let test = mann_kendall(y);
            close(test.s, s);
            close(test.variance, variance);
            close(test.z, z);
            let sen = sen(&steps(y.len()), y, 0.95).unwrap();
            close(sen.estimate, slope);
            close(sen.interval.lower, lower);
            close(sen.interval.upper, upper);
        }
    }

    #[test]
    fn reference_batches() {
        let (x, y): (Vec<f64>, Vec<f64>) = batch(&B, 10).into_iter().unzip();
        let test = mann_kendall(&y);
        close(test.s, 43.0);
        close(test.variance, 125.0);
        close(test.z, 3.756_594);
        close(sen(&x, &y, 0.95).unwrap().estimate, 0.127_777_8);
        assert_eq!(x[..2], [0.5, 2.5]);
        assert_eq!(batch(&A, 5).len(), 5, "uneven batches keep all windows");
    }

    #[test]
    fn ties_take_variance_away() {
        let tied = mann_kendall(&[1.0, 1.0, 2.0, 2.0, 2.0, 3.0]);
        // (6·5·17 − 2·1·9 − 3·2·11) / 18
        close(tied.variance, 426.0 / 18.0);
        close(tied.s, 11.0);
        let level = mann_kendall(&[4.0; 9]);
        close(level.p_rising, 0.5);
    }

    #[test]
    fn growth_is_a_leak_and_a_plateau_is_none() {
        let rising = trend(&A).unwrap();
        assert_eq!(rising.batches, 12);
        close(rising.growth, 0.25 * 12.0 / 11.25);
        assert!(rising.is_leak(0.05));
        assert!(!rising.is_leak(0.3));
        let plateau: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i.min(25))).collect();
        let plateau = trend(&plateau).unwrap();
        assert!(
            plateau.p_rising < 0.01 && plateau.growth > 0.05,
            "{plateau:?}"
        );
        assert!(!plateau.is_leak(0.05), "{plateau:?}");
        let falling: Vec<f64> = (0..60).map(|i| 100.0 - f64::from(i)).collect();
        assert!(!trend(&falling).unwrap().is_leak(0.05));
    }

    #[test]
    fn alike_neighbours_take_coarser_batches() {
        let zigzag: Vec<f64> = (0..96).map(|i| 10.0 + f64::from(i % 2)).collect();
        assert_eq!(trend(&zigzag).unwrap().batches, 24);
        let waves: Vec<f64> = (0..96).map(|i| 10.0 + (f64::from(i) / 8.0).sin()).collect();
        assert_eq!(trend(&waves).unwrap().batches, 12);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(trend(&A[..7]), None);
        assert_eq!(trend(&[0.0; 30]), None);
        assert_eq!(trend(&[f64::NAN; 30]), None);
        assert_eq!(sen(&[1.0], &[1.0], 0.95), None);
    }

    proptest! {
        #[test]
        fn turning_time_round_turns_the_trend_round(
            y in prop::collection::vec(1.0..9.0_f64, 8..60),
        ) {
            let (forward, back) = (mann_kendall(&y), {
                let mut y = y.clone();
                y.reverse();
                mann_kendall(&y)
            });
            prop_assert!((forward.s + back.s).abs() < 1e-9);
            prop_assert!((forward.p_rising + back.p_rising - 1.0).abs() < 1e-9);
        }

        #[test]
        fn the_slope_lies_in_its_interval_and_scales_with_the_values(
            y in prop::collection::vec(1.0..9.0_f64, 8..60),
            factor in 0.1..10.0_f64,
        ) {
            let found = trend(&y).unwrap();
            let interval = found.slope.interval;
            prop_assert!(interval.lower <= found.slope.estimate);
            prop_assert!(found.slope.estimate <= interval.upper);
            let scaled: Vec<f64> = y.iter().map(|y| y * factor).collect();
            let scaled = trend(&scaled).unwrap();
            prop_assert!((scaled.growth - found.growth).abs() < 1e-6);
        }
    }
}
