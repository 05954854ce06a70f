//! Whether stages were steady, in words: of one run, and of the runs of a side.

use crate::lang::say;
use crate::sample::{EngineQueue, StopReason};
use crate::summary::{Run, Saturation, SkippedStage, StageSummary};
use crate::unit::scale::{self, Unit};

use super::span::Text;
use super::words;

/// What keeps a stage's figures from speaking of a steady load; empty where nothing does.
pub(super) fn stage(stage: &StageSummary) -> Vec<Text> {
    let mut out = Vec::new();
    if let Some(load) = stage.load_state
        && load.state != Saturation::Steady
    {
        let share = |value: f64| scale::value(Unit::Proportion, value);
        out.push(
            state(load.state)
                .words(": ")
                .figure(share(load.completed_by_due))
                .words(" of the requests due were completed in time, the backlog grew by ")
                .figure(share(load.backlog_growth))
                .words(" of them; latencies depend on the length of the stage"),
        );
    }
    if let Some(settling) = stage.settling.filter(|settling| !settling.settled) {
        out.push(
            Text::of("not settled: the first ")
                .figure(scale::count(settling.cut))
                .words(" of ")
                .figure(scale::count(settling.of))
                .words(" requests are still warm-up by their ")
                .then(words::metric(settling.metric))
                .words("; lengthen the warm-up"),
        );
    }
    if let Some(reason) = stage.stopped {
        out.push(match reason {
            StopReason::Errors { .. } => Text::of("ended early: ").then(stop(reason)),
            StopReason::Overload => Text::of("ended its sweep: ").then(stop(reason)),
        });
    }
    if let Some(EngineQueue::Backlog { running, waiting }) = stage.engine_queue {
        out.push(
            Text::of("the engine still held ")
                .figure(scale::count(running))
                .words(" running and ")
                .figure(scale::count(waiting))
                .words(" waiting requests after the drain, so what came next did not start idle"),
        );
    }
    out
}

/// How a stage stood its load, as a word.
pub(super) fn state(state: Saturation) -> Text {
    Text::word(match state {
        Saturation::Steady => say::STEADY,
        Saturation::NearOverload => say::NEAR_OVERLOAD,
        Saturation::Overloaded => say::OVERLOADED,
    })
}

/// A step of a sweep that was not run.
pub(super) fn skipped(skipped: &SkippedStage) -> Text {
    Text::value(&skipped.name)
        .words(" was not run: at ")
        .quoted(&skipped.after)
        .words(" ")
        .then(stop(skipped.reason))
}

fn stop(reason: StopReason) -> Text {
    match reason {
        StopReason::Errors { errors, of } => Text::just(scale::count(errors.into()))
            .words(" of the latest ")
            .figure(scale::count(of.into()))
            .words(" requests failed"),
        StopReason::Overload => Text::of("the target did not keep up"),
    }
}

/// Stages that barely keep up, or don't, in more than half of a side's runs, with how many.
pub(super) fn saturated(runs: &[Run]) -> Vec<(&str, Saturation, usize, usize)> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    first
        .stages
        .iter()
        .filter_map(|stage| {
            let states: Vec<Saturation> = runs
                .iter()
                .flat_map(|run| &run.stages)
                .filter(|other| other.name == stage.name)
                .filter_map(|stage| Some(stage.load_state?.state))
                .collect();
            let over = |least: Saturation| states.iter().filter(|state| **state >= least).count();
            [Saturation::Overloaded, Saturation::NearOverload]
                .into_iter()
                .map(|state| (stage.name.as_str(), state, over(state), states.len()))
                .find(|(_, _, over, of)| 2 * over > *of)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic;
    use crate::metric::Metric;
    use crate::summary::{LoadState, Settling};

    fn said(texts: &[Text]) -> Vec<String> {
        texts.iter().map(Text::plain).collect()
    }

    #[test]
    fn a_steady_stage_is_silent_and_another_says_what_is_wrong() {
        let mut stage = synthetic::stage("steady");
        assert!(super::stage(&stage).is_empty());
        stage.load_state = Some(LoadState {
            state: Saturation::Overloaded,
            completed_by_due: 0.62,
            backlog_growth: 0.38,
        });
        stage.settling = Some(Settling {
            metric: Metric::E2e,
            cut: 300,
            of: 1000,
            settled: false,
        });
        stage.stopped = Some(StopReason::Errors {
            errors: 20,
            of: 100,
        });
        stage.engine_queue = Some(EngineQueue::Backlog {
            running: 8,
            waiting: 3,
        });
        assert_eq!(
            said(&super::stage(&stage)),
            [
                "overloaded: 62.00 % of the requests due were completed in time, the backlog grew by \
                 38.00 % of them; latencies depend on the length of the stage",
                "not settled: the first 300 of 1,000 requests are still warm-up by their E2E; lengthen \
                 the warm-up",
                "ended early: 20 of the latest 100 requests failed",
                "the engine still held 8 running and 3 waiting requests after the drain, so what came \
                 next did not start idle",
            ]
        );
    }

    #[test]
    fn a_side_is_saturated_where_most_of_its_runs_are() {
        let mut runs = [1, 2, 3].map(|minute| synthetic::run("x", minute));
        let mut load = |i: usize, state| {
            runs[i].stages[0].load_state = Some(LoadState {
                state,
                completed_by_due: 0.96,
                backlog_growth: 0.03,
            });
        };
        load(0, Saturation::NearOverload);
        load(1, Saturation::Steady);
        load(2, Saturation::Overloaded);
        assert_eq!(
            saturated(&runs),
            [("steady", Saturation::NearOverload, 2, 3)]
        );
    }
}
