//! Files with secrets in them, cut files, and files of which values were replaced.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{fixtures, values};
use crate::importer::{Options, import};
use crate::summary::Run;

const PLANTED: &str = "pl4nted-s3cret-value";

#[test]
fn no_secret_of_any_file_enters_a_run() {
    for fixture in fixtures() {
        let rows: Vec<String> = values(&fixture.text)
            .into_iter()
            .map(|mut value| {
                plant(&mut value);
                value.to_string()
            })
            .collect();
        let text = if rows.is_empty() {
            planted_text(&fixture.text)
        } else {
            rows.join("\n")
        };
        assert!(text.contains(PLANTED), "{}", fixture.name);
        let runs = import("f", &text, &Options::default()).unwrap();
        let written = serde_json::to_string(&runs).unwrap();
        assert!(!written.contains(PLANTED), "{}", fixture.name);
    }
}

/// The same in a text: in URLs, and behind paths.
fn planted_text(text: &str) -> String {
    let planted = text
        .replace("://", &format!("://user:{PLANTED}@"))
        .replace("/v1/", &format!("/v1/?api_key={PLANTED}"));
    if planted == text {
        format!("{text}\n  api_key={PLANTED}\n")
    } else {
        planted
    }
}

/// Puts secrets where tools have them: fields by their names, URLs, and the words of errors.
fn plant(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(plant);
            map.insert("api_key".to_owned(), json!(PLANTED));
            map.insert(
                "headers".to_owned(),
                json!({"Authorization": format!("Bearer {PLANTED}")}),
            );
        }
        Value::Array(list) => list.iter_mut().for_each(plant),
        Value::String(text) if text.contains("://") => {
            *text = text.replacen("://", &format!("://user:{PLANTED}@"), 1);
        }
        Value::String(text) if text.contains(' ') => {
            *text = format!("{text} --api-key {PLANTED} api_key={PLANTED}");
        }
        _ => {}
    }
}

/// Values that a hostile or broken writer would put in.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!("NaN")),
        Just(json!("Infinity")),
        Just(json!("x")),
        Just(json!(-1)),
        Just(json!(0)),
        Just(json!(1e308)),
        Just(json!(1e-308)),
        Just(json!(u64::MAX)),
        Just(json!([])),
        Just(json!({})),
        Just(json!(true)),
    ]
}

/// Replaces the value at the `n`th place of a walk.
fn replace(value: &mut Value, n: &mut usize, with: &Value) {
    if *n == 0 {
        *value = with.clone();
    }
    *n = n.wrapping_sub(1);
    match value {
        Value::Object(map) => map.values_mut().for_each(|value| replace(value, n, with)),
        Value::Array(list) => list.iter_mut().for_each(|value| replace(value, n, with)),
        _ => {}
    }
}

/// That it ends in a run that can be read again, or in an error that says something.
fn survives(text: &str) -> Result<(), TestCaseError> {
    match import("f", &text, &Options::default()) {
        Ok(runs) => {
            for run in runs {
                let json = serde_json::to_string(&run).unwrap();
                let read = serde_json::from_str::<Run>(&json);
                prop_assert!(read.is_ok(), "{:?}", read.err());
                for stage in &run.stages {
                    prop_assert!(stage.window_s.is_finite());
                    prop_assert!(stage.pooled.ended_well() <= stage.pooled.scheduled);
                    for distribution in stage.pooled.distributions.values() {
                        for value in distribution.quantiles.values() {
                            prop_assert!(value.value_s.is_finite() && value.value_s >= 0.0);
                        }
                    }
                }
            }
        }
        Err(error) => prop_assert!(!error.to_string().is_empty()),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn files_that_are_cut_anywhere_are_read_or_refused(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()) {
        let all = fixtures();
        let text = &which.get(&all).text;
        let mut end = at.index(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        survives(&text[..end])?;
    }

    #[test]
    fn files_with_odd_values_are_read_or_refused(
        which in any::<prop::sample::Index>(),
        places in prop::collection::vec((0_usize..600, odd()), 1..4),
    ) {
        let all = fixtures();
        let mut values = values(&which.get(&all).text);
        for (place, with) in &places {
            let mut n = *place;
            for value in &mut values {
                replace(value, &mut n, with);
            }
        }
        let rows: Vec<String> = values.iter().map(Value::to_string).collect();
        survives(&rows.join("\n"))?;
    }
}
