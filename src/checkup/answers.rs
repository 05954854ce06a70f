//! What a few requests showed: whether they end well, stream, are counted, and have their length.

use super::exam::Trial;
use super::finding::{Finding, Topic};
use super::tokens::{input_length, output_length, usage};
use crate::plan::Phase;
use crate::sample::{Outcome, OutcomeKind, RequestRecord};
use crate::unit::scale::{self, Unit};

/// What a trial showed; `mismatch` is the share by which tokens may be off the plan.
pub fn answers(trial: &Trial, mismatch: f64) -> Vec<Finding> {
    let mut found = vec![requests(trial)];
    let ended: Vec<&RequestRecord> = trial
        .records
        .iter()
        .filter(|record| record.phase == Phase::Measured)
        .filter(|record| matches!(record.outcome, Outcome::Completed | Outcome::Truncated))
        .collect();
    if ended.is_empty() {
        return found;
    }
    found.push(streaming(trial, &ended));
    found.push(usage(trial, &ended, mismatch));
    found.extend(output_length(trial, &ended));
    found.push(input_length(trial, &ended, mismatch));
    found.extend(connections(trial));
    found
}

fn requests(trial: &Trial) -> Finding {
    let sent = trial.records.len();
    let failed = |record: &&RequestRecord| record.outcome.kind().is_error();
    let failures: Vec<&RequestRecord> = trial.records.iter().filter(failed).collect();
    let Some(first) = failures.first() else {
        return match &trial.lost {
            Some(why) => lost(why),
            None => Finding::ok(
                Topic::Requests,
                format!("{sent} requests, one after another, all answered"),
            ),
        };
    };
    let kind = first.outcome.kind();
    let how = match (first.outcome, &first.error) {
        (Outcome::HttpError { status } | Outcome::Rejected { status }, Some(error)) => {
            format!("status {status}: {error}")
        }
        (Outcome::HttpError { status } | Outcome::Rejected { status }, None) => {
            format!("status {status}")
        }
        (_, Some(error)) => format!("{}: {error}", kind.label()),
        (_, None) => kind.label().to_owned(),
    };
    Finding::trouble(
        Topic::Requests,
        format!("{} of {sent} requests failed ({how})", failures.len()),
        "these came one after another, and failed requests are what a gate \
         counts",
        advice(first.outcome),
    )
}

fn lost(why: &str) -> Finding {
    Finding::trouble(
        Topic::Requests,
        format!("the target was lost under a few requests: {why}"),
        "a run would end there",
        "see the engine's log for how it ended",
    )
}

/// What to do about a request that ended so.
fn advice(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::HttpError { status: 401 | 403 } => {
            "name the variable that holds the key: `target: {api_key_env: …}`"
        }
        Outcome::HttpError { status: 404 } => {
            "see that `target.model` and `target.api` are what the server has"
        }
        Outcome::HttpError { status: 400 | 422 } => {
            "see which field the server refuses; `request: {FIELD: null}` leaves one of infergate's out"
        }
        Outcome::HttpError { .. } => "see the engine's log for this request",
        Outcome::Rejected { .. } => "stop what else loads the target, or raise its limits",
        Outcome::ConnectError => "see that nothing between here and the target closes connections",
        Outcome::Timeout { .. } => "send one request by hand and see where it waits",
        Outcome::StreamError => {
            "see the engine's log, and whether a proxy before it ends answers early"
        }
        Outcome::Empty => "see what the chat template makes of a short prompt, and the stop words",
        Outcome::Unsent | Outcome::Unfinished => "ask again when the target answers sooner",
        Outcome::InvalidOutput => "see what the class's `quality` asks of answers, and the prompt",
        Outcome::Completed | Outcome::Truncated | Outcome::Cancelled => "nothing",
    }
}

fn streaming(trial: &Trial, ended: &[&RequestRecord]) -> Finding {
    if !trial.streamed {
        return Finding::ok(
            Topic::Streaming,
            "answers come whole, as the spec asks (`streaming: false`)",
        );
    }
    let several: Vec<&&RequestRecord> = ended
        .iter()
        .filter(|record| record.output_tokens.is_some_and(|tokens| tokens > 1))
        .collect();
    let remedy = "switch off buffering in the proxy (nginx: `proxy_buffering off`), or gate `e2e` alone with \
                  `streaming: false`";
    let why = "TTFT is then the time of the whole answer, and the times between tokens say nothing";
    if !several.is_empty() && several.iter().all(|record| record.events.len() < 2) {
        return Finding::trouble(
            Topic::Streaming,
            "all tokens of an answer come in one event",
            why,
            remedy,
        );
    }
    match trial.stage.held_back() {
        Some(left) => Finding::trouble(
            Topic::Streaming,
            format!(
                "streams are held back until they are whole: {} of an answer's time is left after its first \
                 token",
                scale::value(Unit::Proportion, left)
            ),
            why,
            remedy,
        ),
        None if several.is_empty() => Finding::note(
            Topic::Streaming,
            "no answer had a second token",
            "whether tokens come as they are made can't be seen",
            "see that the model answers more than a word",
        ),
        None => Finding::ok(Topic::Streaming, "tokens come one after another"),
    }
}

/// One connection to each server does for requests that follow each other.
fn connections(trial: &Trial) -> Option<Finding> {
    let opened = trial.stage.health.as_ref()?.connections?;
    let resent: u32 = trial.records.iter().map(|record| record.resent).sum();
    let sent = trial.records.len() as u64;
    let broken = trial
        .records
        .iter()
        .any(|record| record.outcome.kind() != OutcomeKind::Completed);
    // A failed request takes its connection with it.
    if broken || sent < 2 {
        return None;
    }
    // A lane has connections of its own, so a second one may be all right.
    let new_each_time = opened > trial.servers as u64 && opened * 2 > sent;
    Some(if !new_each_time && resent == 0 {
        Finding::ok(Topic::Connections, "connections are kept")
    } else {
        Finding::note(
            Topic::Connections,
            format!(
                "{opened} connections were opened for {sent} requests that followed each other"
            ),
            "each new one adds its handshake to TTFT",
            "let the server and any proxy before it keep connections (keep-alive)",
        )
    })
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
