use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::provenance::Pin;

/// A recorded target: its model's name and its answers by path.
fn recorded(text: &str) -> (String, Answers) {
    let fixture: Value = serde_json::from_str(text).unwrap();
    let origin = fixture["origin"].as_str().unwrap();
    assert!(
        origin.starts_with("captured from ") || origin.starts_with("from-source: "),
        "{origin}"
    );
    let mut answers = Answers::default();
    for (path, answer) in fixture["answers"].as_object().unwrap() {
        let source = [Source::Models, Source::OllamaModel, Source::Metrics]
            .into_iter()
            .chain(Source::ASKED)
            .find(|source| source.path() == path)
            .unwrap_or_else(|| panic!("nobody asks for {path}"));
        // Texts stand as they are, and so does JSON that was packed into one.
        let body = match answer {
            Value::String(metrics) if source == Source::Metrics => metrics.clone(),
            json => json.to_string(),
        };
        answers.add(source, Reply::Body(body));
    }
    (fixture["model"].as_str().unwrap().to_owned(), answers)
}

fn shown(model: &str, answers: &Answers) -> String {
    let lines = read(answers, model)
        .into_iter()
        .map(|(pin, observed)| match observed {
            Observation::Seen { value, source } => format!("{pin} = {value} ({source})"),
            Observation::Unknown(why) => format!("{pin}: {why}"),
        });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_engine_shows_its_pins() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/probe");
    let mut engines = BTreeSet::new();
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let (model, answers) = recorded(&fs::read_to_string(&file).unwrap());
        engines.insert(Engine::of(&answers).name());
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        insta::assert_snapshot!(name, shown(&model, &answers));
    }
    let all = Engine::ALL.map(Engine::name);
    assert_eq!(
        engines,
        all.into_iter().collect(),
        "each engine has a recording"
    );
}

#[test]
fn rules_name_pins_that_exist() {
    for engine in Engine::ALL {
        for rule in engine.rules() {
            assert!(rule.pin.parse::<PinPath>().is_ok(), "{}", rule.pin);
        }
    }
}

#[test]
fn a_silent_source_is_unreachable_and_a_missing_one_does_not_report() {
    let mut answers = Answers::default();
    let models = json!({"data": [{"id": "m", "owned_by": "vllm"}]}).to_string();
    answers.add(Source::Models, Reply::Body(models));
    answers.add(Source::ServerInfo, Reply::Refused);
    answers.add(Source::Metrics, Reply::Silent);
    let shown = read(&answers, "m");
    let of = |path: &str| shown[&path.parse().unwrap()].clone();
    assert_eq!(of("parallel.tp"), Observation::Unknown(Why::NotReported));
    assert_eq!(
        of("limits.block_size"),
        Observation::Unknown(Why::Unreachable)
    );
    assert_eq!(of("engine.args"), Observation::Unknown(Why::NotProbed));
}

#[test]
fn a_build_that_does_not_know_itself_has_no_version() {
    let file = include_str!("../../../tests/fixtures/probe/llama.cpp-b0-unknown.json");
    let (model, answers) = recorded(file);
    let version = read(&answers, &model)[&"engine.version".parse().unwrap()].clone();
    let pin = Pin {
        declared: None,
        observed: version,
    };
    assert_eq!(pin.value(), None);
    let Observation::Unknown(why) = pin.observed else {
        panic!()
    };
    assert!(why.to_string().contains("b0-unknown"), "{why}");
}

#[test]
fn strange_answers_are_no_pins() {
    let mut answers = Answers::default();
    let models = json!({"data": [{"id": 7}, {"name": "x"}, {"id": ""}], "error": []});
    answers.add(Source::Models, Reply::Body(models.to_string()));
    answers.add(Source::Version, Reply::Body("\"0.1\"".to_owned()));
    answers.add(
        Source::Props,
        Reply::Body("{\"error\": {\"code\": 501}}".to_owned()),
    );
    assert_eq!(answers.first_model(), None);
    let seen = read(&answers, "m");
    let seen: Vec<_> = seen
        .iter()
        .filter(|(_, observed)| matches!(observed, Observation::Seen { .. }))
        .map(|(pin, _)| pin.as_str())
        .collect();
    assert_eq!(seen, ["model.name"]);
}

/// Any JSON, made of the names that rules look for.
fn any_json() -> impl Strategy<Value = Value> {
    let names = [
        "data",
        "id",
        "owned_by",
        "vllm_config",
        "model_config",
        "kv_transfer_config",
        "tp_size",
        "quantization",
        "models",
        "internal_states",
        "kvCacheStats",
        "version",
        "page_size",
        "max_total_num_tokens",
        "default_generation_settings",
        "parallel_config",
        "tensor_parallel_size",
        "data_parallel_size",
        "enable_expert_parallel",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9-]{0,8}".prop_map(Value::from),
        Just(json!("vllm")),
        Just(json!("sglang")),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(names.to_vec()), inner, 0..6)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_answers_are_survived(
        models in any_json(), info in any_json(), metrics in any_json(), text in "\\PC{0,60}",
    ) {
        let mut answers = Answers::default();
        answers.add(Source::Models, Reply::Body(models.to_string()));
        for source in Source::ASKED {
            answers.add(source, Reply::Body(info.to_string()));
        }
        answers.add(Source::Metrics, Reply::Body(metrics.to_string()));
        let shown = read(&answers, "m");
        // Every pin of the engine's side is there, seen or with a reason.
        let missing = PinPath::all().find(|pin| GROUPS.contains(&pin.group()) && !shown.contains_key(pin));
        prop_assert_eq!(missing, None);
        answers.add(Source::Metrics, Reply::Body(text.clone()));
        answers.add(Source::OllamaModel, Reply::Body(text));
        read(&answers, "m");
    }
}

#[test]
fn pins_that_metrics_would_show_say_that_they_are_off() {
    let models = r#"{"data": [{"id": "m", "owned_by": "vllm"}]}"#;
    let pins = |forbidden: bool| {
        let mut answers = Answers::default();
        answers.add(Source::Models, Reply::Body(models.to_owned()));
        if forbidden {
            answers.forbid(Source::Metrics);
        }
        read(&answers, "m")
    };
    let blocks = |forbidden| pins(forbidden)[&"limits.kv_blocks".parse().unwrap()].clone();
    let off = Why::Because("engine metrics: off in the spec".to_owned());
    assert_eq!(blocks(true), Observation::Unknown(off));
    assert_eq!(blocks(false), Observation::Unknown(Why::NotReported));
}
