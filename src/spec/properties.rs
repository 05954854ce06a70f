//! What holds for any text, broken or nearly right.

use proptest::prelude::*;

use super::tests::{drawn, environment, fixtures, source, traces};
use super::{Stage, parse};
use crate::diag::Severity;
use crate::plan::Plan;

/// One of the good fixtures with a stretch of it replaced.
fn mutated() -> impl Strategy<Value = String> {
    let good: Vec<String> = fixtures("ok").into_iter().map(|(_, text)| text).collect();
    let bit = prop_oneof![
        "[ -~\n]{0,6}",
        Just("\u{feff}".to_owned()),
        Just("é".to_owned()),
        Just("\t".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("0".to_owned()),
        Just("&a *a".to_owned()),
        Just("${X}".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("1e-9/s".to_owned()),
    ];
    let edit = (any::<prop::sample::Index>(), 0..12_usize, bit);
    (
        prop::sample::select(good),
        prop::collection::vec(edit, 1..4),
    )
        .prop_map(|(text, edits)| {
            let mut chars: Vec<char> = text.chars().collect();
            for (at, length, bit) in edits {
                let start = at.index(chars.len() + 1);
                let end = (start + length).min(chars.len());
                chars.splice(start..end, bit.chars());
            }
            chars.into_iter().collect()
        })
}

/// Parses, renders and plans whatever comes: no panic, and an error always has a reason.
fn survive(text: &str) {
    let source = source(text);
    match parse(&source, &environment, &traces) {
        Ok(parsed) => {
            let _ = drawn(&parsed.warnings, &source);
            let requests = |stage: &Stage| stage.expected_requests().unwrap_or(0.0);
            // A valid spec can always be planned; the large ones only take their time.
            if parsed.spec.stages.iter().map(requests).sum::<f64>() < 20_000.0 {
                Plan::expand(&parsed.spec);
            }
            assert!(
                parsed
                    .warnings
                    .iter()
                    .all(|one| one.severity == Severity::Warning)
            );
        }
        Err(diagnostics) => {
            let _ = drawn(&diagnostics, &source);
            assert!(
                diagnostics
                    .iter()
                    .any(|one| one.severity == Severity::Error)
            );
            for one in diagnostics {
                if let Some(span) = one.span {
                    assert!(text.get(span.clone()).is_some(), "{} {span:?}", one.code);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        survive(&text);
    }

    #[test]
    fn any_yaml_like_text_is_survived(text in "[a-z0-9:{}\\[\\],&*!|>\"'#% \n\t-]{0,120}") {
        survive(&text);
    }

    #[test]
    fn any_mutation_is_survived(text in mutated()) {
        survive(&text);
    }
}
