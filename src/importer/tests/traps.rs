//! What tools write that misleads, each by its name.

use serde_json::json;

use super::{changed, codes, fixture, imported, p};
use crate::compare::{Value, measures};
use crate::importer::{Options, import};
use crate::metric::{Cell, Metric, Quantile};
use crate::sample::OutcomeKind;
use crate::summary::Adjusted;

#[test]
fn vllm_zeros_of_a_run_without_a_success_are_no_data() {
    let text = changed("vllm/fail-summary.json", |row| {
        row["completed"] = json!(0);
        row["failed"] = json!(40);
        for (key, value) in row.as_object_mut().unwrap() {
            if key.ends_with("_ms") {
                *value = json!(0.0);
            }
        }
    });
    let run = imported(&text);
    assert!(run.stages[0].pooled.distributions.is_empty());
    assert_eq!(run.stages[0].pooled.errors(), 40);
    assert!(codes(&run).contains(&"import::zero-is-no-data"));
}

#[test]
fn vllm_request_goodput_with_a_colon_is_goodput() {
    let text = changed("vllm/ok-summary.json", |row| {
        row.as_object_mut().unwrap().remove("request_goodput");
        row["request_goodput:"] = json!(50.0);
    });
    let run = imported(&text);
    assert!((run.stages[0].pooled.rates.goodput_rps - 50.0).abs() < 1e-9);
    assert!(codes(&run).contains(&"import::key-with-colon"));
}

#[test]
fn vllm_rate_inf_is_no_rate() {
    let run = imported(&fixture("vllm/ok-summary.json"));
    assert_eq!(
        (run.stages[0].rate_rps, run.stages[0].users),
        (None, Some(8))
    );
}

#[test]
fn vllm_e2el_that_was_not_asked_for_is_not_told() {
    let text = changed("vllm/ok-summary.json", |row| {
        row.as_object_mut()
            .unwrap()
            .retain(|key, _| !key.ends_with("e2el_ms"));
    });
    let run = imported(&text);
    assert!(
        !run.stages[0]
            .pooled
            .distributions
            .contains_key(&Metric::E2e)
    );
    assert!(run.origin.unwrap().lossy.contains_key("e2e"));
}

#[test]
fn vllm_failed_requests_of_a_version_without_failed_are_those_that_are_missing() {
    let text = changed("vllm/fail-summary.json", |row| {
        row.as_object_mut().unwrap().remove("failed");
    });
    let run = imported(&text);
    assert_eq!(run.stages[0].pooled.errors(), 15);
    assert!(codes(&run).contains(&"import::failed-not-counted"));
}

#[test]
fn vllm_appended_results_are_a_run_each() {
    let row = changed("vllm/ok-summary.json", |_| {});
    let other = changed("vllm/fail-summary.json", |_| {});
    let runs = import("f", &format!("{row}\n{other}\n"), &Options::default()).unwrap();
    assert_eq!(runs.len(), 2);
    assert_ne!(runs[0].id, runs[1].id);
}

#[test]
fn vllm_percentiles_of_survivors_are_not_those_of_all() {
    let run = imported(&fixture("vllm/fail-summary.json"));
    let ttft = &run.stages[0].pooled.distributions[&Metric::Ttft];
    assert_eq!(ttft.adjusted(Quantile::P99), Some(Adjusted::Infinite));
    assert_eq!(ttft.adjusted(Quantile::P50), Some(Adjusted::Untold));
}

#[test]
fn sglang_infinity_literal_is_read() {
    let text = fixture("sglang/ok-summary.jsonl");
    assert!(text.contains("\"request_rate\": Infinity"));
    assert_eq!(imported(&text).stages[0].rate_rps, None);
}

#[test]
fn sglang_ttft_of_0_is_no_ttft() {
    let text = changed("sglang/ok-details.jsonl", |row| {
        row["ttfts"][3] = json!(0.0);
        row["itls"][3] = json!([]);
    });
    let run = imported(&text);
    assert_eq!(run.stages[0].pooled.distributions[&Metric::Ttft].n, 39);
    assert_eq!(run.stages[0].pooled.count(OutcomeKind::Empty), 1);
    assert!(codes(&run).contains(&"import::counts-disagree"));
}

#[test]
fn sglang_without_a_failed_count_tells_no_error_ratio() {
    let run = imported(&fixture("sglang/fail-summary.jsonl"));
    assert!(
        run.stages[0]
            .pooled
            .untold
            .contains_key(&Metric::ErrorRatio)
    );
    assert!(codes(&run).contains(&"import::failed-not-counted"));
}

#[test]
fn failed_requests_that_nobody_counted_are_not_none() {
    let value = |text: &str, name: &str| {
        let run = imported(text);
        let cell = Cell {
            stage: Some(run.stages[0].name.clone()),
            class: None,
            metric: name.parse().unwrap(),
        };
        measures(&[&run], &cell).remove(0).value
    };
    let text = fixture("sglang/ok-summary.jsonl");
    for name in ["error_ratio", "ttft.p50", "e2e.p99"] {
        let value = value(&text, name);
        assert!(matches!(value, Value::Untold(_)), "{name}: {value:?}");
    }
    // Nor is a run without one good answer left open: it gives none.
    let none = changed("sglang/ok-summary.jsonl", |row| row["completed"] = json!(0));
    assert!(import("f", &none, &Options::default()).is_err());
}

#[test]
fn sglang_requested_length_is_not_credited() {
    let run = imported(&fixture("sglang/fail-details.jsonl"));
    assert_eq!(run.stages[0].pooled.tokens.output_observed, 736);
    assert!(codes(&run).contains(&"import::requested-length-credited"));
}

#[test]
fn guidellm_tpot_with_ttft_in_it_is_not_taken() {
    let run = imported(&fixture("guidellm/ok-summary.json"));
    let tpot = p(&run, Metric::Tpot, Quantile::P50).unwrap();
    let value: serde_json::Value =
        serde_json::from_str(&fixture("guidellm/ok-summary.json")).unwrap();
    let own =
        value["benchmarks"][0]["metrics"]["time_per_output_token_ms"]["successful"]["percentiles"]
            ["p50"]
            .as_f64()
            .unwrap()
            / 1e3;
    assert!(own > tpot * 1.1, "{own} {tpot}");
    assert!(codes(&run).contains(&"import::other-meaning"));
}

#[test]
fn guidellm_zeros_with_a_count_of_0_are_no_data() {
    let text = changed("guidellm/ok-summary.json", |file| {
        let ttft = &mut file["benchmarks"][0]["metrics"]["time_to_first_token_ms"]["successful"];
        *ttft = json!({"mean": 0.0, "count": 0, "percentiles": {"p50": 0.0, "p99": 0.0}});
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

#[test]
fn guidellm_benchmarks_are_a_stage_each() {
    let text = changed("guidellm/ok-summary.json", |file| {
        let first = file["benchmarks"][0].clone();
        file["benchmarks"].as_array_mut().unwrap().push(first);
    });
    let run = imported(&text);
    let names: Vec<&str> = run.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(names, ["concurrent-8", "concurrent-8-2"]);
}

#[test]
fn aiperf_inter_token_latency_is_tpot_and_units_are_its_own() {
    let text = changed("aiperf/ok-summary.json", |file| {
        let block = file["inter_token_latency"].as_object_mut().unwrap();
        for value in block.values_mut() {
            if let Some(ms) = value.as_f64() {
                *value = json!(ms / 1e3);
            }
        }
        block.insert("unit".to_owned(), json!("s"));
    });
    let (seconds, millis) = (
        imported(&text),
        imported(&fixture("aiperf/ok-summary.json")),
    );
    let [a, b] = [seconds, millis].map(|run| p(&run, Metric::Tpot, Quantile::P50).unwrap());
    assert!((a - b).abs() < 1e-9 && a > 0.001);
}

#[test]
fn aiperf_absent_block_is_no_data() {
    let text = changed("aiperf/ok-summary.json", |file| {
        file.as_object_mut().unwrap().remove("time_to_first_token");
    });
    assert!(
        !imported(&text).stages[0]
            .pooled
            .distributions
            .contains_key(&Metric::Ttft)
    );
}

#[test]
fn aiperf_warm_up_is_left_out() {
    let text = fixture("aiperf/ok-requests.jsonl").replacen("\"profiling\"", "\"warmup\"", 1);
    let run = imported(&text);
    assert_eq!(run.stages[0].pooled.scheduled, 39);
    assert!(codes(&run).contains(&"import::warm-up-left-out"));
}

#[test]
fn a_percentile_above_the_largest_value_is_doubted() {
    let text = changed("aiperf/ok-summary.json", |file| {
        file["request_latency"]["max"] = json!(1.0);
    });
    assert!(codes(&imported(&text)).contains(&"import::percentile-above-max"));
}

#[test]
fn nan_is_no_number() {
    let text = fixture("vllm/ok-summary.json");
    let text = text.replacen("\"mean_ttft_ms\": ", "\"mean_ttft_ms\": NaN, \"x\": ", 1);
    let run = imported(&text);
    assert_eq!(
        run.stages[0].pooled.distributions[&Metric::Ttft].mean_s,
        None
    );
    assert!(codes(&run).contains(&"import::not-a-number"));
}

#[test]
fn a_file_that_was_cut_off_says_so() {
    let row = changed("vllm/ok-summary.json", |_| {});
    let run = imported(&format!("{row}\n{}", &row[..40]));
    assert!(codes(&run).contains(&"import::cut-off"));
}

#[test]
fn k6_true_of_a_threshold_means_failed_in_one_shape() {
    let run = imported(&fixture("k6/summary-export.json"));
    let caveats = &run.origin.as_ref().unwrap().caveats;
    assert!(codes(&run).contains(&"import::true-means-failed"));
    assert!(
        caveats
            .iter()
            .any(|caveat| caveat.message.contains("p(95)<200"))
    );
    let other = imported(&fixture("k6/handle-summary.json"));
    let caveats = &other.origin.as_ref().unwrap().caveats;
    assert!(
        caveats
            .iter()
            .any(|caveat| caveat.message.contains("p(95)<200"))
    );
}

#[test]
fn k6_passes_of_http_req_failed_are_failures() {
    for name in ["k6/summary-export.json", "k6/machine-readable.json"] {
        let run = imported(&fixture(name));
        assert_eq!(run.stages[0].pooled.errors(), 1, "{name}");
        assert!(
            codes(&run).contains(&"import::failed-in-latencies"),
            "{name}"
        );
    }
}

#[test]
fn locust_percentiles_are_bucketed_and_may_lie_above_the_largest() {
    let run = imported(&fixture("locust/fail-stats.csv"));
    assert!(codes(&run).contains(&"import::bucketed"));
    assert!(codes(&run).contains(&"import::percentile-above-max"));
    let text = fixture("locust/ok-stats.csv").replace(",20,", ",N/A,");
    assert!(import("f", &text, &Options::default()).is_ok());
}

#[test]
fn mlperf_invalid_is_refused() {
    let text =
        fixture("mlperf/server-valid.txt").replace("Result is : VALID", "Result is : INVALID");
    let error = import("f", &text, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("INVALID"), "{error}");
}

#[test]
fn mlperf_times_are_nanoseconds() {
    let run = imported(&fixture("mlperf/server-valid.txt"));
    assert_eq!(p(&run, Metric::Ttft, Quantile::P50), Some(0.05));
}

#[test]
fn inferencex_times_are_seconds_and_a_list_is_a_run_each() {
    let run = imported(&fixture("inferencex/agg.json"));
    assert_eq!(p(&run, Metric::Ttft, Quantile::P50), Some(0.2));
    assert_eq!(run.stages[0].pooled.rates.output_tps, Some(4000.0));
    assert!(
        run.stages[0]
            .pooled
            .untold
            .contains_key(&Metric::ErrorRatio)
    );
}

#[test]
fn llm_d_units_stand_beside_each_figure() {
    let run = imported(&fixture("llm-d/report-0.2.yaml"));
    assert_eq!(p(&run, Metric::Ttft, Quantile::P99), Some(0.085));
    assert_eq!(p(&run, Metric::E2e, Quantile::P50), Some(0.6));
    assert_eq!(run.stages[0].pooled.errors(), 1);
}

#[test]
fn genai_perf_counts_failed_requests_in_its_throughput() {
    let run = imported(&fixture("genai-perf/summary.json"));
    assert_eq!(run.definition, "genai-perf/1");
    assert!(codes(&run).contains(&"import::failed-in-throughput"));
}

#[test]
fn genai_bench_error_rate_of_0_is_its_bug_and_time_unit_counts() {
    let run = imported(&fixture("genai-bench/fail.json"));
    assert!(codes(&run).contains(&"import::error-rate-wrong"));
    assert_eq!(run.stages[0].pooled.errors(), 37);
    let seconds = p(&run, Metric::Ttft, Quantile::P50).unwrap();
    let text =
        fixture("genai-bench/fail.json").replace("\"_time_unit\": \"s\"", "\"_time_unit\": \"ms\"");
    let millis = p(&imported(&text), Metric::Ttft, Quantile::P50).unwrap();
    assert!((seconds / millis - 1000.0).abs() < 1.0);
}

#[test]
fn llmperf_itl_with_ttft_in_it_is_not_taken_and_strings_are_numbers() {
    let run = imported(&fixture("llmperf/ok-summary.json"));
    let distributions = &run.stages[0].pooled.distributions;
    assert!(
        !distributions.contains_key(&Metric::Itl) && !distributions.contains_key(&Metric::Tpot)
    );
    assert!(codes(&run).contains(&"import::other-meaning"));
    let text = changed("llmperf/ok-summary.json", |file| {
        file["results_ttft_s_mean"] = json!("NaN");
        file["results_num_completed_requests"] = json!("40");
    });
    let run = imported(&text);
    assert!(codes(&run).contains(&"import::not-a-number"));
    assert_eq!(run.stages[0].pooled.ended_well(), 40);
}

#[test]
fn inference_benchmarker_warm_up_is_skipped() {
    let run = imported(&fixture("inference-benchmarker/ok.json"));
    assert_eq!(run.stages.len(), 1);
    assert!(codes(&run).contains(&"import::warm-up-left-out"));
}

#[test]
fn inference_perf_null_is_no_data() {
    let text = changed("inference-perf/ok-summary.json", |file| {
        file["successes"]["latency"]["inter_token_latency"] = serde_json::Value::Null;
    });
    assert!(
        !imported(&text).stages[0]
            .pooled
            .distributions
            .contains_key(&Metric::Itl)
    );
}
