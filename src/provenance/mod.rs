//! Pins: what was measured and on what, each declared, observed, or unknown with a reason.

mod path;
mod spelling;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use path::{Hardness, PinPath, UnderTest, UnknownPin};

/// Why nobody could see a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// This version knows no source for it.
    NotProbed,
    /// The source was asked and did not say.
    NotReported,
    /// The source could not be reached.
    Unreachable,
    /// It would be seen on the target's machine, which is another.
    Remote,
    /// The source said something that means that it does not know.
    Placeholder(String),
    /// For another reason, in words.
    Because(String),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotProbed => f.write_str("not probed"),
            Self::NotReported => f.write_str("not reported"),
            Self::Unreachable => f.write_str("unreachable"),
            Self::Remote => f.write_str("the target is on another machine"),
            Self::Placeholder(said) => write!(f, "the engine itself does not know: `{said}`"),
            Self::Because(said) => f.write_str(said),
        }
    }
}

/// What was seen of a pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Declared {
    /// Must be seen; unknown is a caveat.
    Observed,
    /// Must have this value.
    Literal(String),
    /// Must be what the model is called.
    Same,
}

/// One pin of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

    /// Whether the spec says one value of this pin and the target another: the run must not start.
    /// What differs in its spelling alone holds.
    pub fn contradicts(&self, path: PinPath) -> bool {
        match (&self.observed, &self.declared) {
            (Observation::Seen { value, .. }, Some(Declared::Literal(declared))) => {
                !spelling::holds(path, declared, value)
            }
            _ => false,
        }
    }
}

impl PinPath {
    /// Whether two values of this pin are the same but for their spelling: `FP8` and `fp8`.
    pub fn same(self, one: &str, other: &str) -> bool {
        spelling::same(self, one, other)
    }
}

/// Every pin of a run: declared, seen, or unknown with a reason.
pub type Pins = BTreeMap<PinPath, Pin>;

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(pin.contradicts("engine.version".parse().unwrap()));
    }
}
