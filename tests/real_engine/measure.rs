//! `infergate run`: tokens, pins and times held against the engine's own.

use std::path::{Path, PathBuf};

use infergate::archive::RecordReader;
use infergate::diag::Source;
use infergate::load::Stop;
use infergate::plan::{calibration_texts, prefix_calibration_texts};
use infergate::sample::{OutcomeKind, RequestRecord};
use infergate::session::{Launchpad, Measured, RunName, Sitting, Station};
use infergate::spec::{Spec, parse};

use crate::engine::{Counters, Engine, WORKLOAD, spec};
use crate::support::{Project, entries, json};

const CLOSED: &str = "  - {name: closed, closed: {users: 2}, requests: 60, warmup: 6}\n";
const POISSON: &str =
    "  - {name: poisson, open: {rate: 20/s, arrivals: poisson}, requests: 60, warmup: 10}\n";

fn records(path: &Path) -> Vec<RequestRecord> {
    RecordReader::open(path)
        .unwrap()
        .map(|record| record.unwrap())
        .collect()
}

/// Input, cached and output tokens of all records, warm-up included.
fn tokens(records: &[RequestRecord]) -> (f64, f64, f64) {
    let sum = |count: fn(&RequestRecord) -> Option<u32>| -> f64 {
        records.iter().filter_map(count).map(f64::from).sum()
    };
    (
        sum(|record| record.input_tokens),
        sum(|record| record.cached_tokens),
        sum(|record| record.output_tokens),
    )
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn a_run_counts_what_the_engine_counts() {
    let engine = Engine::start("f16");
    let project = Project::with_spec(&spec(&engine, &[WORKLOAD, "stages:\n", CLOSED, POISSON]));
    let before = engine.counters();
    project.run(&["run", "spec.yaml"]).exits(0);
    let counted = engine.counters().since(before);

    let run = json(&project.runs()[0]);
    assert_eq!(run["end"], "complete");
    for stage in run["stages"].as_array().unwrap() {
        let pooled = &stage["pooled"];
        assert_eq!(stage["invalid"], serde_json::json!([]), "{stage}");
        assert_eq!(pooled["scheduled"], 60, "{pooled}");
        assert_eq!(pooled["outcomes"], serde_json::json!({"completed": 60}));
        let tokens = &pooled["tokens"];
        assert_eq!(tokens["output_source"], "usage");
        assert_eq!(tokens["output_observed"], tokens["output_planned"]);
        let input = |name: &str| tokens[name].as_f64().unwrap();
        let off = input("input_observed") / input("input_planned") - 1.0;
        assert!(off.abs() < 0.05, "{off} off the plan: {tokens}");
        println!(
            "{}: input {:+.2} % off the plan",
            stage["name"],
            off * 100.0
        );
        assert!(input("cached") > 0.0, "a shared prefix is cached: {tokens}");
    }

    // The engine's counters hold the calibration too, which no record does: so many one-token
    // answers. Their prompts' tokens add up to what the fitted line says, as the residuals of a
    // least-squares line with an intercept are zero in sum, and so are those of a mean.
    let records = records(&entries(&project.sessions()[0].join("records"))[0]);
    assert_eq!(records.len(), 60 + 6 + 60 + 10, "warm-up included");
    assert!(
        records
            .iter()
            .all(|record| record.outcome.kind() == OutcomeKind::Completed)
    );
    let plain = calibration_texts();
    let prefixed = prefix_calibration_texts();
    let fit = &run["prompt_calibration"];
    assert_eq!(fit["source"], "usage");
    let of = |name: &str| fit[name].as_f64().unwrap();
    let line = |words: u32| of("overhead_tokens") + of("tokens_per_word") * f64::from(words);
    let calibration: f64 = plain.iter().map(|(words, _)| line(*words)).sum::<f64>()
        + prefixed
            .iter()
            .map(|(words, _)| line(*words) + of("prefix_tokens"))
            .sum::<f64>();
    let (input, _, output) = tokens(&records);
    assert_eq!(
        counted.output_tokens as u64,
        output as u64 + (plain.len() + prefixed.len()) as u64
    );
    assert_eq!(
        counted.prompt_tokens as u64,
        (input + calibration).round() as u64,
        "{input} of requests and {calibration} of the calibration"
    );

    for (pin, value) in [
        ("engine.name", "llama.cpp"),
        ("precision.weights", "F16"),
        ("model.name", "tiny"),
        ("limits.max_model_len", "2048"),
        ("limits.max_num_seqs", "4"),
    ] {
        assert_eq!(
            run["pins"][pin]["observed"]["seen"]["value"], value,
            "{pin}"
        );
    }
    // The wheel's build does not know its version, and says so.
    let version = &run["pins"]["engine.version"]["observed"]["unknown"]["placeholder"];
    assert_eq!(version, "b0-unknown");
    for pin in ["model.chat_template", "host.cpu", "speculative.method"] {
        let seen = &run["pins"][pin]["observed"]["seen"]["value"];
        assert!(seen.is_string(), "{pin} is {}", run["pins"][pin]);
    }
    println!("{}", serde_json::to_string_pretty(&run["pins"]).unwrap());
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn completions_are_counted_the_same() {
    let engine = Engine::start("f16");
    let text =
        spec(&engine, &[WORKLOAD, "stages:\n", CLOSED]).replace("api: chat", "api: completions");
    let project = Project::with_spec(&text);
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    assert_eq!(
        run["pins"]["request.api"]["observed"]["seen"]["value"],
        "completions"
    );
    // This server puts a completion's usage on the chunk of its last choice.
    let tokens = &run["stages"][0]["pooled"]["tokens"];
    assert_eq!(run["prompt_calibration"]["source"], "usage");
    assert_eq!(tokens["output_source"], "usage");
    assert_eq!(tokens["output_observed"], tokens["output_planned"]);
    for record in records(&entries(&project.sessions()[0].join("records"))[0]) {
        assert_eq!(record.outcome.kind(), OutcomeKind::Completed, "{record:?}");
        assert_eq!(record.output_tokens, Some(record.planned_output_tokens));
        // One token a chunk, as its vocabulary has only printable text.
        assert_eq!(record.events.len(), record.planned_output_tokens as usize);
    }
}

/// A second run of the same sitting, with what the engine counted meanwhile: nothing but the
/// run's own requests, as one calibration serves all runs of a sitting.
async fn second_run(engine: &Engine, spec: Spec, folder: &Path) -> (Measured, Counters) {
    let pad = Launchpad {
        program: PathBuf::from("infergate"),
        logs: folder.to_owned(),
        access: infergate::access::Access::default(),
        asking: infergate::probe::Asking::of(&spec),
    };
    let mut station = Station::new(spec.target.place.clone(), "target", pad);
    let target = station.up(Stop::never()).await.unwrap();
    let mut sitting = Sitting::new(
        spec,
        "session".to_owned(),
        folder.to_owned(),
        infergate::access::Access::default(),
    );
    let mut measured = None;
    let mut before = Counters::default();
    for number in 0..2 {
        before = engine.counters();
        let name = RunName {
            started: "2026-01-01T00:00:00.000Z".to_owned(),
            stamp: format!("run{number}"),
            unique: format!("unique{number}"),
            place: None,
        };
        let run = sitting
            .measure(target, name, true, |_| {}, Stop::never())
            .await;
        measured = Some(run.unwrap());
    }
    (measured.unwrap(), engine.counters().since(before))
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn times_are_in_the_order_in_which_they_happened() {
    // The binary's `main` does this.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let engine = Engine::start("f16");
    let text = spec(&engine, &[WORKLOAD, "stages:\n", CLOSED]);
    let source = Source {
        path: "spec.yaml".to_owned(),
        text,
    };
    let no_traces = |_: infergate::spec::FileAsk<'_>| Err("none".to_owned());
    let spec = parse(&source, &|_| None, &no_traces).unwrap().spec;
    let folder = tempfile::tempdir().unwrap();
    let (measured, counted) =
        tokio::runtime::Runtime::new()
            .unwrap()
            .block_on(second_run(&engine, spec, folder.path()));

    let records = records(&measured.records);
    let (input, cached, output) = tokens(&records);
    let own = (
        counted.prompt_tokens,
        counted.cached_tokens,
        counted.output_tokens,
    );
    assert_eq!(own, (input, cached, output));
    // The run has kept the engine's count of cached tokens.
    let found = measured.run.stages[0].prefix_cache.as_ref().unwrap();
    let engine = found.engine_tokens().unwrap();
    assert_eq!((engine.queries as f64, engine.hits as f64), (input, cached));
    assert_eq!(found.usage, Some(engine));

    // The engine works on a prompt between our send and our first token, and on a whole request
    // between our send and our end. So in sum, and therefore in the mean, we measure no less.
    let mut ttft = 0.0;
    let mut generation = 0.0;
    let mut whole = 0.0;
    for record in &records {
        let sent = record.sent.unwrap();
        let first = record.first_token().unwrap();
        ttft += first.since(sent).as_secs_f64();
        generation += record.last_token().unwrap().since(first).as_secs_f64();
        whole += record.done.unwrap().since(sent).as_secs_f64();
    }
    println!(
        "ttft {ttft:.3} s, engine's prompts {:.3} s",
        counted.prompt_s
    );
    println!(
        "first to last token {generation:.3} s, engine's {:.3} s",
        counted.output_s
    );
    println!("whole {whole:.3} s");
    assert!(ttft >= counted.prompt_s);
    assert!(whole >= counted.prompt_s + counted.output_s);
    // Both clocks look at the same tokens, each with its own delays: on any machine on which they
    // can be called the same, neither is four times the other.
    let ratio = generation / counted.output_s;
    assert!((0.25..4.0).contains(&ratio), "{ratio}");
}
