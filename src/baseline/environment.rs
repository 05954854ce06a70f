//! The environment of a run: what has to be equal for a stored session to stand as its baseline.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ident::Digest;
use crate::provenance::{Hardness, PinPath, Pins, UnderTest};

/// Format tag of `environment.json`.
pub const ENVIRONMENT_FORMAT: &str = "infergate.environment/1";

/// Hard pins that are not under test, with their values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Environment {
    format: String,
    /// Each hard pin whose value is known.
    pub pins: BTreeMap<PinPath, Option<String>>,
}

impl Environment {
    /// Of a run's pins. What is under test is left out, so that the candidate's environment is the
    /// baseline's. What nobody knows is left out too: a version that knows of more pins, and not their
    /// values, finds the same environment.
    pub fn of(pins: &Pins, under_test: &UnderTest) -> Self {
        let pins = pins
            .iter()
            .filter(|(path, _)| under_test.hardness(**path) == Hardness::Hard)
            .filter(|(path, _)| !under_test.contains(**path))
            .filter_map(|(path, pin)| Some((*path, Some(pin.value()?.to_owned()))))
            .collect();
        Self {
            format: ENVIRONMENT_FORMAT.to_owned(),
            pins,
        }
    }

    /// The folder's name: readable, then a digest of every pin. `nvidia-h200-vllm-1f3a9c0e`.
    pub fn folder(&self) -> String {
        let value = |path: &str| {
            let pin: Option<PinPath> = path.parse().ok();
            pin.and_then(|pin| self.pins.get(&pin)?.as_deref())
                .map(slug)
        };
        let hardware = value("hardware.gpu").unwrap_or_else(|| "cpu".to_owned());
        let engine = value("engine.name").unwrap_or_else(|| "engine".to_owned());
        format!(
            "{hardware}-{engine}-{}",
            &Digest::of_json(&self.pins).hex()[..8]
        )
    }

    /// Pins that two environments do not share, with both values.
    pub fn differences<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (PinPath, Option<&'a str>, Option<&'a str>)> {
        let mut paths: Vec<PinPath> = self.pins.keys().chain(other.pins.keys()).copied().collect();
        paths.sort_unstable();
        paths.dedup();
        let value = |side: &'a Self, path| side.pins.get(&path).and_then(Option::as_deref);
        paths
            .into_iter()
            .map(move |path| (path, value(self, path), value(other, path)))
            .filter(|(_, ours, theirs)| ours != theirs)
    }
}

/// A value as part of a folder's name: lowercase letters and digits, one dash between, at most 24.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if slug.len() >= 24 {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::{Observation, Pin};

    fn pins(values: &[(&str, &str)]) -> Pins {
        values
            .iter()
            .map(|(path, value)| {
                let observed = Observation::Seen {
                    value: (*value).to_owned(),
                    source: "test".to_owned(),
                };
                (
                    path.parse().unwrap(),
                    Pin {
                        declared: None,
                        observed,
                    },
                )
            })
            .collect()
    }

    #[test]
    fn what_is_under_test_does_not_change_the_environment() {
        let under_test = UnderTest {
            pins: PinPath::covered_by("engine.version"),
            strict: false,
        };
        let nothing = UnderTest::NOTHING;
        let old = pins(&[
            ("engine.name", "vllm"),
            ("engine.version", "1"),
            ("host.kernel", "6"),
        ]);
        let new = pins(&[
            ("engine.name", "vllm"),
            ("engine.version", "2"),
            ("host.kernel", "7"),
        ]);
        assert_eq!(
            Environment::of(&old, &under_test),
            Environment::of(&new, &under_test)
        );
        assert_ne!(
            Environment::of(&old, &nothing).folder(),
            Environment::of(&new, &nothing).folder()
        );
        let strict = UnderTest {
            strict: true,
            ..under_test
        };
        assert_ne!(
            Environment::of(&old, &strict),
            Environment::of(&new, &strict),
            "the kernel counts too"
        );
        let (old, new) = (
            Environment::of(&old, &nothing),
            Environment::of(&new, &nothing),
        );
        let differences: Vec<_> = old.differences(&new).collect();
        assert_eq!(
            differences,
            [("engine.version".parse().unwrap(), Some("1"), Some("2"))],
            "the kernel is soft"
        );
    }

    #[test]
    fn the_folder_is_readable_and_safe() {
        let environment = Environment::of(
            &pins(&[
                ("hardware.gpu", "NVIDIA H200 (SXM)/../x"),
                ("engine.name", "vLLM"),
            ]),
            &UnderTest::NOTHING,
        );
        assert!(environment.folder().starts_with("nvidia-h200-sxm-x-vllm-"));
        assert!(
            Environment::of(&Pins::new(), &UnderTest::NOTHING)
                .folder()
                .starts_with("cpu-engine-")
        );
    }
}
