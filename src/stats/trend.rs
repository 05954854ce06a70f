//! Does a series creep up? Mann and Kendall's test and the slope of Theil and Sen, on batch means,
//! for neighbours in time are alike and would make any wobble look like a trend.
//!
//! Of 240 level windows with a correlation of 0, 0.3, 0.6 and 0.9 between neighbours the test on the
//! values themselves calls 2.8, 7.4, 16 and 33 % rising at 2.5 %, on batch means 2.6, 2.8, 2.9 and
//! 5.4 %; a drift by one standard deviation is seen in 98 % without and 51 % with a correlation of 0.6.

#[cfg(test)]
mod tests;

use std::ops::Range;

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
/// P-value up to which a series moves beyond doubt.
const P: f64 = 0.01;
/// Share of the whole slope that the last half still has to have: where it is level, noise has half of
/// its slopes above zero.
const LATE: f64 = 0.25;
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
    /// One-sided p-value against "does not fall".
    pub p_falling: f64,
}

/// Tests whether a series rises.
///
/// `S = Σ_{i<j} sgn(yⱼ − yᵢ)`, `var = (n(n−1)(2n+5) − Σ t(t−1)(2t+5)) / 18` over groups of `t` equal
/// values, `z = (S − sgn S) / √var`. Twelve values from 10 to 12.8, rising but for a few, have
/// S = 56, var = 212.67, z = 3.7715. A series without any variance has z = 0.
pub fn mann_kendall(y: &[f64]) -> MannKendall {
    mann_kendall_in(&[y])
}

/// The same of a series in blocks between which nothing is said, such as what lay before a pause and what
/// after it: `S` and its variance are the blocks' sums. Two blocks of six rising values have S = 15 + 15 and
/// var = 28.33 + 28.33.
pub fn mann_kendall_in(blocks: &[&[f64]]) -> MannKendall {
    let (s, variance) = blocks
        .iter()
        .map(|block| kendall(block))
        .fold((0.0, 0.0), |(s, var), (more, spread)| {
            (s + more, var + spread)
        });
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
        p_falling: normal_cdf(z),
    }
}

/// `S` and its variance.
fn kendall(y: &[f64]) -> (f64, f64) {
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
    (s, (spread(y.len() as f64) - ties) / 18.0)
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
    sen_in(&[&points], confidence)
}

/// The same of a series in blocks: pairs within a block alone have a slope, so that a step between two
/// blocks is none.
fn sen_in(blocks: &[&[(f64, f64)]], confidence: f64) -> Option<Slope> {
    let pairs = |points: &[(f64, f64)]| -> Vec<f64> {
        let later = (1..points.len()).flat_map(|j| {
            let (x, y) = points[j];
            points[..j]
                .iter()
                .map(move |earlier| (y - earlier.1) / (x - earlier.0))
        });
        later.collect()
    };
    let mut slopes: Vec<f64> = blocks.iter().flat_map(|block| pairs(block)).collect();
    slopes.sort_unstable_by(f64::total_cmp);
    let variance: f64 = blocks.iter().map(|block| kendall(&values(block)).1).sum();
    let n = slopes.len() as f64;
    let c = normal_quantile(0.5 + confidence / 2.0) * variance.sqrt();
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

fn values(points: &[(f64, f64)]) -> Vec<f64> {
    points.iter().map(|point| point.1).collect()
}

/// How a series of windows moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Batches that the windows were averaged into.
    pub batches: usize,
    /// Median of the windows.
    pub level: f64,
    /// One-sided p-value against "does not rise".
    pub p_rising: f64,
    /// One-sided p-value against "does not fall".
    pub p_falling: f64,
    /// Slope, in values per window.
    pub slope: Slope,
    /// Slope of the last half, in values per window: a plateau after growth isn't a leak.
    pub late_slope: f64,
    /// What the slope makes of the whole series, as a share of its median: `slope · windows / median`.
    pub growth: f64,
}

impl Trend {
    /// Whether the series creeps up: it rises beyond doubt (p ≤ .01), by more than `tolerance` (a
    /// share of its median) in all, and it hasn't stopped: its last half has a quarter of the slope at least.
    ///
    /// Memory that rises from 10 to 12.8 in twelve windows grows by 27 %: a leak at 5 %.
    pub fn is_leak(&self, tolerance: f64) -> bool {
        self.p_rising <= P
            && self.growth > tolerance
            && self.late_slope > LATE * self.slope.estimate
    }

    /// Whether the series wears away, the other way round: throughput, or room that is left.
    pub fn is_decline(&self, tolerance: f64) -> bool {
        self.p_falling <= P
            && self.growth < -tolerance
            && self.late_slope < LATE * self.slope.estimate
    }
}

/// The trend of a soak's windows, one value each in order of time: a percentile, or memory.
///
/// The windows are averaged into 12 batches, into 24 where the correlation of neighbours is under
/// 0.5, and into one each where there are fewer. A saw-tooth needs windows of a period or longer.
/// `None` of fewer than eight windows, where one isn't finite, or where the median isn't positive.
pub fn trend(windows: &[f64]) -> Option<Trend> {
    trend_in(windows, &[])
}

/// The same of a series that was broken off and went on: `pauses` are the numbers of the windows that came
/// first after one, in order. Only windows with no pause between them are held against each other, so that
/// whatever happened meanwhile is no slope.
pub fn trend_in(windows: &[f64], pauses: &[usize]) -> Option<Trend> {
    if windows.len() < LEAST || windows.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let level = median(windows.to_vec()).filter(|median| *median > 0.0)?;
    let blocks = blocks(windows.len(), pauses);
    let wanted = if neighbours(windows, &blocks) < ALIKE {
        FINE_BATCHES
    } else {
        BATCHES
    };
    let wanted = wanted.min(windows.len());
    let batches: Vec<Vec<(f64, f64)>> = blocks
        .iter()
        .map(|block| {
            let share = (wanted * block.len()).div_ceil(windows.len());
            batch(windows, block, share.min(block.len()))
        })
        .collect();
    let whole: Vec<&[(f64, f64)]> = batches.iter().map(Vec::as_slice).collect();
    let slope = sen_in(&whole, CONFIDENCE)?;
    let count: usize = batches.iter().map(Vec::len).sum();
    let late: Vec<&[(f64, f64)]> = whole
        .iter()
        .scan(0, |before, block| {
            let from = (count / 2).saturating_sub(*before).min(block.len());
            *before += block.len();
            Some(&block[from..])
        })
        .collect();
    let levels: Vec<Vec<f64>> = whole.iter().map(|block| values(block)).collect();
    let levels: Vec<&[f64]> = levels.iter().map(Vec::as_slice).collect();
    let test = mann_kendall_in(&levels);
    let trend = Trend {
        batches: count,
        level,
        p_rising: test.p_rising,
        p_falling: test.p_falling,
        slope,
        late_slope: sen_in(&late, CONFIDENCE)?.estimate,
        growth: slope.estimate * windows.len() as f64 / level,
    };
    // Values near the largest float overflow on the way.
    (trend.growth.is_finite() && trend.late_slope.is_finite()).then_some(trend)
}

/// The stretches between pauses.
fn blocks(windows: usize, pauses: &[usize]) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(pauses.iter().copied());
    let ends = pauses.iter().copied().chain([windows]);
    let blocks = starts
        .zip(ends)
        .map(|(from, to)| from.min(windows)..to.min(windows));
    blocks.filter(|block| !block.is_empty()).collect()
}

/// Centre, in windows, and mean of each of `count` batches of a block, whose lengths differ by one at most.
fn batch(windows: &[f64], block: &Range<usize>, count: usize) -> Vec<(f64, f64)> {
    let edge = |batch: usize| block.start + batch * block.len() / count;
    (0..count)
        .filter_map(|i| {
            let (from, to) = (edge(i), edge(i + 1));
            let centre = f64::midpoint(from as f64, to as f64) - 0.5;
            mean(&windows[from..to]).map(|mean| (centre, mean))
        })
        .collect()
}

/// Correlation of neighbours (lag 1, autocovariances with 1/n), each block about its own mean; 0 of a level
/// series.
fn neighbours(values: &[f64], blocks: &[Range<usize>]) -> f64 {
    let (mut squares, mut products) = (0.0, 0.0);
    for block in blocks {
        let values = &values[block.clone()];
        let Some(mean) = mean(values) else { continue };
        squares += values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        products += values
            .windows(2)
            .map(|w| (w[0] - mean) * (w[1] - mean))
            .sum::<f64>();
    }
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}
