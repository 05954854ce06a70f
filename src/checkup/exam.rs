//! What a target showed when it was asked, and sent a few requests.

use crate::plan::PromptCalibration;
use crate::provenance::Pins;
use crate::sample::{ClockSkew, RequestRecord};
use crate::summary::{Network, StageSummary};

/// What a target showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Exam {
    /// Each of its servers; at least one.
    pub replicas: Vec<Replica>,
    /// What it is, or why that is not known.
    pub seen: Result<SeenTarget, String>,
    /// What became of a few requests, or why none was sent.
    pub trial: Result<Trial, String>,
}

/// One server.
#[derive(Debug, Clone, PartialEq)]
pub struct Replica {
    /// Its base URL.
    pub base: String,
    /// The models that it offers.
    pub models: Result<Vec<String>, Unanswered>,
    /// What its metrics show, or why there are none.
    pub metrics: Result<MetricsSeen, String>,
    /// How far its clock is off; `None` where it does not say.
    pub clock: Option<ClockSkew>,
    /// Days until its certificate ends; `None` where it shows none.
    pub certificate_days: Option<f64>,
    /// What the way there takes; `None` where that could not be measured.
    pub network: Option<Network>,
}

/// Why a question got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// Nothing came back.
    Unreachable {
        /// What the system says.
        reason: String,
    },
    /// A status of 400 or above.
    Status {
        /// The status.
        status: u16,
        /// How its body begins.
        text: String,
    },
    /// Something else.
    Other {
        /// What, with what to do.
        why: String,
    },
}

/// What an engine's metrics show of what reports make use of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsSeen {
    /// Whose names they have.
    pub engine: String,
    /// What they do not show.
    pub missing: Vec<String>,
}

/// What a target is.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenTarget {
    /// The model that requests name.
    pub model: String,
    /// Its pins, those that the spec declares included.
    pub pins: Pins,
}

/// A few requests, one after another.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// All of them, the one that warms up included.
    pub records: Vec<RequestRecord>,
    /// The servers that they went to, in turn.
    pub servers: usize,
    /// Those that were measured.
    pub stage: StageSummary,
    /// What prompts were written by.
    pub calibration: PromptCalibration,
    /// Whether the length of their answers was pinned.
    pub pinned: bool,
    /// Whether answers were asked for as streams.
    pub streamed: bool,
    /// Why the target was given up, where it was.
    pub lost: Option<String>,
}
