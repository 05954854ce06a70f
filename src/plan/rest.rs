//! The rest of a stage of which a part was measured already.

use super::{Phase, Plan, Schedule};
use crate::spec::Extent;
use crate::unit::Nanos;

/// Sessions of a window that were begun already, and the requests in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LeftOut {
    sessions: u32,
    requests: u32,
}

impl LeftOut {
    /// The number of a session, and of the requests before it, as the whole stage has them.
    pub(super) fn on(self, phase: Phase, number: u32, before: u32) -> (u32, u32) {
        match phase {
            Phase::Warmup => (number, before),
            Phase::Measured => (
                number.saturating_add(self.sessions),
                before.saturating_add(self.requests),
            ),
        }
    }
}

impl Plan {
    /// With one stage without the first part of its window, which was measured: its warm-up is what it was,
    /// and then come the requests that follow. In a closed loop `begun` sessions are left out; else those
    /// that were due.
    #[must_use]
    pub fn without(&self, stage: usize, measured: Nanos, begun: u32) -> Self {
        let mut plan = self.clone();
        let planned = &mut plan.stages[stage];
        let mut sessions = begun;
        if let Some(schedule) = &mut planned.schedule {
            let until = schedule.window_start + measured;
            let due = schedule.measured.partition_point(|at| *at < until);
            sessions = u32::try_from(due).unwrap_or(u32::MAX);
            *schedule = Schedule {
                measured: schedule.measured[due..]
                    .iter()
                    .map(|at| schedule.window_start + at.since(until))
                    .collect(),
                warmup: schedule.warmup.clone(),
                window_start: schedule.window_start,
                window_end: schedule.window_end.since(measured),
            };
        }
        planned.stage.extent = match planned.stage.extent {
            Extent::Duration(window) => Extent::Duration(window.since(measured)),
            Extent::Requests(requests) => Extent::Requests(requests.saturating_sub(sessions)),
        };
        let requests = if self.has_conversations(stage) {
            let each = (0..sessions).map(|n| self.session(stage, Phase::Measured, n, 0));
            each.map(|session| session.requests())
                .fold(0, u32::saturating_add)
        } else {
            sessions
        };
        plan.stages[stage].left_out = LeftOut { sessions, requests };
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Source;

    const SPEC: &str = "\
infergate: 1
name: rest
target: {url: 'http://127.0.0.1:1', api: chat}
workload:
  seed: 7
  classes:
    - {name: chat, weight: 1, input: {lognormal: {p50: 40, p95: 90}}, output: 6TURNS}
stages:
  - {name: open, open: {rate: 20/s}, duration: 60s, warmup: 5s}
  - {name: closed, closed: {users: 2}, duration: 60s}
gate:
  cells:
    - {metric: error_ratio, at_most: 10%}
";

    fn plan(turns: &str) -> Plan {
        let source = Source {
            path: "spec.yaml".to_owned(),
            text: SPEC.replace("TURNS", turns),
        };
        let spec = crate::spec::parse(&source, &|_| None, &|_| Err("no files".to_owned()));
        Plan::expand(&spec.unwrap().spec)
    }

    #[test]
    fn what_was_measured_and_the_rest_are_the_whole() {
        let whole = plan("");
        let measured = Nanos::from_secs(23);
        let rest = whole.without(0, measured, 99);
        let [all, left] = [&whole, &rest].map(|plan| plan.stages[0].schedule.clone().unwrap());
        let until = all.window_start + measured;
        let due: Vec<Nanos> = all
            .measured
            .iter()
            .copied()
            .filter(|at| *at < until)
            .collect();
        assert!(due.len() > 300, "{}", due.len());
        let later = left.measured.iter().map(|at| *at + measured);
        let joined: Vec<Nanos> = due.iter().copied().chain(later).collect();
        assert_eq!(joined, all.measured);
        assert_eq!(left.window_end + measured, all.window_end);
        assert_eq!(left.warmup, all.warmup);
        // Its first request is the one that follows.
        let next = due.len() as u32;
        assert_eq!(
            rest.session(0, Phase::Measured, 0, 0),
            whole.session(0, Phase::Measured, next, next)
        );
        assert_eq!(
            rest.session(0, Phase::Warmup, 3, 3),
            whole.session(0, Phase::Warmup, 3, 3)
        );
        assert_eq!(rest.stages[1], whole.stages[1]);
    }

    #[test]
    fn in_a_closed_loop_the_rest_begins_with_the_next_user_and_is_shorter() {
        let whole = plan("");
        let rest = whole.without(1, Nanos::from_secs(20), 17);
        let extent = rest.stages[1].stage.extent;
        assert_eq!(extent, Extent::Duration(Nanos::from_secs(40)));
        assert_eq!(
            rest.session(1, Phase::Measured, 2, 2),
            whole.session(1, Phase::Measured, 19, 19)
        );
    }

    #[test]
    fn conversations_keep_their_numbers() {
        let whole = plan(", turns: {uniform: [1, 5]}");
        let rest = whole.without(1, Nanos::from_secs(20), 10);
        let before: u32 = (0..10)
            .map(|n| whole.session(1, Phase::Measured, n, 0).requests())
            .sum();
        assert!(before > 10, "{before}");
        assert_eq!(
            rest.session(1, Phase::Measured, 0, 0),
            whole.session(1, Phase::Measured, 10, before)
        );
    }
}
