//! Conversations, tenants, datasets and cache regimes, end to end on the embedded engine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use infergate::archive::RecordReader;
use infergate::plan::Phase;
use infergate::sample::{OutcomeKind, RequestRecord};
use infergate::unit::Nanos;

use crate::support::{Project, entries, json};

/// A spec of one stage with these classes (and what else the workload has).
fn spec(workload: &str, stage: &str) -> Project {
    Project::with_spec(&format!(
        "infergate: 1\nname: traffic\ntarget: {{sim: test}}\nworkload:\n  seed: 7\n{workload}\nstages:\n  \
         - {{name: steady, {stage}}}\n"
    ))
}

/// Runs the spec to its end. A machine too busy to send on time makes the run invalid, exit 4, and
/// changes nothing about what was planned and answered.
fn run(project: &Project) -> Vec<RequestRecord> {
    let ran = project.run(&["run", "spec.yaml"]);
    assert!(matches!(ran.code, Some(0 | 4)), "{}{}", ran.out, ran.err);
    let runs = project.runs();
    assert_eq!(json(runs.last().unwrap())["end"], "complete");
    let sessions = project.sessions();
    let path = &entries(&sessions.last().unwrap().join("records"))[0];
    let records = RecordReader::open(path).unwrap();
    records.map(|record| record.unwrap()).collect()
}

#[test]
fn conversations_keep_their_order_their_history_and_their_pauses() {
    let project = spec(
        "  classes:\n    - {name: talk, input: 40, output: 8, turns: {uniform: [2, 4]}, think: 5ms}",
        "closed: {users: 4}, requests: 120, warmup: 4",
    );
    let records = run(&project);
    let mut conversations: BTreeMap<u32, Vec<&RequestRecord>> = BTreeMap::new();
    for record in &records {
        assert_eq!(record.outcome.kind(), OutcomeKind::Completed);
        let turns = conversations
            .entry(record.conversation.unwrap())
            .or_default();
        turns.push(record);
    }
    let measured = records
        .iter()
        .filter(|record| record.phase == Phase::Measured);
    let opened = measured.map(|record| record.scheduled).min().unwrap();
    let mut later = 0;
    for turns in conversations.values_mut() {
        turns.sort_by_key(|record| record.turn);
        for pair in turns.windows(2) {
            later += 1;
            assert_eq!(pair[1].turn, pair[0].turn.map(|turn| turn + 1));
            let due = Nanos::new(pair[0].done.unwrap().get() + 5_000_000);
            // Nothing measured is due before its window.
            let due = if pair[1].phase == Phase::Measured {
                due.max(opened)
            } else {
                due
            };
            assert_eq!(pair[1].scheduled, due, "{:?}", pair[1]);
            // The history is in the prompt, and the engine finds it in its cache but for the last
            // block.
            let before = pair[0].input_tokens.unwrap() + pair[0].output_tokens.unwrap();
            assert!(pair[1].input_tokens.unwrap() > before);
            let cached = pair[1].cached_tokens.unwrap();
            assert!(cached + 16 >= before && cached > 0, "{cached} of {before}");
        }
    }
    assert!(later > 50, "{later}");
    let file = json(&project.runs()[0]);
    let tokens = &file["stages"][0]["pooled"]["tokens"];
    let (planned, observed) = (
        tokens["input_planned"].as_f64().unwrap(),
        tokens["input_observed"].as_f64().unwrap(),
    );
    assert!(
        (observed / planned - 1.0).abs() < 0.05,
        "{observed} of {planned}"
    );
}

#[test]
fn completions_carry_their_history_as_one_text() {
    let project = spec(
        "  classes:\n    - {name: talk, input: 40, output: 8, turns: 3}",
        "closed: {users: 1}, requests: 30, warmup: 3",
    );
    let path = project.path("spec.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("{sim: test}", "{sim: test, api: completions}"),
    )
    .unwrap();
    for record in run(&project) {
        assert_eq!(record.outcome.kind(), OutcomeKind::Completed);
        let cached = record.cached_tokens.unwrap();
        assert_eq!(record.turn != Some(1), cached >= 32, "{record:?}");
    }
}

#[test]
fn an_open_loop_of_conversations_comes_at_its_rate() {
    let project = spec(
        "  classes:\n    - {name: talk, input: 30, output: 4, turns: 3, think: 20ms}\n    \
         - {name: single, weight: 3, input: 30, output: 4}",
        "open: {rate: 150/s}, duration: 4s, warmup: 1s",
    );
    project.run(&["check", "spec.yaml"]).exits(0).shows("600");
    let records = run(&project);
    let measured = records
        .iter()
        .filter(|record| record.phase == Phase::Measured);
    // 600 in expectation, in bunches of up to three.
    let measured = measured.count();
    assert!((480..720).contains(&measured), "{measured}");
    let unique: BTreeSet<u32> = records.iter().map(|record| record.index).collect();
    assert_eq!(unique.len(), records.len());
    assert!(
        records
            .iter()
            .any(|record| record.class == 1 && record.turn == Some(1))
    );
}

#[test]
fn tenants_have_their_shares() {
    let project = spec(
        "  tenants: {count: 3, zipf: 1}\n  classes:\n    \
         - {name: chat, input: 40, output: 2, prefix: {tokens: 16}}",
        "closed: {users: 4}, requests: 440, warmup: 4",
    );
    let mut requests = [0; 3];
    for record in run(&project) {
        if record.phase == Phase::Measured {
            requests[record.tenant.unwrap() as usize] += 1;
        }
    }
    // 240, 120 and 80 in expectation; what is drawn depends on the seed alone.
    assert!((205..275).contains(&requests[0]), "{requests:?}");
    // The run file has what became of each.
    let file = json(&project.runs()[0]);
    let tenants = &file["stages"][0]["tenants"];
    for (index, requests) in requests.iter().enumerate() {
        let tenant = &tenants["top"][index];
        assert_eq!(tenant["tenant"], index);
        assert_eq!(tenant["requests"], *requests);
        assert_eq!(tenant["completed"], *requests);
        assert!(tenant["ttft"]["p50_s"].as_f64() > Some(0.0), "{tenant}");
    }
    assert_eq!(tenants["others"], 0);
    assert!(
        requests[0] > requests[1] && requests[1] > requests[2],
        "{requests:?}"
    );
}

#[test]
fn a_dataset_is_sent_as_it_stands_and_judged_without_its_file() {
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/rows/prompts.jsonl");
    let project = spec(
        "  classes:\n    - {name: prompts, dataset: {file: prompts.jsonl}}",
        "closed: {users: 4}, requests: 120, warmup: 4",
    );
    fs::copy(rows, project.path("prompts.jsonl")).unwrap();
    let records = run(&project);
    let outputs: BTreeSet<u32> = records
        .iter()
        .filter_map(|record| record.output_tokens)
        .collect();
    assert_eq!(outputs, (20..50).collect(), "each row's own length");
    let file = json(&project.runs()[0]);
    assert_eq!(file["spec"]["rows"][0]["size"]["count"], 120);
    assert_eq!(file["stages"][0]["invalid"], serde_json::json!([]));
    // The file is no longer needed.
    fs::remove_file(project.path("prompts.jsonl")).unwrap();
    let run = project.runs()[0].clone();
    let run = run.to_str().unwrap();
    project.run(&["compare", run, run]).exits(3);
}

/// The cached share of the input of a stage under a regime, which the engine's own count agrees with.
fn cached(cache: &str) -> f64 {
    let project = spec(
        &format!(
            "  cache: {cache}\n  classes:\n    \
             - {{name: chat, input: 192, output: 2, prefix: {{tokens: 128, groups: 40}}}}"
        ),
        "closed: {users: 1}, requests: 80, warmup: 1",
    );
    let records = run(&project);
    let measured = || {
        records
            .iter()
            .filter(|record| record.phase == Phase::Measured)
    };
    let input: u32 = measured().filter_map(|record| record.input_tokens).sum();
    let cached: u32 = measured().filter_map(|record| record.cached_tokens).sum();
    let path = project.runs()[0].clone();
    let found = &json(&path)["stages"][0]["prefix_cache"];
    // Nobody else sends anything, so engine and usage counted the same tokens.
    assert_eq!(found["engine"]["tokens"], found["usage"]);
    let counted =
        |of: fn(&RequestRecord) -> Option<u32>| -> u32 { records.iter().filter_map(of).sum() };
    assert_eq!(
        found["usage"]["hits"],
        counted(|record| record.cached_tokens)
    );
    assert_eq!(
        found["usage"]["queries"],
        counted(|record| record.input_tokens)
    );
    let told = project.run(&["report", path.to_str().unwrap()]).exits(0);
    let told = told.shows("of prompt tokens by the engine's own count, ");
    assert!(!told.out.contains("under `cache:"), "{}", told.out);
    f64::from(cached) / f64::from(input)
}

#[test]
fn cache_regimes_have_the_engine_find_as_much_as_they_say() {
    let (cold, realistic, warm) = (cached("cold"), cached("realistic"), cached("warm"));
    assert!(cold < 0.05, "{cold}");
    // 40 groups in 80 requests: most are met for the first time once.
    assert!(
        realistic > cold + 0.1 && realistic < warm - 0.1,
        "{realistic}"
    );
    // Two thirds of each input are shared, but for the last block.
    assert!(warm > 0.5, "{warm}");
}

#[test]
fn a_regime_is_doubted_where_the_engine_finds_something_else() {
    let project = spec(
        "  cache: cold\n  classes:\n    - {name: chat, input: 192, output: 2, prefix: {tokens: 128}}",
        "closed: {users: 1}, requests: 60, warmup: 1",
    );
    run(&project);
    let path = project.runs()[0].clone();
    let text = fs::read_to_string(&path).unwrap();
    let mut file = json(&path);
    file["stages"][0]["prefix_cache"]["engine"]["tokens"]["hits"] = 9000.into();
    fs::write(&path, file.to_string()).unwrap();
    let report = |path: &Path| project.run(&["report", path.to_str().unwrap()]).exits(0);
    report(&path)
        .shows("under `cache: cold`, which lets it find next to nothing")
        .shows("somebody else uses the engine");
    // A file of an earlier version says nothing of it.
    let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let stage = file["stages"][0].as_object_mut().unwrap();
    stage.remove("prefix_cache").unwrap();
    fs::write(&path, file.to_string()).unwrap();
    assert!(!report(&path).out.contains("own count"));
}

#[test]
fn another_regime_is_not_comparable() {
    let class = "  classes:\n    - {name: chat, input: 192, output: 2, prefix: {tokens: 128}}";
    let stage = "closed: {users: 1}, requests: 60, warmup: 1";
    let project = spec(class, stage);
    let path = project.path("spec.yaml");
    let gate = "gate: {cells: [{metric: e2e.p50, stages: [steady], worse_by: 60%}]}\n";
    let text = fs::read_to_string(&path).unwrap() + gate;
    fs::write(&path, &text).unwrap();
    run(&project);
    fs::write(
        &path,
        text.replace("workload:\n", "workload:\n  cache: cold\n"),
    )
    .unwrap();
    run(&project);
    let runs = project.runs();
    let [base, candidate] = &runs[..] else {
        panic!("two runs")
    };
    let ran = project.run(&[
        "compare",
        base.to_str().unwrap(),
        candidate.to_str().unwrap(),
    ]);
    ran.exits(3)
        .shows("cache regimes differ (realistic against cold)");
}

#[test]
fn prompts_with_a_shared_prefix_have_their_planned_length() {
    for (input, tokens, api) in [
        (128, 80, "chat"),
        (300, 30, "chat"),
        (160, 100, "completions"),
    ] {
        let class = format!(
            "  classes:\n    - {{name: a, input: {input}, output: 2, prefix: {{tokens: {tokens}, groups: 4, share: 1}}}}"
        );
        let project = spec(&class, "closed: {users: 4}, requests: 60, warmup: 4");
        let path = project.path("spec.yaml");
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace("{sim: test}", &format!("{{sim: test, api: {api}}}"));
        fs::write(&path, text).unwrap();
        let records = run(&project);
        let sum =
            |of: fn(&RequestRecord) -> u32| records.iter().map(of).map(f64::from).sum::<f64>();
        let planned = sum(|record| record.planned_input_tokens);
        let off = sum(|record| record.input_tokens.unwrap()) / planned - 1.0;
        assert!(off.abs() < 0.01, "{input} with {tokens} by {api}: {off}");
    }
}
