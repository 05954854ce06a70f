//! What `doctor` found: the machine, the target, and each stage between the two.

use serde::{Deserialize, Serialize};

use super::{Fit, Headroom};

/// Format tag of a checkup: name and major version.
pub const CHECKUP_FORMAT: &str = "infergate.doctor/1";

/// What `doctor` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkup {
    /// [`CHECKUP_FORMAT`].
    pub format: String,
    /// What the client can drive here.
    pub headroom: Headroom,
    /// The spec's name; `None` where no spec was named, and then there is nothing below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// The spec's target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetLook>,
    /// The spec's stages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Fit>,
}

impl Checkup {
    /// Whether every stage fits.
    pub fn fits(&self) -> bool {
        self.stages.iter().all(|stage| stage.fits)
    }
}

/// What a look at the target showed, without load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetLook {
    /// It is the embedded engine, which starts with the run.
    Embedded,
    /// It answers.
    Answers {
        /// The model that requests will name.
        model: String,
        /// The engine's name, where it says one.
        engine: Option<String>,
        /// Whether `/metrics` answers.
        metrics: bool,
    },
    /// It could not be asked, or is not what the spec says.
    Trouble {
        /// Why, and what to do.
        why: String,
    },
}
