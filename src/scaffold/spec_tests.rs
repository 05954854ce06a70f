use proptest::prelude::*;

use super::*;
use crate::diag::{Source, Style, render};
use crate::provenance::Pin;
use crate::spec::{self as language, Spec};

fn pins(all: &[(&str, &str)]) -> Pins {
    let pin = |value: &str| Pin {
        declared: None,
        observed: Observation::Seen {
            value: value.to_owned(),
            source: "/version".to_owned(),
        },
    };
    let all = all.iter();
    all.map(|(path, value)| (path.parse().unwrap(), pin(value)))
        .collect()
}

fn draft(place: Place, seen: Option<Seen>) -> Draft {
    Draft {
        name: "chat-8b".parse().unwrap(),
        place,
        key: None,
        seen,
    }
}

fn url() -> Place {
    Place::Url("http://gpu-1:8000".to_owned())
}

fn vllm(model: &str, more: &[(&str, &str)]) -> Seen {
    let known = [
        ("engine.args", "--max-num-seqs 4"),
        ("engine.name", "vllm"),
        ("engine.version", "0.32.0"),
        ("hardware.driver", "580.1"),
        ("hardware.gpu", "NVIDIA H200"),
        ("host.cpu", "Some CPU"),
        ("limits.max_model_len", "16384"),
        ("limits.max_num_seqs", "4"),
        ("model.name", model),
        ("request.api", "chat"),
    ];
    Seen {
        model: model.to_owned(),
        others: vec!["acme/other\n- x".to_owned()],
        pins: pins(&[&known[..], more].concat()),
    }
}

/// What our parser makes of a text; it has nothing to say against it.
fn parsed(text: &str) -> Spec {
    let source = Source {
        path: "written".to_owned(),
        text: text.to_owned(),
    };
    let shown = |diagnostics: &[_]| render(diagnostics, &source, Style::Plain);
    let parsed = language::parse(&source, &|_| None, &|_| Err("none".to_owned()))
        .unwrap_or_else(|diagnostics| panic!("{}\n{text}", shown(&diagnostics)));
    assert!(parsed.warnings.is_empty(), "{}", shown(&parsed.warnings));
    parsed.spec
}

#[test]
fn a_spec_holds_what_was_seen_with_where_it_was() {
    let text = spec(&draft(url(), Some(vllm("acme/tiny-8b", &[]))));
    insta::assert_snapshot!(text);
    let spec = parsed(&text);
    assert_eq!(spec.target.model.as_deref(), Some("acme/tiny-8b"));
}

#[test]
fn a_spec_of_a_launch_and_one_of_nothing_are_right() {
    let command = ["vllm", "serve", "a b", "--port", "8000"];
    let launch = Place::Launch {
        url: "http://127.0.0.1:8000".to_owned(),
        command: command.map(str::to_owned).to_vec(),
    };
    let of_launch = spec(&draft(launch, None));
    let crate::spec::TargetPlace::Launched { launch, .. } = parsed(&of_launch).target.place else {
        panic!("no launch: {of_launch}");
    };
    let words: Vec<&str> = launch
        .command
        .iter()
        .map(crate::spec::Word::expose)
        .collect();
    assert_eq!(words, command);
    let of_nothing = spec(&draft(Place::Embedded("demo"), None));
    parsed(&of_nothing);
    insta::assert_snapshot!(of_nothing);
}

#[test]
fn the_workload_fits_into_small_models() {
    for room in ["100", "512", "2048", "131072", "no number"] {
        let mut seen = vllm("m", &[]);
        seen.pins.extend(pins(&[("limits.max_model_len", room)]));
        if room == "no number" {
            seen.pins
                .retain(|path, _| path.as_str() != "limits.max_model_len");
        }
        parsed(&spec(&draft(url(), Some(seen))));
    }
}

#[test]
fn examples_behind_comments_can_be_taken_in() {
    let text = spec(&draft(url(), Some(vllm("m", &[]))));
    let taken: Vec<String> = text
        .lines()
        .map(|line| {
            let bare = line.trim_start();
            let indent = &line[..line.len() - bare.len()];
            let example = bare.strip_prefix("# ").filter(|example| {
                ["- {", "slo:", "prefix:", "repeats:", "host:"]
                    .iter()
                    .any(|start| example.starts_with(start))
            });
            example.map_or(line.to_owned(), |example| format!("{indent}{example}"))
        })
        .collect();
    assert!(taken.join("\n").matches("name: sweep").count() == 1);
    let spec = parsed(&taken.join("\n"));
    assert!(spec.stages.len() > 3, "the sweep and the open stage are in");
}

#[test]
fn names_come_from_models() {
    let name = |model: &str| name_of(model).map(|name| name.to_string());
    let of = name("meta-llama/Llama-3.1-8B-Instruct");
    assert_eq!(of.as_deref(), Some("llama-3.1-8b-instruct"));
    assert_eq!(name("../../etc/passwd").as_deref(), Some("passwd"));
    assert_eq!(name("a b\n: {"), Some("a-b".to_owned()));
    assert_eq!(name("模型"), None);
    assert_eq!(name(""), None);
}

proptest! {
    #[test]
    fn any_name_of_a_model_comes_back_as_it_was(model in any::<String>(), value in any::<String>()) {
        let seen = vllm(&model, &[("precision.weights", &value)]);
        let spec = parsed(&spec(&draft(url(), Some(seen))));
        let expected = is_writable(&model).then_some(model.as_str());
        prop_assert_eq!(spec.target.model.as_deref(), expected);
        let path = "precision.weights".parse().unwrap();
        let declared = spec.pins.get(&path);
        let written = is_writable(&value).then_some(value.clone());
        let expected = written.map_or(
            crate::provenance::Declared::Observed,
            crate::provenance::Declared::Literal,
        );
        prop_assert_eq!(declared, Some(&expected));
        prop_assert_eq!(spec.stages.len(), 1);
    }

    #[test]
    fn hostile_names_stay_in_their_quotes(model in "[\"'\\\\:#{}\\[\\]\n\t$&*!|> a-c-]{0,40}") {
        let spec = parsed(&spec(&draft(url(), Some(vllm(&model, &[])))));
        let expected = is_writable(&model).then_some(model.as_str());
        prop_assert_eq!(spec.target.model.as_deref(), expected);
    }
}
