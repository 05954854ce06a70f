//! Shapes of lm-evaluation-harness's files from its first versions on, small and made here.

use proptest::prelude::*;

use super::*;

fn read(text: &str, task: &str, metric: &str, filter: Option<&str>) -> Result<Score, ScoreError> {
    Score::read(
        text,
        ScoreAsk {
            task,
            metric,
            filter,
        },
    )
}

/// As 0.4 writes it, with what is odd there: two filters, an alias among the metrics, `"N/A"`.
const NEW: &str = r#"{
  "results": {
    "gsm8k": {"alias": "gsm8k",
      "exact_match,strict-match": 0.75, "exact_match_stderr,strict-match": 0.0119,
      "exact_match,flexible-extract": 0.76, "exact_match_stderr,flexible-extract": 0.0117},
    "ner": {"alias": " - ner", "f1,none": 0.25, "f1_stderr,none": "N/A"},
    "easy": {"exact_match,none": 1.0, "exact_match_stderr,none": 0.0},
    "wiki": {"word_perplexity,none": 8.9, "word_perplexity_stderr,none": "N/A"},
    "short": {"name": "short", "sample_len": 20, "acc,none": 0.45, "acc_stderr,none": "N/A"}
  },
  "groups": {"both": {"acc,none": 0.5, "acc_stderr,none": 0.01}},
  "n-samples": {"gsm8k": {"original": 1319, "effective": 1319},
                "easy": {"original": 500, "effective": 98},
                "wiki": {"original": 10, "effective": 10}},
  "lm_eval_version": "0.4.9"
}"#;

#[test]
fn a_metric_is_found_by_its_filter() {
    let score = read(NEW, "gsm8k", "exact_match", Some("strict-match")).unwrap();
    assert_eq!((score.value, score.standard_error), (0.75, 0.0119));
    assert_eq!(score.samples, Some(1319));
    let score = read(NEW, "gsm8k", "exact_match", Some("flexible-extract")).unwrap();
    assert_eq!((score.value, score.standard_error), (0.76, 0.0117));
}

#[test]
fn several_filters_have_to_be_told_apart() {
    let error = read(NEW, "gsm8k", "exact_match", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "has `exact_match` of `gsm8k` by several filters, `flexible-extract`, `strict-match`: \
         name one as `filter`"
    );
}

#[test]
fn plain_names_of_old_files_are_read() {
    let old = r#"{"results": {"arc": {"acc": 0.2475, "acc_stderr": 0.00885, "acc_norm": 0.24,
                  "acc_norm_stderr": 0.0088}}, "versions": {"arc": 0}}"#;
    let score = read(old, "arc", "acc", None).unwrap();
    assert_eq!((score.value, score.standard_error), (0.2475, 0.00885));
    let norm = read(old, "arc", "acc_norm", None).unwrap();
    assert_eq!((norm.value, norm.standard_error), (0.24, 0.0088));
    assert_eq!(score.samples, None);
}

#[test]
fn groups_stand_beside_tasks() {
    let group = read(NEW, "both", "acc", None).unwrap();
    assert_eq!((group.value, group.standard_error), (0.5, 0.01));
}

#[test]
fn a_missing_or_zero_error_is_the_largest_that_the_samples_allow() {
    // p = (98 + 1) / 100 = 0.99; √(0.99 · 0.01 / 98) = 0.010051.
    let score = read(NEW, "easy", "exact_match", None).unwrap();
    assert!((score.standard_error - 0.010_051).abs() < 1e-6, "{score:?}");
    // p = (9 + 1) / 22; √(p (1 − p) / 20) = 0.111340.
    let score = read(NEW, "short", "acc", None).unwrap();
    assert!((score.standard_error - 0.111_340).abs() < 1e-6, "{score:?}");
    assert!((largest_error(0.75, 400) - 0.021_687).abs() < 1e-6);
}

#[test]
fn what_is_missing_is_said_with_what_there_is() {
    let text = |result: Result<Score, ScoreError>| result.unwrap_err().to_string();
    assert_eq!(
        text(read(NEW, "mmlu", "acc", None)),
        "has no task `mmlu`; it has `easy`, `gsm8k`, `ner`, `short`, `wiki`"
    );
    assert_eq!(
        text(read(NEW, "ner", "acc", None)),
        "has no `acc` of `ner`; it has `f1,none`"
    );
    assert_eq!(
        text(read(NEW, "ner", "f1", Some("strict"))),
        "has no `f1,strict` of `ner`; it has `f1,none`"
    );
    assert_eq!(
        text(read(NEW, "ner", "f1", None)),
        "has neither a standard error of `f1,none` of `ner` nor its number of samples"
    );
    assert_eq!(
        text(read(NEW, "wiki", "word_perplexity", None)),
        "has 8.9 as `word_perplexity,none` of `wiki`, which is no share from 0 to 1"
    );
    assert!(text(read("[]", "a", "b", None)).contains("no `results`"));
    assert!(text(read("{", "a", "b", None)).contains("EOF"));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}", task in "[a-z]{1,3}") {
        let _ = read(&text, &task, "acc", None);
    }

    #[test]
    fn any_results_give_a_share_with_an_error_or_none(
        value in prop_oneof![Just("\"N/A\"".to_owned()), Just("null".to_owned()),
                             any::<f64>().prop_map(|v| serde_json::json!(v).to_string())],
        error in prop_oneof![Just("\"N/A\"".to_owned()),
                             any::<f64>().prop_map(|v| serde_json::json!(v).to_string())],
    ) {
        let text = format!("{{\"results\": {{\"t\": {{\"acc,none\": {value}, \"acc_stderr,none\": {error}}}}}}}");
        if let Ok(score) = read(&text, "t", "acc", None) {
            prop_assert!((0.0..=1.0).contains(&score.value));
            prop_assert!(score.standard_error > 0.0 && score.standard_error.is_finite());
        }
    }
}
