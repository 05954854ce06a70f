//! One look at candidate runs against archived sessions: the variance between sessions is part of
//! the error.

use super::moderated::{Estimate, Evidence, Look};
use super::noise::Noise;
use super::student::quantile;
use super::{mean, variance};

/// What the archive knows of a baseline, positive where worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoredBaseline {
    /// Mean of the session means.
    pub centre: f64,
    /// Number of sessions.
    pub sessions: usize,
    /// Runs per session (harmonic mean).
    runs: f64,
    /// Sessions whose mean is the centre.
    centre_sessions: f64,
    /// Runs of each of those.
    centre_runs: f64,
    /// Variance of the session means.
    between: f64,
    /// The same by how much each differs from the one before, which a trend hardly moves.
    successive: f64,
    /// Degrees of freedom of the variance in use.
    df: f64,
    /// Noise within a session; `None` where each session has one run.
    noise: Option<Noise>,
    /// Smallest standard deviation of a run that is believed.
    floor: f64,
}

/// Fewer sessions than this can't gate.
pub const FEWEST_SESSIONS: usize = 3;
/// From this many sessions on a stored verdict counts; below it is advisory.
pub const FIRM_SESSIONS: usize = 5;

impl StoredBaseline {
    /// From sessions of runs, oldest first; `centre_from` is the index of the first session after
    /// the last change point (0 where there is none), `floor` the smallest standard deviation of a
    /// run ([`LOG_FLOOR`](super::noise::LOG_FLOOR) for logarithms). `None` where fewer than three
    /// sessions are left, or a value is not finite.
    pub fn from_sessions(sessions: &[Vec<f64>], centre_from: usize, floor: f64) -> Option<Self> {
        let recent: Vec<&Vec<f64>> = sessions
            .iter()
            .skip(centre_from)
            .filter(|runs| !runs.is_empty())
            .collect();
        let means: Vec<f64> = recent.iter().filter_map(|runs| mean(runs)).collect();
        if means.len() < FEWEST_SESSIONS || means.iter().any(|mean| !mean.is_finite()) {
            return None;
        }
        let reciprocals: Vec<f64> = recent.iter().map(|runs| 1.0 / runs.len() as f64).collect();
        let runs = 1.0 / mean(&reciprocals)?;
        Some(Self {
            centre: mean(&means)?,
            sessions: means.len(),
            runs,
            centre_sessions: means.len() as f64,
            centre_runs: runs,
            between: variance(&means),
            successive: successive_variance(&means),
            df: (means.len() - 1) as f64,
            noise: Noise::from_sessions(sessions, floor),
            floor,
        })
    }

    /// With a noise within a session that more sessions than those of the baseline have shown.
    #[must_use]
    pub const fn with_noise(mut self, noise: Option<Noise>) -> Self {
        self.noise = noise;
        self
    }

    /// The same archive, seen from one session of another day.
    ///
    /// That session is the centre. It is one draw from the days, so the variance between sessions, which
    /// the archive knows, counts twice, once for each side: of session SD 2 %, 2.8 % instead of the 2.2 %
    /// of five sessions. Who looks for drift must not take it for scatter: the variance is half the
    /// mean square of successive differences (von Neumann 1941), of `2 (J − 1)² / (3 J − 4)` degrees
    /// of freedom, 2.9 of five sessions. `None` without a run, or where one is not finite.
    #[must_use]
    pub fn seen_from(mut self, session: &[f64]) -> Option<Self> {
        self.centre = mean(session).filter(|mean| mean.is_finite())?;
        self.centre_sessions = 1.0;
        self.centre_runs = session.len() as f64;
        self.between = self.successive;
        let sessions = self.sessions as f64;
        self.df = 2.0 * (sessions - 1.0).powi(2) / (3.0 * sessions - 4.0);
        Some(self)
    }

    /// Noise within a session; `None` where each session has one run.
    pub const fn noise(&self) -> Option<Noise> {
        self.noise
    }

    /// Squared standard error of `k` candidate runs whose variance within the session is `within`.
    ///
    /// `sS² (1 + 1/J) + within/k + within/(J r)`, at least `2 · floor²`, where
    /// `sS² = max(0, var(session means) − sigma²/r)`; with one run per session the prediction
    /// variance `var (1 + 1/J)`.
    fn squared_error(&self, within: f64, k: f64) -> f64 {
        let sessions = self.centre_sessions;
        match self.noise {
            Some(noise) => {
                let session = (self.between - noise.sigma.powi(2) / self.runs).max(0.0);
                let error = session * (1.0 + 1.0 / sessions)
                    + within / k
                    + within / (sessions * self.centre_runs);
                error.max(2.0 * self.floor.powi(2))
            }
            None => self.between * (1.0 + 1.0 / sessions),
        }
    }

    /// One look at the candidate's runs, `J − 1` degrees of freedom.
    ///
    /// The variance within the session is moderated as in [`super::moderated::look`]; in a `noisy`
    /// session the archive's is only a floor. `None` where there is no run, or one is not finite.
    pub fn look(
        &self,
        candidate: &[f64],
        tolerance: f64,
        evidence: Evidence,
        noisy: bool,
    ) -> Option<Look> {
        let centre = mean(candidate).filter(|mean| mean.is_finite())?;
        let more = (candidate.len() - 1) as f64;
        let variance = variance(candidate);
        let within = self.noise.map_or(0.0, |noise| {
            let prior = noise.sigma.powi(2);
            if noisy && candidate.len() > 1 {
                variance.max(prior)
            } else {
                (noise.df * prior + more * variance) / (noise.df + more)
            }
        });
        let estimate = Estimate {
            value: centre - self.centre,
            variance,
            standard_error: self.squared_error(within, candidate.len() as f64).sqrt(),
            df: self.df,
        };
        Some(Look::from_estimate(
            candidate.len(),
            estimate,
            tolerance,
            evidence,
        ))
    }

    /// Smallest tolerance that `runs` candidate runs can resolve with the given `power`, in the
    /// unit of the values; `weight` is the look's share of the error.
    pub fn smallest_resolvable(&self, runs: u32, weight: f64, power: f64) -> f64 {
        let df = self.df;
        let within = self.noise.map_or(0.0, |noise| noise.sigma.powi(2));
        (quantile(1.0 - super::sequential::ALPHA * weight, df) + quantile(power, df))
            * self.squared_error(within, f64::from(runs.max(1))).sqrt()
    }
}

/// Half the mean square of successive differences: the variance of what scatters about a slow trend.
fn successive_variance(values: &[f64]) -> f64 {
    let squares: Vec<f64> = values
        .windows(2)
        .map(|two| (two[1] - two[0]).powi(2))
        .collect();
    mean(&squares).unwrap_or(0.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::noise::LOG_FLOOR;
    use crate::stats::tests::close;

    fn archive() -> Vec<Vec<f64>> {
        vec![
            vec![4.600, 4.615, 4.590],
            vec![4.640, 4.655, 4.630],
            vec![4.585, 4.600, 4.610],
            vec![4.620, 4.610, 4.600],
            vec![4.650, 4.640, 4.660],
        ]
    }

    #[test]
    fn reference_values() {
        let stored = StoredBaseline::from_sessions(&archive(), 0, LOG_FLOOR).unwrap();
        close(stored.noise.unwrap().sigma, 0.015_724_5);
        close(stored.between, 5.686_111e-4);
        close(stored.between - 0.015_724_5_f64.powi(2) / 3.0, 4.861_911e-4);
        let look = stored
            .look(
                &[4.70, 4.72, 4.71],
                1.1_f64.ln(),
                Evidence::BeyondZero,
                false,
            )
            .unwrap();
        close(look.standard_error.powi(2), 6.705_525e-4);
        close(look.estimate, 0.089_666_7);
        close(look.estimate / look.standard_error, 3.462_698);
        close(look.df, 4.0);
        close(look.p_worse, 0.012_877_2);
        close(look.p_within, 0.419_072_0);
    }

    #[test]
    fn one_run_per_session_is_a_prediction_interval() {
        let history: Vec<Vec<f64>> = [101, 103, 99, 100, 104, 98, 102, 100, 97, 101]
            .map(|x| vec![f64::from(x).ln()])
            .into();
        let stored = StoredBaseline::from_sessions(&history, 0, LOG_FLOOR).unwrap();
        close(stored.centre, 4.609_947_2);
        assert!((stored.between.sqrt() - 0.021_630_4).abs() < 6e-8);
        let look = stored
            .look(&[108.0_f64.ln()], 0.1, Evidence::BeyondZero, false)
            .unwrap();
        assert!((look.standard_error - 0.022_686_2).abs() < 6e-8);
        close(look.estimate / look.standard_error, 3.181_852);
        close(look.df, 9.0);
        assert!((look.p_worse - 0.005_575_8).abs() < 6e-8);
    }

    #[test]
    fn one_session_is_a_less_certain_centre() {
        let stored = StoredBaseline::from_sessions(&archive(), 0, LOG_FLOOR).unwrap();
        let anchor = stored.seen_from(&[4.60, 4.62]).unwrap();
        let look = |stored: StoredBaseline| {
            let candidate = [4.70, 4.72, 4.71];
            let looked = stored.look(&candidate, 0.1, Evidence::BeyondZero, false);
            looked.unwrap()
        };
        close(look(anchor).estimate, 0.1);
        // Successive differences .04, -.043333, .011667, .04: 6.517361e-4, less 0.0157245² / 3 within.
        // v of the reference: 6.705525e-4 less its session part 1.2 · 4.861911e-4, by 1/3 + 1/15.
        let session = 6.517_361e-4 - 0.015_724_5_f64.powi(2) / 3.0;
        let within = (6.705_525e-4 - 1.2 * 4.861_911e-4) / 0.4;
        let expected = 2.0 * session + within * (1.0 / 3.0 + 1.0 / 2.0);
        assert!((look(anchor).standard_error.powi(2) - expected).abs() < 1e-9);
        close(look(anchor).df, 32.0 / 11.0);
        assert!(look(anchor).standard_error > look(stored).standard_error);
        assert!(stored.seen_from(&[]).is_none());
        assert!(stored.seen_from(&[f64::NAN]).is_none());
    }

    #[test]
    fn too_few_sessions_are_no_baseline() {
        assert!(StoredBaseline::from_sessions(&archive()[..2], 0, LOG_FLOOR).is_none());
        assert!(StoredBaseline::from_sessions(&archive(), 3, LOG_FLOOR).is_none());
        assert!(StoredBaseline::from_sessions(&archive(), 2, LOG_FLOOR).is_some());
    }

    #[test]
    fn more_sessions_resolve_smaller_tolerances() {
        let five = StoredBaseline::from_sessions(&archive(), 0, LOG_FLOOR).unwrap();
        let ten: Vec<Vec<f64>> = archive().into_iter().chain(archive()).collect();
        let ten = StoredBaseline::from_sessions(&ten, 0, LOG_FLOOR).unwrap();
        assert!(ten.smallest_resolvable(5, 0.3, 0.95) < five.smallest_resolvable(5, 0.3, 0.95));
        assert!(five.smallest_resolvable(5, 0.3, 0.95) < five.smallest_resolvable(1, 0.3, 0.95));
    }
}
