//! What a judgement is made of: everything the report shows and the exit code follows from.

use serde::{Deserialize, Serialize};

use super::base::BaseStamp;
use super::past::LevelChange;
use super::state::CellState;
use crate::compare::{Alike, PinDifference};
use crate::diagnosis::Diagnosis;
use crate::exit::Exit;
use crate::lang::Said;
use crate::metric::Cell;
use crate::spec::Limit;
use crate::stats::moderated::Evidence as Proof;

/// The outcome of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every gated cell is within its limit, or better.
    Pass,
    /// At least one gated cell broke its limit.
    Regression,
    /// Nothing broke, and not everything could be decided.
    Undecided,
    /// A gated cell could not be measured, through no fault of the target.
    Invalid,
}

/// How the runs were taken, which decides what they can show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Alternating pairs in one session.
    Interleaved {
        /// Complete pairs that were judged.
        pairs: u32,
        /// The looks, as pair counts.
        looks: Vec<u32>,
    },
    /// Candidate runs against sessions in the archive.
    Stored {
        /// Stored sessions.
        sessions: u32,
        /// Candidate runs.
        runs: u32,
        /// The looks, as candidate run counts.
        looks: Vec<u32>,
    },
    /// Both sides are the same run.
    SameRun,
    /// Runs of both sides that were neither interleaved nor stored sessions.
    Unpaired {
        /// Baseline runs.
        baseline: u32,
        /// Candidate runs.
        candidate: u32,
    },
}

/// A number with how many requests (or tokens) it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reading {
    /// In the metric's unit; geometric mean over the side's runs (arithmetic for proportions).
    /// `None` is +∞: too many requests failed for the quantile to exist.
    pub value: Option<f64>,
    /// Values that it rests on, over all runs of the side.
    pub n: u64,
}

/// The estimated change of the candidate against the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Candidate by baseline, minus one; with its unadjusted 95 % interval.
    Ratio {
        /// Best estimate.
        estimate: f64,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Difference of proportions; with its unadjusted 95 % interval.
    Points {
        /// Best estimate.
        estimate: f64,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
}

/// The test behind a state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Evidence {
    /// Repeats used at the last look.
    pub repeats: u32,
    /// One-sided p of "not worse".
    pub p_regression: f64,
    /// The same after looks and Holm.
    pub p_adjusted: f64,
    /// One-sided p of "worse by the tolerance or more".
    pub p_pass: f64,
    /// Smallest tolerance that these repeats resolve with power 0.9, as a ratio or in points.
    pub resolvable: Option<f64>,
    /// Whether even the better end of the 95 % interval is over the tolerance.
    #[serde(default)]
    pub beyond_tolerance: bool,
}

/// Why a state is what it is, where that is not the test alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The candidate's requests failed or were shed while the baseline's were not.
    CandidateFailed,
    /// Too many requests failed on both sides.
    BothFailed,
    /// The baseline breaks the absolute limit as well.
    Inherited,
    /// The client or the harness was at fault, with the stage's reasons.
    ClientFault {
        /// What was wrong, in words.
        what: String,
    },
    /// The cell has no value, and why.
    Absent {
        /// Why, in words.
        why: Said,
    },
    /// Too few values for this quantile.
    FewSamples {
        /// Values a run.
        n: u64,
        /// Values that it needs.
        needed: u64,
    },
    /// Zero on every run of the candidate and not of the baseline.
    FellToZero,
    /// Both sides did different work: tokens or completions differ.
    WorkChanged,
    /// The candidate's latency is shorter than a round trip to it.
    BelowRoundTrip,
    /// Judged on this run alone, without a baseline.
    OnThisRun,
    /// The archive is too small, too old, or the design shows no more.
    Advisory {
        /// What is lacking, in words.
        what: Said,
    },
    /// Its tolerance was the cap of its trade, for the gain was shown.
    Traded {
        /// The trade, in words.
        trade: Said,
        /// By how much the other cell is better, as a fraction.
        by: f64,
    },
    /// It is over its tolerance, and the gain that would have widened it was not shown.
    TradeNotShown {
        /// The trade, in words.
        trade: Said,
        /// By how much the other cell is better by estimate; `None` where nothing can be said.
        by: Option<f64>,
    },
    /// Declared informational in the spec.
    Informational,
    /// The candidate alone does not keep up with the load: it lost capacity.
    CandidateOverloaded {
        /// Requests that it completed by those that were due.
        completed: f64,
    },
    /// The baseline alone does not keep up with the load.
    BaselineOverloaded,
    /// Neither side keeps up with the load.
    BothOverloaded,
    /// A reviewed file accepts its new level for now.
    Accepted {
        /// The accepted value, in the metric's unit.
        value: f64,
        /// The last day on which it does.
        until: String,
        /// The file.
        file: String,
    },
    /// A reviewed file accepts a worse level, and the cell is not within that either.
    BeyondAccepted {
        /// The accepted value, in the metric's unit.
        value: f64,
        /// The file.
        file: String,
    },
    /// A reviewed file accepted a worse level until a day that is over.
    AcceptExpired {
        /// That day.
        until: String,
        /// The file.
        file: String,
    },
    /// The latencies were still settling in more than half of a side's runs.
    NotSettled {
        /// Requests that are warm-up, in the run with the most.
        cut: u64,
        /// Of so many.
        of: u64,
    },
}

/// One judged cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Finding {
    /// What was judged.
    pub cell: Cell,
    /// What became of it.
    pub state: CellState,
    /// Whether the verdict depends on it.
    pub gated: bool,
    /// Its limit; `None` for cells that were only observed.
    pub limit: Option<Limit>,
    /// The baseline's value.
    pub baseline: Option<Reading>,
    /// The candidate's value.
    pub candidate: Option<Reading>,
    /// The change.
    pub change: Option<Change>,
    /// The test.
    pub evidence: Option<Evidence>,
    /// Why, where that is not the test alone.
    pub reason: Option<Reason>,
    /// How far the sides' answers are alike, of agreement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alike: Option<Alike>,
    /// The pinned release that it is compared with; `None` of the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Counts of gated cells by what became of them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Headline {
    /// Gated cells.
    pub gated: u32,
    /// Regressed.
    pub regressed: u32,
    /// Ok or improved.
    pub passed: u32,
    /// Improved.
    pub improved: u32,
    /// Worse, and accepted so for now.
    #[serde(default)]
    pub accepted: u32,
    /// Everything between: suspect, inconclusive, implausible, not resolvable, not finished.
    pub undecided: u32,
    /// Invalid, missing or incomparable.
    pub unmeasured: u32,
}

/// All cells moved by about the same factor, as a slower clock moves them, and not one code path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UniformShift {
    /// Cells that were looked at.
    pub cells: u32,
    /// The smallest change, as time: 0.1 took 10 % longer, in rates 10 % longer a request.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

/// What the user can do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Advice {
    /// One sentence.
    #[serde(flatten)]
    pub text: Said,
    /// A command to run, if there is one.
    pub command: Option<String>,
}

/// What would still be needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NextLook {
    /// Sampling is over.
    Stop,
    /// The next look needs so many repeats in all.
    Repeats(u32),
}

/// The whole judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The exit code, after the spec's policies.
    pub exit: Exit,
    /// What a policy changed, in words.
    pub policy: Option<Said>,
    /// The counts for the first line.
    pub headline: Headline,
    /// How the runs were taken.
    pub design: Design,
    /// What a regression was proven against.
    pub proof: Proof,
    /// Scatter of the repeats by that of the archive, as a ratio of standard deviations: the
    /// median over the gated cells. `None` where fewer than three repeats or no archive say.
    pub noise_ratio: Option<f64>,
    /// All latencies and rates moved alike, and by how much.
    pub shift: Option<UniformShift>,
    /// What a stored baseline was read from; `None` where nobody says.
    pub base: Option<BaseStamp>,
    /// Gated cells whose level changed within the stored baseline, before the candidate came.
    pub levels: Vec<LevelChange>,
    /// Why figures moved, as far as anything tells.
    pub diagnoses: Vec<Diagnosis>,
    /// Pins that differ.
    pub pins: Vec<PinDifference>,
    /// All findings, worst first, then in the order of cells.
    pub findings: Vec<Finding>,
    /// Reasons to trust the whole less, in words.
    pub caveats: Vec<Said>,
    /// What to do next.
    pub advice: Vec<Advice>,
    /// Whether more repeats are worth taking.
    pub next: NextLook,
    /// Why nothing could be held against a baseline, in words; `None` where something was.
    pub unjudged: Option<String>,
}
