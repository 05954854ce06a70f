//! Which pins there are, and how much a difference in each matters.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a difference in a pin matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hardness {
    /// Both sides must match, unless the pin is under test.
    Hard,
    /// A difference is a caveat.
    Soft,
}

/// Every pin there is: its path and how hard it is. Hard is what somebody chose and what changes
/// figures by more than noise; soft is what moves by itself, or hardly matters.
const KNOWN: &[(&str, Hardness)] = &[
    ("model.name", Hardness::Hard),
    ("model.revision", Hardness::Hard),
    ("model.tokenizer", Hardness::Hard),
    ("model.chat_template", Hardness::Hard),
    ("model.adapters", Hardness::Hard),
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
    ("parallel.role", Hardness::Hard),
    ("hardware.gpu", Hardness::Hard),
    ("hardware.count", Hardness::Hard),
    ("hardware.memory", Hardness::Soft),
    ("hardware.driver", Hardness::Soft),
    ("hardware.cuda", Hardness::Soft),
    ("hardware.power_limit", Hardness::Hard),
    ("hardware.clocks", Hardness::Soft),
    ("hardware.mig", Hardness::Hard),
    ("hardware.topology", Hardness::Hard),
    ("limits.max_model_len", Hardness::Hard),
    ("limits.max_num_seqs", Hardness::Hard),
    ("limits.max_num_batched_tokens", Hardness::Hard),
    ("limits.block_size", Hardness::Hard),
    // What memory is left for it, which each version and start has a little more or less of.
    ("limits.kv_blocks", Hardness::Soft),
    ("limits.gpu_memory_utilization", Hardness::Hard),
    ("scheduler.policy", Hardness::Hard),
    ("scheduler.chunked_prefill", Hardness::Hard),
    ("cache.prefix", Hardness::Hard),
    ("speculative.method", Hardness::Hard),
    ("speculative.model", Hardness::Hard),
    ("speculative.tokens", Hardness::Hard),
    ("host.cpu", Hardness::Soft),
    ("host.cores", Hardness::Soft),
    ("host.memory", Hardness::Soft),
    ("host.kernel", Hardness::Soft),
    ("host.container", Hardness::Soft),
    ("client.version", Hardness::Soft),
    ("client.host", Hardness::Soft),
    ("request.api", Hardness::Hard),
    ("request.streaming", Hardness::Hard),
    ("request.sampling", Hardness::Hard),
    ("request.stop", Hardness::Hard),
    ("layer", Hardness::Hard),
    ("network.location", Hardness::Hard),
    // Most keep silent about themselves, so its absence can't be seen.
    ("network.gateway", Hardness::Soft),
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

    /// The part before the first dot: `engine` of `engine.version`, `layer` of `layer`.
    pub fn group(self) -> &'static str {
        self.0.split('.').next().unwrap_or(self.0)
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

crate::schema::text!(PinPath, r"^[a-z_]+(\.[a-z_]+)*$");

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

/// Which pins may differ between two runs that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnderTest {
    /// Those whose difference is the question, in the order of their paths.
    pub pins: Vec<PinPath>,
    /// Whether every other pin has to match, soft ones too.
    pub strict: bool,
}

impl UnderTest {
    /// Nothing may differ but what is soft.
    pub const NOTHING: Self = Self {
        pins: Vec::new(),
        strict: false,
    };

    /// Whether a pin's difference is the question.
    pub fn contains(&self, pin: PinPath) -> bool {
        self.pins.contains(&pin)
    }

    /// How much a difference in a pin matters where it is not under test.
    pub fn hardness(&self, pin: PinPath) -> Hardness {
        if self.strict {
            Hardness::Hard
        } else {
            pin.hardness()
        }
    }
}

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
    fn strict_makes_soft_pins_hard() {
        let driver: PinPath = "hardware.driver".parse().unwrap();
        let mut under_test = UnderTest::default();
        assert_eq!(under_test.hardness(driver), Hardness::Soft);
        under_test.strict = true;
        assert_eq!(under_test.hardness(driver), Hardness::Hard);
    }

    #[test]
    fn each_pin_stands_once() {
        let paths: std::collections::BTreeSet<PinPath> = PinPath::all().collect();
        assert_eq!(paths.len(), KNOWN.len());
    }
}
