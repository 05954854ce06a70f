//! Spec and seed to every length, prompt and instant: the same on any machine.

mod arrival;
mod calibration;
mod prompt;
mod request;
mod seed;
mod words;

pub use arrival::Schedule;
pub use calibration::{CalibrationSource, PromptCalibration};
pub use prompt::{Prompt, Prompter, Salt, calibration_texts};
pub use request::{Phase, PlannedRequest, Prefix, Turn};

use crate::ident::Digest;
use crate::spec::{Arrival, Class, Extent, Replay, Spec, Stage};

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
                let requests: Vec<_> = (0..n)
                    .map(|number| self.request(index, Phase::Measured, number))
                    .collect();
                (stage, schedule, Digest::of_json(&requests))
            })
            .collect();
        Digest::of_json(&stages)
    }
}
