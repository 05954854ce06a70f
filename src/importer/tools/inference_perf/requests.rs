//! `per_request_lifecycle_metrics.json`: a list of requests, each with the instants of its tokens.

use serde_json::Value;

use crate::importer::document::Document;
use crate::importer::field::{as_num, at, count, num, text};
use crate::importer::found::{Found, FoundRequest, FoundStage, last_line, outcome_of};
use crate::importer::instant;
use crate::importer::notes::Code;
use crate::importer::packed::pack;
use crate::importer::place::Step;
use crate::sample::Outcome;

/// Whether it is a list of requests.
pub(super) fn is_own(document: &Document<'_>) -> bool {
    let rows = document.first_rows();
    document.is_list()
        && !rows.is_empty()
        && rows.iter().all(|row| {
            let has = |key: &str| row.get(key).is_some();
            let info = at(row, "info");
            has("start_time")
                && has("end_time")
                && info.is_some_and(|info| {
                    info.get("request_metrics").is_some() || info.get("input_tokens").is_some()
                })
        })
}

/// The run of these requests.
pub(super) fn read(document: &Document<'_>) -> Result<Found, String> {
    let mut each = Vec::new();
    document.each(&[Step::Each], &mut |_, row| each.push(request(row)))?;
    let mut found = Found {
        shape: "json, per request",
        ..Found::default()
    };
    // On most systems its clock counts from when the machine started, which is no date.
    let starts = each
        .iter()
        .filter_map(|request: &FoundRequest| request.start_s);
    found.started = starts.reduce(f64::min).and_then(instant::of_seconds);
    if found.started.is_none() {
        found
            .notes
            .lossy("started", "the file does not say when it ran");
    }
    found.notes.doubt(
        Code::ErrorsCountedAsGood,
        "a status of 200 counts as good, an error event in its stream or not",
    );
    found.notes.doubt(
        Code::GapsNotPerToken,
        "gaps within a chunk of several tokens count as 0",
    );
    found.notes.lossy(
        "stages, load, model and target",
        "they stand in `config.yaml` beside it: give `--pin model.name=…`",
    );
    found.stages = vec![FoundStage {
        each,
        ..FoundStage::default()
    }];
    Ok(found)
}

fn request(row: &Value) -> FoundRequest {
    let start = num(row, "start_time");
    let since = |instant: Option<f64>| Some(instant? - start?).filter(|seconds| *seconds > 0.0);
    let answer = at(row, "info.response_metrics").or_else(|| at(row, "info"));
    let answer = answer.unwrap_or(&Value::Null);
    let times = at(answer, "output_token_times").and_then(Value::as_array);
    let times: Vec<f64> = times.into_iter().flatten().filter_map(as_num).collect();
    let error = at(row, "error");
    let kind = error
        .and_then(|error| text(error, "error_type"))
        .unwrap_or("");
    let message = error
        .and_then(|error| text(error, "error_msg"))
        .unwrap_or("");
    let outcome = match error {
        Some(_) => {
            let status = kind.rsplit(' ').next().and_then(|code| code.parse().ok());
            outcome_of(status, &format!("{kind} {message}"))
        }
        None if times.is_empty() => Outcome::Empty,
        None => Outcome::Completed,
    };
    let tokens = |value: Option<u64>| value.and_then(|n| u32::try_from(n).ok());
    FoundRequest {
        start_s: start,
        ttft_s: since(times.first().copied()),
        e2e_s: since(num(row, "end_time")),
        gaps_s: Some(pack(times.windows(2).map(|pair| pair[1] - pair[0]))),
        input: tokens(count(row, "info.input_tokens")),
        output: tokens(
            count(answer, "server_usage.completion_tokens")
                .or_else(|| count(answer, "output_tokens")),
        ),
        error: if kind.is_empty() {
            last_line(message)
        } else {
            Some(kind.to_owned())
        },
        ..FoundRequest::new(outcome)
    }
}
