//! What is judged and how.

use serde::{Deserialize, Serialize};

use super::limit::Limit;
use super::trade::Trade;
use crate::metric::Cell;
use crate::stats::moderated::Evidence;

/// What is judged and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// How often the plan is repeated; `None` takes the mode's default.
    pub repeats: Option<Repeats>,
    /// The cells that are judged; at least one is not informational.
    pub cells: Vec<GateCell>,
    /// What becomes of an undecided verdict.
    pub undecided: Policy,
    /// What becomes of a missing baseline.
    pub no_baseline: Policy,
    /// What becomes of pins that differ outside `under_test`.
    pub incomparable: Policy,
    /// Largest difference of tokens between plan and observation, as a fraction.
    pub token_mismatch: f64,
    /// What a regression has to be proven against.
    pub evidence: Evidence,
    /// By how much a cell may be worse than at the pinned release; `None` where nobody asks.
    pub anchor: Option<Drift>,
}

/// How far cells may drift from the pinned release.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift(f64);

impl Drift {
    /// `None` unless above 0 and below 1: 0.15 is 15 %.
    pub fn try_new(ratio: f64) -> Option<Self> {
        (ratio > 0.0 && ratio < 1.0).then_some(Self(ratio))
    }

    /// The limit of a cell against the release: this share, and never less than the cell's own; a limit
    /// in points stays as it is. `None` of a limit that needs no baseline.
    pub fn limit(self, own: Limit) -> Option<Limit> {
        match own {
            Limit::WorseBy { ratio, floor } => Some(Limit::WorseBy {
                ratio: ratio.max(self.0),
                floor,
            }),
            Limit::WorseByPoints(_) => Some(own),
            Limit::AtMost(_) | Limit::AtLeast(_) => None,
        }
    }
}

impl Gate {
    /// Whether every pair repeats a stage: a gated cell names it or trades for a gain in it, or all
    /// gated cells are pooled.
    ///
    /// Another stage runs once a side, and pooled cells take what there is of it.
    pub fn repeats_stage(&self, stage: &str) -> bool {
        let gain = |cell: &'_ GateCell| cell.trade.as_ref().map(|trade| trade.gain.clone());
        let mut named = self
            .cells
            .iter()
            .filter(|cell| !cell.informational)
            .flat_map(|cell| [Some(cell.cell.clone()), gain(cell)])
            .flatten()
            .filter(|cell| cell.stage.is_some())
            .peekable();
        named.peek().is_none() || named.any(|cell| cell.is_of(stage))
    }
}

/// Bounds on repeats: pairs in `ab`, candidate runs against stored sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Repeats {
    /// No verdict before so many.
    pub min: u32,
    /// No more than so many.
    pub max: u32,
}

/// What a repository makes of an outcome that is neither pass nor regression.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Exit 3.
    #[default]
    Undecided,
    /// Exit 0, said so in the report.
    Pass,
    /// Exit 1, said so in the report.
    Fail,
}

/// One cell with its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct GateCell {
    /// What is judged.
    pub cell: Cell,
    /// Where it breaks.
    pub limit: Limit,
    /// Judged and shown, but never in the verdict.
    pub informational: bool,
    /// What it may lose more for a gain elsewhere; only beside a [`Limit::WorseBy`].
    pub trade: Option<Trade>,
    /// Where the text says so, as a byte range: the limit, or the metric where that is the usual one.
    /// `None` where the spec declares no cells.
    pub place: Option<std::ops::Range<usize>>,
}
