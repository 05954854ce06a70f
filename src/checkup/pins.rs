//! What is known of model, engine and machine, against what the spec declares.

use super::finding::{Finding, Topic};
use crate::provenance::{Declared, Hardness, Observation, Pins, Why};

/// Pins that disagree, those that the spec wants to be seen and nobody shows, and how many were seen.
pub fn pins(pins: &Pins) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, pin) in pins {
        match (&pin.declared, &pin.observed) {
            (Some(Declared::Literal(declared)), Observation::Seen { value, source })
                if declared != value =>
            {
                found.push(Finding::trouble(
                    Topic::Pins,
                    format!("`{path}` is declared `{declared}` and seen `{value}` ({source})"),
                    "a run is refused before any load",
                    format!("correct `pins` in the spec, or bring the target to `{declared}`"),
                ));
            }
            (Some(Declared::Observed), Observation::Unknown(why)) => found.push(Finding::note(
                Topic::Pins,
                format!("`{path}` is to be observed, and is not known: {why}"),
                match path.hardness() {
                    Hardness::Hard => {
                        "two sides that differ in it would pass for the same, with a caveat"
                    }
                    Hardness::Soft => "a change in it would go unseen",
                },
                match why {
                    Why::NotProbed | Why::NotReported => {
                        "write its value into the spec's `pins`, or let the engine show it"
                    }
                    Why::Unreachable => "let the source that shows it be reached from here",
                },
            )),
            _ => {}
        }
    }
    let seen = |pin: &&crate::provenance::Pin| matches!(pin.observed, Observation::Seen { .. });
    let seen = pins.values().filter(seen).count();
    if !found.iter().any(Finding::is_trouble) {
        let text = format!(
            "{seen} of {} were seen, none contradicts the spec",
            pins.len()
        );
        found.insert(0, Finding::ok(Topic::Pins, text));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::finding::tests::shown;
    use super::*;
    use crate::provenance::Pin;

    fn pin(declared: Option<Declared>, value: Option<&str>) -> Pin {
        Pin {
            declared,
            observed: match value {
                Some(value) => Observation::Seen {
                    value: value.to_owned(),
                    source: "/version".to_owned(),
                },
                None => Observation::Unknown(Why::NotReported),
            },
        }
    }

    fn of(all: &[(&str, Pin)]) -> Vec<Finding> {
        let all = all
            .iter()
            .map(|(path, pin)| (path.parse().unwrap(), pin.clone()));
        pins(&all.collect())
    }

    #[test]
    fn pins_disagree_with_both_values_and_the_unseen_are_named() {
        let literal = |text: &str| Some(Declared::Literal(text.to_owned()));
        let version = pin(literal("0.11"), Some("0.12"));
        let kernel = pin(Some(Declared::Observed), None);
        let args = pin(Some(Declared::Observed), None);
        let found = of(&[
            ("engine.version", version),
            ("host.kernel", kernel.clone()),
            ("engine.args", args),
            ("engine.name", pin(None, Some("vllm"))),
        ]);
        insta::assert_snapshot!(shown(&found));
        assert!(found.iter().any(Finding::is_trouble));
        let found = of(&[
            ("host.kernel", kernel),
            ("engine.version", pin(literal("0.11"), Some("0.11"))),
        ]);
        assert!(shown(&found).starts_with("ok pins: 1 of 2 were seen"));
        assert!(!found.iter().any(Finding::is_trouble));
    }
}
