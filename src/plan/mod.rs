//! Spec and seed to every length, prompt and instant: the same on any machine.

use std::sync::Arc;

mod arrival;
mod calibration;
mod conversation;
mod digest;
mod draw;
mod prompt;
mod request;
mod rest;
mod rows;
mod seed;
mod share;
mod shared;
mod words;

pub use arrival::Schedule;
pub use calibration::{CalibrationSource, PromptCalibration};
pub use conversation::{LaterTurn, Session, WARMUP_NUMBERS};
pub use prompt::{Prompt, Prompter, Salt, calibration_texts, prefix_calibration_texts};
pub use request::{Phase, PlannedRequest, Prefix, Turn};
pub use share::{Share, ShareError, Unshareable};
pub use shared::{MOST_SHARED, Shared};

use crate::spec::{Arrival, CacheRegime, Class, KeepText, Replay, Said, Spec, Stage, Workload};
use crate::unit::Nanos;
use draw::think;
use rest::LeftOut;
use rows::shuffled;
use seed::Draws;

/// A spec fully resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    seed: u64,
    cache: CacheRegime,
    keep_text: KeepText,
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
    /// What of its window is left out, for it was measured already.
    left_out: LeftOut,
}

impl Plan {
    /// Expands a spec; cannot fail, for the spec is valid.
    pub fn expand(spec: &Spec) -> Self {
        let seed = spec.workload.seed;
        let stages = spec.stages.iter().map(|stage| planned(spec, stage));
        Self {
            seed,
            cache: spec.workload.cache,
            keep_text: spec.keep_text,
            classes: shuffled(seed, &spec.workload.classes),
            stages: stages.collect(),
        }
    }

    /// With one stage more at its end; the others are what they were.
    #[must_use]
    pub fn with_stage(&self, spec: &Spec, stage: &Stage) -> Self {
        let mut plan = self.clone();
        plan.stages.push(planned(spec, stage));
        plan
    }

    /// The seed of everything random in it.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// What a prefix cache may find of its prompts.
    pub const fn cache(&self) -> CacheRegime {
        self.cache
    }

    /// What is kept of prompts and answers.
    pub const fn keep_text(&self) -> KeepText {
        self.keep_text
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

    /// Whether the requests of a stage come in conversations: some class has turns, and no trace
    /// says what comes when.
    pub fn has_conversations(&self, stage: usize) -> bool {
        self.replay(stage).is_none() && self.classes.iter().any(|class| class.turns.is_some())
    }

    /// What the user with this number in its phase sends; any number can be asked for.
    ///
    /// `before` counts the requests of the users before it, from which its own are numbered on.
    pub fn session(&self, stage: usize, phase: Phase, number: u32, before: u32) -> Session {
        let (number, before) = self.stages[stage].left_out.on(phase, number, before);
        if self.has_conversations(stage) {
            let name = &self.stages[stage].stage.name;
            Session::draw(self.seed, name, (phase, number, before), &self.classes)
        } else {
            Session::single(self.request(stage, phase, number))
        }
    }

    /// What the requests of a stage share, at most [`MOST_SHARED`] texts.
    pub fn shared(&self, stage: usize) -> Vec<Shared> {
        let of_trace = self
            .replay(stage)
            .map(|replay| shared::blocks(&replay.rows));
        let mut all = of_trace.unwrap_or_default();
        all.extend(shared::prefixes(&self.classes));
        all.truncate(MOST_SHARED);
        all
    }

    /// The prompt that a request has from its class's dataset.
    pub fn said(&self, request: &PlannedRequest) -> Option<&Said> {
        let rows = self.classes[request.class as usize].rows.as_ref()?;
        rows.rows.get(request.row? as usize)?.said.as_ref()
    }

    /// What the answer to a request should be, where its class's dataset says.
    pub fn expected(&self, request: &PlannedRequest) -> Option<Arc<str>> {
        let rows = self.classes[request.class as usize].rows.as_ref()?;
        rows.rows.get(request.row? as usize)?.expected.clone()
    }

    /// How long the user of a closed stage thinks after a request.
    pub fn think(&self, stage: usize, request: &PlannedRequest) -> Nanos {
        let StagePlan { stage, .. } = &self.stages[stage];
        let Arrival::Closed { think: time, .. } = stage.arrival else {
            return Nanos::ZERO;
        };
        let phase = match request.phase {
            Phase::Warmup => "warmup",
            Phase::Measured => "measured",
        };
        let purpose = format!("think/{phase}/{}", stage.name);
        let stream = u64::from(request.number);
        think(
            &mut Draws::new(&self.seed.to_string(), &purpose, stream),
            time,
        )
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
}

/// A stage with its instants.
fn planned(spec: &Spec, stage: &Stage) -> StagePlan {
    let seed = spec.workload.seed;
    StagePlan {
        schedule: match &stage.arrival {
            &Arrival::Open { profile, process } => {
                let turns = mean_turns(seed, &stage.name, &spec.workload);
                Some(Schedule::new(seed, stage, (profile, turns), process))
            }
            Arrival::Trace(replay) => Some(Schedule::replay(seed, stage, replay)),
            Arrival::Closed { .. } => None,
        },
        left_out: LeftOut::default(),
        stage: stage.clone(),
    }
}

/// Requests of a conversation on average: by its distribution, or where the model's length ends
/// conversations, by the plan's own.
fn mean_turns(seed: u64, stage: &str, workload: &Workload) -> f64 {
    /// Conversations whose mean stands for all: within 1 % for any usual distribution.
    const DRAWN: u32 = 16_384;
    let Workload { classes, .. } = workload;
    let has_room = |class: &Class| class.turns.is_some_and(|turns| turns.room.is_some());
    if !classes.iter().any(has_room) {
        let (requests, sessions) =
            classes
                .iter()
                .fold((0.0, 0.0), |(requests, sessions), class| {
                    (
                        requests + class.weight * class.mean_turns(),
                        sessions + class.weight,
                    )
                });
        return requests / sessions;
    }
    let requests: u64 = (0..DRAWN)
        .map(|number| Session::draw(seed, stage, (Phase::Measured, number, 0), classes))
        .map(|session| u64::from(session.requests()))
        .sum();
    requests as f64 / f64::from(DRAWN)
}
