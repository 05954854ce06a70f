//! What stands behind a finding.

use serde::Serialize;

use super::model::Finding;

/// All that stands behind one finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// What became of the cell.
    pub finding: Finding,
    /// Whether differences below are ratios minus one; else they are differences of proportions.
    pub ratio: bool,
    /// Gated cells that are tested together.
    pub family: u32,
    /// The noise of one run; `None` where the test needs none.
    pub noise: Option<NoiseOfRun>,
    /// Tolerance at the last look, as a ratio or in points; `None` of absolute limits.
    pub tolerance: Option<f64>,
    /// How far the sample supports the percentile; `None` where the cell is none.
    pub tail: Option<Tail>,
    /// The values, repeat by repeat.
    pub repeats: Vec<Repeat>,
    /// Values of the stored baseline's sessions, oldest first; empty where pairs were taken.
    pub sessions: Vec<Vec<f64>>,
    /// The looks that were taken.
    pub looks: Vec<LookTaken>,
    /// What more repeats would show, if they went on like these.
    pub ahead: Vec<LookAhead>,
}

/// How much one run scatters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NoiseOfRun {
    /// Standard deviation of one run: of its logarithm (0.02 is about 2 %), or in points.
    pub sigma: f64,
    /// Degrees of freedom that this knowledge is worth.
    pub df: f64,
    /// Archived sessions behind it; 0 where it is assumed.
    pub sessions: u32,
    /// Archived runs behind it.
    pub runs: u32,
}

/// The values beyond a percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tail {
    /// Values of the run with the fewest.
    pub n: u64,
    /// Of those, expected beyond the percentile.
    pub beyond: f64,
}

/// One pair, or one candidate run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeat {
    /// From 1.
    pub number: u32,
    /// The baseline's value; `None` of a stored baseline, and where there is none.
    pub baseline: Option<f64>,
    /// The candidate's.
    pub candidate: Option<f64>,
    /// Change as people read it, a ratio or in points; `None` without both values.
    pub change: Option<f64>,
    /// Whether the verdict uses it.
    pub used: bool,
    /// Why a value is lacking, in words.
    pub note: Option<String>,
}

/// What one look said of the cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LookTaken {
    /// Repeats seen.
    pub repeats: u32,
    /// Whether the session was too noisy for the archive's prior.
    pub noisy: bool,
    /// Change as people read it.
    pub estimate: f64,
    /// Its standard error, on the scale of the test.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// One-sided p of "not worse".
    pub p_regression: f64,
    /// The same after looks and Holm: at most 0.05 regresses, with the estimate over the tolerance.
    pub p_adjusted: f64,
    /// One-sided p of "worse by the tolerance or more".
    pub p_pass: f64,
    /// What that may be at most to pass at this look.
    pub pass_at: f64,
    /// Whether the best estimate is at or over the tolerance.
    pub over: bool,
    /// What is decided from here on.
    pub decided: Decided,
}

/// What has been decided by a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decided {
    /// Nothing yet.
    Open,
    /// It regressed.
    Regressed,
    /// It passed.
    Passed,
}

/// A look that was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LookAhead {
    /// Repeats it would have.
    pub repeats: u32,
    /// Smallest tolerance that it would resolve with power 0.9; `None` of absolute limits.
    pub resolvable: Option<f64>,
    /// What it would decide, if estimate and scatter stayed as they are and all other cells were as
    /// clear.
    pub would: Decided,
}
