//! What holds of any text and any selection.

use proptest::prelude::*;

use super::tests::{AZURE, csv};
use super::*;

/// Text near enough to a trace to get past its header.
fn near_traces() -> impl Strategy<Value = String> {
    let start = prop_oneof![
        Just("TIMESTAMP,ContextTokens,GeneratedTokens\n"),
        Just("Timestamp,Model,Request tokens,Response tokens\r\n"),
        Just(
            "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 1, \"hash_ids\": [1, 2]}\n"
        ),
        Just("{\"at_s\": 0, \"input_tokens\": 600, \"output_tokens\": 1, \"prefix\": [1]}\n"),
        Just(""),
    ];
    let bits = prop_oneof![
        Just("2023-11-16 18:17:03.97,".to_owned()),
        Just("\"at_s\":".to_owned()),
        Just("\"input_tokens\":".to_owned()),
        Just("{\"timestamp\": 5, ".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        "[-0-9eE.,:\"{}\\[\\] ]{0,12}",
        any::<String>(),
    ];
    (start, proptest::collection::vec(bits, 0..40))
        .prop_map(|(start, bits)| format!("{start}{}", bits.concat()))
}

proptest! {
    #[test]
    fn no_text_panics(text in near_traces()) {
        if let Ok(trace) = parse(&text) {
            prop_assert!(trace.rows.is_sorted_by_key(|row| row.at));
            prop_assert!(!trace.rows.is_empty());
            prop_assert_eq!(trace.rows[0].at, Nanos::ZERO);
            let total = trace.rows.len() as u32 + trace.bad + trace.empty;
            prop_assert_eq!(total, trace.read);
        }
    }

    #[test]
    fn a_selection_accounts_for_every_row(
        ats in proptest::collection::vec(0_u32..100_000, 1..60),
        speed in 0.01_f64..100.0,
        from in 0_u64..50,
        window in proptest::option::of(1_u64..60),
        keep in 0.05_f64..=1.0,
        limit in proptest::option::of(1_u32..40),
    ) {
        let lines: Vec<String> = ats.iter().map(|at| format!("{},9,9", f64::from(*at) / 1e3)).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let trace = csv(AZURE, &lines).unwrap();
        let selection = Selection {
            speed,
            from: Nanos::from_secs(from),
            window: window.map(Nanos::from_secs),
            keep,
            limit,
        };
        let Some(selected) = trace.select(&selection) else {
            return Ok(());
        };
        let left = selected.outside + selected.thinned + selected.beyond_limit;
        prop_assert_eq!(selected.rows.len() as u32 + left, trace.rows.len() as u32);
        prop_assert_eq!(selected.rows[0].at, Nanos::ZERO);
        prop_assert!(selected.rows.is_sorted_by_key(|row| row.at));
        prop_assert!(selected.rows.iter().all(|row| row.at <= selected.span));
    }
}
