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

/// Standard deviation of one run's share by chance alone where runs on both sides put the same trials
/// to the test: only those count on which two runs differ.
///
/// The difference of two such shares has at most the variance `q / n`, `q = (Σ b + 1) / (Σ m + 2)` the
/// share of trials that differ and `n` the median number of trials of a run; a run has half of it.
/// Six of 600 differ, 200 a run: `√(7 / 602 / 400)` = 0.005392, where chance alone would give 0.0354 to
/// runs that pass half of the time.
pub fn paired_sigma(discordant: &[Count], counts: &[Count]) -> Option<f64> {
    let pool = Count::pool(discordant);
    let differ = (pool.events as f64 + 1.0) / (pool.trials as f64 + 2.0);
    let n = median(counts.iter().map(|count| count.trials as f64).collect())?;
    (n > 0.0 && !discordant.is_empty()).then(|| (differ / (2.0 * n)).sqrt())
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
mod tests;
