//! The noise between runs of the same thing, learnt from archived sessions.

use super::median;

/// 1 / (√2 · 0.67449) as the procedure was calibrated with it: turns the median absolute difference
/// of two runs into the standard deviation of one.
const MEDIAN_TO_SIGMA: f64 = 1.0483;
/// Smallest standard deviation that a log statistic is believed to have.
pub const LOG_FLOOR: f64 = 0.005;
/// The archive never counts for more degrees of freedom, so that a noisier day still shows.
const MAX_DF: f64 = 8.0;
/// Older sessions than the newest 20 don't count.
const SESSIONS: usize = 20;

/// Standard deviation of one run within a session, and what that knowledge is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Standard deviation of one run's (log) statistic.
    pub sigma: f64,
    /// Degrees of freedom behind it.
    pub df: f64,
}

impl Noise {
    /// Assumed for log statistics where there is no archive: 3 % with 3 degrees of freedom.
    pub const ASSUMED: Self = Self {
        sigma: 0.03,
        df: 3.0,
    };

    /// From sessions of the same thing, oldest first, one value per run.
    ///
    /// `sigma = max(1.0483 · median |yₐ − y_b|, floor)` over all pairs of runs within a session,
    /// `df = min(8, Σ (runs − 1))`. Four sessions of three runs with median difference 0.025 give
    /// sigma 0.0262075 and 8 degrees of freedom. `None` where no session has two runs.
    pub fn from_sessions(sessions: &[Vec<f64>], floor: f64) -> Option<Self> {
        let newest = &sessions[sessions.len().saturating_sub(SESSIONS)..];
        let differences = newest
            .iter()
            .flat_map(|runs| {
                runs.iter()
                    .enumerate()
                    .flat_map(|(i, a)| runs[i + 1..].iter().map(move |b| (a - b).abs()))
            })
            .collect();
        let df: usize = newest.iter().map(|runs| runs.len().saturating_sub(1)).sum();
        median(differences).map(|median| Self {
            sigma: (MEDIAN_TO_SIGMA * median).max(floor),
            df: (df as f64).min(MAX_DF),
        })
    }

    /// As a prior of the difference of two runs, whose variance is twice that of one.
    pub fn of_pair(self) -> Prior {
        Prior {
            variance: 2.0 * self.sigma.powi(2),
            df: self.df,
        }
    }

    /// As a prior of one run.
    pub fn of_run(self) -> Prior {
        Prior {
            variance: self.sigma.powi(2),
            df: self.df,
        }
    }
}

/// What is believed of the variance of one value before any is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The variance.
    pub variance: f64,
    /// Degrees of freedom behind it.
    pub df: f64,
}

/// Variance ratio over which a session counts as noisier than its archive.
const NOISY: f64 = 4.0;
/// Repeats from which on a variance says whether a session is noisy.
pub const GUARDED: u32 = 3;

/// Whether this session is noisier than the archive, so that its prior is dropped.
///
/// `ratios` holds observed variance / prior variance of each gated log cell; of three or more the
/// median decides, of fewer the largest. Needs [`GUARDED`] repeats behind each ratio.
pub fn is_noisy(ratios: Vec<f64>) -> bool {
    let ratio = if ratios.len() >= 3 {
        median(ratios)
    } else {
        ratios.into_iter().max_by(f64::total_cmp)
    };
    ratio.is_some_and(|ratio| ratio > NOISY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::tests::close;

    #[test]
    fn reference_values() {
        let first = [
            vec![4.60, 4.62, 4.58],
            vec![4.65, 4.66, 4.61],
            vec![4.57, 4.60, 4.59],
            vec![4.63, 4.60, 4.64],
        ];
        let noise = Noise::from_sessions(&first, LOG_FLOOR).unwrap();
        close(noise.sigma, 0.026_207_5);
        close(noise.df, 8.0);
        let second = [
            vec![0.0, 0.02, -0.01],
            vec![0.03, 0.01, 0.02],
            vec![-0.02, 0.0, -0.01],
            vec![0.01, 0.03, 0.04],
        ];
        let noise = Noise::from_sessions(&second, LOG_FLOOR).unwrap();
        close(noise.sigma, 0.015_724_5);
        close(noise.of_pair().variance, 2.0 * 0.015_724_5_f64.powi(2));
    }

    #[test]
    fn little_archive_is_worth_little_and_single_runs_nothing() {
        let noise = Noise::from_sessions(&[vec![1.0, 1.0, 1.0]], LOG_FLOOR).unwrap();
        assert_eq!(
            noise,
            Noise {
                sigma: LOG_FLOOR,
                df: 2.0
            }
        );
        assert_eq!(
            Noise::from_sessions(&[vec![1.0], vec![2.0]], LOG_FLOOR),
            None
        );
        assert_eq!(Noise::from_sessions(&[], LOG_FLOOR), None);
    }

    #[test]
    fn only_the_newest_twenty_sessions_count() {
        let mut sessions = vec![vec![0.0, 9.0]; 30];
        sessions.extend(vec![vec![0.0, 0.1]; 20]);
        close(
            Noise::from_sessions(&sessions, LOG_FLOOR).unwrap().sigma,
            0.104_83,
        );
    }

    #[test]
    fn the_median_ratio_decides_and_of_few_the_largest() {
        assert!(!is_noisy(vec![1.0, 3.9, 50.0]));
        assert!(is_noisy(vec![1.0, 4.1, 50.0]));
        assert!(is_noisy(vec![1.0, 4.1]));
        assert!(!is_noisy(vec![]));
    }
}
