//! Spec and seed to every length, prompt and instant: the same on any machine.

mod arrival;
mod calibration;
mod prompt;
mod request;
mod seed;
mod share;
mod words;

pub use arrival::Schedule;
pub use calibration::{CalibrationSource, PromptCalibration};
pub use prompt::{Prompt, Prompter, Salt, calibration_texts};
pub use request::{Phase, PlannedRequest, Prefix};
pub use share::{Share, ShareError, Unshareable};

use crate::ident::Digest;
use crate::spec::{Arrival, Class, Extent, Replay, Spec, Stage};
use crate::unit::Nanos;

/// Requests of an endless stage that enter the trace digest.
const DIGESTED: u32 = 4096;

/// A spec fully resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    seed: u64,
    classes: Vec<Class>,
    stages: Vec<StagePlan>,
}

/// One stage of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct StagePlan {
    /// The stage as the spec has it.
    pub stage: Stage,
    /// When requests are due; `None` in a closed loop, where users decide.
    pub schedule: Option<Schedule>,
}

impl Plan {
    /// Expands a spec; cannot fail, for the spec is valid.
    pub fn expand(spec: &Spec) -> Self {
        let seed = spec.workload.seed;
        let stages = spec
            .stages
            .iter()
            .map(|stage| StagePlan {
                schedule: match &stage.arrival {
                    &Arrival::Open { profile, process } => {
                        Some(Schedule::new(seed, stage, profile, process))
                    }
                    Arrival::Trace(replay) => Some(Schedule::replay(seed, stage, replay)),
                    Arrival::Closed { .. } => None,
                },
                stage: stage.clone(),
            })
            .collect();
        Self {
            seed,
            classes: spec.workload.classes.clone(),
            stages,
        }
    }

    /// The seed of everything random in it.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The stages, in order.
    pub fn stages(&self) -> &[StagePlan] {
        &self.stages
    }

    /// The classes, in the order that requests number them.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// A request of a stage, by its number in its phase; any number can be asked for.
    pub fn request(&self, stage: usize, phase: Phase, number: u32) -> PlannedRequest {
        let name = &self.stages[stage].stage.name;
        match self.replay(stage) {
            Some(replay) if !replay.rows.is_empty() => {
                PlannedRequest::replay(self.seed, name, phase, number, &self.classes, &replay.rows)
            }
            _ => PlannedRequest::draw(self.seed, name, phase, number, &self.classes),
        }
    }

    /// Ids of the blocks that a request's prompt starts with; none but in a trace that names them,
    /// and none in a warm-up, which warms nothing that is measured.
    pub fn blocks(&self, stage: usize, request: &PlannedRequest) -> &[u64] {
        match (self.replay(stage), request.phase) {
            (Some(replay), Phase::Measured) => replay
                .rows
                .get(request.number as usize)
                .map_or(&[], |row| &row.blocks),
            _ => &[],
        }
    }

    fn replay(&self, stage: usize) -> Option<&Replay> {
        match &self.stages[stage].stage.arrival {
            Arrival::Trace(replay) => Some(replay),
            Arrival::Closed { .. } | Arrival::Open { .. } => None,
        }
    }

    /// Digest of the structure: stages, instants, lengths and groups; neither text nor salt.
    ///
    /// A stage by duration in a closed loop has no last request: its first 4,096 stand for it.
    pub fn trace_digest(&self) -> Digest {
        let stages: Vec<_> = self
            .stages
            .iter()
            .enumerate()
            .map(|(index, StagePlan { stage, schedule })| {
                let n = match (schedule, stage.extent) {
                    (Some(schedule), _) => schedule.measured.len() as u32,
                    (None, Extent::Requests(n)) => n,
                    (None, Extent::Duration(_)) => DIGESTED,
                };
                let requests = (0..n).map(|number| self.request(index, Phase::Measured, number));
                (
                    serde_json::to_value(stage).expect("a stage serialises to JSON"),
                    schedule.as_ref().map(SortedSchedule::of),
                    Digest::of_json_list(requests),
                )
            })
            .collect();
        Digest::of_sorted_json(&stages)
    }
}

/// A schedule with its keys sorted: it may be long, and is written into the digest as it is.
#[derive(serde::Serialize)]
struct SortedSchedule<'a> {
    measured: &'a [Nanos],
    warmup: &'a [Nanos],
    window_end: Nanos,
    window_start: Nanos,
}

impl<'a> SortedSchedule<'a> {
    fn of(schedule: &'a Schedule) -> Self {
        let Schedule {
            warmup,
            measured,
            window_start,
            window_end,
        } = schedule;
        Self {
            measured,
            warmup,
            window_end: *window_end,
            window_start: *window_start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ArrivalProcess, Length, RateProfile, Warmup};
    use crate::unit::Rps;

    #[test]
    fn a_schedule_is_digested_as_its_canonical_json() {
        let schedule = Schedule {
            warmup: vec![Nanos::new(1), Nanos::new(5)],
            measured: vec![Nanos::new(7)],
            window_start: Nanos::new(6),
            window_end: Nanos::new(9),
        };
        assert_eq!(
            Digest::of_sorted_json(&Some(SortedSchedule::of(&schedule))),
            Digest::of_json(&Some(schedule))
        );
    }

    #[test]
    fn the_trace_digest_is_that_of_the_whole_plan_at_once() {
        let stage = |arrival, extent| Stage {
            name: "steady".to_owned(),
            arrival,
            extent,
            warmup: Warmup {
                requests: 3,
                duration: Nanos::ZERO,
            },
            in_flight: 10,
            drain_timeout: Nanos::from_secs(1),
            stop_when: None,
            soak: false,
            labels: Vec::new(),
        };
        let (profile, process) = (
            RateProfile::Steady(Rps::try_new(7.0).unwrap()),
            ArrivalProcess::Poisson,
        );
        let closed = Arrival::Closed {
            users: 2,
            ramp: None,
            think: Nanos::ZERO,
        };
        let open = stage(Arrival::Open { profile, process }, Extent::Requests(40));
        let lengths = Length::Uniform { low: 5, high: 90 };
        let plan = Plan {
            seed: 7,
            classes: vec![Class::new("a".parse().unwrap(), lengths, lengths)],
            stages: vec![
                StagePlan {
                    schedule: Some(Schedule::new(7, &open, profile, process)),
                    stage: open,
                },
                StagePlan {
                    schedule: None,
                    stage: stage(closed, Extent::Requests(9)),
                },
            ],
        };
        let at_once: Vec<_> = [(0, 40), (1, 9)]
            .into_iter()
            .map(|(index, n)| {
                let requests: Vec<_> = (0..n)
                    .map(|number| plan.request(index, Phase::Measured, number))
                    .collect();
                let StagePlan { stage, schedule } = &plan.stages[index];
                (stage, schedule, Digest::of_json(&requests))
            })
            .collect();
        assert_eq!(plan.trace_digest(), Digest::of_json(&at_once));
    }
}
