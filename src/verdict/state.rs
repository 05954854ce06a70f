//! What became of a cell.

use serde::{Deserialize, Serialize};

/// What became of one cell.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CellState {
    /// Beyond its limit, beyond doubt.
    Regressed,
    /// Nothing valid was measured on one or both sides.
    Invalid,
    /// Declared, but not in the runs.
    Missing,
    /// The sides may not be compared.
    Incomparable,
    /// Beyond its tolerance by estimate, not yet beyond doubt.
    Suspect,
    /// Far better than credible: look before believing it.
    Implausible,
    /// Neither shown to be worse nor shown to be within tolerance.
    Inconclusive,
    /// The tolerance is finer than these repeats on this machine can resolve.
    NotResolvable,
    /// Sampling stopped at another cell's regression.
    NotFinished,
    /// Observed, but not declared or not in the baseline.
    New,
    /// Worse than its limit, and within what a reviewed file accepts for now.
    Accepted,
    /// Better by more than its tolerance, beyond doubt.
    Improved,
    /// A change as large as the tolerance is ruled out.
    Ok,
}

impl CellState {
    /// Whether its cell was shown to be within its limits, as an accepted one is for as long as that
    /// stands; `None` where neither was shown.
    pub const fn is_within(self) -> Option<bool> {
        match self {
            Self::Ok | Self::Improved | Self::Accepted => Some(true),
            Self::Regressed => Some(false),
            Self::Invalid
            | Self::Missing
            | Self::Incomparable
            | Self::Suspect
            | Self::Implausible
            | Self::Inconclusive
            | Self::NotResolvable
            | Self::NotFinished
            | Self::New => None,
        }
    }

    /// Whether the cell keeps its own limit.
    pub const fn is_pass(self) -> bool {
        matches!(self, Self::Ok | Self::Improved)
    }

    /// In words, for reports.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Invalid => "invalid",
            Self::Missing => "missing",
            Self::Incomparable => "incomparable",
            Self::Suspect => "suspect",
            Self::Implausible => "implausible",
            Self::Inconclusive => "inconclusive",
            Self::NotResolvable => "not resolvable",
            Self::NotFinished => "not finished",
            Self::New => "new",
            Self::Accepted => "accepted",
            Self::Improved => "improved",
            Self::Ok => "ok",
        }
    }
}
