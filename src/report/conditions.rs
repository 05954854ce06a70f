//! Whether stages were steady, in words: of one run, and of the runs of a side.

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
            Text::of(load.state.label())
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
                .words(words::metric(settling.metric))
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
