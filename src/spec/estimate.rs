//! What a spec says about its own size before anything has run.

use super::class::Class;
use super::model::{Arrival, Extent, SloClause, Stage, Workload};
use crate::unit::Nanos;

/// Latency of a request whose class has no SLO to go by.
const ASSUMED_LATENCY: Nanos = Nanos::from_secs(10);

impl Class {
    /// The latency of a request that just keeps its SLO: the smaller of the E2E limit and TTFT
    /// limit + TPOT limit × (mean output − 1); `None` without either.
    pub fn latency_at_slo(&self) -> Option<Nanos> {
        let limit = |clause| self.slo.get(&clause).copied();
        let parts = match (limit(SloClause::Ttft), limit(SloClause::Tpot)) {
            (Some(first), Some(each)) => {
                let gaps = (self.mean_output() - 1.0).max(0.0);
                Nanos::try_from_secs_f64(first.as_secs_f64() + gaps * each.as_secs_f64())
            }
            _ => None,
        };
        [limit(SloClause::E2e), parts].into_iter().flatten().min()
    }
}

impl Workload {
    /// Share of requests that a class has, from 0 to 1; 0 for a class that is not there.
    ///
    /// Weights are of conversations: of two equal ones, one with 3 turns has 75 % of the requests.
    pub fn share(&self, class: &str) -> f64 {
        let requests = |class: &Class| class.weight * class.mean_turns();
        let total: f64 = self.classes.iter().map(requests).sum();
        self.classes
            .iter()
            .find(|candidate| candidate.name.as_str() == class)
            .map_or(0.0, |class| requests(class) / total)
    }

    /// Whether any class has conversations.
    pub fn has_conversations(&self) -> bool {
        self.classes.iter().any(|class| class.turns.is_some())
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
    /// The rate that a stage starts with and warms up at, per second; `None` in a closed loop.
    pub fn first_rate(&self) -> Option<f64> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { profile, .. } => Some(profile.first().get()),
            Self::Trace(replay) => Some(replay.mean_rate()),
        }
    }

    /// Whether the plan has the load stay the same over the window; a replay is taken as it comes.
    pub const fn is_steady(&self) -> bool {
        match self {
            Self::Open { profile, .. } => profile.is_steady(),
            Self::Closed { .. } | Self::Trace(_) => true,
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
        match (self.extent, &self.arrival) {
            (Extent::Requests(requests), _) => Some(f64::from(requests)),
            (Extent::Duration(_), Arrival::Closed { .. }) => None,
            (Extent::Duration(window), Arrival::Open { profile, .. }) => {
                Some(profile.count(window.as_secs_f64()))
            }
            (Extent::Duration(window), Arrival::Trace(replay)) => {
                Some(replay.mean_rate() * window.as_secs_f64())
            }
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
        let requests = f64::from(self.warmup.requests);
        let seconds = match &self.arrival {
            Arrival::Closed { users, think, .. } => {
                requests * (latency + think.mean()).as_secs_f64() / f64::from(*users)
            }
            Arrival::Open { profile, .. } => requests / profile.first().get(),
            Arrival::Trace(replay) => requests / replay.mean_rate(),
        };
        self.warmup.duration.max(bounded(seconds)) + self.window(latency)
    }

    /// How long the window lasts when a request takes `latency`.
    pub fn window(&self, latency: Nanos) -> Nanos {
        match (self.extent, &self.arrival) {
            (_, Arrival::Trace(replay)) => replay.span,
            (Extent::Duration(window), _) => window,
            (Extent::Requests(requests), Arrival::Closed { users, think, .. }) => bounded(
                f64::from(requests) * (latency + think.mean()).as_secs_f64() / f64::from(*users),
            ),
            (Extent::Requests(requests), Arrival::Open { profile, .. }) => {
                bounded(profile.window(f64::from(requests)))
            }
        }
    }

    /// Requests a second over the window; `None` where the target's speed decides.
    pub fn mean_rate(&self) -> Option<f64> {
        match &self.arrival {
            Arrival::Closed { .. } => None,
            Arrival::Open { profile, .. } => {
                let window = self.window(Nanos::ZERO).as_secs_f64();
                Some(profile.count(window) / window)
            }
            Arrival::Trace(replay) => Some(replay.mean_rate()),
        }
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

/// Seconds as time, as long as there is.
fn bounded(seconds: f64) -> Nanos {
    Nanos::try_from_secs_f64(seconds).unwrap_or(Nanos::new(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{
        ArrivalProcess, CacheRegime, Length, RateProfile, Slo, Think, Turns, Warmup,
    };
    use crate::unit::Rps;

    fn class(name: &str, weight: f64, slo: &[(SloClause, u64)]) -> Class {
        let fixed = Length::Fixed;
        Class {
            weight,
            slo: slo
                .iter()
                .map(|&(clause, millis)| (clause, Nanos::from_millis(millis)))
                .collect::<Slo>(),
            ..Class::new(name.parse().unwrap(), fixed(10), fixed(101))
        }
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
            cache: CacheRegime::default(),
            classes: vec![chat, class("free", 1.0, &[])],
        };
        // 0.75 × 4.5 s + 0.25 × 10 s.
        assert_eq!(workload.latency_at_slo(), Nanos::from_millis(5875));
    }

    #[test]
    fn a_conversations_turns_are_all_requests_of_its_class() {
        let mut talk = class("talk", 1.0, &[]);
        talk.turns = Some(Turns {
            count: Length::Uniform { low: 1, high: 5 },
            think: None,
            room: None,
        });
        let workload = Workload {
            seed: 0,
            cache: CacheRegime::default(),
            classes: vec![talk, class("single", 1.0, &[])],
        };
        assert!((workload.share("talk") - 0.75).abs() < 1e-12);
        assert!((workload.share("single") - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_stage_knows_its_requests_and_time() {
        let mut stage = Stage {
            name: "steady".to_owned(),
            arrival: Arrival::Open {
                profile: RateProfile::Steady(Rps::try_new(8.0).unwrap()),
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
            refine: None,
            soak: None,
            events: Vec::new(),
            labels: Vec::new(),
        };
        assert_eq!(stage.expected_requests(), Some(1440.0));
        assert_eq!(stage.expected_duration(Nanos::ZERO), Nanos::from_secs(210));
        stage.arrival = Arrival::Closed {
            users: 4,
            ramp: None,
            think: Think::NONE,
        };
        assert_eq!(stage.expected_requests(), None);
        assert_eq!(
            stage.expected_duration(Nanos::from_secs(2)),
            Nanos::from_secs(220)
        );
        assert!(!stage.has_fixed_duration());
    }
}
