//! Every file of `tests/fixtures/import` against what its server logged.

mod hostile;
mod large;
mod shapes;
mod traps;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::*;
use crate::metric::{Metric, Quantile};

/// A file that some tool wrote, with what is known of it.
struct Fixture {
    name: String,
    text: String,
    about: Value,
}

/// Every file in the folder: a new one becomes a case.
fn fixtures() -> Vec<Fixture> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let mut found = Vec::new();
    for tool in fs::read_dir(root).unwrap() {
        for file in fs::read_dir(tool.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "provenance")
            {
                continue;
            }
            let about =
                fs::read_to_string(path.with_extension("provenance")).unwrap_or_else(|error| {
                    panic!("{}: no provenance beside it: {error}", path.display())
                });
            let tool = path
                .parent()
                .unwrap()
                .file_name()
                .unwrap()
                .to_string_lossy();
            found.push(Fixture {
                name: format!("{tool}/{}", path.file_name().unwrap().to_string_lossy()),
                text: fs::read_to_string(&path).unwrap(),
                about: serde_json::from_str(&about).unwrap(),
            });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() >= 16);
    found
}

fn fixture(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    fs::read_to_string(root.join(name)).unwrap()
}

fn imported(text: &str) -> Run {
    let mut runs = import("file", &text, &Options::default()).unwrap();
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

fn codes(run: &Run) -> Vec<&str> {
    let origin = run.origin.as_ref().unwrap();
    origin
        .caveats
        .iter()
        .map(|caveat| caveat.code.as_str())
        .collect()
}

/// All values of a text, one after the other; none of what is no JSON.
fn values(text: &str) -> Vec<Value> {
    let json = spelled::Spelled::new(text.as_bytes());
    let values = serde_json::Deserializer::from_reader(json).into_iter();
    match values.collect::<Result<Vec<Value>, _>>() {
        Ok(values) => values,
        Err(_) => yaml::value(text).into_iter().flatten().collect(),
    }
}

/// A file as its tool wrote it, with some change.
fn changed(name: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut value = values(&fixture(name)).remove(0);
    change(&mut value);
    value.to_string()
}

fn p(run: &Run, metric: Metric, quantile: Quantile) -> Option<f64> {
    let distribution = run.stages[0].pooled.distributions.get(&metric)?;
    Some(distribution.quantiles.get(&quantile)?.value_s)
}

#[test]
fn what_each_tool_reports_stands_beside_what_its_server_saw() {
    let mut table = String::from(
        "file | mark | reported good/failed | imported requests/good/failed | server's requests/good | caveats\n",
    );
    for fixture in fixtures() {
        let document = document::Document::read(&fixture.text).unwrap();
        let tool = tools::recognise(&document).next().unwrap();
        let mut all = Vec::new();
        tool.read(&document, &Options::default(), &mut |found| all.push(found))
            .unwrap();
        let stage = &all[0].stages[0];
        let told = |n: Option<u64>| n.map_or("–".to_owned(), |n| n.to_string());
        let run = imported(&fixture.text);
        let pooled = &run.stages[0].pooled;
        let truth = &fixture.about["truth"];
        writeln!(
            table,
            "{} | {} | {}/{} | {}/{}/{} | {}/{} | {}",
            fixture.name,
            fixture.about["mark"].as_str().unwrap(),
            told(stage.completed),
            told(stage.failed),
            pooled.scheduled,
            pooled.ended_well(),
            if pooled.untold.contains_key(&Metric::ErrorRatio) {
                "not told".to_owned()
            } else {
                pooled.errors().to_string()
            },
            truth["requests"],
            truth["good"],
            codes(&run).join(", "),
        )
        .unwrap();
        let agrees = truth["good"] == pooled.ended_well() && truth["requests"] == pooled.scheduled;
        let explains = |code: &&str| {
            let other = [
                Code::Bucketed,
                Code::GapsNotPerToken,
                Code::NoStartTimes,
                Code::OtherMeaning,
                Code::FailedInThroughput,
            ];
            other.iter().all(|other| other.as_str() != *code)
        };
        assert!(
            agrees
                || truth.is_null()
                || codes(&run).iter().any(explains)
                || sent_none(truth, pooled),
            "{}: nothing explains why it differs from the server's log",
            fixture.name
        );
    }
    insta::assert_snapshot!("truth", table);
}

/// What clients add to a server's own times, of files that were written on one machine over loopback: at
/// most 15 ms of TTFT and 5 % of TPOT at the median.
#[test]
fn latencies_are_the_servers_within_the_clients_own_bias() {
    let mut table = String::from(
        "file | TTFT p50, p99 of the server | imported | TPOT p50, p99 of the server | imported\n",
    );
    for fixture in fixtures() {
        let run = imported(&fixture.text);
        let truth = |name: &str| fixture.about["truth"][name].as_f64();
        let ms = |seconds: Option<f64>| {
            seconds.map_or("–".to_owned(), |s| format!("{:.2} ms", s * 1e3))
        };
        let of = |metric| [Quantile::P50, Quantile::P99].map(|q| p(&run, metric, q));
        let (ttft, tpot) = (of(Metric::Ttft), of(Metric::Tpot));
        writeln!(
            table,
            "{} | {}, {} | {}, {} | {}, {} | {}, {}",
            fixture.name,
            ms(truth("ttft_p50_s")),
            ms(truth("ttft_p99_s")),
            ms(ttft[0]),
            ms(ttft[1]),
            ms(truth("tpot_p50_s")),
            ms(truth("tpot_p99_s")),
            ms(tpot[0]),
            ms(tpot[1]),
        )
        .unwrap();
        if let (Some(seen), Some(true_s)) = (ttft[0], truth("ttft_p50_s")) {
            assert!(
                (0.0..0.015).contains(&(seen - true_s)),
                "{}: {seen} {true_s}",
                fixture.name
            );
        }
        if let (Some(seen), Some(true_s)) = (tpot[0], truth("tpot_p50_s")) {
            assert!(
                (seen / true_s - 1.0).abs() < 0.05,
                "{}: {seen} {true_s}",
                fixture.name
            );
        }
    }
    insta::assert_snapshot!("latencies", table);
}

#[test]
fn an_imported_run_is_a_run_file_and_says_what_it_is() {
    for fixture in fixtures() {
        let run = imported(&fixture.text);
        let text = serde_json::to_string(&run).unwrap();
        assert_eq!(
            serde_json::from_str::<Run>(&text).unwrap(),
            run,
            "{}",
            fixture.name
        );
        let origin = run.origin.as_ref().unwrap();
        assert!(crate::metric::is_known(&run.definition), "{}", fixture.name);
        assert!(!origin.lossy.is_empty(), "{}", fixture.name);
        assert_eq!(run, imported(&fixture.text), "the same whenever it is read");
    }
}

#[test]
fn what_is_nobodys_is_refused_with_what_was_looked_for() {
    for (text, part) in [
        ("", "it is empty"),
        ("hello", "its text is of no tool"),
        ("{\"a\": 1}", "its JSON is of no tool"),
        ("{\"a\": ", "no whole JSON"),
    ] {
        let error = import("x", &text, &Options::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
        for tool in ["vllm bench serve", "sglang", "guidellm", "aiperf"] {
            assert!(error.contains(tool), "{error}");
        }
    }
}

#[test]
fn the_summary_and_the_requests_of_one_run_agree() {
    for (summary, requests) in [
        ("vllm/ok-summary.json", "vllm/ok-detailed.json"),
        ("sglang/ok-summary.jsonl", "sglang/ok-details.jsonl"),
        ("aiperf/ok-summary.json", "aiperf/ok-requests.jsonl"),
        (
            "inference-perf/ok-summary.json",
            "inference-perf/ok-requests.json",
        ),
    ] {
        let (summary, requests) = (imported(&fixture(summary)), imported(&fixture(requests)));
        for metric in [Metric::Ttft, Metric::Tpot] {
            for quantile in [Quantile::P50, Quantile::P99] {
                let (own, ours) = (
                    p(&summary, metric, quantile),
                    p(&requests, metric, quantile),
                );
                assert!(
                    (own.unwrap() / ours.unwrap() - 1.0).abs() < 0.01,
                    "{metric}.{quantile}: {own:?} {ours:?}"
                );
            }
        }
    }
}

#[test]
fn limits_make_goodput_where_requests_are_known() {
    let options = Options {
        slo: [(crate::spec::SloClause::Ttft, "21ms".parse().unwrap())].into(),
        ..Options::default()
    };
    let text = fixture("vllm/ok-detailed.json");
    let run = import("f", &text, &options).unwrap().remove(0);
    let attainment = run.stages[0].pooled.attainment.as_ref().unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let within = value["ttfts"].as_array().unwrap().iter();
    let within = within.filter(|s| s.as_f64().unwrap() <= 0.021).count() as u64;
    assert_eq!((attainment.good, attainment.of), (within, 40));
    assert!(within > 0 && within < 40);
}

/// Whether the server's log has some requests more than the tool, of those that it cut off when it ended.
fn sent_none(truth: &Value, pooled: &crate::summary::ClassSummary) -> bool {
    let more = truth["requests"].as_u64().unwrap() - pooled.scheduled;
    more < 10 && truth["good"].as_u64().unwrap() - pooled.ended_well() <= more
}
