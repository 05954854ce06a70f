//! What a target says of itself: whether it answers, which model it has, its metrics and its clock.

use super::answers::answers;
use super::exam::{Exam, Replica, Unanswered};
use super::finding::{Finding, Topic};
use super::network;
use super::pins::pins;
use crate::diag::suggest;
use crate::sample::{ClockSkew, OutcomeKind};
use crate::spec::{MetricsPlace, Spec};
use crate::unit::scale;

/// Models that are named at most.
const NAMED: usize = 5;

/// Everything that a target showed, against what the spec says of it.
pub fn target(spec: &Spec, exam: &Exam) -> Vec<Finding> {
    let mut found: Vec<Finding> = exam.replicas.iter().map(endpoint).collect();
    found.extend(exam.replicas.iter().filter_map(certificate));
    let answered = |replica: &Replica| {
        !matches!(
            replica.models,
            Err(Unanswered::Unreachable { .. }
                | Unanswered::Status {
                    status: 401 | 403,
                    ..
                })
        )
    };
    if !exam.replicas.iter().all(answered) {
        return found;
    }
    found.extend(model(spec, exam));
    match &exam.trial {
        Ok(trial) => found.extend(answers(trial, spec.gate.token_mismatch)),
        Err(why) => found.push(Finding::trouble(
            Topic::Requests,
            format!("no request could be tried: {why}"),
            "a run would end the same way",
            "see to what is said there, then ask again",
        )),
    }
    if spec.target.metrics == MetricsPlace::Off {
        found.push(Finding::ok(
            Topic::Metrics,
            "off in the spec: reports lack the engine's own side",
        ));
    } else {
        found.extend(exam.replicas.iter().map(metrics));
    }
    match &exam.seen {
        Ok(seen) => found.extend(pins(&seen.pins)),
        Err(why) => found.push(Finding::trouble(
            Topic::Pins,
            why.clone(),
            "a run is refused before any load",
            "see to what is said there, then ask again",
        )),
    }
    found.extend(exam.replicas.iter().filter_map(clock));
    let ways = exam.replicas.iter().filter_map(|replica| replica.network);
    found.extend(ways.flat_map(|way| network::network(spec, way)));
    found
}

fn endpoint(replica: &Replica) -> Finding {
    let base = &replica.base;
    match &replica.models {
        Ok(_) => Finding::ok(Topic::Endpoint, format!("`{base}` answers")),
        Err(Unanswered::Unreachable { reason }) => Finding::trouble(
            Topic::Endpoint,
            format!("`{base}` does not answer: {reason}"),
            "nothing can be measured there",
            "start the server, or correct `target.url`",
        ),
        Err(Unanswered::Status {
            status: status @ (401 | 403),
            text,
        }) => Finding::trouble(
            Topic::Endpoint,
            format!("`{base}` answers {status}: {text}"),
            "every request would be refused",
            "name the variable that holds the key, and export it: `target: {api_key_env: NAME}`",
        ),
        Err(Unanswered::Status { status, text }) => Finding::note(
            Topic::Endpoint,
            format!("`{base}` answers {status} to `/v1/models`: {text}"),
            "the model can't be looked up, and the URL may be that of something else",
            "see that the URL is that of an OpenAI-compatible server, without `/v1`",
        ),
        Err(Unanswered::Other { why }) => Finding::note(
            Topic::Endpoint,
            format!("`{base}` answers, but: {why}"),
            "the model can't be looked up, and the URL may be that of something else",
            "see that the URL is that of an OpenAI-compatible server, without `/v1`",
        ),
    }
}

/// Days that a certificate should be good for: time to renew it.
const RENEW_DAYS: f64 = 14.0;

fn certificate(replica: &Replica) -> Option<Finding> {
    let days = replica.certificate_days?;
    let base = &replica.base;
    // `as` saturates.
    let whole = days.floor() as i64;
    let plural = if whole == 1 { "" } else { "s" };
    let seen = format!("that of `{base}` ends in {whole} day{plural}");
    Some(if days < RENEW_DAYS {
        Finding::note(
            Topic::Certificate,
            seen,
            "no request gets through from then on, and no gate passes",
            "renew it, and let the server read the new one",
        )
    } else {
        Finding::ok(Topic::Certificate, seen)
    })
}

fn model(spec: &Spec, exam: &Exam) -> Option<Finding> {
    let listed = exam.replicas.first()?.models.as_ref().ok()?;
    let Some(wanted) = &spec.target.model else {
        let first = listed.first()?;
        return Some(match listed.len() {
            1 => Finding::ok(Topic::Model, format!("`{first}`, the only one")),
            n => Finding::note(
                Topic::Model,
                format!("the first of {n} models is `{first}`"),
                "the spec names none, so requests go to the first that is listed, whichever that will be",
                format!("name it in the spec: `target: {{model: {first}}}`"),
            ),
        });
    };
    if listed.contains(wanted) {
        return Some(Finding::ok(Topic::Model, format!("`{wanted}` is there")));
    }
    let answered = exam.trial.as_ref().is_ok_and(|trial| {
        trial
            .records
            .iter()
            .any(|record| record.outcome.kind() == OutcomeKind::Completed)
    });
    let names: Vec<String> = listed
        .iter()
        .take(NAMED)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if listed.len() > NAMED { ", …" } else { "" };
    let seen = format!(
        "`{wanted}` is not among the models that are there ({}{more})",
        names.join(", ")
    );
    let remedy = match suggest(wanted, listed.iter().map(String::as_str))
        .or(listed.first().map(String::as_str))
    {
        Some(near) => format!("name one that is there in the spec: `target: {{model: {near}}}`"),
        None => "load the model, or name another in the spec".to_owned(),
    };
    Some(if answered {
        let why = "the server answers all the same, so it may not look at the name, and another model is \
                   measured than the spec says";
        Finding::note(Topic::Model, seen, why, remedy)
    } else {
        let why = "every request would be refused";
        Finding::trouble(Topic::Model, seen, why, remedy)
    })
}

fn metrics(replica: &Replica) -> Finding {
    let base = &replica.base;
    let lost = "reports then lack the engine's own side: its queue, its times, its cache";
    match &replica.metrics {
        Err(why) => Finding::note(
            Topic::Metrics,
            format!("`{base}` shows none: {why}"),
            lost,
            "switch them on (llama.cpp: `--metrics`; SGLang: `--enable-metrics`), and let a gateway pass \
             `/metrics`, or say where they are: `target: {metrics: http://host:9090/metrics}`",
        ),
        Ok(seen) if seen.missing.is_empty() => {
            Finding::ok(Topic::Metrics, format!("those of {}", seen.engine))
        }
        Ok(seen) => Finding::ok(
            Topic::Metrics,
            format!(
                "those of {}; they do not say: {}",
                seen.engine,
                seen.missing.join(", ")
            ),
        ),
    }
}

/// Seconds that clocks may be apart beyond what a `Date` tells.
const APART_S: f64 = 1.0;

fn clock(replica: &Replica) -> Option<Finding> {
    let ClockSkew { least_s, most_s } = replica.clock?;
    let (by, where_to) = if least_s > APART_S {
        (least_s, "ahead of")
    } else if most_s < -APART_S {
        (-most_s, "behind")
    } else {
        return Some(Finding::ok(
            Topic::Clock,
            "this machine's and the target's agree, as far as a `Date` header tells",
        ));
    };
    Some(Finding::note(
        Topic::Clock,
        format!(
            "this machine's is at least {} {where_to} the target's",
            scale::elapsed(by)
        ),
        "latencies are timed by one monotonic clock and stay right, but logs don't line up, and shards \
         begin apart",
        "keep both in step by NTP",
    ))
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
