//! One steady stretch of load, and how its requests come.

use serde::Serialize;

use super::happening::Happening;
use super::rate::RateProfile;
use super::refine::Refine;
use super::replay::Replay;
use super::soak::Soak;
use super::think::Think;
use crate::unit::Nanos;

/// One steady stretch of load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stage {
    /// The stage's name; `sweep@8` for a step of a sweep.
    pub name: String,
    /// How requests come.
    pub arrival: Arrival,
    /// How long the measured window is.
    pub extent: Extent,
    /// What precedes the window and is not measured.
    pub warmup: Warmup,
    /// Most requests in flight at once; a request due beyond it is `unsent`.
    pub in_flight: u32,
    /// How long the end waits for what is in flight.
    pub drain_timeout: Nanos,
    /// When it ends early, and the rest of its sweep with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_when: Option<StopWhen>,
    /// How far its sweep is refined after its last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refine: Option<Refine>,
    /// Where it is there for drift over a long time: no percentile of its whole gates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soak: Option<Soak>,
    /// What happens to the target meanwhile, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Happening>,
    /// It is run only where one of these is selected; always where there is none.
    #[serde(skip)]
    pub labels: Vec<String>,
}

/// What ends a stage early.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StopWhen {
    /// Share of failed ones among the latest requests.
    pub error_ratio: Option<f64>,
    /// The target does not keep up: known at the stage's end, so it ends a sweep.
    pub overload: bool,
}

/// How requests come.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Users who send their next request when the last one has ended.
    Closed {
        /// How many.
        users: u32,
        /// Their first requests are spread over this time; `None` spreads them over the first
        /// request's latency.
        ramp: Option<Nanos>,
        /// From the end of an answer to its user's next request.
        think: Think,
    },
    /// By the clock, whatever the server does.
    Open {
        /// How the rate runs over the window.
        profile: RateProfile,
        /// How the gaps are distributed where the rate is steady.
        process: ArrivalProcess,
    },
    /// By the clock too, as they once came.
    Trace(Box<Replay>),
}

/// How the gaps between open-loop requests are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalProcess {
    /// All equal.
    Constant,
    /// Exponential.
    Poisson,
    /// Gamma: in clumps below a shape of 1, evener than Poisson above it.
    Gamma {
        /// The shape k; the gaps' coefficient of variation is 1/√k, 1.58 at 0.4.
        burstiness: f64,
    },
}

/// How long the measured window of a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Until so many requests were sent.
    Requests(u32),
    /// So long.
    Duration(Nanos),
}

/// What precedes the measured window: over when both parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Warmup {
    /// At least so many requests.
    pub requests: u32,
    /// At least so long.
    pub duration: Nanos,
}
