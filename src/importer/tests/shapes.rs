//! Shapes that tools' files have had, and what is read of each.

use std::collections::BTreeMap;

use serde_json::json;

use super::{changed, codes, fixture, imported, p, values};
use crate::importer::{Options, import};
use crate::metric::{Metric, Quantile};
use crate::summary::Run;

fn near(a: Option<f64>, b: f64) -> bool {
    a.is_some_and(|a| (a / b - 1.0).abs() < 1e-6)
}

fn shape(run: &Run) -> &str {
    &run.origin.as_ref().unwrap().shape
}

#[test]
fn vllm_rust_client_is_told_by_its_steady_state() {
    let text = changed("vllm/ok-detailed.json", |row| {
        row["steady_state"] = json!(null);
    });
    assert_eq!(
        shape(&imported(&text)),
        "json of the Rust client, per request"
    );
}

#[test]
fn vllm_sweep_summary_is_a_run_each() {
    let mut rows = values(&fixture("vllm/sweep-summary.json")).remove(0);
    let mut other = rows[0].clone();
    other["run_number"] = json!(1);
    other["completed"] = json!(40);
    other["failed"] = json!(0);
    rows.as_array_mut().unwrap().push(other);
    let runs = import("summary.json", &rows.to_string(), &Options::default()).unwrap();
    let errors: Vec<u64> = runs
        .iter()
        .map(|run| run.stages[0].pooled.errors())
        .collect();
    assert_eq!(errors, [1, 0]);
}

#[test]
fn vllm_rate_with_a_cap_is_an_open_load_that_says_so() {
    let run = imported(&fixture("vllm/sweep-summary.json"));
    let stage = &run.stages[0];
    assert_eq!((stage.rate_rps, stage.users), (Some(2.0), Some(16)));
    assert!(codes(&run).contains(&"import::capped-load"));
    assert!(run.spec.text.contains("in_flight: 16"), "{}", run.spec.text);
    let closed = imported(&fixture("vllm/ok-summary.json"));
    assert!(!codes(&closed).contains(&"import::capped-load"));
}

#[test]
fn vllm_file_without_its_count_of_good_requests_is_refused_as_vllm_s() {
    let text = changed("vllm/of-2025.json", |row| {
        row.as_object_mut().unwrap().remove("completed");
    });
    let error = import("f", &text, &Options::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("vllm bench serve: it has no count `completed`"),
        "{error}"
    );
}

#[test]
fn guidellm_latency_is_in_seconds_beside_milliseconds() {
    for name in [
        "guidellm/v0.3.json",
        "guidellm/v0.4.json",
        "guidellm/v1.json",
    ] {
        let run = imported(&fixture(name));
        assert!(near(p(&run, Metric::E2e, Quantile::P50), 0.49), "{name}");
        assert!(near(p(&run, Metric::Ttft, Quantile::P50), 0.049), "{name}");
    }
}

#[test]
fn guidellm_generations_name_their_load_and_count_alike() {
    for (name, shape_of, stage, target) in [
        ("v0.3", "json up to 0.3", "concurrent-4", true),
        ("v0.4", "json of 0.4", "constant-2.00", true),
        ("v1", "json, version 1", "poisson-2.00", true),
    ] {
        let run = imported(&fixture(&format!("guidellm/{name}.json")));
        assert_eq!(
            (shape(&run), run.stages[0].name.as_str()),
            (shape_of, stage)
        );
        let pooled = &run.stages[0].pooled;
        assert_eq!(
            (pooled.scheduled, pooled.ended_well(), pooled.errors()),
            (43, 40, 3),
            "{name}"
        );
        assert_eq!(
            run.client.target == "http://127.0.0.1:8000",
            target,
            "{name}"
        );
    }
}

#[test]
fn guidellm_median_stands_for_a_p50_that_is_left_out() {
    let text = changed("guidellm/v0.3.json", |file| {
        let ttft = &mut file["benchmarks"][0]["metrics"]["time_to_first_token_ms"]["successful"];
        ttft["percentiles"].as_object_mut().unwrap().remove("p50");
    });
    assert!(near(
        p(&imported(&text), Metric::Ttft, Quantile::P50),
        0.049
    ));
}

#[test]
fn guidellm_yaml_and_json_of_one_run_agree() {
    let (yaml, json) = (
        imported(&fixture("guidellm/ok-yaml.yaml")),
        imported(&fixture("guidellm/ok-summary.json")),
    );
    assert_eq!(
        yaml.stages[0].pooled.scheduled,
        json.stages[0].pooled.scheduled
    );
    assert_eq!(
        yaml.stages[0].pooled.distributions,
        json.stages[0].pooled.distributions
    );
}

#[test]
fn aiperf_table_and_summary_of_one_run_agree_but_for_rounding() {
    for kind in ["ok", "fail"] {
        let table = imported(&fixture(&format!("aiperf/{kind}-table.csv")));
        let json = imported(&fixture(&format!("aiperf/{kind}-summary.json")));
        let (a, b) = (&table.stages[0].pooled, &json.stages[0].pooled);
        assert_eq!((a.scheduled, a.ended_well()), (b.scheduled, b.ended_well()));
        for metric in [Metric::Ttft, Metric::Tpot, Metric::E2e] {
            let [a, b] = [&table, &json].map(|run| p(run, metric, Quantile::P50).unwrap());
            assert!((a - b).abs() <= 5.1e-6, "{kind} {metric}: {a} {b}");
        }
        assert_eq!(
            (table.definition.as_str(), shape(&table)),
            ("aiperf/1", "csv")
        );
    }
}

#[test]
fn aiperf_blocks_of_2025_are_read_by_their_names_of_then() {
    let run = imported(&fixture("aiperf/of-october-2025.json"));
    assert!(near(p(&run, Metric::Ttft, Quantile::P50), 0.05));
    assert_eq!(run.stages[0].pooled.errors(), 2);
}

#[test]
fn a_load_that_nobody_tells_is_none() {
    let run = imported(&fixture("aiperf/ok-requests.jsonl"));
    assert_eq!((run.stages[0].users, run.stages[0].rate_rps), (None, None));
}

#[test]
fn inference_perf_median_is_p50_and_seconds_are_seconds() {
    let text = changed("inference-perf/ok-summary.json", |file| {
        file["successes"]["latency"]["request_latency"]["median"] = json!(1.5);
    });
    assert!(near(p(&imported(&text), Metric::E2e, Quantile::P50), 1.5));
}

#[test]
fn inference_perf_gathered_from_the_server_s_metrics_is_no_result() {
    let text = r#"{"load_summary": {}, "successes": {"count": 9, "request_latency": {"mean": 3.1}}, "failures": {}}"#;
    let error = import("f", &text, &Options::default()).unwrap_err();
    assert!(
        error.to_string().contains("of no tool that is known"),
        "{error}"
    );
}

#[test]
fn inference_perf_status_stands_in_the_words_of_an_error() {
    let run = imported(&fixture("inference-perf/fail-requests.json"));
    let counts = &run.stages[0].pooled.outcomes;
    assert!(
        counts.contains_key(&crate::sample::OutcomeKind::HttpError),
        "{counts:?}"
    );
}

#[test]
fn llmperf_names_of_fields_between_requests_are_no_requests() {
    let mut list = values(&fixture("llmperf/ok-requests.json")).remove(0);
    for name in ["error_code", "ttft_s"] {
        list.as_array_mut().unwrap().push(json!(name));
    }
    let run = imported(&list.to_string());
    assert_eq!(run.stages[0].pooled.scheduled, 40);
    assert!(codes(&run).contains(&"import::counts-disagree"));
}

#[test]
fn llmperf_requests_without_a_duration_tell_no_rates() {
    let run = imported(&fixture("llmperf/ok-requests.json"));
    let pooled = &run.stages[0].pooled;
    assert_eq!(
        (pooled.rates.output_tps, pooled.rates.input_tps),
        (None, None)
    );
    for metric in [
        Metric::RequestThroughput,
        Metric::OutputThroughput,
        Metric::Goodput,
    ] {
        assert!(pooled.untold.contains_key(&metric), "{metric}");
    }
}

#[test]
fn k6_zeros_of_a_trend_without_samples_are_no_data() {
    let text = changed("k6/handle-summary.json", |file| {
        file["metrics"]["ttft"] = json!({"type": "trend", "contains": "time", "values":
            {"avg": 0, "min": 0, "med": 0, "max": 0, "p(90)": 0, "p(95)": 0}});
    });
    let run = imported(&text);
    assert!(
        !run.stages[0]
            .pooled
            .distributions
            .contains_key(&Metric::Ttft)
    );
    assert!(codes(&run).contains(&"import::zero-is-no-data"));
}

fn mapped(name: &str) -> Options {
    Options {
        metrics: BTreeMap::from([(name.to_owned(), Metric::Ttft)]),
        ..Options::default()
    }
}

#[test]
fn k6_trend_of_any_name_is_the_metric_that_it_is_said_to_be() {
    let text = changed("k6/handle-summary.json", |file| {
        file["metrics"]["time_to_first"] = json!({"type": "trend", "contains": "time", "values":
            {"avg": 51.0, "min": 40.0, "med": 50.0, "max": 90.0, "p(90)": 60.0, "p(95)": 70.0}});
    });
    let run = import("f", &text, &mapped("time_to_first"))
        .unwrap()
        .remove(0);
    assert!(near(p(&run, Metric::Ttft, Quantile::P50), 0.05));
    let error = import("f", &text, &mapped("time_to_frist")).unwrap_err();
    assert!(
        error.to_string().contains("did you mean `time_to_first`?"),
        "{error}"
    );
}

#[test]
fn locust_rows_of_metrics_are_no_requests() {
    let text = fixture("locust/metric-rows.csv");
    let run = imported(&text);
    assert_eq!(run.stages[0].pooled.scheduled, 40);
    assert!(near(p(&run, Metric::Ttft, Quantile::P50), 0.05));
    assert!(near(p(&run, Metric::E2e, Quantile::P99), 0.2));
    let text = text.replace("METRIC,time_to_first_token", "event,first");
    let run = import("f", &text, &mapped("first")).unwrap().remove(0);
    assert_eq!(run.stages[0].pooled.scheduled, 40);
    assert!(near(p(&run, Metric::Ttft, Quantile::P50), 0.05));
    let error = import("f", &text, &mapped("frist")).unwrap_err();
    assert!(
        error.to_string().contains("did you mean `first`?"),
        "{error}"
    );
}

#[test]
fn locust_row_of_all_stands_for_requests_only_where_there_are_none() {
    let text = fixture("locust/metric-rows.csv");
    let alone = |line: &&str| line.starts_with("Type,") || line.starts_with(",Aggregated");
    let rows: Vec<&str> = text.lines().filter(alone).collect();
    let run = imported(&rows.join("\n"));
    assert_eq!(run.stages[0].pooled.scheduled, 120);
}

#[test]
fn locust_n_a_is_no_number() {
    let text = fixture("locust/metric-rows.csv")
        .replace(",50,50,50,50,60,60,70,70,75,75,75", &",N/A".repeat(11));
    let run = imported(&text);
    assert_eq!(p(&run, Metric::Ttft, Quantile::P50), None);
    assert_eq!(run.stages[0].pooled.scheduled, 40);
}

#[test]
fn inferencex_object_is_a_run_like_a_list_of_one() {
    let text = fixture("inferencex/agg.json");
    let row = values(&text).remove(0)[0].to_string();
    let (object, list) = (imported(&row), imported(&text));
    assert_eq!(object.stages, list.stages);
}

#[test]
fn mlperf_samples_are_said_to_be_what_its_rate_gives() {
    for name in ["mlperf/server-valid.txt", "mlperf/offline-valid.txt"] {
        let run = imported(&fixture(name));
        assert_eq!(run.stages[0].pooled.scheduled, 5988, "{name}");
        assert!(
            run.origin.unwrap().lossy["requests"].contains("no count"),
            "{name}"
        );
    }
}

#[test]
fn llm_d_percentiles_with_a_capital_letter_are_percentiles() {
    let run = imported(&fixture("llm-d/report-0.1.yaml"));
    assert!(near(p(&run, Metric::Ttft, Quantile::P99), 0.07));
    assert_eq!(run.stages[0].pooled.errors(), 2);
}

#[test]
fn llm_d_concurrency_without_a_limit_is_none() {
    let text =
        fixture("llm-d/report-0.2.yaml").replace("rate_qps: 2}", "rate_qps: 2, concurrency: .inf}");
    let run = imported(&text);
    assert_eq!(
        (run.stages[0].users, run.stages[0].rate_rps),
        (None, Some(2.0))
    );
}

#[test]
fn answers_shorter_than_the_length_of_most_are_doubted() {
    let doubted = |short: usize| {
        let text = changed("vllm/ok-detailed.json", |row| {
            for length in row["output_lens"]
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .take(short)
            {
                *length = json!(7);
            }
        });
        codes(&imported(&text)).contains(&"import::short-answers")
    };
    // Of 40 answers the 32 tokens were forced where more than half have them.
    assert_eq!([0, 1, 19, 20].map(doubted), [false, true, true, false]);
}

#[test]
fn answers_shorter_than_was_asked_for_are_doubted_however_many_they_are() {
    let text = changed("sglang/ok-details.jsonl", |row| {
        for length in row["output_lens"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .take(35)
        {
            *length = json!(7);
        }
    });
    assert!(codes(&imported(&text)).contains(&"import::short-answers"));
}
