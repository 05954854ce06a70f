//! Steps that are added to a sweep after its last one, and the open loop that bears its load out.

use crate::capacity::{Axis, Sustained, refine, sweep};
use crate::spec::{Arrival, ArrivalProcess, CapacityPlan, RateProfile, Refine, Spec, Stage};
use crate::summary::StageSummary;
use crate::unit::Rps;

/// A verifying stage has room for what waits, and is never cut by its own client.
const IN_FLIGHT: u32 = 1000;

/// What is still to be run of a sweep.
#[derive(Debug)]
pub(super) struct Refinement<'a> {
    sweep: &'a str,
    steps: Vec<&'a Stage>,
    refine: Refine,
    plan: CapacityPlan,
    /// When it began, on the run's count of seconds under load.
    since_s: f64,
    added: u32,
    verified: bool,
    taken: Vec<&'a str>,
}

impl<'a> Refinement<'a> {
    /// Of the sweep whose last step the stage of this index is; `None` where it is none, or nobody asks.
    pub(super) fn after(spec: &'a Spec, index: usize, since_s: f64) -> Option<Self> {
        let last = spec.stages.get(index)?;
        let (refine, sweep) = (last.refine?, last.sweep()?);
        let own = |stage: &&Stage| stage.sweep() == Some(sweep);
        if spec.stages.get(index + 1).as_ref().is_some_and(own) {
            return None;
        }
        Some(Self {
            sweep,
            steps: spec.stages.iter().filter(own).collect(),
            refine,
            plan: spec.capacity.clone().unwrap_or_default(),
            since_s,
            added: 0,
            verified: false,
            taken: spec
                .stages
                .iter()
                .map(|stage| stage.name.as_str())
                .collect(),
        })
    }

    /// The stage to run next, by what was measured so far; `None` where there is nothing left to tell.
    pub(super) fn next(&mut self, stages: &[StageSummary], elapsed_s: f64) -> Option<Stage> {
        let stages: Vec<&StageSummary> = stages.iter().collect();
        let reading = sweep::of_stages(self.sweep, &stages, &self.plan);
        let spent = elapsed_s - self.since_s;
        let in_time = self
            .refine
            .time
            .is_none_or(|time| spent < time.as_secs_f64());
        if in_time && self.added < self.refine.steps {
            let load = refine::next(&reading);
            if let Some(stage) = load.and_then(|load| self.step(load)) {
                self.added += 1;
                return Some(stage);
            }
        }
        let within = reading.within_slo.figure()?;
        let Sustained::NotTried { rate_rps } = within.sustained else {
            return None;
        };
        let is_closed = reading.axis == Axis::Users;
        if !in_time || self.verified || !is_closed {
            return None;
        }
        self.verified = true;
        self.open(rate_rps)
    }

    /// A step of this load, otherwise like the next larger one.
    fn step(&self, load: f64) -> Option<Stage> {
        let size = |stage: &Stage| match &stage.arrival {
            Arrival::Closed { users, .. } => f64::from(*users),
            Arrival::Open { profile, .. } => profile.first().get(),
            Arrival::Trace(_) => 0.0,
        };
        let larger = self.steps.iter().filter(|stage| size(stage) > load);
        let like = larger.min_by(|one, other| size(one).total_cmp(&size(other)))?;
        let mut stage = (*like).clone();
        stage.name = format!("{}@{load}", self.sweep);
        stage.events.clear();
        match &mut stage.arrival {
            Arrival::Closed { users, .. } => {
                *users = load as u32;
                stage.in_flight = *users;
            }
            Arrival::Open { profile, .. } => *profile = RateProfile::Steady(Rps::try_new(load)?),
            Arrival::Trace(_) => return None,
        }
        Some(stage)
    }

    /// The open stage at a rate that the closed loop reached within the SLO.
    fn open(&self, rate: f64) -> Option<Stage> {
        let rate = Rps::try_new((rate * 100.0).round() / 100.0)?;
        let like = self.steps.last()?;
        let mut name = format!("{}-open", self.sweep);
        while self.taken.contains(&name.as_str()) {
            name.push('_');
        }
        Some(Stage {
            name,
            arrival: Arrival::Open {
                profile: RateProfile::Steady(rate),
                process: ArrivalProcess::Poisson,
            },
            in_flight: like.in_flight.max(IN_FLIGHT),
            stop_when: None,
            refine: None,
            events: Vec::new(),
            ..(*like).clone()
        })
    }
}
