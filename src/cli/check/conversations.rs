//! What is worth knowing of conversations before they are held.

use crate::plan::StagePlan;
use crate::spec::{Arrival, Class, Workload};
use crate::unit::scale;

/// Notes on the stages whose requests come in conversations by the clock.
pub(super) fn notes(stages: &[StagePlan], workload: &Workload) -> Vec<String> {
    if !workload.has_conversations() {
        return Vec::new();
    }
    let is_open = |stage: &&StagePlan| matches!(stage.stage.arrival, Arrival::Open { .. });
    let stages = stages.iter().filter(is_open);
    stages
        .flat_map(|planned| [starts(planned), warmup(planned, workload)])
        .flatten()
        .collect()
}

fn starts(planned: &StagePlan) -> Option<String> {
    let started = planned.schedule.as_ref()?.measured.len();
    let requests = planned.stage.expected_requests()?;
    Some(format!(
        "`{}` starts {} conversations for its {} requests: later turns come when their users have \
         thought, and none after the window",
        planned.stage.name,
        scale::count(started as u64),
        scale::count(requests.round() as u64)
    ))
}

/// Conversations that began before the window bring their later turns into it only where the
/// warm-up is as long as they are.
fn warmup(planned: &StagePlan, workload: &Workload) -> Option<String> {
    let pauses = |class: &Class| {
        let think = class.turns.and_then(|turns| turns.think)?;
        Some((class.mean_turns() - 1.0) * think.mean().as_secs_f64())
    };
    let thinking = workload
        .classes
        .iter()
        .filter_map(pauses)
        .fold(0.0, f64::max);
    let warmup = planned.schedule.as_ref()?.window_start.as_secs_f64();
    (warmup < thinking).then(|| {
        format!(
            "the warm-up of `{}` takes {}, and users of a conversation think {} in all: its window \
             begins below its rate",
            planned.stage.name,
            scale::elapsed(warmup),
            scale::elapsed(thinking)
        )
    })
}
