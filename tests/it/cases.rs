//! What load clients get wrong, and the test that holds each case here.
//!
//! `tests/documents.rs` checks that every test named below exists.
//!
//! | case | held by |
//! |---|---|
//! | **first token** | |
//! | a role-only or empty delta is no token | `only_a_string_with_text_bears_tokens`, `a_role_chunk_is_no_first_token` |
//! | no token is no TTFT of 0, and no success | `no_token_is_empty`, `a_cancelled_request_has_a_ttft_if_its_token_came_first` |
//! | reasoning is a first token, by either name, and no first answer | `reasoning_is_a_first_token_but_no_first_answer`, `an_answer_may_be_all_reasoning_all_tool_call_or_all_refusal` |
//! | tool calls and refusals are answers | `an_answer_may_be_all_reasoning_all_tool_call_or_all_refusal` |
//! | `null`, absent and mistyped fields | `any_field_may_be_null_absent_or_another_type`, `absent_null_and_empty_choices_are_no_choices` |
//! | `choices: []` with usage, anywhere | `usage_may_come_at_any_place_and_bears_no_token` |
//! | a server that holds the stream back | `a_stream_that_comes_whole_is_no_stream` |
//! | why answers ended is counted | `finish_reasons`, `answers_are_counted_by_why_they_ended` |
//! | **times between tokens** | |
//! | several tokens in a chunk | `continuous_usage_counts_the_tokens_of_each_event`, `token_gaps_are_weighted_by_the_servers_count` |
//! | TPOT divides by tokens, not by chunks | `tpot_divides_by_tokens_and_not_by_events` |
//! | the whole answer in one chunk, or in one token | `several_tokens_in_one_event_are_not_measured_and_not_good` |
//! | usage behind the last token stretches no latency | `usage_may_come_at_any_place_and_bears_no_token` |
//! | tokens are never counted by a second tokenizer | `without_usage_events_are_counted_and_named_as_the_source` |
//! | **errors and survivors** | |
//! | an error object in mid-stream, in every shape | `an_error_at_any_place_fails_and_credits_nothing`, `errors_in_a_stream_are_no_success`, `an_event_named_error_fails_whatever_it_holds` |
//! | an end without a terminal event | `a_stream_without_done_and_finish_reason_is_cut`, `a_cut_body_fails` |
//! | never credited what was asked for | `an_error_at_any_place_fails_and_credits_nothing` |
//! | the server's words are kept | `statuses_keep_the_servers_words_and_lose_the_key` |
//! | fast 429 and 503 pages make no latency better | `fast_refusals_make_no_latency_better` |
//! | failures count, beside percentiles and in the file | `what_the_target_did_counts_and_does_not_invalidate`, `fast_refusals_make_no_latency_better` |
//! | not one success | `without_one_success_there_is_no_number` |
//! | percentiles by rank | `reference_values` |
//! | **bytes** | |
//! | any cut, in characters and line ends too | `every_event_cut_at_every_byte_is_the_same_event`, `any_cutting_of_the_same_bytes_gives_the_same_events` |
//! | spaces, comments, CR, CRLF, byte order mark, fields in several lines | `every_line_end_and_spacing_is_read`, `examples_of_the_standard` |
//! | files are whole or not there | `writing_leaves_no_temporary_file`, `a_file_cut_short_reads_to_its_last_whole_block` |
//! | **schedule** | |
//! | waiting for a slot or a slow server is part of the latency | `latencies_count_from_the_schedule_or_from_the_send`, `an_open_loop_shows_a_stall_in_full` |
//! | a closed loop hides a stall | `a_closed_loop_hides_a_stall_and_says_that_it_can` |
//! | requests that were due and not sent are seen | `requests_due_at_the_cap_are_unsent` |
//! | a client that is too slow | `a_client_that_cannot_keep_up_calls_its_run_invalid`, `a_late_or_busy_client_invalidates` |
//! | a warm-up's burst keeps to the cap | `a_burst_of_warm_up_requests_keeps_to_the_cap` |
//! | arrivals have their distribution | `gaps_have_their_distribution`, `records_hold_the_arrivals_that_the_spec_asks_for` |
//! | a start burst decides no p99 | `the_window_opens_when_the_warmup_is_over_and_all_have_started` |
//! | **workload** | |
//! | the same seed on a warm prefix cache | `another_run_shares_no_beginning_but_the_same_body` |
//! | warm-up prompts are no measured prompts | `requests_of_a_run_are_unique_but_for_their_shared_prefix` |
//! | a cold first wave in the window | `a_slow_start_is_found_in_either_latency` |
//! | prompts of another length than planned | `tokens_off_the_plan_invalidate_unless_they_are_only_events`, `a_prompt_has_its_planned_length` |

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::support::{Project, SMALL, json};

const ANSWER: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"length\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":6}}\n\n\
    data: [DONE]\n\n";

/// A server that turns every other request away at once, and its URL.
fn shedding() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let posts = AtomicU32::new(0);
        for stream in listener.incoming() {
            serve(stream.unwrap(), &posts);
        }
    });
    base
}

fn serve(stream: TcpStream, posts: &AtomicU32) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let before = head.len();
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
        let line = head[before..].trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let _ = reader.read_exact(&mut vec![0; length]);
    let (status, kind, body) = if head.starts_with("GET /v1/models") {
        ("200 OK", "application/json", r#"{"data":[{"id":"m"}]}"#)
    } else if head.starts_with("GET") {
        ("404 No", "text/plain", "")
    } else if posts.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
        ("200 OK", "text/event-stream", ANSWER)
    } else {
        ("429 Busy", "text/plain", "come back later")
    };
    let _ = write!(
        reader.get_mut(),
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

fn stage(project: &Project) -> Value {
    json(&project.runs()[0])["stages"][0].clone()
}

#[test]
fn fast_refusals_make_no_latency_better() {
    let spec = SMALL
        .replace("sim: SIM", &format!("url: '{}'", shedding()))
        .replace("users: 2", "users: 1")
        .replace("under_test: [engine.args]\n", "");
    let project = Project::with_spec(&spec);
    project
        .run(&["run", "spec.yaml"])
        .shows("rejected 30")
        .shows("E2E, adjusted")
        .shows("error × 30: come back later");
    let stage = stage(&project);
    let pooled = &stage["pooled"];
    assert_eq!(pooled["outcomes"]["completed"], 30);
    assert_eq!(pooled["outcomes"]["rejected"], 30);
    let e2e = &pooled["distributions"]["e2e"];
    assert_eq!((&e2e["n"], &e2e["failed"]), (&30.into(), &30.into()));
    // With half of them infinitely slow no percentile above the median is finite.
    let p90 = &e2e["quantiles"]["p90"];
    assert!(
        p90["value_s"].is_f64() && p90["adjusted_s"].is_null(),
        "{p90}"
    );
    assert_eq!(pooled["attainment"]["of"], 60, "shedding raises nothing");
}

#[test]
fn without_one_success_there_is_no_number() {
    let project = Project::new("test --error-share 100%");
    project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .says("no request completed")
        .shows("60 failed");
    let stage = stage(&project);
    assert_eq!(stage["pooled"]["outcomes"]["http_error"], 60);
    let distributions = stage["pooled"]["distributions"].as_object().unwrap();
    assert!(
        distributions.values().all(|d| d["n"] == 0),
        "{distributions:?}"
    );
    let path = project.runs()[0].display().to_string();
    let report = project.run(&["report", &path]).exits(0);
    assert!(!report.out.contains("NaN"), "{}", report.out);
}

#[test]
fn answers_are_counted_by_why_they_ended() {
    let project = Project::new("test");
    project
        .run(&["run", "spec.yaml"])
        .exits(0)
        .shows("ended by    length 60");
    assert_eq!(stage(&project)["pooled"]["finish"]["length"], 60);
}
