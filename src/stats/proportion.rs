//! Shares: intervals, overdispersion, and the test against a limit.

use super::median;
use super::moderated::Interval;
use super::student::{normal_cdf, normal_quantile};

/// Events among trials of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Trials with the event.
    pub events: u64,
    /// All trials.
    pub trials: u64,
}

impl Count {
    /// The share of events; `None` of no trial.
    pub fn share(self) -> Option<f64> {
        (self.trials > 0).then(|| self.events as f64 / self.trials as f64)
    }

    /// All runs as one.
    pub fn pool(counts: &[Self]) -> Self {
        Self {
            events: counts.iter().map(|count| count.events).sum(),
            trials: counts.iter().map(|count| count.trials).sum(),
        }
    }
}

/// Wilson's interval of a share `p` among `n` (effective) trials.
///
/// 950 of 1,000 at 95 %: 0.9346862 to 0.9618697. All of \[0, 1\] where `n` is not positive.
pub fn wilson(p: f64, n: f64, confidence: f64) -> Interval {
    if n <= 0.0 {
        return Interval {
            lower: 0.0,
            upper: 1.0,
        };
    }
    let z = normal_quantile(0.5 + confidence / 2.0);
    let scale = 1.0 + z * z / n;
    let centre = (p + z * z / (2.0 * n)) / scale;
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    Interval {
        lower: (centre - half).max(0.0),
        upper: (centre + half).min(1.0),
    }
}

/// A share with the (effective) number of trials behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The share.
    pub p: f64,
    /// Trials, divided by the overdispersion where there is any.
    pub n: f64,
}

/// Newcombe's interval of the difference `first − second`.
///
/// 56 of 70 against 48 of 80 at 95 %: 0.0524315 to 0.3338727.
pub fn newcombe(first: Share, second: Share, confidence: f64) -> Interval {
    let one = wilson(first.p, first.n, confidence);
    let two = wilson(second.p, second.n, confidence);
    let difference = first.p - second.p;
    Interval {
        lower: difference - (first.p - one.lower).hypot(two.upper - second.p),
        upper: difference + (one.upper - first.p).hypot(second.p - two.lower),
    }
}

/// How much more the runs of one side scatter than independent trials would; `None` of fewer than
/// two runs.
///
/// `Σ (xᵢ − nᵢ p)² / (nᵢ p (1 − p)) / (k − 1)` with `p = (Σx + ½) / (Σn + 1)`.
/// 961, 955, 970 of 1,000 each: 1.5541774.
pub fn scatter(counts: &[Count]) -> Option<f64> {
    if counts.len() < 2 {
        return None;
    }
    let pool = Count::pool(counts);
    let p = (pool.events as f64 + 0.5) / (pool.trials as f64 + 1.0);
    let sum: f64 = counts
        .iter()
        .filter(|count| count.trials > 0)
        .map(|count| {
            let n = count.trials as f64;
            (count.events as f64 - n * p).powi(2) / (n * p * (1.0 - p))
        })
        .sum();
    Some(sum / (counts.len() - 1) as f64)
}

/// What the archive knows of overdispersion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScatterPrior {
    /// The overdispersion.
    pub phi: f64,
    /// Degrees of freedom behind it.
    pub df: f64,
}

impl ScatterPrior {
    /// Knows nothing.
    pub const NONE: Self = Self { phi: 1.0, df: 0.0 };

    /// From archived sessions of runs: the scatters weighted by their degrees of freedom, at most
    /// 8 of them.
    pub fn from_sessions(sessions: &[Vec<Count>]) -> Self {
        let (mut sum, mut df) = (0.0, 0.0);
        for session in sessions {
            if let Some(phi) = scatter(session) {
                let more = (session.len() - 1) as f64;
                sum += phi * more;
                df += more;
            }
        }
        if df > 0.0 {
            Self {
                phi: sum / df,
                df: f64::min(df, 8.0),
            }
        } else {
            Self::NONE
        }
    }
}

/// Overdispersion of the given sides together with the archive's, at least 1.
///
/// `(ν₀ φ₀ + Σ (k − 1) φ_side) / (ν₀ + Σ (k − 1))`. φ₀ = 2 with 8 degrees of freedom and sides of
/// 1.5541774 and 1.4495352 of three runs each: 1.8339521.
pub fn overdispersion(sides: &[&[Count]], prior: ScatterPrior) -> f64 {
    let (mut sum, mut df) = (prior.df * prior.phi, prior.df);
    for side in sides {
        if let Some(phi) = scatter(side) {
            let more = (side.len() - 1) as f64;
            sum += more * phi;
            df += more;
        }
    }
    if df > 0.0 { (sum / df).max(1.0) } else { 1.0 }
}

/// A side's pooled share with its effective number of trials; `None` of no trial.
pub fn effective_share(counts: &[Count], phi: f64) -> Option<Share> {
    let pool = Count::pool(counts);
    pool.share().map(|p| Share {
        p,
        n: pool.trials as f64 / phi,
    })
}

/// Standard deviation of one run's share by chance alone, from both sides' counts: the floor of a
/// proportion's noise.
///
/// `√(pt (1 − pt) / n)` with `pt = (Σ x + 1) / (Σ n + 2)` and `n` the median number of trials of a
/// run. `None` where no run has a trial.
pub fn chance_sigma(counts: &[Count]) -> Option<f64> {
    let pool = Count::pool(counts);
    let p = (pool.events as f64 + 1.0) / (pool.trials as f64 + 2.0);
    let n = median(counts.iter().map(|count| count.trials as f64).collect())?;
    (n > 0.0).then(|| (p * (1.0 - p) / n).sqrt())
}

/// P-values of a share against a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreTest {
    /// Against "at or under the limit".
    pub p_over: f64,
    /// Against "at or over the limit".
    pub p_under: f64,
}

/// The score test of a share against a limit: `z = (p − limit) / √(limit (1 − limit) / n)`.
///
/// Inverting it gives Wilson's interval, so 1,917 trials without an event are the fewest whose
/// `p_under` reaches 0.025 at a limit of 0.2 %. A limit of 0 or 1 has no variance and is compared
/// as it is.
pub fn score_test(share: Share, limit: f64) -> ScoreTest {
    let error = (limit * (1.0 - limit) / share.n).sqrt();
    if error > 0.0 && error.is_finite() {
        let z = (share.p - limit) / error;
        ScoreTest {
            p_over: normal_cdf(-z),
            p_under: normal_cdf(z),
        }
    } else {
        let over = share.p > limit;
        ScoreTest {
            p_over: if over { 0.0 } else { 1.0 },
            p_under: if over { 1.0 } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(events: &[u64]) -> Vec<Count> {
        let of_thousand = |&events| Count {
            events,
            trials: 1000,
        };
        events.iter().map(of_thousand).collect()
    }

    #[track_caller]
    fn printed(got: f64, expected: f64) {
        assert!(
            (got - expected).abs() < 6e-8,
            "got {got}, expected {expected}"
        );
    }

    fn share(events: f64, trials: f64) -> Share {
        Share {
            p: events / trials,
            n: trials,
        }
    }

    #[test]
    fn reference_wilson() {
        for (events, trials, lower, upper) in [
            (950.0, 1000.0, 0.934_686_2, 0.961_869_7),
            (0.0, 1000.0, 0.0, 0.003_826_8),
            (3.0, 1000.0, 0.001_020_8, 0.008_783_0),
            (0.0, 300.0, 0.0, 0.012_643_0),
        ] {
            let got = wilson(events / trials, trials, 0.95);
            printed(got.lower, lower);
            printed(got.upper, upper);
        }
        // 0 of 20 false alarms proves no rate under 16.11 %.
        assert!((wilson(0.0, 20.0, 0.95).upper - 0.1611).abs() < 5e-5);
    }

    #[test]
    fn reference_newcombe() {
        for (first, second, lower, upper) in [
            (
                share(56.0, 70.0),
                share(48.0, 80.0),
                0.052_431_5,
                0.333_872_7,
            ),
            (
                share(950.0, 1000.0),
                share(962.0, 1000.0),
                -0.030_394_8,
                0.006_147_1,
            ),
            (
                share(3.0, 1000.0),
                share(0.0, 1000.0),
                -0.001_308_3,
                0.008_783_0,
            ),
            (
                share(0.0, 1000.0),
                share(0.0, 1000.0),
                -0.003_826_8,
                0.003_826_8,
            ),
            (
                share(12.0, 1000.0),
                share(3.0, 1000.0),
                0.001_274_6,
                0.018_075_7,
            ),
        ] {
            let got = newcombe(first, second, 0.95);
            printed(got.lower, lower);
            printed(got.upper, upper);
        }
    }

    #[test]
    fn reference_overdispersion() {
        let base = counts(&[961, 955, 970]);
        let candidate = counts(&[930, 948, 941]);
        printed(scatter(&base).unwrap(), 1.554_177_4);
        printed(scatter(&candidate).unwrap(), 1.449_535_2);
        let phi = overdispersion(&[&base, &candidate], ScatterPrior { phi: 2.0, df: 8.0 });
        printed(phi, 1.833_952_1);
        let (b, c) = (
            effective_share(&base, phi).unwrap(),
            effective_share(&candidate, phi).unwrap(),
        );
        assert!((b.n - 1635.8115).abs() < 6e-5);
        printed(c.p - b.p, -0.022_333_3);
        let got = newcombe(c, b, 0.95);
        printed(got.lower, -0.037_386_6);
        printed(got.upper, -0.007_525_7);
    }

    #[test]
    fn reference_wilson_with_effective_trials() {
        let got = wilson(0.9476, 1598.6555, 0.95);
        printed(got.lower, 0.935_564_3);
        printed(got.upper, 0.957_489_7);
        // The reference takes the plain share where `scatter` adds half an event.
        let phi = scatter(&counts(&[950, 962, 941, 955, 930])).unwrap();
        assert!((phi - 3.127_628_2).abs() < 0.01);
    }

    #[test]
    fn the_archive_moderates_and_calm_runs_never_help() {
        let calm = counts(&[950, 950, 950]);
        assert!((overdispersion(&[&calm], ScatterPrior::NONE) - 1.0).abs() < 1e-12);
        let prior = ScatterPrior::from_sessions(&[counts(&[961, 955, 970]), counts(&[9])]);
        printed(prior.phi, 1.554_177_4);
        printed(prior.df, 2.0);
        assert_eq!(
            ScatterPrior::from_sessions(&[counts(&[9])]),
            ScatterPrior::NONE
        );
    }

    #[test]
    fn fewest_trials_that_can_clear_a_limit() {
        for (limit, n) in [(0.002, 1917.0), (0.005, 765.0)] {
            assert!(score_test(share(0.0, n), limit).p_under <= 0.025, "{limit}");
            assert!(
                score_test(share(0.0, n - 1.0), limit).p_under > 0.025,
                "{limit}"
            );
        }
    }

    #[test]
    fn a_limit_of_none_is_compared_as_it_is() {
        assert!(score_test(share(0.0, 100.0), 0.0).p_under < 1e-9);
        assert!(score_test(share(1.0, 100.0), 0.0).p_over < 1e-9);
    }

    #[test]
    fn chance_sets_the_floor_of_a_share() {
        let sigma = chance_sigma(&counts(&[950, 950])).unwrap();
        let p: f64 = 1901.0 / 2002.0;
        printed(sigma, (p * (1.0 - p) / 1000.0).sqrt());
        assert_eq!(chance_sigma(&[]), None);
    }
}
