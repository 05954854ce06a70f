//! Runs without a clock: the plan's own requests, an ideal client, and the embedded engine's model.
//!
//! A run of seconds takes milliseconds, so a gate can be asked thousands of times how often it is
//! right. Only the two ends of the wire are missing: a request arrives at the instant it is sent,
//! and a token when its step has ended. Records, summaries and run files are those of real runs.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::measure::RunName;
use super::stages::quantiles;
use crate::ident::Digest;
use crate::metric::{DEFINITION, Quantile};
use crate::plan::{Phase, Plan, PlannedRequest, PromptCalibration, Schedule};
use crate::sample::{
    FinishReason, Outcome, RequestRecord, StageEnd, StageObservation, TokenSource,
};
use crate::sim::engine::{Engine, Job};
use crate::spec::{Arrival, Extent, Spec, Stage};
use crate::summary::{
    ClientStamp, RUN_FORMAT, Run, RunEnd, SpecStamp, StageContext, StageSummary, summarise_stage,
};
use crate::unit::Nanos;

/// How long the engine rests between two stages.
const REST: Nanos = Nanos::from_millis(50);
/// Token ids that each job has for itself.
const IDS: u32 = 1 << 14;

/// Why a spec cannot be run in virtual time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VirtualError {
    /// A stage has what only the load client does.
    #[error(
        "stage `{stage}` has {what}, which virtual time does not know; \
         it knows open stages, and closed ones by `requests` without think time"
    )]
    Unknown {
        /// The stage.
        stage: String,
        /// What it has.
        what: &'static str,
    },
}

/// A spec whose runs are taken in virtual time.
#[derive(Debug, Clone)]
pub struct VirtualSitting {
    spec: Spec,
    plan: Plan,
    quantiles: Vec<Quantile>,
    /// A run with nothing of its own.
    like: Run,
}

/// A run that was taken in virtual time.
#[derive(Debug, Clone, PartialEq)]
pub struct VirtualRun {
    /// The run.
    pub run: Run,
    /// When the engine has rested after its last answer, on its clock.
    pub ended: Nanos,
}

impl VirtualSitting {
    /// Expands a spec; its target is not asked for anything.
    pub fn new(spec: Spec) -> Result<Self, VirtualError> {
        let plan = Plan::expand(&spec);
        for index in 0..plan.stages().len() {
            if let Some(what) = unknown(&plan, index) {
                return Err(VirtualError::Unknown {
                    stage: plan.stages()[index].stage.name.clone(),
                    what,
                });
            }
        }
        Ok(Self {
            like: blank(&spec, &plan),
            quantiles: quantiles(&spec),
            spec,
            plan,
        })
    }

    /// The spec.
    pub const fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Takes one run of all stages from `start` on, on the clock of this engine, which is idle.
    ///
    /// The engine goes on from run to run, as a server does: its noise, its cache, and what its
    /// machine does to it.
    pub fn run(
        &self,
        engine: &mut Engine,
        session: &str,
        start: Nanos,
        name: RunName,
    ) -> VirtualRun {
        let mut run = self.like.clone();
        run.pair = name.place.map(|place| place.pair);
        run.side = name.place.and_then(|place| place.side);
        run.id = format!("{}-{}", name.stamp, name.unique);
        session.clone_into(&mut run.session);
        run.started = name.started;
        run.salt.clone_from(&name.unique);
        let mut now = start;
        for index in 0..self.plan.stages().len() {
            let mut client = Client {
                plan: &self.plan,
                stage: index,
                run: &name.unique,
                first_id: first_id(&name.unique),
                start: now,
                records: Vec::new(),
            };
            let observation = match &self.plan.stages()[index].schedule {
                Some(schedule) => client.by_the_clock(engine, schedule),
                None => client.by_users(engine),
            };
            run.elapsed_s += observation.window_end.as_secs_f64();
            let last = client.records.iter().filter_map(|record| record.done).max();
            let stage = &self.plan.stages()[index].stage;
            run.stages
                .push(self.summary(stage, &client.records, &observation));
            now = now + last.unwrap_or(Nanos::ZERO).max(observation.window_end) + REST;
        }
        VirtualRun { run, ended: now }
    }

    fn summary(
        &self,
        stage: &Stage,
        records: &[RequestRecord],
        observation: &StageObservation,
    ) -> StageSummary {
        let context = StageContext {
            stage,
            classes: self.plan.classes(),
            quantiles: &self.quantiles,
            token_mismatch: self.spec.gate.token_mismatch,
        };
        let Ok::<_, Infallible>(summary) = summarise_stage(context, records, observation);
        summary
    }
}

/// What a stage has that only the load client does.
fn unknown(plan: &Plan, index: usize) -> Option<&'static str> {
    let stage = &plan.stages()[index].stage;
    if plan.has_conversations(index) {
        return Some("conversations");
    }
    if plan.classes().iter().any(|class| class.cancel.is_some()) {
        return Some("cancellations");
    }
    match (&stage.arrival, stage.extent) {
        (Arrival::Closed { think, .. }, _) if think.mean() > Nanos::ZERO => Some("think time"),
        (Arrival::Closed { .. }, Extent::Duration(_)) => Some("a closed loop by time"),
        (Arrival::Open { .. } | Arrival::Trace(_), _)
        | (Arrival::Closed { .. }, Extent::Requests(_)) => None,
    }
}

/// A run of nothing.
fn blank(spec: &Spec, plan: &Plan) -> Run {
    Run {
        format: RUN_FORMAT.to_owned(),
        definition: DEFINITION.to_owned(),
        id: String::new(),
        session: String::new(),
        pair: None,
        side: None,
        started: String::new(),
        elapsed_s: 0.0,
        end: RunEnd::Complete,
        spec: SpecStamp::of(spec, plan.cache()),
        source: None,
        untrusted: false,
        trace_digest: plan.trace_digest(),
        salt: String::new(),
        prompt_calibration: PromptCalibration::ASSUMED,
        pins: BTreeMap::new(),
        cold_start: None,
        network: None,
        client: ClientStamp {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: "virtual time".to_owned(),
        },
        stages: Vec::new(),
        skipped: Vec::new(),
        shard: None,
        merged: Vec::new(),
        imported: BTreeMap::new(),
        origin: None,
    }
}

/// Where the token ids of a run begin: its prompts have nothing in common with those of others.
fn first_id(run: &str) -> u32 {
    let digest = Digest::of(run.as_bytes()).short();
    u32::from_str_radix(&digest[..8.min(digest.len())], 16).unwrap_or(0)
}

/// A client that sends and reads in no time.
struct Client<'a> {
    plan: &'a Plan,
    stage: usize,
    run: &'a str,
    first_id: u32,
    /// When the stage starts, on the engine's clock; records count from it.
    start: Nanos,
    /// By the number of their jobs.
    records: Vec<RequestRecord>,
}

impl Client<'_> {
    /// Sends a request at an instant since the stage's start.
    fn send(&mut self, engine: &mut Engine, at: Nanos, request: &PlannedRequest) {
        let id = self.records.len() as u32;
        let first = self.first_id.wrapping_add(id.wrapping_mul(IDS));
        let ids = |from: u32, count: u32| -> Vec<u32> {
            (from..from + count)
                .map(|token| first.wrapping_add(token))
                .collect()
        };
        engine.submit(Job {
            id: id.into(),
            arrival: self.start + at,
            run: self.run.to_owned(),
            prompt: ids(0, request.input_tokens),
            output: ids(request.input_tokens, request.output_tokens),
        });
        self.records.push(RequestRecord {
            stage: self.stage as u32,
            index: request.number,
            class: request.class,
            tenant: request.tenant,
            conversation: None,
            turn: None,
            phase: request.phase,
            planned_input_tokens: request.input_tokens,
            planned_output_tokens: request.output_tokens,
            scheduled: at,
            sent: Some(at),
            headers: Some(at),
            first_answer: None,
            done: None,
            events: Vec::with_capacity(request.output_tokens as usize),
            event_tokens: Vec::new(),
            output_tokens: Some(request.output_tokens),
            output_source: TokenSource::Usage,
            input_tokens: Some(request.input_tokens),
            cached_tokens: None,
            finish: Some(FinishReason::Length),
            resent: 0,
            bytes: 0,
            outcome: Outcome::Completed,
            error: None,
            answer: None,
            heard: None,
        });
    }

    /// Lets the engine take a step and reads its tokens; the instant at which it ended and how many
    /// requests ended with it, or `None` where the engine is idle.
    fn step(&mut self, engine: &mut Engine) -> Option<(Nanos, u32)> {
        let step = engine.step()?;
        let now = step.end.since(self.start);
        let mut over = 0;
        for emission in &step.emissions {
            let record = &mut self.records[emission.id as usize];
            record.first_answer.get_or_insert(now);
            record.events.push(now);
            if emission.last {
                record.done = Some(now);
                over += 1;
            }
        }
        Some((now, over))
    }

    /// Sends what is due by the clock.
    fn by_the_clock(&mut self, engine: &mut Engine, schedule: &Schedule) -> StageObservation {
        let parts = [
            (Phase::Warmup, &schedule.warmup),
            (Phase::Measured, &schedule.measured),
        ];
        for (phase, instants) in parts {
            for (&at, number) in instants.iter().zip(0..) {
                let request = self.plan.request(self.stage, phase, number);
                self.send(engine, at, &request);
            }
        }
        while self.step(engine).is_some() {}
        self.observation(schedule.window_start, schedule.window_end)
    }

    /// Has users who send as soon as they are free.
    ///
    /// As in the load client the first request runs alone unless there is a ramp, the others start
    /// within its latency, the window opens when the warm-up is over and all have started, and it
    /// closes when a user is free and nothing is left to send.
    fn by_users(&mut self, engine: &mut Engine) -> StageObservation {
        let stage = &self.plan.stages()[self.stage].stage;
        let (Arrival::Closed { users, ramp, .. }, Extent::Requests(requests)) =
            (&stage.arrival, stage.extent)
        else {
            return self.observation(Nanos::ZERO, Nanos::ZERO);
        };
        let (users, warmup) = (*users, stage.warmup);
        let spread = |from: Nanos, over: Nanos, users: std::ops::Range<u32>, of: u32| {
            users.map(move |user| {
                let share = u128::from(over.get()) * u128::from(user) / u128::from(of);
                (from + Nanos::new(share as u64), true)
            })
        };
        // When users are free, and whether it is their start; soonest last.
        let mut free: Vec<(Nanos, bool)> = match ramp {
            Some(over) => spread(Nanos::ZERO, *over, 0..users, users).collect(),
            None => vec![(Nanos::ZERO, true)],
        };
        let mut is_alone = ramp.is_none();
        let (mut warm, mut measured, mut started) = (0, 0, 0);
        let (mut opened, mut closed) = (None, None);
        let mut now = Nanos::ZERO;
        loop {
            free.sort_unstable_by(|a, b| b.cmp(a));
            while let Some((at, is_new)) = free.pop_if(|(at, _)| *at <= now) {
                started += u32::from(is_new);
                let is_warm = warm >= warmup.requests && at >= warmup.duration;
                let (phase, number) = if opened.is_none() && (!is_warm || started < users) {
                    (Phase::Warmup, &mut warm)
                } else {
                    opened.get_or_insert(at);
                    (Phase::Measured, &mut measured)
                };
                if phase == Phase::Measured && *number == requests {
                    closed.get_or_insert(at);
                    continue;
                }
                let request = self.plan.request(self.stage, phase, *number);
                *number += 1;
                self.send(engine, at, &request);
            }
            if let Some((end, over)) = self.step(engine) {
                now = end;
                if over > 0 && std::mem::take(&mut is_alone) {
                    free.extend(spread(now, now, 1..users, users));
                }
                free.extend(std::iter::repeat_n((now, false), over as usize));
            } else if let Some((at, _)) = free.last() {
                now = *at;
            } else {
                break;
            }
        }
        let opened = opened.unwrap_or(Nanos::ZERO);
        self.observation(opened, closed.unwrap_or(opened))
    }

    fn observation(&self, window_start: Nanos, window_end: Nanos) -> StageObservation {
        let window = window_end.since(window_start).as_secs_f64();
        let in_window = |record: &RequestRecord| {
            let (sent, done) = (record.sent?.max(window_start), record.done?.min(window_end));
            Some(done.since(sent).as_secs_f64())
        };
        let busy: f64 = self.records.iter().filter_map(in_window).sum();
        StageObservation {
            window_start,
            window_end,
            in_flight_mean: if window > 0.0 { busy / window } else { 0.0 },
            in_flight_max: 0,
            cap_hits: 0,
            cpu_share: None,
            loop_lag_p99: None,
            connections: None,
            bytes: 0,
            backlog: 0,
            end: StageEnd::Complete,
            pulses: Vec::new(),
            events: Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "virtual_time_tests.rs"]
mod tests;
