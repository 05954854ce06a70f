use super::super::finding::tests::shown;
use super::*;
use crate::diag::Source;
use crate::provenance::{Declared, Pin, Why};
use crate::spec;

fn spec(class: &str, stages: &str) -> Spec {
    let text = format!(
        "\
infergate: 1
name: asks
target: {{url: 'http://gpu:1'}}
workload: {{seed: 3, classes: [{{name: chat, {class}}}]}}
stages:
{stages}
gate: {{cells: [{{metric: error_ratio, at_most: 10%}}]}}
"
    );
    let path = "spec.yaml".to_owned();
    let source = Source { path, text };
    spec::parse(&source, &|_| None, &|_| Err("none".to_owned()))
        .unwrap()
        .spec
}

const STEADY: &str = "  - {name: steady, closed: {users: 8}, requests: 100}";

fn pins(all: &[(&str, &str)]) -> Pins {
    let pin = |value: &str| Pin {
        declared: None,
        observed: Observation::Seen {
            value: value.to_owned(),
            source: "/props".to_owned(),
        },
    };
    let pairs = all.iter();
    pairs
        .map(|(path, value)| (path.parse().unwrap(), pin(value)))
        .collect()
}

fn said(spec: &Spec, all: &[(&str, &str)]) -> String {
    shown(&capacity(spec, &Plan::expand(spec), &pins(all)))
}

#[test]
fn the_longest_request_is_held_against_the_models_context() {
    let spec = spec("input: 400, output: 100", STEADY);
    let told = [
        said(&spec, &[]),
        said(&spec, &[("limits.max_model_len", "563")]),
        said(&spec, &[("limits.max_model_len", "564")]),
    ];
    insta::assert_snapshot!(told.join("\n"));
    let declared = Pin {
        declared: Some(Declared::Literal("10".to_owned())),
        observed: Observation::Unknown(Why::NotReported),
    };
    let declared = Pins::from([("limits.max_model_len".parse().unwrap(), declared)]);
    let found = capacity(&spec, &Plan::expand(&spec), &declared);
    assert!(
        found[0].is_trouble(),
        "a declared limit holds where none is seen"
    );
}

#[test]
fn a_conversation_is_as_long_as_its_turns() {
    let talk = spec("input: 100, output: 50, turns: 4", STEADY);
    assert_eq!(
        longest(&Plan::expand(&talk)),
        Some((664, "steady".to_owned()))
    );
}

#[test]
fn users_and_caps_are_held_against_the_engines_slots() {
    let open = "  - {name: rush, open: {rate: 5/s}, requests: 100, in_flight: 4}";
    let slots = [("limits.max_num_seqs", "6")];
    let told = [
        said(&spec("input: 4, output: 1", STEADY), &slots),
        said(&spec("input: 4, output: 1", open), &slots),
        said(
            &spec("input: 4, output: 1", STEADY),
            &[("limits.max_num_seqs", "8")],
        ),
    ];
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn records_take_what_their_events_take() {
    // 100 requests of 50 tokens: 1,200 bytes each.
    let spec = spec("input: 400, output: 50", STEADY);
    assert!((record_bytes(&spec, 20) - 2.4e6).abs() < 1.0);
    let timed = "  - {name: steady, closed: {users: 8}, duration: 100s}";
    let spec = self::spec("input: 400, output: 50", timed);
    // 8 users, 10 s each without an SLO: 80 requests.
    assert!((record_bytes(&spec, 1) - 96_000.0).abs() < 1.0);
}
