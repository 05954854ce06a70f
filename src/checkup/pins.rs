//! What is known of model, engine and machine, against what the spec declares.

use super::finding::{Finding, Topic};
use crate::provenance::{Declared, Hardness, Observation, Pins};

/// Pins that disagree, those that the spec wants to be seen and nobody shows, and how many were seen.
pub fn pins(pins: &Pins) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, pin) in pins {
        match (&pin.declared, &pin.observed) {
            (Some(Declared::Literal(declared)), Observation::Seen { value, source })
                if pin.contradicts(*path) =>
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
                "write its value into the spec's `pins`, or let the engine show it",
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
    found.extend(gpu(pins));
    found
}

/// The GPU that was seen, or why none was; nothing where nobody looked for one.
fn gpu(pins: &Pins) -> Option<Finding> {
    let of = |path: &str| {
        let (_, pin) = pins.iter().find(|(pin, _)| pin.as_str() == path)?;
        Some(pin)
    };
    let gpu = of("hardware.gpu")?;
    match &gpu.observed {
        Observation::Seen { value, .. } => {
            let count = of("hardware.count").and_then(crate::provenance::Pin::value);
            Some(Finding::ok(
                Topic::Gpu,
                format!("{} × `{value}`", count.unwrap_or("1")),
            ))
        }
        // One that the spec wants seen is told already.
        Observation::Unknown(_) if gpu.declared == Some(Declared::Observed) => None,
        Observation::Unknown(why) => Some(Finding::note(
            Topic::Gpu,
            format!("none was seen: {why}"),
            "its clocks, its temperature and who else uses it can't be told from the engine's own slowness",
            "run infergate on the engine's machine, with `nvidia-smi` on the PATH, or live without",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::tests::shown;
    use super::*;
    use crate::provenance::{Pin, Why};

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

    #[test]
    fn a_gpu_is_seen_or_said_why_not() {
        let gpu = |all: &[(&str, Pin)]| {
            let found = of(all)
                .into_iter()
                .filter(|found| found.topic == Topic::Gpu);
            shown(&found.collect::<Vec<_>>())
        };
        let card = ("hardware.gpu", pin(None, Some("NVIDIA H200")));
        let two = ("hardware.count", pin(None, Some("2")));
        assert_eq!(gpu(&[card, two]), "ok gpu: 2 × `NVIDIA H200`");
        let unseen = gpu(&[("hardware.gpu", pin(None, None))]);
        assert!(
            unseen.starts_with("note gpu: none was seen: not reported"),
            "{unseen}"
        );
        assert_eq!(
            gpu(&[("hardware.gpu", pin(Some(Declared::Observed), None))]),
            ""
        );
        assert_eq!(gpu(&[]), "");
    }
}
