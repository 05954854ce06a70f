//! What runs take of a budget: before they are taken, and after.

use super::model::Run;
use crate::plan::{Plan, StagePlan};
use crate::spec::{Extent, Outlay, OutputLength, Spec, Stage};

/// What one run takes at least; without `all`, one of the stages with gated cells only. Where the
/// target's speed decides, nothing is certain and nothing is counted.
pub fn least(spec: &Spec, plan: &Plan, all: bool) -> Outlay {
    sum(spec, plan, all, |stage| {
        let seconds = match stage.extent {
            _ if stage.has_fixed_duration() => stage
                .expected_duration(spec.workload.latency_at_slo())
                .as_secs_f64(),
            Extent::Duration(window) => (stage.warmup.duration + window).as_secs_f64(),
            Extent::Requests(_) => 0.0,
        };
        Outlay {
            seconds,
            ..requested(spec, stage, true)
        }
    })
}

/// What one run takes when every request just keeps its SLO, with all that refining a sweep may add to a run of all
/// stages; requests of which the target's speed decides are left out.
pub fn bound(spec: &Spec, plan: &Plan, all: bool) -> Outlay {
    let latency = spec.workload.latency_at_slo();
    let planned = sum(spec, plan, all, |stage| Outlay {
        seconds: stage.expected_duration(latency).as_secs_f64(),
        ..requested(spec, stage, false)
    });
    if !all {
        return planned;
    }
    spec.refinings().iter().fold(planned, |sum, refining| {
        let each = requested(spec, refining.longest, false);
        let stages = f64::from(refining.stages);
        sum.plus(Outlay {
            seconds: refining.at_most.as_secs_f64(),
            requests: stages * each.requests,
            tokens: stages * each.tokens,
        })
    })
}

fn sum(spec: &Spec, plan: &Plan, all: bool, of: impl Fn(&Stage) -> Outlay) -> Outlay {
    let taken = |stage: &&StagePlan| all || spec.gate.repeats_stage(&stage.stage.name);
    let stages = plan.stages().iter().filter(taken);
    stages.fold(Outlay::default(), |sum, stage| sum.plus(of(&stage.stage)))
}

/// Requests of a stage, those of the warm-up too, and their tokens.
fn requested(spec: &Spec, stage: &Stage, at_least: bool) -> Outlay {
    let requests = stage.expected_requests().unwrap_or(0.0) + f64::from(stage.warmup.requests);
    let each = spec.workload.classes.iter().map(|class| {
        // A natural answer may be one token long.
        let output = match class.output_length {
            OutputLength::Natural if at_least => 1.0,
            _ => class.mean_output(),
        };
        spec.workload.share(class.name.as_str()) * (class.mean_input() + output)
    });
    Outlay {
        seconds: 0.0,
        requests,
        tokens: requests * each.sum::<f64>(),
    }
}

/// What a run took by its file: load, drain and the engine's start; requests and tokens of its windows
/// and, in proportion, of the warm-ups of this spec.
pub fn taken(spec: &Spec, run: &Run) -> Outlay {
    let start = run.cold_start.as_ref().map_or(0.0, |cold| cold.ready_s);
    let nothing = Outlay {
        seconds: run.elapsed_s + start,
        ..Outlay::default()
    };
    run.stages.iter().fold(nothing, |sum, stage| {
        let sent = stage.pooled.sent as f64;
        let planned = spec
            .stages
            .iter()
            .find(|planned| planned.name == stage.name);
        let warmup = planned.map_or(0.0, |planned| f64::from(planned.warmup.requests));
        let tokens = &stage.pooled.tokens;
        let tokens = (tokens.input_observed + tokens.output_observed) as f64;
        let all = if sent > 0.0 {
            (sent + warmup) / sent
        } else {
            1.0
        };
        sum.plus(Outlay {
            seconds: 0.0,
            requests: sent + warmup,
            tokens: tokens * all,
        })
    })
}
