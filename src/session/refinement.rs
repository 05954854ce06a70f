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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::tests::{Row, SWEEP, run};
    use crate::diag::Source;
    use crate::spec;

    fn spec_of(load: &str, refine: &str, more: &str) -> Spec {
        let text = format!(
            "infergate: 1\nname: refined\ntarget: {{sim: test, api: chat}}\n\
             workload:\n  classes:\n    - {{name: chat, input: 64, output: 32, slo: {{ttft: 500ms}}}}\n\
             stages:\n  - {{name: sweep, {load}, duration: 60s, warmup: 10s{refine}}}\n{more}"
        );
        let source = Source {
            path: "refined.yaml".to_owned(),
            text,
        };
        let parsed = spec::parse(&source, &|_| None, &|_| Err("none".to_owned()));
        parsed.unwrap().spec
    }

    const USERS: &str = "closed: {users: [2, 4, 8, 16, 32, 64]}";

    fn measured(rows: &[Row]) -> Vec<StageSummary> {
        run(rows, 1).stages
    }

    /// All that is added to a sweep in which a load completes as many as its users, 9 a second at most, and keeps
    /// the SLO up to 20 users.
    fn added(spec: &Spec, seconds_each: f64) -> Vec<Stage> {
        let mut stages = measured(&SWEEP);
        let mut refinement = Refinement::after(spec, 5, 100.0).unwrap();
        let mut elapsed = 100.0;
        let mut out = Vec::new();
        while let Some(stage) = refinement.next(&stages, elapsed) {
            elapsed += seconds_each;
            if let Arrival::Closed { users, .. } = stage.arrival {
                let good = if users <= 20 { 1.0 } else { 0.8 };
                let row = (users, (f64::from(users) * 0.6).min(9.0), good);
                stages.extend(measured(&[row]));
            }
            out.push(stage);
            assert!(out.len() < 20, "it ends");
        }
        out
    }

    fn names(stages: &[Stage]) -> Vec<&str> {
        stages.iter().map(|stage| stage.name.as_str()).collect()
    }

    #[test]
    fn it_follows_the_last_step_of_a_sweep_that_asks_for_it() {
        let spec = spec_of(USERS, ", refine: true", "");
        assert!(Refinement::after(&spec, 4, 0.0).is_none());
        assert!(Refinement::after(&spec, 5, 0.0).is_some());
        assert!(Refinement::after(&spec, 6, 0.0).is_none(), "no such stage");
        assert!(Refinement::after(&spec_of(USERS, "", ""), 5, 0.0).is_none());
    }

    #[test]
    fn steps_are_added_until_they_are_spent_and_then_the_open_loop() {
        let spec = spec_of(USERS, ", refine: {steps: 2}", "");
        let stages = added(&spec, 70.0);
        let [first, second, open] = &stages[..] else {
            panic!("{:?}", names(&stages));
        };
        // Between 8 and 16 users; otherwise like the next larger one.
        assert_eq!(first.name, "sweep@11");
        assert_eq!(first.in_flight, 11);
        assert_eq!(first.extent, spec.stages[3].extent);
        assert_eq!(second.name, "sweep@23");
        assert_eq!(open.name, "sweep-open");
        assert_eq!((open.in_flight, open.refine), (IN_FLIGHT, None));
        // At the rate of the largest load within the SLO, 16 users.
        let rate = open.arrival.first_rate().unwrap();
        assert!((rate - 8.9).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn the_largest_load_within_the_slo_is_closed_in_on() {
        let spec = spec_of(USERS, ", refine: true", "");
        let stages = added(&spec, 70.0);
        let loads: Vec<&str> = names(&stages);
        // 16 keep the SLO and 23 do not, then 19 do and 21 do not.
        assert!(
            loads.contains(&"sweep@23") && loads.contains(&"sweep@19"),
            "{loads:?}"
        );
        assert_eq!(loads.last(), Some(&"sweep-open"));
        assert!(loads.len() <= 7, "{loads:?}");
    }

    #[test]
    fn nothing_is_begun_after_its_time() {
        let spec = spec_of(USERS, ", refine: {time: 2m}", "");
        // At 0 s and at 70 s; at 140 s it is over, for the open loop too.
        assert_eq!(added(&spec, 70.0).len(), 2);
        assert_eq!(added(&spec, 120.0).len(), 1);
    }

    #[test]
    fn a_name_that_is_taken_is_not_taken_twice() {
        let other = "  - {name: sweep-open, open: {rate: 4/s}, duration: 60s}\n";
        let spec = spec_of(USERS, ", refine: {steps: 1}", other);
        let stages = added(&spec, 70.0);
        assert_eq!(stages.last().unwrap().name, "sweep-open_");
    }

    #[test]
    fn an_open_sweep_needs_no_open_loop() {
        let load = "open: {rate: [2/s, 4/s, 8/s]}";
        let spec = spec_of(load, ", refine: {steps: 1}", "");
        let rows = [(2, 2.0, 1.0), (4, 4.0, 0.98), (8, 7.9, 0.4)];
        let mut stages = measured(&rows);
        for (stage, rate) in stages.iter_mut().zip([2.0, 4.0, 8.0]) {
            (stage.users, stage.rate_rps) = (None, Some(rate));
        }
        let mut refinement = Refinement::after(&spec, 2, 0.0).unwrap();
        let next = refinement.next(&stages, 0.0).unwrap();
        assert!(next.arrival.is_open());
        let rate = next.arrival.first_rate().unwrap();
        assert!(2.0 < rate && rate < 8.0 && next.name == format!("sweep@{rate}"));
        assert!(refinement.next(&stages, 60.0).is_none());
    }

    #[test]
    fn without_a_load_within_the_slo_there_is_nothing_to_bear_out() {
        let spec = spec_of(USERS, ", refine: {steps: 1}", "");
        let none = SWEEP.map(|(users, rps, _)| (users, rps, 0.5));
        let mut refinement = Refinement::after(&spec, 5, 0.0).unwrap();
        let stages = measured(&none);
        let first = refinement.next(&stages, 0.0);
        assert!(first.is_none_or(|stage| stage.name.starts_with("sweep@")));
        assert!(refinement.next(&stages, 10.0).is_none());
    }
}
