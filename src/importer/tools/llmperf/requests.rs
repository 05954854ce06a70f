//! `…_individual_responses.json`: a list of requests, without instants.

use serde_json::Value;

use crate::importer::document::Document;
use crate::importer::field::{at, count, num, text};
use crate::importer::found::{Found, FoundRequest, FoundStage, last_line, outcome_of};
use crate::importer::notes::Code;
use crate::importer::place::Step;
use crate::sample::Outcome;

/// Whether it is a list of requests. What its client failed in leaves names of fields in the list.
pub(super) fn is_own(document: &Document<'_>) -> bool {
    let rows = document.first_rows();
    document.is_list()
        && rows.iter().any(Value::is_object)
        && rows.iter().all(|row| {
            let has = |key: &str| row.get(key).is_some();
            row.is_string() || (has("ttft_s") && has("end_to_end_latency_s") && has("error_code"))
        })
}

/// The run of these requests.
pub(super) fn read(document: &Document<'_>) -> Result<Found, String> {
    let (mut each, mut lost) = (Vec::new(), false);
    document.each(&[Step::Each], &mut |_, row| {
        if row.is_object() {
            each.push(request(row));
        } else {
            lost = true;
        }
    })?;
    let mut found = Found {
        shape: "json, per request",
        ..Found::default()
    };
    found.notes.doubt(
        Code::FailedNotCounted,
        "llmperf loses requests that fail in its client: those are in none of its lists",
    );
    if lost {
        found.notes.doubt(
            Code::CountsDisagree,
            "the list has names of fields between its requests, which llmperf leaves of one that it lost: they are left out",
        );
    }
    found.notes.doubt(
        Code::NoStartTimes,
        "the file keeps no start times of requests: whether latencies had settled is not known",
    );
    found.notes.doubt(
        Code::OtherMeaning,
        "llmperf's inter-token latency has the time to the first token in it and is not taken",
    );
    found.notes.lossy(
        "started, duration, load, model and target",
        "they stand in the summary beside it: give `--pin model.name=…`",
    );
    found
        .notes
        .lossy("itl", "the file has no instant of each token");
    found
        .notes
        .lossy("engine and hardware", "the tool does not record them");
    found.stages = vec![FoundStage {
        each,
        ..FoundStage::default()
    }];
    Ok(found)
}

fn request(row: &Value) -> FoundRequest {
    let seconds = |key: &str| num(row, key).filter(|seconds| *seconds > 0.0);
    let tokens = |key: &str| count(row, key).and_then(|n| u32::try_from(n).ok());
    let message = text(row, "error_msg").unwrap_or("");
    let outcome = if at(row, "error_code").is_some() {
        let status = count(row, "error_code").and_then(|code| u16::try_from(code).ok());
        outcome_of(status, message)
    } else if seconds("ttft_s").is_some() {
        Outcome::Completed
    } else {
        Outcome::Empty
    };
    FoundRequest {
        ttft_s: seconds("ttft_s"),
        e2e_s: seconds("end_to_end_latency_s"),
        input: tokens("number_input_tokens"),
        output: tokens("number_output_tokens"),
        error: last_line(message),
        ..FoundRequest::new(outcome)
    }
}
