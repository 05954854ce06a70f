//! How long it takes to a verdict, from the plan at first and from the runs that were taken later.

use std::fmt::Write as _;

use crate::plan::Plan;
use crate::spec::{Spec, Stage};
use crate::unit::scale;

/// How long it takes to a verdict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forecast {
    /// A run of the first pair, which has all stages, and one of any later pair.
    planned_s: [f64; 2],
    /// Whether the plan is a bound: the target's speed decides.
    is_bound: bool,
    /// Whether engines are started, which no plan knows the time of.
    launches: bool,
    /// The last look.
    last: u32,
    /// Seconds of the runs taken, launches and drains included, likewise.
    taken_s: [Vec<f64>; 2],
}

impl Forecast {
    /// Of this plan.
    pub(super) fn new(spec: &Spec, plan: &Plan, launches: bool) -> Self {
        let latency = spec.workload.latency_at_slo();
        let stages = || plan.stages().iter().map(|planned| &planned.stage);
        let seconds = |stage: &Stage| stage.expected_duration(latency).as_secs_f64();
        let repeated = stages().filter(|stage| spec.gate.repeats_stage(&stage.name));
        let refinings = spec.refinings();
        let added = refinings.iter().map(|added| added.at_most.as_secs_f64());
        Self {
            planned_s: [
                stages().map(seconds).chain(added).sum(),
                repeated.map(seconds).sum(),
            ],
            is_bound: !refinings.is_empty() || stages().any(|stage| !stage.has_fixed_duration()),
            launches,
            last: 0,
            taken_s: [Vec::new(), Vec::new()],
        }
    }

    /// Says which look is the last.
    pub(super) const fn looks_until(&mut self, last: u32) {
        self.last = last;
    }

    /// Learns how long a run of this pair took.
    pub(super) fn took(&mut self, pair: u32, seconds: f64) {
        self.taken_s[usize::from(pair > 0)].push(seconds);
    }

    /// A run of the first pair, or of a later one: as such runs took, else as the others took in
    /// proportion to the plan, else as planned.
    fn run_s(&self, later: usize) -> f64 {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (same, other) = (&self.taken_s[later], &self.taken_s[1 - later]);
        let planned = self.planned_s[later];
        if !same.is_empty() {
            mean(same)
        } else if !other.is_empty() && self.planned_s[1 - later] > 0.0 {
            mean(other) * planned / self.planned_s[1 - later]
        } else {
            planned
        }
    }

    /// Both sides of all pairs after the first `done`, up to `pairs`.
    fn between_s(&self, done: u32, pairs: u32) -> f64 {
        let pairs = pairs.max(done);
        let first = u32::from(done == 0 && pairs > 0);
        let later = pairs - done - first;
        2.0 * (f64::from(first) * self.run_s(0) + f64::from(later) * self.run_s(1))
    }

    fn is_measured(&self) -> bool {
        self.taken_s.iter().any(|taken| !taken.is_empty())
    }

    /// `time to a verdict: about 4 min to the look at 5 pairs, at most 8 min to the last, at 10`; `done`
    /// pairs are there already.
    pub(super) fn before(&self, done: u32, look: u32) -> String {
        let about = if self.is_bound { "at most" } else { "about" };
        let mut text = format!(
            "time to a verdict: {about} {} to the look at {look} pairs",
            scale::elapsed(self.between_s(done, look))
        );
        if self.last > look {
            let last = scale::elapsed(self.between_s(done, self.last));
            let _ = write!(text, ", at most {last} to the last, at {}", self.last);
        }
        if self.launches {
            text.push_str("; starts of the engines come on top");
        }
        text
    }

    /// `pair 3 of at least 5, about 4 min to the next look, at most 12 min`.
    pub(super) fn after(&self, done: u32, look: u32) -> String {
        let about = if self.is_bound && !self.is_measured() {
            "at most"
        } else {
            "about"
        };
        let mut text = format!(
            "pair {done} of at least {look}, {about} {} to the next look",
            scale::elapsed(self.between_s(done, look))
        );
        if self.last > look {
            let last = scale::elapsed(self.between_s(done, self.last));
            let _ = write!(text, ", at most {last}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast() -> Forecast {
        Forecast {
            planned_s: [40.0, 20.0],
            is_bound: false,
            launches: false,
            last: 10,
            taken_s: [Vec::new(), Vec::new()],
        }
    }

    #[test]
    fn the_plan_speaks_until_there_are_runs() {
        let mut forecast = forecast();
        // 2 × (40 + 4 × 20) s, and 2 × (40 + 9 × 20) s, which is 7 min 20 s.
        assert_eq!(
            forecast.before(0, 5),
            "time to a verdict: about 4 min to the look at 5 pairs, at most 7 min to the last, at 10"
        );
        forecast.took(0, 60.0);
        forecast.took(0, 60.0);
        // In proportion, 30 s a run: 2 × 4 × 30 s and 2 × 9 × 30 s.
        assert_eq!(
            forecast.after(1, 5),
            "pair 1 of at least 5, about 4 min to the next look, at most 9 min"
        );
        forecast.took(1, 25.0);
        forecast.took(1, 35.0);
        forecast.took(1, 30.0);
        forecast.took(1, 30.0);
        assert_eq!(
            forecast.after(3, 5),
            "pair 3 of at least 5, about 2 min to the next look, at most 7 min"
        );
    }

    #[test]
    fn a_bound_is_no_estimate_and_launches_are_named() {
        let forecast = Forecast {
            is_bound: true,
            launches: true,
            last: 5,
            ..forecast()
        };
        assert_eq!(
            forecast.before(0, 5),
            "time to a verdict: at most 4 min to the look at 5 pairs; starts of the engines come on top"
        );
    }
}
