//! Every fixture of `tests/fixtures/spec`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::*;
use crate::diag::{Severity, Style, render};
use crate::ident::Name;
use crate::provenance::{Declared, PinPath};
use crate::stats::moderated::Evidence;
use crate::unit::Nanos;

pub(super) const SECRET: &str = "s3cr3t-never-to-be-seen";

/// A variable of every name that fixtures use, but for `HOST`, `ENGINE` and `KEY_NAME`.
pub(super) fn environment(name: &str) -> Option<String> {
    match name {
        "TARGET_URL" => Some(format!("http://{SECRET}:8000")),
        "PORT" | "RATE" | "MODEL" => Some(SECRET.to_owned()),
        _ => None,
    }
}

/// Traces by their path from a fixture.
pub(super) fn traces(ask: FileAsk<'_>) -> Result<FileText, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/spec/ok");
    fs::read_to_string(folder.join(ask.file))
        .map(FileText::Whole)
        .map_err(|_| "there is no such file".to_owned())
}

pub(super) fn fixtures(kind: &str) -> Vec<(String, String)> {
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

pub(super) fn source(text: &str) -> Source {
    Source {
        path: "spec.yaml".to_owned(),
        text: text.to_owned(),
    }
}

pub(super) fn drawn(diagnostics: &[Diagnostic], source: &Source) -> String {
    render(diagnostics, source, Style::Plain).replace(VERSION, "[version]")
}

fn mistakes(text: &str) -> Vec<Diagnostic> {
    parse(&source(text), &environment, &traces).unwrap_err()
}

#[test]
fn every_mistake_is_drawn() {
    for (name, text) in fixtures("err") {
        let source = source(&text);
        let Err(diagnostics) = parse(&source, &environment, &traces) else {
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
        match parse(&source, &environment, &traces) {
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
fn the_product_example_is_silent() {
    let (_, text) = fixtures("ok")
        .into_iter()
        .find(|(name, _)| name == "product-example")
        .unwrap();
    let parsed = parse(&source(&text), &environment, &traces).unwrap();
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

fn good(name: &str) -> Spec {
    let (_, text) = fixtures("ok").into_iter().find(|(n, _)| n == name).unwrap();
    parse(&source(&text), &environment, &traces).unwrap().spec
}

#[test]
fn defaults_follow_the_rules() {
    let spec = good("product-example");
    let [chat, summarize] = spec.workload.classes.as_slice() else {
        panic!("two classes");
    };
    // 16,384 tokens: half for the output, the rest less 64 for the input; 12,000 leave 4,320.
    let largest = |class: &Class| {
        let [bucket] = class.lengths.as_slice() else {
            panic!("one bucket");
        };
        (bucket.input.largest(), bucket.output.largest())
    };
    assert_eq!(largest(chat), (8128, 8192));
    assert_eq!(largest(summarize), (12_000, 800));
    assert_eq!(spec.timeouts.first_token, [Nanos::from_secs(60); 2]);
    assert_eq!(spec.timeouts.total, [600, 900].map(Nanos::from_secs));
    let steady = spec
        .stages
        .iter()
        .find(|stage| stage.name == "steady")
        .unwrap();
    assert_eq!(steady.in_flight, 1000);
    assert_eq!(steady.drain_timeout, Nanos::from_secs(60));
    let model: PinPath = "model.tokenizer".parse().unwrap();
    let same = Declared::Literal("meta-llama/Llama-3.1-8B-Instruct".to_owned());
    assert_eq!(spec.pins[&model], same);

    let spec = good("minimal");
    let [stage] = spec.stages.as_slice() else {
        panic!("one stage");
    };
    let warmup = Warmup {
        requests: 50,
        duration: Nanos::from_secs(30),
    };
    assert_eq!(stage.warmup, warmup);
    // 8/s at an assumed 10 s are 80 in flight, four times that is below the least.
    assert_eq!(stage.in_flight, 1000);
    assert_eq!(spec.gate.repeats, None);
    let cells: Vec<String> = spec
        .gate
        .cells
        .iter()
        .map(|gated| gated.cell.to_string())
        .collect();
    assert_eq!(
        cells,
        [
            "steady/ttft.p95",
            "steady/tpot.p95",
            "steady/e2e.p95",
            "*/error_ratio"
        ]
    );
}

#[test]
fn each_replica_has_metrics_of_its_own() {
    let spec = good("metrics");
    let urls = [
        ("http://gpu-1:8000", "http://gpu-1:9090/metrics"),
        ("http://gpu-2:8000", "http://gpu-2:9090"),
    ];
    let urls = urls.map(|(replica, url)| (replica.to_owned(), url.to_owned()));
    assert_eq!(
        spec.beside.unwrap().metrics,
        MetricsPlace::Urls(urls.into())
    );
    assert_eq!(spec.target.metrics, MetricsPlace::Off);
}

#[test]
fn everything_written_is_read() {
    let spec = good("sim");
    let words = ["h100-8b", "--slower-prefill", "30%"].map(str::to_owned);
    let (words, replicas) = (words.to_vec(), 1);
    assert_eq!(spec.target.place, TargetPlace::Sim { words, replicas });
    assert_eq!(
        (spec.target.api, spec.target.layer),
        (Api::Completions, Layer::EndToEnd)
    );
    let engine: BTreeSet<PinPath> = PinPath::covered_by("engine").into_iter().collect();
    assert_eq!(spec.under_test.pins, engine.into_iter().collect::<Vec<_>>());
    assert!(spec.under_test.strict);
    assert_eq!(spec.request["stop"], serde_json::json!(["\n\n"]));
    assert_eq!(
        spec.request["chat_template_kwargs"],
        serde_json::json!({"enable_thinking": false})
    );
    let names: Vec<&str> = spec
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["burn", "sweep@4", "sweep@8", "rates@40", "rates@80"]
    );
    let burn = Arrival::Closed {
        users: 2,
        ramp: Some(Nanos::from_millis(500)),
        think: Think::NONE,
    };
    assert_eq!(spec.stages[0].arrival, burn);
    assert_eq!(spec.stages[0].in_flight, 2);
    assert_eq!(spec.gate.repeats, Some(Repeats { min: 3, max: 5 }));
    assert_eq!(spec.gate.no_baseline, Policy::Pass);
    assert!((spec.gate.token_mismatch - 0.02).abs() < 1e-12);
    let relative = Limit::WorseBy {
        ratio: 0.125,
        floor: Some(0.002),
    };
    assert_eq!(spec.gate.cells[0].limit, relative);
    assert_eq!(spec.gate.cells[1].limit, Limit::AtMost(1.0));
    assert_eq!(spec.gate.cells[0].cell, spec.gate.cells[1].cell);

    let spec = good("layers");
    let [engine, front] = spec.layers().unwrap();
    assert_eq!(spec.target, front.target, "the front is what users see");
    assert_eq!((front.beside, engine.beside), (None, None));
    assert_eq!(engine.target.layer, Layer::Engine);
    assert_eq!(front.target.layer, Layer::EndToEnd);
    // What is asked is shared, how it is reached is not.
    assert_eq!(engine.target.api, Api::Completions);
    assert_eq!(engine.target.connection.key, front.target.connection.key);
    assert_eq!(front.target.model.as_deref(), Some("team/llama"));
    assert_eq!(engine.target.connection.http, HttpVersion::Http1);
    assert_eq!(front.target.connection.http, HttpVersion::Http2);

    let spec = good("anchors");
    assert_eq!(spec.layers(), None);
    assert_eq!(
        spec.target.place,
        TargetPlace::Urls(vec![format!("http://{SECRET}:8000")])
    );
    let [a, b] = spec.workload.classes.as_slice() else {
        panic!("two classes");
    };
    assert_eq!((a.lengths[0].output, &a.slo), (b.lengths[0].output, &b.slo));
}

#[test]
fn a_trade_names_the_cell_that_has_to_gain() {
    let spec = good("trade");
    assert_eq!(spec.gate.evidence, Evidence::BeyondTolerance);
    let trades: Vec<Option<String>> = spec
        .gate
        .cells
        .iter()
        .map(|cell| Some(cell.trade.as_ref()?.to_string()))
        .collect();
    let text = |stage: &str| {
        Some(format!(
            "up to 8 % if `{stage}/output_throughput` is better by 15 %"
        ))
    };
    // The absolute limit holds whatever is gained.
    assert_eq!(trades, [text("sweep@4"), None, text("steady")]);
    assert!(spec.gate.repeats_stage("sweep@4") && !spec.gate.repeats_stage("sweep@2"));
}

#[test]
fn in_flight_follows_from_littles_law() {
    let text = "infergate: 1\nname: a\ntarget: {sim: demo}\nworkload: {classes: [{name: a, input: 1, \
                output: 1, slo: {e2e: 66s}}]}\nstages: [{name: s, open: {rate: 8/s}, duration: 60s}]\n";
    let spec = parse(&source(text), &environment, &traces).unwrap().spec;
    // 4 × 8/s × 66 s.
    assert_eq!(spec.stages[0].in_flight, 2112);
    assert_eq!(spec.name, "a".parse::<Name>().unwrap());
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
    let mut codes = codes(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/spec"));
    for (_, text) in fixtures("err") {
        for one in mistakes(&text) {
            codes.remove(one.code);
        }
    }
    for (_, text) in fixtures("ok") {
        for one in parse(&source(&text), &environment, &traces)
            .unwrap()
            .warnings
        {
            codes.remove(one.code);
        }
    }
    codes.retain(|code| !extends_tests::codes().contains(&&**code));
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
    let base = "infergate: 1\nname: a\ntarget: TARGET\npins: {model: {tokenizer: same}}\nunder_test: \
                [model.tokenizer]\nworkload: {classes: [{name: a, input: 1, \
                output: 1}]}\nstages: [{name: s, closed: {users: 1}, requests: 500}]\n";
    for target in [
        r#"{url: "${MODEL}"}"#,
        r#"{url: "http://${MODEL}:x"}"#,
        r#"{url: "http://a:${MODEL}@b"}"#,
        r#"{url: http://a, api: "${MODEL}", layer: "${MODEL}"}"#,
        r#"{url: http://a, api_key_env: "${MODEL}"}"#,
        r#"{url: http://a, model: "${MODEL}", sim: "${MODEL}"}"#,
        r#"{url: "${MODEL}", launch: "${MODEL}", "${MODEL}": "${MODEL}"}"#,
        r#"{url: http://a, model: "${MODEL}"}"#,
        r#"{url: http://a, launch: {command: "${MODEL}", env: {A: ["${MODEL}"]}, ready: {http: "${MODEL}", within: "${MODEL}"}, stop: {signal: "${MODEL}"}}}"#,
        r#""${MODEL}""#,
        r#"["${MODEL}"]"#,
    ] {
        let source = source(&base.replace("TARGET", target));
        let (text, diagnostics) = match parse(&source, &environment, &traces) {
            Ok(parsed) => (parsed.spec.text, parsed.warnings),
            Err(diagnostics) => (String::new(), diagnostics),
        };
        assert!(!text.contains(SECRET), "{target}");
        let drawn = drawn(&diagnostics, &source);
        assert!(!drawn.contains(SECRET), "{drawn}");
        assert!(!drawn.contains("s3cr3t"), "{drawn}");
    }
}
