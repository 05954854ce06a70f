//! Every fixture of `tests/fixtures/spec`, and what must hold for any text.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::diag::{Severity, Style, render};

const SECRET: &str = "s3cr3t-never-to-be-seen";

/// A variable of every name that fixtures use, but for `HOST`, `ENGINE` and `KEY_NAME`.
fn environment(name: &str) -> Option<String> {
    match name {
        "TARGET_URL" => Some(format!("http://{SECRET}:8000")),
        "PORT" | "RATE" | "MODEL" => Some(SECRET.to_owned()),
        _ => None,
    }
}

fn fixtures(kind: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/spec")
        .join(kind);
    let mut fixtures: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    fixtures.sort();
    assert!(!fixtures.is_empty());
    fixtures
}

fn source(text: &str) -> Source {
    Source {
        path: "spec.yaml".to_owned(),
        text: text.to_owned(),
    }
}

fn drawn(diagnostics: &[Diagnostic], source: &Source) -> String {
    render(diagnostics, source, Style::Plain).replace(VERSION, "[version]")
}

fn mistakes(text: &str) -> Vec<Diagnostic> {
    parse(&source(text), &environment).unwrap_err()
}

#[test]
fn every_mistake_is_drawn() {
    for (name, text) in fixtures("err") {
        let source = source(&text);
        let Err(diagnostics) = parse(&source, &environment) else {
            panic!("{name} is no mistake");
        };
        assert!(
            diagnostics
                .iter()
                .any(|one| one.severity == Severity::Error),
            "{name}"
        );
        insta::assert_snapshot!(format!("err@{name}"), drawn(&diagnostics, &source));
    }
}

#[test]
fn good_specs_are_read_whole() {
    for (name, text) in fixtures("ok") {
        let source = source(&text);
        match parse(&source, &environment) {
            Ok(parsed) => {
                assert_eq!(parsed.spec.text, text, "{name}");
                if !parsed.warnings.is_empty() {
                    let drawn = drawn(&parsed.warnings, &source);
                    insta::assert_snapshot!(format!("ok@{name}"), drawn);
                }
            }
            Err(diagnostics) => panic!("{name}:\n{}", drawn(&diagnostics, &source)),
        }
    }
}

#[test]
fn the_product_example_lacks_only_what_comes_later() {
    let (_, text) = fixtures("err")
        .into_iter()
        .find(|(name, _)| name == "product-example")
        .unwrap();
    let words: Vec<(&str, String)> = mistakes(&text)
        .into_iter()
        .map(|one| (one.code, text[one.span.unwrap()].to_owned()))
        .collect();
    let later = ["metrics", "launch", "limits", "capacity", "cost"];
    assert_eq!(
        words,
        later.map(|field| ("spec::not-supported-yet", field.to_owned()))
    );
}

#[test]
fn the_product_example_without_it_is_silent() {
    let (_, text) = fixtures("ok")
        .into_iter()
        .find(|(name, _)| name == "product-example")
        .unwrap();
    let parsed = parse(&source(&text), &environment).unwrap();
    assert_eq!(parsed.warnings, []);
}

#[test]
fn five_mistakes_make_five_diagnostics() {
    let (_, text) = fixtures("err")
        .into_iter()
        .find(|(name, _)| name == "five-mistakes")
        .unwrap();
    let codes: Vec<&str> = mistakes(&text).iter().map(|one| one.code).collect();
    assert_eq!(
        codes,
        [
            "spec::unknown-value",
            "spec::bad-unit",
            "spec::wrong-type",
            "spec::unknown-field",
            "spec::unknown-stage"
        ]
    );
}

/// Codes that the sources name.
fn codes(folder: &std::path::Path) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            codes.extend(self::codes(&path));
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let literals = text.split('"').skip(1);
            codes.extend(
                literals
                    .filter(|text| {
                        text.strip_prefix("spec::").is_some_and(|code| {
                            code.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                        })
                    })
                    .map(str::to_owned),
            );
        }
    }
    codes
}

#[test]
fn every_code_has_a_fixture() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/spec");
    let mut codes = codes(&folder);
    for (_, text) in fixtures("err") {
        for one in mistakes(&text) {
            codes.remove(one.code);
        }
    }
    for (_, text) in fixtures("ok") {
        for one in parse(&source(&text), &environment).unwrap().warnings {
            codes.remove(one.code);
        }
    }
    assert_eq!(codes, BTreeSet::new());
}

#[test]
fn a_huge_file_is_refused_unread() {
    let codes: Vec<_> = mistakes(&"#".repeat((1 << 20) + 1))
        .iter()
        .map(|one| one.code)
        .collect();
    assert_eq!(codes, ["spec::too-large"]);
}

#[test]
fn secrets_stay_out_of_texts() {
    let base = "infergate: 1\nname: a\ntarget: TARGET\nworkload: {classes: [{name: a, input: 1, \
                output: 1}]}\nstages: [{name: s, closed: {users: 1}, requests: 500}]\n";
    for target in [
        r#"{url: "${MODEL}"}"#,
        r#"{url: "http://${MODEL}:x"}"#,
        r#"{url: "http://a:${MODEL}@b"}"#,
        r#"{url: http://a, api: "${MODEL}", layer: "${MODEL}"}"#,
        r#"{url: http://a, api_key_env: "${MODEL}"}"#,
        r#"{url: http://a, model: "${MODEL}", sim: "${MODEL}"}"#,
        r#"{url: "${MODEL}", launch: "${MODEL}", "${MODEL}": "${MODEL}"}"#,
        r#""${MODEL}""#,
        r#"["${MODEL}"]"#,
    ] {
        let source = source(&base.replace("TARGET", target));
        let (text, diagnostics) = match parse(&source, &environment) {
            Ok(parsed) => (parsed.spec.text, parsed.warnings),
            Err(diagnostics) => (String::new(), diagnostics),
        };
        assert!(!text.contains(SECRET), "{target}");
        let drawn = drawn(&diagnostics, &source);
        assert!(!drawn.contains(SECRET), "{drawn}");
        assert!(!drawn.contains("s3cr3t"), "{drawn}");
    }
}

/// One of the good fixtures with a stretch of it replaced.
fn mutated() -> impl Strategy<Value = String> {
    let good: Vec<String> = fixtures("ok").into_iter().map(|(_, text)| text).collect();
    let bit = prop_oneof![
        "[ -~\n]{0,6}",
        Just("\u{feff}".to_owned()),
        Just("é".to_owned()),
        Just("\t".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("0".to_owned()),
        Just("&a *a".to_owned()),
        Just("${X}".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("1e-9/s".to_owned()),
    ];
    let edit = (any::<prop::sample::Index>(), 0..12_usize, bit);
    (
        prop::sample::select(good),
        prop::collection::vec(edit, 1..4),
    )
        .prop_map(|(text, edits)| {
            let mut chars: Vec<char> = text.chars().collect();
            for (at, length, bit) in edits {
                let start = at.index(chars.len() + 1);
                let end = (start + length).min(chars.len());
                chars.splice(start..end, bit.chars());
            }
            chars.into_iter().collect()
        })
}

/// Parses, renders and plans whatever comes: no panic, and an error always has a reason.
fn survive(text: &str) {
    let source = source(text);
    match parse(&source, &environment) {
        Ok(parsed) => {
            let _ = drawn(&parsed.warnings, &source);
            assert!(
                parsed
                    .warnings
                    .iter()
                    .all(|one| one.severity == Severity::Warning)
            );
        }
        Err(diagnostics) => {
            let _ = drawn(&diagnostics, &source);
            assert!(
                diagnostics
                    .iter()
                    .any(|one| one.severity == Severity::Error)
            );
            for one in diagnostics {
                if let Some(span) = one.span {
                    assert!(text.get(span.clone()).is_some(), "{} {span:?}", one.code);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        survive(&text);
    }

    #[test]
    fn any_yaml_like_text_is_survived(text in "[a-z0-9:{}\\[\\],&*!|>\"'#% \n\t-]{0,120}") {
        survive(&text);
    }

    #[test]
    fn any_mutation_is_survived(text in mutated()) {
        survive(&text);
    }
}
