//! The knee of a sweep: the smallest load at which a server already gives nearly its best.
//!
//! Rules that look at the curve's shape (Kneedle, broken stick) follow the grid's ends and not the
//! server: on noisy sweeps of one server they said 48, 16 and 64 users for grids up to 128, 32 and
//! 256. These rules said 24, 24 and 32.

use super::mean;
use super::moderated::{Evidence, look};
use super::noise::Noise;

/// Share of the best mean goodput that makes a load the capacity.
const NEARLY_BEST: f64 = 0.97;
/// Share of the largest throughput that makes a load the knee where there is no SLO.
const NEARLY_FULL: f64 = 0.95;
/// The last step of the grid has to raise throughput by less, else the knee lies beyond it.
const FLAT: f64 = 0.05;
/// P-value over which a load may be as good as the best.
const P: f64 = 0.05;

/// One load of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// The load: a rate or a number of users.
    pub load: f64,
    /// Goodput or throughput at it, one value a sweep, in the same order at every load.
    pub values: Vec<f64>,
}

/// The capacity of a server under an SLO.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// Smallest load whose mean goodput is 97 % of the best or more.
    pub load: f64,
    /// Load of the best mean goodput. Where it is the sweep's last, the sweep may end too early.
    pub best_load: f64,
    /// The best mean goodput.
    pub best: f64,
    /// The loads that may be as good as the best, ascending.
    pub candidates: Vec<f64>,
}

/// The capacity by goodput, from a sweep's loads in ascending order.
///
/// The capacity is the smallest load whose mean goodput is at least 97 % of the best mean. A load may
/// be as good as the best where the moderated t-test of `ln best − ln goodput`, paired by sweep and
/// with `noise` as prior, has p > .05. Goodputs 10, 19.5 and 20 at loads 1, 2 and 4: capacity 2.
/// `None` where no load has a value, or the best mean isn't positive.
pub fn by_goodput(rungs: &[Rung], noise: Noise) -> Option<Capacity> {
    let means = means(rungs)?;
    let (best, best_mean) = largest(&means)?;
    let first = means
        .iter()
        .position(|&mean| mean >= NEARLY_BEST * best_mean)?;
    let as_good = |rung: &Rung| {
        let behind: Vec<f64> = (rungs[best].values.iter())
            .zip(&rung.values)
            .map(|(best, value)| best.ln() - value.ln())
            .collect();
        // A load at which a sweep had no goodput at all isn't as good.
        look(&behind, noise.of_pair(), 0.0, Evidence::BeyondZero, false)
            .is_some_and(|look| look.p_worse > P)
    };
    Some(Capacity {
        load: rungs[first].load,
        best_load: rungs[best].load,
        best: best_mean,
        candidates: (rungs.iter().enumerate())
            .filter(|&(index, rung)| index == best || as_good(rung))
            .map(|(_, rung)| rung.load)
            .collect(),
    })
}

/// Where throughput stops growing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Knee {
    /// The smallest load with 95 % of the largest throughput.
    At(f64),
    /// Throughput still grew by this share in the sweep's last step: extend the sweep.
    NotReached(f64),
}

/// The knee by throughput, for a sweep without an SLO, from its loads in ascending order.
///
/// Throughputs 1, 1.95, 3.7, 6.4, 8.9, 9.8 and 9.9 at loads 1 to 64: 32. Without the last load it is
/// not reached, for the step to 32 still gave 10 %. `None` of fewer than two loads, where one has no
/// value, or where throughput isn't positive.
pub fn by_throughput(rungs: &[Rung]) -> Option<Knee> {
    let means = means(rungs)?;
    let (_, full) = largest(&means)?;
    let &[.., before, last] = means.as_slice() else {
        return None;
    };
    let gain = last / before - 1.0;
    if !gain.is_finite() {
        return None;
    }
    if gain >= FLAT {
        return Some(Knee::NotReached(gain));
    }
    let first = means.iter().position(|&mean| mean >= NEARLY_FULL * full)?;
    Some(Knee::At(rungs[first].load))
}

/// The loads that may be the knee by throughput, ascending: those that may give 95 % of the largest, and
/// whose next lower load doesn't surely do so.
///
/// By the moderated t-test of `ln (.95 · largest) − ln throughput`, paired by sweep and with `noise` as
/// prior, at p = .05. With the assumed 3 % the throughputs above allow 16, 32 and 64: 8.9 may be 9.4, and
/// neither 9.8 nor 9.9 is surely over it.
pub fn throughput_candidates(rungs: &[Rung], noise: Noise) -> Vec<f64> {
    let Some((full, _)) = means(rungs).and_then(|means| largest(&means)) else {
        return Vec::new();
    };
    let behind = |rung: &Rung| {
        let behind: Vec<f64> = (rungs[full].values.iter())
            .zip(&rung.values)
            .map(|(full, value)| (NEARLY_FULL * full).ln() - value.ln())
            .collect();
        look(&behind, noise.of_pair(), 0.0, Evidence::BeyondZero, false)
    };
    let mut before_is_full = false;
    let mut candidates = Vec::new();
    for rung in rungs {
        let look = behind(rung);
        let may_be_full = look.is_some_and(|look| look.p_worse > P);
        if may_be_full && !before_is_full {
            candidates.push(rung.load);
        }
        before_is_full = look.is_some_and(|look| look.p_better <= P);
    }
    candidates
}

/// Mean at each load; `None` where one has no value, or one that isn't a finite number from 0 on.
fn means(rungs: &[Rung]) -> Option<Vec<f64>> {
    rungs
        .iter()
        .map(|rung| {
            let sound = rung
                .values
                .iter()
                .all(|value| value.is_finite() && *value >= 0.0);
            mean(&rung.values).filter(|_| sound)
        })
        .collect()
}

/// The first of the largest values, with its index; `None` where it isn't positive.
fn largest(values: &[f64]) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for (index, &value) in values.iter().enumerate() {
        if value > best.map_or(0.0, |(_, best)| best) {
            best = Some((index, value));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOADS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    const THROUGHPUT: [f64; 7] = [1.0, 1.95, 3.7, 6.4, 8.9, 9.8, 9.9];

    fn sweep(loads: &[f64], sweeps: &[&[f64]]) -> Vec<Rung> {
        (loads.iter().enumerate())
            .map(|(i, &load)| Rung {
                load,
                values: sweeps.iter().map(|sweep| sweep[i]).collect(),
            })
            .collect()
    }

    /// The point farthest above the line between the curve's ends, both axes scaled to 1 (Satopää et
    /// al. 2011), for comparison: it isn't shipped, see above.
    fn kneedle(x: &[f64], y: &[f64]) -> f64 {
        let scaled = |v: &[f64], i: usize| (v[i] - v[0]) / (v[v.len() - 1] - v[0]);
        let above = |&i: &usize| scaled(y, i) - scaled(x, i);
        let best = (0..x.len())
            .max_by(|a, b| above(a).total_cmp(&above(b)))
            .unwrap();
        x[best]
    }

    /// Where two joined lines fit best in least squares, for comparison.
    fn broken_stick(x: &[f64], y: &[f64]) -> f64 {
        let residual = |at: f64| {
            // Regression on 1, x and max(0, x − at) by Gram and Schmidt.
            let columns: [Vec<f64>; 3] = [
                vec![1.0; x.len()],
                x.to_vec(),
                x.iter().map(|x| (x - at).max(0.0)).collect(),
            ];
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let mut basis: Vec<Vec<f64>> = Vec::new();
            let mut rest = y.to_vec();
            for mut column in columns {
                for unit in &basis {
                    let part = dot(&column, unit);
                    column
                        .iter_mut()
                        .zip(unit)
                        .for_each(|(c, u)| *c -= part * u);
                }
                let length = dot(&column, &column).sqrt();
                for c in &mut column {
                    *c /= length;
                }
                let part = dot(&rest, &column);
                rest.iter_mut()
                    .zip(&column)
                    .for_each(|(r, c)| *r -= part * c);
                basis.push(column);
            }
            dot(&rest, &rest)
        };
        let (from, to) = (x[1], x[x.len() - 2]);
        let grid = |i: u32| from + (to - from) * f64::from(i) / 199.0;
        (0..200)
            .map(grid)
            .min_by(|a, b| residual(*a).total_cmp(&residual(*b)))
            .unwrap()
    }

    #[test]
    fn reference_knees() {
        let rungs = sweep(&LOADS, &[&THROUGHPUT]);
        assert_eq!(by_throughput(&rungs), Some(Knee::At(32.0)));
        assert!((kneedle(&LOADS, &THROUGHPUT) - 16.0).abs() < 1e-12);
        assert!((broken_stick(&LOADS, &THROUGHPUT) - 11.3467).abs() < 6e-5);
    }

    #[test]
    fn the_knee_by_throughput_has_its_set() {
        let few = throughput_candidates(&sweep(&LOADS, &[&THROUGHPUT]), Noise::ASSUMED);
        assert_eq!(few, [16.0, 32.0, 64.0]);
        // Runs that agree leave the knee itself.
        let noise = Noise {
            sigma: 0.005,
            df: 8.0,
        };
        let many = throughput_candidates(&sweep(&LOADS, &[&THROUGHPUT as &[f64]; 4]), noise);
        assert_eq!(many, [32.0]);
        assert_eq!(throughput_candidates(&[], noise), [] as [f64; 0]);
    }

    #[test]
    fn a_sweep_that_still_rises_has_not_reached_its_knee() {
        let Some(Knee::NotReached(gain)) = by_throughput(&sweep(&LOADS, &[&THROUGHPUT])[..6])
        else {
            panic!("the step from 16 to 32 gave 10 %");
        };
        assert!((gain - (9.8 / 8.9 - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn capacity_is_the_smallest_load_that_is_nearly_best() {
        let rungs = sweep(
            &[8.0, 16.0, 24.0, 32.0, 48.0],
            &[
                &[5.0, 9.0, 11.8, 12.0, 4.0],
                &[5.1, 9.1, 11.7, 12.1, 0.0],
                &[4.9, 9.2, 12.0, 11.9, 3.0],
            ],
        );
        let noise = Noise {
            sigma: 0.02,
            df: 8.0,
        };
        let capacity = by_goodput(&rungs, noise).unwrap();
        assert!((capacity.load - 24.0).abs() < 1e-12);
        assert!((capacity.best_load - 32.0).abs() < 1e-12);
        assert!((capacity.best - 12.0).abs() < 1e-12);
        assert_eq!(capacity.candidates, [24.0, 32.0]);
    }

    #[test]
    fn nothing_good_is_no_capacity() {
        let noise = Noise::ASSUMED;
        assert_eq!(by_goodput(&[], noise), None);
        assert_eq!(by_goodput(&sweep(&[1.0, 2.0], &[&[0.0, 0.0]]), noise), None);
        assert_eq!(by_goodput(&sweep(&[1.0], &[&[f64::NAN]]), noise), None);
        assert_eq!(by_throughput(&sweep(&[1.0], &[&[1.0]])), None);
        assert_eq!(by_throughput(&sweep(&[1.0, 2.0], &[&[0.0, 1.0]])), None);
        assert_eq!(by_throughput(&sweep(&[1.0, 2.0], &[])), None);
    }

    proptest! {
        #[test]
        fn the_capacity_is_at_most_the_best_load_which_is_a_candidate(
            sweeps in prop::collection::vec(prop::array::uniform5(0.0..9.0_f64), 1..5),
        ) {
            let loads = [1.0, 2.0, 3.0, 4.0, 5.0];
            let sweeps: Vec<&[f64]> = sweeps.iter().map(<[f64; 5]>::as_slice).collect();
            if let Some(capacity) = by_goodput(&sweep(&loads, &sweeps), Noise::ASSUMED) {
                prop_assert!(capacity.load <= capacity.best_load);
                prop_assert!(capacity.candidates.contains(&capacity.best_load));
            }
        }

        #[test]
        fn a_longer_flat_end_moves_no_knee(flat in 2..6_usize) {
            let mut loads = vec![1.0, 2.0, 4.0];
            let mut throughput = vec![1.0, 2.0, 4.0];
            for i in 0..flat {
                loads.push(8.0 + i as f64);
                throughput.push(4.1);
            }
            prop_assert_eq!(by_throughput(&sweep(&loads, &[&throughput])), Some(Knee::At(4.0)));
        }
    }
}
