//! What a spec asks for against what the engine takes.

use super::finding::{Finding, Topic};
use crate::plan::{Phase, Plan};
use crate::provenance::{Observation, Pins};
use crate::spec::{Arrival, Spec};
use crate::unit::scale;

/// Requests, or conversations, of a stage that stand for all of it.
const DRAWN: u32 = 2000;
/// Tokens that a chat template may add.
const TEMPLATE: u32 = 64;

/// Tokens of the longest of a plan's first requests, template included, and its stage.
///
/// A conversation is as long as all its turns, unless the plan ends it at the model's length.
fn longest(plan: &Plan) -> Option<(u32, String)> {
    let stages = plan.stages().iter().enumerate();
    let longest = stages.filter_map(|(index, planned)| {
        let all = planned
            .schedule
            .as_ref()
            .map_or(DRAWN, |schedule| schedule.measured.len() as u32);
        let lengths = (0..all.min(DRAWN)).map(|number| {
            let session = plan.session(index, Phase::Measured, number, 0);
            let turns = session.later.iter().map(|turn| turn.request);
            let tokens = std::iter::once(session.first)
                .chain(turns)
                .fold(0_u32, |sum, request| {
                    sum.saturating_add(request.input_tokens)
                        .saturating_add(request.output_tokens)
                });
            session
                .room
                .map_or(tokens, |room| tokens.min(room))
                .saturating_add(TEMPLATE)
        });
        Some((lengths.max()?, planned.stage.name.clone()))
    });
    longest.max_by_key(|(tokens, _)| *tokens)
}

/// The longest request against the model's context, and each stage's cap against the engine's slots.
pub fn capacity(spec: &Spec, plan: &Plan, pins: &Pins) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some((tokens, stage)) = longest(plan) {
        found.push(context(
            tokens,
            &stage,
            number(pins, "limits.max_model_len"),
        ));
    }
    if let Some(slots) = number(pins, "limits.max_num_seqs") {
        found.push(in_flight(spec, slots));
    }
    found
}

fn context(tokens: u32, stage: &str, limit: Option<u32>) -> Finding {
    let asks = format!(
        "the longest request, in stage `{stage}`, may take {} tokens",
        scale::count(tokens.into())
    );
    match limit {
        Some(limit) if tokens > limit => Finding::trouble(
            Topic::Context,
            format!("{asks}; the model takes {}", scale::count(limit.into())),
            "the engine refuses or cuts what is longer, and the work is not what the plan says",
            "shorten the workload's lengths, or give the engine a longer context",
        ),
        Some(limit) => Finding::ok(
            Topic::Context,
            format!("{asks} of the model's {}", scale::count(limit.into())),
        ),
        None => Finding::note(
            Topic::Context,
            format!("{asks}; how many the model takes is not known"),
            "the engine refuses or cuts what is longer",
            "pin it, and infergate holds the workload to it: `pins: {limits: {max_model_len: …}}`",
        ),
    }
}

fn in_flight(spec: &Spec, slots: u32) -> Finding {
    let many = scale::count(slots.into());
    let waiting: Vec<String> = named(
        spec,
        |stage| matches!(stage.arrival, Arrival::Closed { users, .. } if users > slots),
    );
    let capped: Vec<String> = named(spec, |stage| {
        !matches!(stage.arrival, Arrival::Closed { .. }) && stage.in_flight < slots
    });
    if !waiting.is_empty() {
        return Finding::note(
            Topic::InFlight,
            format!(
                "the engine runs {many} sequences at once, and {} has more users",
                waiting.join(", ")
            ),
            "the users beyond that wait in the engine's queue, so its latencies are mostly queueing",
            "lower `users`, or raise the engine's limit, unless the queue is what you gate",
        );
    }
    if !capped.is_empty() {
        return Finding::note(
            Topic::InFlight,
            format!(
                "the engine runs {many} sequences at once, and {} lets fewer be in flight",
                capped.join(", ")
            ),
            "requests are kept back, and count as failed, before the engine is full",
            "raise `in_flight` of the stage above the engine's limit",
        );
    }
    Finding::ok(
        Topic::InFlight,
        format!("the engine runs {many} sequences at once, and every stage suits that"),
    )
}

fn named(spec: &Spec, is_so: impl Fn(&crate::spec::Stage) -> bool) -> Vec<String> {
    let stages = spec.stages.iter().filter(|stage| is_so(stage));
    stages.map(|stage| format!("`{}`", stage.name)).collect()
}

/// A pin that is a number, as seen or declared.
fn number(pins: &Pins, path: &str) -> Option<u32> {
    let (_, pin) = pins.iter().find(|(pin, _)| pin.as_str() == path)?;
    match &pin.observed {
        Observation::Seen { value, .. } => value.parse().ok(),
        Observation::Unknown(_) => pin.value()?.parse().ok(),
    }
}

/// Bytes that the records of so many runs take on a disk, not packed, as long ones are kept.
///
/// Where the target's speed decides how many requests there are, as many as just keep their SLO. 2,000
/// requests of 250 tokens in 20 runs: 160 MB.
pub fn record_bytes(spec: &Spec, runs: u32) -> f64 {
    /// Of a record beside its events, and of each event: an instant in nanoseconds with its comma.
    const RECORD: f64 = 500.0;
    const EVENT: f64 = 14.0;
    let workload = &spec.workload;
    let classes = workload.classes.iter();
    let tokens: f64 = classes
        .map(|class| workload.share(class.name.as_str()) * class.mean_output())
        .sum();
    let latency = workload.latency_at_slo();
    let requests = spec.stages.iter().map(|stage| {
        stage
            .expected_requests()
            .unwrap_or_else(|| match stage.arrival {
                Arrival::Closed { users, .. } => {
                    let window = stage.window(latency).as_secs_f64();
                    f64::from(users) * window / latency.as_secs_f64()
                }
                Arrival::Open { .. } | Arrival::Trace(_) => 0.0,
            })
    });
    f64::from(runs) * requests.sum::<f64>() * (RECORD + EVENT * tokens)
}

#[cfg(test)]
#[path = "workload_tests.rs"]
mod tests;
