//! What a stage asks of the load client.

use serde::{Deserialize, Serialize};

use crate::plan::{Phase, Plan, Schedule, StagePlan};
use crate::spec::Arrival;
use crate::unit::Nanos;

/// Requests whose planned lengths stand for all of a stage.
const DRAWN: u32 = 1000;

/// What a stage asks of the load client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The stage's name.
    pub stage: String,
    /// Open loop: most requests due within one second, warm-up included, or the mean rate where that
    /// is higher. `None` in a closed loop, where the target's speed decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rps: Option<f64>,
    /// Tokens that such a second asks for, one event each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_per_s: Option<f64>,
    /// Users of a closed loop: streams at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Connections at once at the most: users, or the in-flight cap.
    pub connections: u32,
}

impl Demand {
    /// What each stage of a plan asks for, in order.
    pub fn of(plan: &Plan) -> Vec<Self> {
        let stages = plan.stages().iter().enumerate();
        stages
            .map(|(index, planned)| Self::of_stage(plan, index, planned))
            .collect()
    }

    fn of_stage(plan: &Plan, index: usize, planned: &StagePlan) -> Self {
        let stage = &planned.stage;
        let peak_rps = planned
            .schedule
            .as_ref()
            .map(|schedule| peak(schedule).max(stage.mean_rate().unwrap_or(0.0)));
        let users = match stage.arrival {
            Arrival::Closed { users, .. } => Some(users),
            Arrival::Open { .. } | Arrival::Trace(_) => None,
        };
        Self {
            stage: stage.name.clone(),
            peak_rps,
            events_per_s: peak_rps.map(|rate| rate * mean_output(plan, index, planned)),
            users,
            connections: users.unwrap_or(stage.in_flight),
        }
    }
}

/// Most requests that are due within any one second.
fn peak(schedule: &Schedule) -> f64 {
    let due: Vec<Nanos> = schedule
        .warmup
        .iter()
        .chain(&schedule.measured)
        .copied()
        .collect();
    let mut first = 0;
    let mut most = 0;
    for (last, at) in due.iter().enumerate() {
        while due[first] + Nanos::from_secs(1) <= *at {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most as f64
}

/// Mean planned output, in tokens, of a stage's first measured requests.
fn mean_output(plan: &Plan, stage: usize, planned: &StagePlan) -> f64 {
    let measured = planned.schedule.as_ref().map_or(0, |s| s.measured.len());
    let drawn = DRAWN.min(measured as u32);
    let tokens = |number| f64::from(plan.request(stage, Phase::Measured, number).output_tokens);
    (0..drawn).map(tokens).sum::<f64>() / f64::from(drawn.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Source;
    use crate::spec;

    fn demands(stages: &str) -> Vec<Demand> {
        let text = format!(
            "\
infergate: 1
name: asks
target: {{url: 'http://127.0.0.1:1', api: chat}}
workload:
  seed: 7
  output_length: pinned
  classes:
    - {{name: chat, weight: 1, input: 40, output: 50}}
stages:
{stages}
gate:
  cells:
    - {{metric: error_ratio, at_most: 10%}}
"
        );
        let source = Source {
            path: "spec.yaml".to_owned(),
            text,
        };
        let parsed = spec::parse(&source, &|_| None, &|_| Err("none".to_owned())).unwrap();
        Demand::of(&Plan::expand(&parsed.spec))
    }

    #[test]
    fn stages_ask_for_their_peak_second() {
        let demands = demands(
            "  - {name: open, open: {rate: 40/s, arrivals: constant}, duration: 10s, warmup: 2s, in_flight: 300}
  - {name: short, open: {rate: 40/s, arrivals: constant}, requests: 10, warmup: 0}
  - {name: closed, closed: {users: 24}, requests: 100}",
        );
        let open = &demands[0];
        assert_eq!(open.peak_rps, Some(40.0));
        assert_eq!(open.events_per_s, Some(2000.0));
        assert_eq!((open.users, open.connections), (None, 300));
        assert_eq!(demands[1].peak_rps, Some(40.0), "shorter than a second");
        let closed = &demands[2];
        assert_eq!((closed.peak_rps, closed.events_per_s), (None, None));
        assert_eq!((closed.users, closed.connections), (Some(24), 24));
    }

    #[test]
    fn a_clump_counts_as_what_it_is() {
        let schedule = Schedule {
            warmup: vec![Nanos::ZERO],
            measured: [2000, 2100, 2900, 3050, 9000]
                .map(Nanos::from_millis)
                .to_vec(),
            window_start: Nanos::from_secs(1),
            window_end: Nanos::from_secs(10),
        };
        assert!((peak(&schedule) - 3.0).abs() < 1e-9);
    }
}
