//! Suites: what their members are, and where mistakes are shown.

use super::{Suite, SuiteMember};
use crate::diag::{Source, Style, render};
use crate::spec::{Parsed, TargetPlace, parse, parse_in};

const SPEC: &str = "\
infergate: 1
name: chat
target: {sim: 'tiny --seed 1', api: chat}
pins: {engine: {build: '${matrix.quantization}'}}
workload:
  classes:
    - {name: chat, input: 40, output: 6}
stages:
  - {name: users, closed: {users: 2}, requests: 60}
gate:
  cells:
    - {metric: e2e.p50, worse_by: 10%}
";
const SUITE: &str = "\
infergate-suite: 1
matrix:
  engine:
    vllm: {target: {model: a}}
    sglang: {target: {model: b}}
  quantization: [fp8, awq]
exclude:
  - {engine: sglang, quantization: awq}
include:
  - {engine: llama, quantization: q4, with: {target: {sim: h100-8b}}}
  - {engine: vllm, quantization: bf16, spec: code.yaml, with: {name: whole}}
limits: {time: 3h}
";

fn suite_source(text: &str) -> Source {
    Source {
        path: "specs/suite.yaml".to_owned(),
        text: text.to_owned(),
    }
}

fn spec_source() -> Source {
    Source {
        path: "specs/chat.yaml".to_owned(),
        text: SPEC.to_owned(),
    }
}

fn members(text: &str, specs: &[&str]) -> Vec<SuiteMember> {
    let specs: Vec<String> = specs.iter().map(|&spec| spec.to_owned()).collect();
    Suite::parse(&suite_source(text)).unwrap().members(&specs)
}

fn read(member: &SuiteMember) -> Result<Parsed, Vec<crate::diag::Diagnostic>> {
    parse_in(&spec_source(), member.cell.as_ref(), &|_| None, &|_| {
        Err("none".to_owned())
    })
}

fn mistakes(text: &str) -> String {
    let source = suite_source(text);
    render(&Suite::parse(&source).unwrap_err(), &source, Style::Plain)
}

/// Suites that are none.
const WRONG: [&str; 4] = [
    "infergate-suite: 2\nspecz: [a.yaml]\nlimits: {time: 3}\nmatrix: {engine: vllm, with: [a]}\n",
    "infergate-suite: 1\nmatrix:\n  engine: {'a b': {}, vllm: {extends: x.yaml}, sglang: 5}\n  quantization: [fp8, fp8]\n",
    "infergate-suite: 1\nspecs: [a.yaml, /b.yaml]\n",
    "infergate-suite: 1\nspecs: [a.yaml]\nmatrix: {engine: [vllm, sglang], size: [8b]}\n\
     exclude:\n  - {engin: vllm}\n  - {engine: vlm}\n  - {spec: b.yaml}\n\
     include:\n  - {engine: llama}\n  - {engine: llama, size: 'a b'}\n  - 5\n",
];

/// The codes of their mistakes.
pub(in crate::spec) fn codes() -> Vec<&'static str> {
    let each = WRONG
        .iter()
        .map(|text| Suite::parse(&suite_source(text)).unwrap_err());
    each.flatten().map(|mistake| mistake.code).collect()
}

#[test]
fn members_are_each_spec_in_each_cell_and_what_is_included() {
    let members = members(SUITE, &["chat.yaml", "code.yaml"]);
    let told: Vec<String> = members
        .iter()
        .map(|member| format!("{} {}", member.spec, member.cell.as_ref().unwrap().label()))
        .collect();
    assert_eq!(
        told,
        [
            "chat.yaml vllm-fp8",
            "chat.yaml vllm-awq",
            "chat.yaml sglang-fp8",
            "chat.yaml llama-q4",
            "code.yaml vllm-fp8",
            "code.yaml vllm-awq",
            "code.yaml sglang-fp8",
            "code.yaml llama-q4",
            "code.yaml vllm-bf16",
        ]
    );
    let names: Vec<String> = members
        .iter()
        .map(|member| read(member).unwrap().spec.name.to_string())
        .collect();
    assert_eq!(names[..2], ["chat-vllm-fp8", "chat-vllm-awq"]);
    assert_eq!(names[8], "whole", "a cell may give a name");
}

#[test]
fn a_member_is_the_spec_that_one_would_have_written() {
    let members = members(SUITE, &["chat.yaml"]);
    let member = read(&members[0]).unwrap().spec;
    let by_hand = SPEC
        .replace("name: chat\n", "name: chat-vllm-fp8\n")
        .replace("api: chat}", "api: chat, model: a}")
        .replace("${matrix.quantization}", "fp8");
    let by_hand = Source {
        path: "x.yaml".to_owned(),
        text: by_hand,
    };
    let none = |_: crate::spec::FileAsk<'_>| Err("none".to_owned());
    let by_hand = parse(&by_hand, &|_| None, &none).unwrap().spec;
    assert_eq!(member.digest(), by_hand.digest());
    assert_eq!(member.workload_digest(), by_hand.workload_digest());
    assert_eq!(member.pins, by_hand.pins);
    // What a run keeps of it is whole.
    let kept = Source {
        path: "kept".to_owned(),
        text: member.text.clone(),
    };
    let again = parse(&kept, &|_| None, &none).unwrap().spec;
    assert_eq!(again.digest(), member.digest());
    let included = read(&members[3]).unwrap().spec;
    let place = &included.target.place;
    assert!(matches!(place, TargetPlace::Sim { words, .. } if words == &["h100-8b"]));
}

#[test]
fn a_suite_without_a_matrix_has_its_specs_as_they_are() {
    let members = members(
        "infergate-suite: 1\nspecs: [b.yaml, a.yaml]\n",
        &["b.yaml", "a.yaml"],
    );
    let told: Vec<&str> = members.iter().map(|member| &*member.spec).collect();
    assert_eq!(told, ["b.yaml", "a.yaml"]);
    assert!(members.iter().all(|member| member.cell.is_none()));
}

#[test]
fn mistakes_of_a_suite_show_where_they_are_written() {
    let told: Vec<String> = WRONG.iter().map(|text| mistakes(text)).collect();
    insta::assert_snapshot!("mistakes", told.join("\n"));
}

#[test]
fn a_mistake_in_a_cell_is_shown_in_the_suite() {
    let text = SUITE
        .replace("{model: a}", "{modle: a}")
        .replace("quantization: [fp8, awq]", "precision: [fp8, awq]")
        .replace("quantization: ", "precision: ");
    let members = members(&text, &["chat.yaml"]);
    let mut told = render(
        &read(&members[0]).unwrap_err(),
        &spec_source(),
        Style::Plain,
    );
    // And a spec that needs a cell says so by itself.
    let none = |_: crate::spec::FileAsk<'_>| Err("none".to_owned());
    let alone = parse(&spec_source(), &|_| None, &none).unwrap_err();
    told += &render(&alone, &spec_source(), Style::Plain);
    insta::assert_snapshot!("mistakes_in_a_cell", told);
}

#[test]
fn a_matrix_has_an_end() {
    let axis: Vec<String> = (0..20).map(|n| format!("v{n}")).collect();
    let axis = format!("[{}]", axis.join(", "));
    let told = mistakes(&format!(
        "infergate-suite: 1\nmatrix: {{a: {axis}, b: {axis}}}\n"
    ));
    assert!(
        told.contains("it has 400 cells, and a suite 256 members at most"),
        "{told}"
    );
}
