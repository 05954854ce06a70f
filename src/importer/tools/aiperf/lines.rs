//! `profile_export.jsonl`: a request a line.

use serde_json::Value;

use super::seconds_in;
use crate::importer::document::Document;
use crate::importer::field::{as_num, at, count, num, text};
use crate::importer::found::{Found, FoundRequest, FoundStage, outcome_of};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::importer::packed::pack;
use crate::importer::place::Step;
use crate::sample::Outcome;

/// Whether it is a request a line.
pub(super) fn is_own(document: &Document<'_>) -> bool {
    let rows = document.first_rows();
    !rows.is_empty()
        && rows.iter().all(|row| {
            let has = |path: &str| row.pointer(path).is_some();
            has("/metadata/worker_id") && has("/metrics")
        })
}

/// The run of these requests, without those of a warm-up.
pub(super) fn read(document: &Document<'_>) -> Result<Found, String> {
    let mut found = Found {
        shape: "json lines, per request",
        ..Found::default()
    };
    let (mut warm_up, mut each) = (0_u64, Vec::new());
    document.each(
        if document.is_list() {
            &[Step::Each]
        } else {
            &[]
        },
        &mut |_, row| {
            let phase = text(row, "metadata.benchmark_phase")
                .or_else(|| text(row, "metadata.credit_phase"));
            if phase.is_some_and(|phase| phase != "profiling") {
                warm_up += 1;
            } else {
                each.push(request(row));
            }
        },
    )?;
    if each.is_empty() {
        return Err("every one of its requests is of a warm-up; was the run cut off?".to_owned());
    }
    if warm_up > 0 {
        found.notes.doubt(
            Code::WarmUpLeftOut,
            format!("{warm_up} requests of the warm-up are left out"),
        );
    }
    found.started = each
        .iter()
        .filter_map(|request| request.start_s)
        .reduce(f64::min)
        .and_then(instant::of_seconds);
    found.notes.lossy(
        "workload and model",
        "they stand in the summary beside it: give `--pin model.name=…`",
    );
    found.stages = vec![FoundStage {
        completed: Some(
            each.iter()
                .filter(|request| request.outcome.ended_well())
                .count() as u64,
        ),
        output_tokens: Some(
            each.iter()
                .filter_map(|request| request.output)
                .map(u64::from)
                .sum(),
        ),
        input_tokens: Some(
            each.iter()
                .filter_map(|request| request.input)
                .map(u64::from)
                .sum(),
        ),
        each,
        ..FoundStage::default()
    }];
    Ok(found)
}

fn request(row: &Value) -> FoundRequest {
    let value = |name: &str| num(row, &format!("metrics.{name}.value"));
    let scale = |name: &str| text(row, &format!("metrics.{name}.unit")).and_then(seconds_in);
    let seconds = |name: &str| Some(value(name)? * scale(name)?);
    let start = num(row, "metadata.request_start_ns").or_else(|| num(row, "metadata.timestamp_ns"));
    let tokens = |names: [&str; 2]| {
        let found = names
            .iter()
            .find_map(|name| value(name).filter(|n| (0.0..1e9).contains(n)));
        found.map(|n| n as u32)
    };
    let cancelled = at(row, "metadata.was_cancelled").and_then(Value::as_bool) == Some(true);
    let error = at(row, "error");
    let message = error.and_then(|error| text(error, "message")).unwrap_or("");
    let kind = error.and_then(|error| text(error, "type")).unwrap_or("");
    let outcome = match error {
        _ if cancelled || kind == "RequestCancellationError" => Outcome::Cancelled,
        None if seconds("request_latency").is_some() => Outcome::Completed,
        None => Outcome::Empty,
        Some(error) => {
            let status = count(error, "code").and_then(|code| u16::try_from(code).ok());
            outcome_of(status, &format!("{kind} {message}"))
        }
    };
    let gaps = at(row, "metrics.inter_chunk_latency.value").and_then(Value::as_array);
    let gaps = gaps.zip(scale("inter_chunk_latency"));
    // Of a failed request, so that the time that it took counts; it is in no latency.
    let end = num(row, "metadata.request_end_ns");
    let took = end.zip(start).map(|(end, start)| (end - start) / 1e9);
    FoundRequest {
        start_s: start.map(|ns| ns / 1e9),
        ttft_s: seconds("time_to_first_token").or_else(|| seconds("ttft")),
        e2e_s: seconds("request_latency").or(took.filter(|_| !outcome.ended_well())),
        gaps_s: gaps
            .map(|(gaps, scale)| pack(gaps.iter().filter_map(as_num).map(|gap| gap * scale))),
        input: tokens(["input_sequence_length", "usage_prompt_tokens"]),
        output: tokens(["output_sequence_length", "output_token_count"]),
        error: (!message.is_empty() || !kind.is_empty()).then(|| {
            if message.is_empty() {
                kind.to_owned()
            } else {
                message.to_owned()
            }
        }),
        ..FoundRequest::new(outcome)
    }
}
