//! `refine` of a sweep: steps around its knee that a run adds by itself.

use serde::Serialize;

use super::model::Spec;
use super::stage::{Arrival, Stage};
use crate::unit::Nanos;

/// How far a sweep is refined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Refine {
    /// Steps that are added at most.
    pub steps: u32,
    /// Time after which none is begun; `None` for as long as it takes.
    pub time: Option<Nanos>,
}

impl Refine {
    /// What `refine: true` stands for: from a grid that doubles, four cuts leave the knee between two
    /// neighbours within 10 %, and two more those above it.
    pub const DEFAULT: Self = Self {
        steps: 6,
        time: None,
    };
}

/// What refining a sweep may add to a run of all stages.
#[derive(Debug, Clone, PartialEq)]
pub struct Refining<'a> {
    /// The sweep.
    pub sweep: &'a str,
    /// The longest of its steps, which an added one is like at the most.
    pub longest: &'a Stage,
    /// Stages that are added at most: steps, and of a closed loop the open one that bears its load out.
    pub stages: u32,
    /// How long they take at most, when every request just keeps its SLO.
    pub at_most: Nanos,
}

impl Spec {
    /// What refining adds at most, a sweep that asks for it.
    ///
    /// Six steps of at most 70 s each and, of a closed loop, an open stage as long are 490 s. With
    /// `time: 3m` none is begun after 180 s, so they are 250 s.
    pub fn refinings(&self) -> Vec<Refining<'_>> {
        let latency = self.workload.latency_at_slo();
        let mut found: Vec<Refining<'_>> = Vec::new();
        for stage in &self.stages {
            let (Some(refine), Some(sweep)) = (stage.refine, stage.sweep()) else {
                continue;
            };
            if found.iter().any(|known| known.sweep == sweep) {
                continue;
            }
            let steps = self.stages.iter().filter(|own| own.sweep() == Some(sweep));
            let took = |stage: &&Stage| stage.expected_duration(latency);
            let Some(longest) = steps.max_by_key(took) else {
                continue;
            };
            let closed = matches!(longest.arrival, Arrival::Closed { .. });
            let stages = refine.steps + u32::from(closed);
            let each = longest.expected_duration(latency);
            let all = Nanos::new(each.get().saturating_mul(stages.into()));
            found.push(Refining {
                sweep,
                longest,
                stages,
                at_most: refine.time.map_or(all, |time| all.min(time + each)),
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::diag::Source;
    use crate::spec;

    fn added(stages: &str) -> Vec<(u32, f64)> {
        let text = format!(
            "infergate: 1\nname: refined\ntarget: {{sim: test, api: chat}}\n\
             workload:\n  classes:\n    - {{name: chat, input: 64, output: 32}}\nstages:\n{stages}"
        );
        let source = Source {
            path: "refined.yaml".to_owned(),
            text,
        };
        let parsed = spec::parse(&source, &|_| None, &|_| Err("none".to_owned()));
        let spec = parsed.unwrap().spec;
        let all = spec.refinings();
        all.iter()
            .map(|one| (one.stages, one.at_most.as_secs_f64()))
            .collect()
    }

    #[test]
    fn added_steps_take_at_most_as_long_as_the_longest_and_no_longer_than_their_time() {
        let open = "open: {rate: [2/s, 4/s]}, duration: 60s, warmup: 10s";
        let of = |load: &str, refine: &str| added(&format!("  - {{name: s, {load}{refine}}}\n"));
        assert_eq!(of(open, ""), []);
        assert_eq!(of(open, ", refine: false"), []);
        assert_eq!(of(open, ", refine: true"), [(6, 420.0)]);
        assert_eq!(of(open, ", refine: {steps: 2}"), [(2, 140.0)]);
        assert_eq!(of(open, ", refine: {time: 3m}"), [(6, 250.0)]);
        // And the open stage that bears a closed loop out.
        let closed = "closed: {users: [2, 4]}, duration: 60s, warmup: 10s";
        assert_eq!(of(closed, ", refine: true"), [(7, 490.0)]);
        // 80 requests of 10 s by 2 users are 400 s.
        let requests = "closed: {users: [2, 4]}, requests: 80, warmup: 0";
        assert_eq!(of(requests, ", refine: {steps: 1}"), [(2, 800.0)]);
    }
}
