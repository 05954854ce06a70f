//! Client and engine about the same requests, by hand.

use super::*;
use crate::sample::TimeoutPhase;
use crate::sample::record::tests::record;
use crate::unit::Nanos;
use crate::wire::engine_metrics::read;

/// A request of 100 tokens in, of which 40 were found, and 10 out; first token after 50 ms, all
/// after 200 ms.
fn answered() -> RequestRecord {
    RequestRecord {
        input_tokens: Some(100),
        cached_tokens: Some(40),
        output_tokens: Some(10),
        events: vec![Nanos::from_millis(50), Nanos::from_millis(200)],
        done: Some(Nanos::from_millis(200)),
        ..record(Outcome::Completed)
    }
}

fn counts(records: impl IntoIterator<Item = RequestRecord>) -> ClientCounts {
    let mut counts = ClientCounts::default();
    for record in records {
        counts.see(&record);
    }
    counts
}

/// vLLM's counters after so many requests like those.
fn vllm(requests: u64, output: u64) -> String {
    format!(
        "vllm:prompt_tokens_total {}\nvllm:generation_tokens_total {output}\n\
         vllm:request_success_total {requests}\n\
         vllm:time_to_first_token_seconds_count {requests}\n\
         vllm:time_to_first_token_seconds_sum {}\n",
        100 * requests,
        0.045 * requests as f64
    )
}

fn replica(texts: &[String]) -> ReplicaScrapes {
    let mut replica = ReplicaScrapes::new("http://a/metrics".to_owned());
    for (second, text) in (0..).zip(texts) {
        replica.see(Nanos::from_secs(second), read(text).unwrap(), true);
    }
    replica
}

fn both(check: &CrossCheck, of: CountOf) -> (u64, u64) {
    let both = check.counts.iter().find(|both| both.of == of).unwrap();
    (both.client, both.engine)
}

#[test]
fn what_both_counted_is_held_against_each_other() {
    let client = counts((0..4).map(|_| answered()));
    let engine = replica(&[vllm(100, 1000), vllm(102, 1015), vllm(104, 1040)]);
    let check = client.against(&[engine]).unwrap();
    assert_eq!(check.inexact, None);
    assert_eq!(both(&check, CountOf::Requests), (4, 4));
    assert_eq!(both(&check, CountOf::OutputTokens), (40, 40));
    assert_eq!(both(&check, CountOf::InputTokens), (400, 400));
    let [ttft] = check.times.as_slice() else {
        panic!("{check:?}")
    };
    assert!((ttft.outside_s() - 0.005).abs() < 1e-9, "{ttft:?}");
    assert!(!check.is_shared());
}

#[test]
fn replicas_are_added_up() {
    let client = counts((0..4).map(|_| answered()));
    let one = || replica(&[vllm(100, 1000), vllm(102, 1020)]);
    let check = client.against(&[one(), one()]).unwrap();
    assert_eq!(both(&check, CountOf::OutputTokens), (40, 40));
}

#[test]
fn an_engine_that_counts_computed_prompts_alone_is_held_against_those() {
    let client = counts([answered(), answered()]);
    let text = |n: u64| format!("llamacpp:prompt_tokens_total {n}\n");
    let check = client.against(&[replica(&[text(7), text(127)])]).unwrap();
    assert_eq!(both(&check, CountOf::InputTokens), (120, 120));
    // Where one answer does not say what was found, nobody knows.
    let silent = RequestRecord {
        cached_tokens: None,
        ..answered()
    };
    let client = counts([answered(), silent]);
    let why = client
        .against(&[replica(&[text(7), text(127)])])
        .unwrap_err();
    assert_eq!(why, "its metrics count neither requests nor tokens");
}

#[test]
fn requests_that_did_not_end_well_need_not_be_counted_alike() {
    let cut = record(Outcome::Timeout {
        phase: TimeoutPhase::Stall,
    });
    let unsent = RequestRecord {
        sent: None,
        ..record(Outcome::Unsent)
    };
    let client = counts([answered(), cut, unsent]);
    let check = client
        .against(&[replica(&[vllm(0, 0), vllm(2, 14)])])
        .unwrap();
    let why = "1 requests were sent and did not end well";
    assert_eq!(check.inexact.as_deref(), Some(why));
    assert_eq!(both(&check, CountOf::Requests), (1, 2));
    assert_eq!(check.times, [], "means of different requests");
    assert!(!check.is_shared(), "it may be our own");
    let again = RequestRecord {
        resent: 1,
        ..answered()
    };
    let check = counts([again]).against(&[replica(&[vllm(0, 0), vllm(2, 20)])]);
    assert!(check.unwrap().inexact.unwrap().contains("sent again"));
}

#[test]
fn requests_of_others_make_the_counters_theirs_too() {
    let client = counts((0..4).map(|_| answered()));
    let check = client
        .against(&[replica(&[vllm(0, 0), vllm(9, 600)])])
        .unwrap();
    assert!(check.is_shared(), "{check:?}");
}

#[test]
fn what_can_not_be_held_against_each_other_has_a_reason() {
    let client = counts([answered()]);
    let why = |replicas: &[ReplicaScrapes]| client.against(replicas).unwrap_err();
    let anew = replica(&[vllm(100, 1000), vllm(1, 10)]);
    let good = replica(&[vllm(0, 0), vllm(1, 10)]);
    assert_eq!(
        why(&[good, anew]),
        "of the engine at http://a/metrics: its counters went back: it was started anew"
    );
    let mut off = replica(&[]);
    off.trouble = Some("engine metrics: off in the spec".to_owned());
    assert!(why(&[off]).ends_with("engine metrics: off in the spec"));
    assert!(why(&[replica(&[vllm(1, 1)])]).ends_with("were not read twice"));
    assert_eq!(why(&[]), "no replica was asked");
    let silent = "vllm:num_requests_running 1\n".to_owned();
    let silent = replica(&[silent.clone(), silent]);
    assert_eq!(
        why(&[silent]),
        "its metrics count neither requests nor tokens"
    );
}

#[test]
fn counts_agree_within_a_hundredth_or_two() {
    let both = |client, engine| BothCounts {
        of: CountOf::OutputTokens,
        client,
        engine,
    };
    assert!(!both(98, 100).disagree());
    assert!(both(97, 100).disagree());
    assert!(!both(1000, 990).disagree());
    assert!(both(1000, 989).disagree());
    assert!(both(0, 3).disagree());
}

#[test]
fn a_client_is_never_faster_than_its_engine() {
    let both = |client_s, engine_s| BothTimes {
        of: TimeOf::Ttft,
        client_s,
        engine_s,
    };
    assert!(!both(0.120, 0.100).disagree(), "20 ms went by elsewhere");
    assert!(!both(0.100, 0.1005).disagree());
    assert!(both(0.100, 0.102).disagree());
}
