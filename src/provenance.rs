//! Pins: what was measured and on what, each declared, observed, or unknown with a reason.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a difference in a pin matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hardness {
    /// Both sides must match, unless the pin is under test.
    Hard,
    /// A difference is a caveat.
    Soft,
}

/// Every pin there is: its path and how hard it is.
const KNOWN: &[(&str, Hardness)] = &[
    ("model.name", Hardness::Hard),
    ("model.revision", Hardness::Hard),
    ("model.tokenizer", Hardness::Hard),
    ("model.chat_template", Hardness::Hard),
    ("precision.weights", Hardness::Hard),
    ("precision.activations", Hardness::Hard),
    ("precision.kv_cache", Hardness::Hard),
    ("precision.method", Hardness::Hard),
    ("engine.name", Hardness::Hard),
    ("engine.version", Hardness::Hard),
    ("engine.build", Hardness::Soft),
    ("engine.args", Hardness::Hard),
    ("parallel.tp", Hardness::Hard),
    ("parallel.pp", Hardness::Hard),
    ("parallel.ep", Hardness::Hard),
    ("parallel.dp", Hardness::Hard),
    ("hardware.gpu", Hardness::Hard),
    ("hardware.count", Hardness::Hard),
    ("hardware.memory", Hardness::Soft),
    ("hardware.driver", Hardness::Soft),
    ("hardware.cuda", Hardness::Soft),
    ("hardware.power_limit", Hardness::Hard),
    ("hardware.clocks", Hardness::Soft),
    ("hardware.mig", Hardness::Hard),
    ("limits.max_model_len", Hardness::Hard),
    ("limits.max_num_seqs", Hardness::Hard),
    ("limits.max_num_batched_tokens", Hardness::Hard),
    ("limits.kv_blocks", Hardness::Hard),
    ("limits.gpu_memory_utilization", Hardness::Hard),
    ("cache.prefix", Hardness::Hard),
    ("host.cpu", Hardness::Soft),
    ("host.cores", Hardness::Soft),
    ("host.memory", Hardness::Soft),
    ("host.kernel", Hardness::Soft),
    ("host.container", Hardness::Soft),
    ("client.version", Hardness::Soft),
    ("request.api", Hardness::Hard),
    ("request.streaming", Hardness::Hard),
    ("request.sampling", Hardness::Hard),
    ("layer", Hardness::Hard),
];

/// The dotted path of a pin, as in `engine.version`; always one that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PinPath(&'static str);

impl PinPath {
    /// All pins.
    pub fn all() -> impl Iterator<Item = Self> {
        KNOWN.iter().map(|(path, _)| Self(path))
    }

    /// The path as text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// How much a difference matters.
    pub fn hardness(self) -> Hardness {
        KNOWN
            .iter()
            .find(|(path, _)| *path == self.0)
            .map_or(Hardness::Hard, |(_, hard)| *hard)
    }

    /// Pins that a path or a prefix names: `engine` covers `engine.version` and its siblings.
    pub fn covered_by(text: &str) -> Vec<Self> {
        Self::all()
            .filter(|pin| {
                pin.0
                    .strip_prefix(text)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
            .collect()
    }
}

/// There is no pin of this path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown pin `{path}`")]
pub struct UnknownPin {
    /// The path as written.
    pub path: String,
}

impl FromStr for PinPath {
    type Err = UnknownPin;

    fn from_str(text: &str) -> Result<Self, UnknownPin> {
        Self::all()
            .find(|pin| pin.0 == text)
            .ok_or_else(|| UnknownPin {
                path: text.to_owned(),
            })
    }
}

impl fmt::Display for PinPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for PinPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for PinPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// Why nobody could see a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No source for it was asked: this version has no probe for it.
    NotProbed,
    /// The source was asked and did not say.
    NotReported,
    /// The source could not be reached.
    Unreachable,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotProbed => "not probed",
            Self::NotReported => "not reported",
            Self::Unreachable => "unreachable",
        })
    }
}

/// What was seen of a pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observation {
    /// The value, and where it was seen.
    Seen {
        /// The value as text.
        value: String,
        /// Where: `/version`, `host`, `spec`.
        source: String,
    },
    /// Nothing, and why.
    Unknown(Why),
}

/// What the spec says of a pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Declared {
    /// Must be seen; unknown is a caveat.
    Observed,
    /// Must have this value.
    Literal(String),
}

/// One pin of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// What the spec says, if it says anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Declared>,
    /// What was seen.
    pub observed: Observation,
}

impl Pin {
    /// The value that stands for this pin: seen first, else declared.
    pub fn value(&self) -> Option<&str> {
        match (&self.observed, &self.declared) {
            (Observation::Seen { value, .. }, _)
            | (Observation::Unknown(_), Some(Declared::Literal(value))) => Some(value),
            (Observation::Unknown(_), _) => None,
        }
    }

    /// Whether the spec says one value and the target another: the run must not start.
    pub fn contradicts(&self) -> bool {
        match (&self.observed, &self.declared) {
            (Observation::Seen { value, .. }, Some(Declared::Literal(declared))) => {
                value != declared
            }
            _ => false,
        }
    }
}

/// All pins of a run that are declared or seen.
pub type Pins = BTreeMap<PinPath, Pin>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_covers_its_children() {
        let engine = PinPath::covered_by("engine");
        assert!(engine.iter().any(|pin| pin.as_str() == "engine.version"));
        assert!(PinPath::covered_by("eng").is_empty());
        assert_eq!(PinPath::covered_by("layer").len(), 1);
    }

    #[test]
    fn a_seen_value_wins_and_a_contradiction_shows() {
        let pin = Pin {
            declared: Some(Declared::Literal("0.11".to_owned())),
            observed: Observation::Seen {
                value: "0.12".to_owned(),
                source: "/version".to_owned(),
            },
        };
        assert_eq!(pin.value(), Some("0.12"));
        assert!(pin.contradicts());
    }
}
