//! What two runs have to share to have sent the same.

use serde::Serialize;

use super::{Phase, Plan, Schedule, StagePlan};
use crate::ident::Digest;
use crate::spec::Extent;
use crate::unit::Nanos;

/// Requests of an endless stage that enter the trace digest.
const DIGESTED: u32 = 4096;

impl Plan {
    /// Digest of the structure: stages, instants, lengths, groups and turns; neither text nor salt. Made
    /// piece by piece, so that no stage has to fit in memory twice.
    ///
    /// A stage by duration in a closed loop has no last request: its first 4,096 stand for it.
    pub fn trace_digest(&self) -> Digest {
        let stages: Vec<_> = self
            .stages
            .iter()
            .enumerate()
            .map(|(index, planned)| {
                let StagePlan {
                    stage, schedule, ..
                } = planned;
                let n = match (schedule, stage.extent) {
                    (Some(schedule), _) => schedule.measured.len() as u32,
                    (None, Extent::Requests(n)) => n,
                    (None, Extent::Duration(_)) => DIGESTED,
                };
                let requests = if self.has_conversations(index) {
                    let sessions = (0..n).map(|n| self.session(index, Phase::Measured, n, 0));
                    Digest::of_json_list(sessions)
                } else {
                    let requests = (0..n).map(|n| self.request(index, Phase::Measured, n));
                    Digest::of_json_list(requests)
                };
                let stage = serde_json::to_value(stage).expect("a stage serialises to JSON");
                (stage, schedule.as_ref().map(SortedSchedule::of), requests)
            })
            .collect();
        Digest::of_sorted_json(&stages)
    }
}

/// A schedule with its keys sorted: it may be long, and is written into the digest as it is.
#[derive(Serialize)]
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
    use crate::diag::Source;

    const SPEC: &str = "\
infergate: 1
name: digest
target: {url: 'http://127.0.0.1:1', api: chat}
workload:
  seed: 7
  classes:
    - {name: chat, weight: 2, input: {uniform: [5, 90]}, output: 6}
stages:
  - {name: open, open: {rate: 7/s}, requests: 40, warmup: 2s}
  - {name: closed, closed: {users: 2}, requests: 9}
gate:
  cells:
    - {metric: e2e.p50, worse_by: 60%, informational: true}
    - {metric: error_ratio, at_most: 10%}
";

    #[test]
    fn the_trace_digest_is_that_of_the_whole_plan_at_once() {
        let source = Source {
            path: "spec.yaml".to_owned(),
            text: SPEC.to_owned(),
        };
        let spec = crate::spec::parse(&source, &|_| None, &|_| Err("no files".to_owned()));
        let plan = Plan::expand(&spec.unwrap().spec);
        let at_once: Vec<_> = [(0, 40), (1, 9)]
            .into_iter()
            .map(|(index, n)| {
                let requests: Vec<_> = (0..n)
                    .map(|number| plan.request(index, Phase::Measured, number))
                    .collect();
                let StagePlan {
                    stage, schedule, ..
                } = &plan.stages[index];
                (stage, schedule, Digest::of_json(&requests))
            })
            .collect();
        assert_eq!(plan.trace_digest(), Digest::of_json(&at_once));
    }
}
