//! Run files that someone edited: no panic, no file outside the folder, and nothing that is missing
//! or impossible passes.

use std::path::Path;

use infergate::archive::{load_runs, parse_run};
use infergate::compare::{Sides, compare};
use infergate::diag::Source;
use infergate::exit::Exit;
use infergate::report;
use infergate::spec::{self, Spec};
use infergate::summary::{Run, Side};
use infergate::verdict::judge;
use serde_json::{Value, json as value};

use crate::support::{Project, SMALL, json};
use infergate::lang::Lang;

/// Both sides of a session of five pairs that passes, and its spec.
fn passing_session() -> (Vec<Run>, Vec<Run>, Spec) {
    let text = SMALL
        .replace("SIM", "test")
        .replace("60%", "300%")
        .replace("  cells:", "  repeats: {min: 5, max: 5}\n  cells:")
        + "    - {metric: ttft.p50, at_most: 1s}\n    - {metric: attainment, worse_by: 30pp}\n";
    let project = Project::with_spec(&text);
    project.run(&["ab", "spec.yaml"]).exits(0);
    let runs = load_runs(&project.sessions()[0]).unwrap();
    let (candidate, baseline) = runs
        .into_iter()
        .partition(|run| run.side == Some(Side::Candidate));
    let source = Source {
        path: "spec.yaml".to_owned(),
        text,
    };
    let spec = spec::parse(&source, &|_| None, &|_| Err("no trace".to_owned()))
        .unwrap()
        .spec;
    (baseline, candidate, spec)
}

/// Judges, renders everything, and reads the report file back.
fn ending(baseline: &[Run], candidate: &[Run], spec: &Spec) -> Exit {
    let sides = Sides {
        baseline,
        candidate,
        archive: &[],
    };
    let judgement = judge(&compare(&sides, &spec.gate, &spec.under_test), &spec.gate);
    let sides = report::Sides {
        title: spec.name.as_str(),
        baseline,
        candidate,
        reproduce: &[],
        places: &[],
    };
    let model = report::build(&judgement, &sides);
    assert!(!report::markdown::report(&model, Lang::En).is_empty());
    assert!(!report::text::report(&model, Lang::En).is_empty());
    let text = report::json::ReportFile::new(&judgement, &sides).render();
    let again = report::json::ReportFile::parse(&text)
        .unwrap_or_else(|error| panic!("report.json does not parse back: {error:?}\n{text}"));
    assert_eq!(
        again.judgement(),
        judgement,
        "report.json reads back as something else"
    );
    for run in candidate {
        let model = report::run::build(run);
        assert!(!report::markdown::run(&model).is_empty());
        assert!(!report::text::run(&model).is_empty());
    }
    judgement.exit
}

/// The places of a JSON value: of its scalars, its maps and its lists.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                found.push(at.clone());
                places(value, &at, found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                let at = format!("{at}/{index}");
                found.push(at.clone());
                places(value, &at, found);
            }
        }
        _ => {}
    }
}

fn remove(value: &mut Value, place: &str) {
    let (parent, key) = place.rsplit_once('/').unwrap();
    // Not every run has all that another has.
    match value.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.remove(&key.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(list)) => {
            let at: usize = key.parse().unwrap();
            if at < list.len() {
                list.remove(at);
            }
        }
        _ => {}
    }
}

/// Without one of these, or with an impossible one, nothing passes.
const VITAL: [&str; 10] = [
    "/definition",
    "/end",
    "/pins/engine.name/observed/seen/value",
    "/pins/model.name",
    "/spec/workload_digest",
    "/stages/0/invalid",
    "/stages/0/pooled/distributions/e2e/quantiles/p50/value_s",
    "/stages/0/pooled/outcomes",
    "/stages/0/pooled/scheduled",
    "/trace_digest",
];

/// What an edit makes of a run; `None` where the file is refused.
fn edited(run: &Run, place: &str, edit: Option<&Value>) -> Option<Run> {
    let mut value = serde_json::to_value(run).unwrap();
    match edit {
        None => remove(&mut value, place),
        Some(edit) => *value.pointer_mut(place)? = edit.clone(),
    }
    parse_run(Path::new("edited.json"), &value.to_string()).ok()
}

#[test]
fn edited_runs_never_panic_and_never_pass_without_their_values() {
    let (baseline, candidate, spec) = passing_session();
    assert_eq!(ending(&baseline, &candidate, &spec), Exit::Pass);
    let mut all = Vec::new();
    places(&serde_json::to_value(&candidate[0]).unwrap(), "", &mut all);
    // The other distributions are read by the same lines.
    let told_apart = [
        "chunk_gap",
        "itl",
        "max_stall",
        "tpot",
        "ttfa",
        "windows/",
        "/source",
    ];
    all.retain(|place| !told_apart.iter().any(|part| place.contains(part)));
    let edits = [
        value!(0),
        value!(-1),
        value!(1e308),
        value!(1_u64 << 48),
        value!(u64::MAX),
        value!(""),
    ];
    let edits: Vec<Option<&Value>> = std::iter::once(None)
        .chain(edits.iter().map(Some))
        .collect();
    for place in &all {
        for edit in &edits {
            // The same in every run of the candidate, so that no repeat is left to judge by.
            let edit_of = |run| edited(run, place, *edit);
            let Some(runs) = candidate.iter().map(edit_of).collect::<Option<Vec<Run>>>() else {
                continue;
            };
            let exit = ending(&baseline, &runs, &spec);
            ending(&runs, &baseline, &spec);
            let nobody = place.ends_with("/distributions/e2e/n") && *edit == Some(&value!(0));
            let vital = nobody || VITAL.iter().any(|vital| place.starts_with(vital));
            assert!(
                !vital || exit != Exit::Pass || runs == candidate,
                "passes with {place} = {edit:?}"
            );
        }
    }
}

#[test]
fn unsafe_names_lead_nowhere() {
    let project = Project::new("test");
    project
        .run(&["--quiet", "run", "spec.yaml", "--repeats", "2"])
        .exits(0);
    let path = project.runs()[1].clone();
    let whole = json(&path);
    for (place, what) in [
        ("/id", "id"),
        ("/session", "session"),
        ("/spec/name", "spec's name"),
    ] {
        for name in ["../../escaped", "/tmp/x", "", "..", "a\u{202e}b"] {
            let mut run = whole.clone();
            *run.pointer_mut(place).unwrap() = name.into();
            std::fs::write(&path, run.to_string()).unwrap();
            let session = project.sessions()[0].to_str().unwrap().to_owned();
            project
                .run(&["baseline", "promote", &session, "--reason", "x"])
                .exits(2)
                .says(&format!("its {what} is"));
        }
    }
    assert!(!project.path("baselines").exists());
    assert!(!project.path("escaped.json").exists());
}
