//! MSER-5: was the warm-up long enough? A check of the declared cut, never the cut itself.
//!
//! Of 400 series of independent values the rule alone calls 21 % (100 values), 6 % (260) and 0.3 %
//! (1,000) unsettled, for nothing. Held against `SHIFT` as well these are 0.3 %, 0 and 0, while a
//! first fifth that is twice as slow is still found in 70, 94 and 100 %.

use super::{mean, variance};

/// Values per batch.
const BATCH: usize = 5;

/// Values below which no shift can be told from chance.
const LEAST: usize = 100;

/// Standard errors by which the values before the cut have to differ from those after it.
const SHIFT: f64 = 4.0;

/// Where the series settles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settling {
    /// Values that should be dropped from the front.
    pub cut: usize,
    /// Length of the series.
    pub length: usize,
    /// Whether the cut lies at the end of the search, half of the series: it never settles.
    pub at_limit: bool,
    /// By how many standard errors the batches before the cut differ from those after it; 0 without
    /// a cut.
    pub shift: f64,
}

impl Settling {
    /// Whether the series is stationary enough to judge: it settles, and within its first tenth.
    pub const fn is_stationary(&self) -> bool {
        !self.at_limit && self.cut * 10 <= self.length
    }

    /// Whether the series is beyond doubt still warming up: not stationary, long enough to tell
    /// (100 values), and what precedes the cut is 4 standard errors off the rest.
    ///
    /// A cut of 30 in 100 with a shift of 2.1 is chance; with a shift of 12 it is a warm-up.
    pub fn is_warming(&self) -> bool {
        !self.is_stationary() && self.length >= LEAST && self.shift.abs() >= SHIFT
    }
}

/// Finds where a series settles, by the marginal standard error rule on batch means of five.
///
/// With batch means `b₀ … b_{m−1}`, `g(d) = Σ_{i ≥ d} (bᵢ − mean_d)² / (m − d)²` over
/// `d = 0 … ⌊m / 2⌋`; the cut is five times the `d` of the smallest `g` (White 1997). `series` is in
/// sending order, for latencies as logarithms. `None` where fewer than 20 values make four batches
/// (the error of fewer than two of them means nothing), or one is not finite.
pub fn mser5(series: &[f64]) -> Option<Settling> {
    if series.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let batches: Vec<f64> = series.chunks_exact(BATCH).filter_map(mean).collect();
    if batches.len() < 4 {
        return None;
    }
    let limit = batches.len() / 2;
    let g = errors(&batches);
    let best = (0..=limit).min_by(|&a, &b| g[a].total_cmp(&g[b]))?;
    Some(Settling {
        cut: best * BATCH,
        length: series.len(),
        // A series of equal values has g = 0 everywhere and keeps the first minimum, 0.
        at_limit: best == limit && best > 0,
        shift: shift(&batches[..best], &batches[best..]),
    })
}

/// Difference of the means in its standard errors (Welch's): each part's own scatter, for the rule picks
/// a quiet tail.
fn shift(head: &[f64], tail: &[f64]) -> f64 {
    let (Some(before), Some(after)) = (mean(head), mean(tail)) else {
        return 0.0;
    };
    let of_mean = |part: &[f64]| variance(part) / part.len() as f64;
    // Without any scatter every difference would be infinite.
    let error = (of_mean(head) + of_mean(tail)).sqrt().max(1e-9);
    (before - after) / error
}

/// Squared standard error of the mean of what is left after each number of batches, up to a constant
/// factor; from the back, by Welford's update, so that a long series takes no longer than it must.
fn errors(batches: &[f64]) -> Vec<f64> {
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut errors: Vec<f64> = batches
        .iter()
        .rev()
        .map(|batch| {
            n += 1.0;
            let off = batch - mean;
            mean += off / n;
            squares += off * (batch - mean);
            squares / (n * n)
        })
        .collect();
    errors.reverse();
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::tests::close;

    const X: [f64; 30] = [
        9.0, 8.1, 7.3, 6.2, 5.4, 4.1, 3.6, 3.2, 2.8, 2.1, 1.2, 2.3, 1.1, 1.9, 1.4, 1.3, 2.2, 1.7,
        1.6, 1.0, 1.5, 1.8, 1.2, 2.0, 1.4, 1.1, 1.9, 1.6, 1.3, 1.7,
    ];

    #[test]
    fn reference_values() {
        let batches: Vec<f64> = X.chunks_exact(5).filter_map(mean).collect();
        for (d, expected) in [0.712_104, 0.082_016, 0.000_150, 0.000_207]
            .into_iter()
            .enumerate()
        {
            assert!((errors(&batches)[d] - expected).abs() < 6e-7, "{d}");
        }
        close(batches[0], 7.2);
        let settling = mser5(&X).unwrap();
        assert_eq!((settling.cut, settling.at_limit), (10, false));
        assert!(!settling.is_stationary());
        assert!(!settling.is_warming(), "30 values are too few to tell");
    }

    /// Values between −1 and 1 that look random and are the same everywhere.
    fn scattered(seed: u64, n: usize) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..n)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
            })
            .collect()
    }

    #[test]
    fn chance_is_no_warmup_and_a_slow_start_is_one() {
        let of = |start: f64, seeds: u64| {
            (0..seeds)
                .filter(|&seed| {
                    let mut series = scattered(seed, 260);
                    for value in &mut series[..52] {
                        *value += start;
                    }
                    mser5(&series).unwrap().is_warming()
                })
                .count()
        };
        assert!(of(0.0, 500) <= 5, "{}", of(0.0, 500));
        assert!(of(1.0, 100) >= 90, "{}", of(1.0, 100));
    }

    #[test]
    fn a_level_series_is_stationary_and_a_rising_one_never_settles() {
        assert!(mser5(&[1.0; 40]).unwrap().is_stationary());
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(mser5(&rising).unwrap().at_limit);
        assert!(mser5(&rising).unwrap().is_warming());
        assert_eq!(mser5(&X[..19]), None);
        assert_eq!(mser5(&[f64::INFINITY; 20]), None);
    }
}
