//! What `doctor` says of a machine, a spec and its target: findings with what to do.
//!
//! Pure: whoever asks the target and the machine ([`crate::session`], [`crate::probe`]) brings values,
//! and these functions make [`Finding`]s of them. None of them judges a run; they say, while it costs
//! nothing, what would make one invalid or its figures mean something else.

mod answers;
mod archive;
mod ci;
mod exam;
mod finding;
mod host;
mod network;
mod pins;
mod target;
mod tokens;
mod workload;

use serde::Serialize;

pub use answers::answers;
pub use archive::{Sessions, archive};
pub use ci::{Actions, actions};
pub use exam::{Exam, MetricsSeen, Replica, SeenTarget, Trial, Unanswered};
pub use finding::{Advice, Finding, Level, Topic};
pub use host::{Disk, Power, cpu_allowance, disk, power};
pub use pins::pins;
pub use target::target;
pub use workload::{capacity, record_bytes};

use crate::headroom::{Fit, Headroom};

/// Format tag of a checkup: name and major version.
pub const CHECKUP_FORMAT: &str = "infergate.doctor/1";

/// What `doctor` found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checkup {
    /// [`CHECKUP_FORMAT`].
    pub format: String,
    /// What the client can drive here.
    pub headroom: Headroom,
    /// The spec's name; `None` where no spec was named, and then there are no stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// The spec's stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Fit>,
    /// Everything else, in the order of [`Topic`].
    pub findings: Vec<Finding>,
}

impl Checkup {
    /// Whether every stage fits and nothing is in the way of a run.
    pub fn is_well(&self) -> bool {
        self.stages.iter().all(|stage| stage.fits) && !self.findings.iter().any(Finding::is_trouble)
    }
}
