//! What a spec says about its own size before anything has run.

use super::model::{Arrival, Class, Extent, Length, SloClause, Stage, Workload};
use crate::unit::Nanos;

/// Latency of a request whose class has no SLO to go by.
const ASSUMED_LATENCY: Nanos = Nanos::from_secs(10);

impl Length {
    /// The mean, in tokens, clipping left out: `{p50: 100, p95: 200}` has 109.3.
    ///
    /// A log-normal's mean is `p50 · exp(σ²/2)` with `σ = ln(p95/p50) / 1.645`.
    pub fn mean(self) -> f64 {
        match self {
            Self::Fixed(tokens) => f64::from(tokens),
            Self::Uniform { low, high } => f64::midpoint(f64::from(low), f64::from(high)),
            Self::Lognormal { p50, p95, .. } => {
                // Stage sizes follow from this and enter digests, so it must be bit-equal on every
                // machine, which `libm` is.
                let sigma = libm::log(p95 / p50) / 1.644_853_626_951_472_2;
                p50 * libm::exp(sigma * sigma / 2.0)
            }
        }
    }

    /// The largest that can be drawn, in tokens.
    pub const fn largest(self) -> u32 {
        match self {
            Self::Fixed(tokens) => tokens,
            Self::Uniform { high, .. } => high,
            Self::Lognormal { max, .. } => max,
        }
    }
}

impl Class {
    /// The latency of a request that just keeps its SLO: the smaller of the E2E limit and TTFT
    /// limit + TPOT limit × (mean output − 1); `None` without either.
    pub fn latency_at_slo(&self) -> Option<Nanos> {
        let limit = |clause| self.slo.get(&clause).copied();
        let parts = match (limit(SloClause::Ttft), limit(SloClause::Tpot)) {
            (Some(first), Some(each)) => {
                let gaps = (self.output.mean() - 1.0).max(0.0);
                Nanos::try_from_secs_f64(first.as_secs_f64() + gaps * each.as_secs_f64())
            }
            _ => None,
        };
        [limit(SloClause::E2e), parts].into_iter().flatten().min()
    }
}

impl Workload {
    /// Share of requests that a class has, from 0 to 1; 0 for a class that is not there.
    pub fn share(&self, class: &str) -> f64 {
        let total: f64 = self.classes.iter().map(|class| class.weight).sum();
        self.classes
            .iter()
            .find(|candidate| candidate.name.as_str() == class)
            .map_or(0.0, |class| class.weight / total)
    }

    /// Mean latency of requests that just keep their SLO; 10 s for a class without one.
    pub fn latency_at_slo(&self) -> Nanos {
        let seconds: f64 = self
            .classes
            .iter()
            .map(|class| {
                let latency = class.latency_at_slo().unwrap_or(ASSUMED_LATENCY);
                self.share(class.name.as_str()) * latency.as_secs_f64()
            })
            .sum();
        Nanos::try_from_secs_f64(seconds).unwrap_or(ASSUMED_LATENCY)
    }
}

impl Arrival {
    /// Requests per second on average where the clock decides; `None` where users do.
    pub fn mean_rate(&self) -> Option<f64> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { rate, .. } => Some(rate.get()),
            Self::Trace(replay) => Some(replay.mean_rate()),
        }
    }

    /// Whether the clock decides when requests leave.
    pub const fn is_open(&self) -> bool {
        match self {
            Self::Closed { .. } => false,
            Self::Open { .. } | Self::Trace(_) => true,
        }
    }
}

impl Stage {
    /// Requests in the measured window; `None` where the target's speed decides.
    ///
    /// An open stage of 8/s over 180 s has 1,440.
    pub fn expected_requests(&self) -> Option<f64> {
        match self.extent {
            Extent::Requests(requests) => Some(f64::from(requests)),
            Extent::Duration(window) => Some(self.arrival.mean_rate()? * window.as_secs_f64()),
        }
    }

    /// The same of one class, or of all.
    pub fn expected_requests_of(&self, class: Option<&str>, workload: &Workload) -> Option<f64> {
        let all = self.expected_requests()?;
        Some(match (class, &self.arrival) {
            (None, _) => all,
            (Some(class), Arrival::Trace(replay)) => {
                let played = replay.classes.get(class);
                played.map_or(0.0, |played| f64::from(played.requests))
            }
            (Some(class), _) => all * workload.share(class),
        })
    }

    /// How long warm-up and window last when a request takes `latency`; the drain comes on top.
    ///
    /// Where the clock decides, the latency has no influence.
    pub fn expected_duration(&self, latency: Nanos) -> Nanos {
        let pace = match &self.arrival {
            Arrival::Closed { users, .. } => latency.as_secs_f64() / f64::from(*users),
            Arrival::Open { rate, .. } => 1.0 / rate.get(),
            Arrival::Trace(replay) => 1.0 / replay.mean_rate(),
        };
        let stretch = |requests: u32| {
            Nanos::try_from_secs_f64(f64::from(requests) * pace).unwrap_or(Nanos::new(u64::MAX))
        };
        let warmup = self.warmup.duration.max(stretch(self.warmup.requests));
        let window = match (self.extent, &self.arrival) {
            (_, Arrival::Trace(replay)) => replay.span,
            (Extent::Requests(requests), _) => stretch(requests),
            (Extent::Duration(window), _) => window,
        };
        warmup + window
    }

    /// Whether the clock alone decides how long the stage lasts.
    pub const fn has_fixed_duration(&self) -> bool {
        match self.arrival {
            Arrival::Open { .. } | Arrival::Trace(_) => true,
            Arrival::Closed { .. } => {
                matches!(self.extent, Extent::Duration(_)) && self.warmup.requests == 0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ArrivalProcess, Slo, Warmup};
    use crate::unit::Rps;

    fn class(name: &str, weight: f64, slo: &[(SloClause, u64)]) -> Class {
        Class {
            name: name.parse().unwrap(),
            weight,
            input: Length::Fixed(10),
            output: Length::Fixed(101),
            prefix: None,
            slo: slo
                .iter()
                .map(|&(clause, millis)| (clause, Nanos::from_millis(millis)))
                .collect::<Slo>(),
        }
    }

    #[test]
    fn a_lognormal_mean_lies_above_its_median() {
        let length = Length::Lognormal {
            p50: 100.0,
            p95: 200.0,
            max: 1000,
        };
        assert!((length.mean() - 109.3).abs() < 0.05, "{}", length.mean());
    }

    #[test]
    fn latency_comes_from_the_tighter_limit() {
        let chat = class(
            "chat",
            3.0,
            &[
                (SloClause::Ttft, 500),
                (SloClause::Tpot, 40),
                (SloClause::E2e, 60_000),
            ],
        );
        assert_eq!(chat.latency_at_slo(), Some(Nanos::from_millis(4500)));
        let workload = Workload {
            seed: 0,
            classes: vec![chat, class("free", 1.0, &[])],
        };
        // 0.75 × 4.5 s + 0.25 × 10 s.
        assert_eq!(workload.latency_at_slo(), Nanos::from_millis(5875));
    }

    #[test]
    fn a_stage_knows_its_requests_and_time() {
        let mut stage = Stage {
            name: "steady".to_owned(),
            arrival: Arrival::Open {
                rate: Rps::try_new(8.0).unwrap(),
                process: ArrivalProcess::Poisson,
            },
            extent: Extent::Duration(Nanos::from_secs(180)),
            warmup: Warmup {
                requests: 80,
                duration: Nanos::from_secs(30),
            },
            in_flight: 1000,
            drain_timeout: Nanos::from_secs(60),
            stop_when: None,
            soak: false,
            labels: Vec::new(),
        };
        assert_eq!(stage.expected_requests(), Some(1440.0));
        assert_eq!(stage.expected_duration(Nanos::ZERO), Nanos::from_secs(210));
        stage.arrival = Arrival::Closed {
            users: 4,
            ramp: None,
        };
        assert_eq!(stage.expected_requests(), None);
        assert_eq!(
            stage.expected_duration(Nanos::from_secs(2)),
            Nanos::from_secs(220)
        );
        assert!(!stage.has_fixed_duration());
    }
}
