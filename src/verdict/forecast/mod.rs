//! What a gate will be able to tell, from what the archive knows of the noise.
//!
//! [`forecast`] asks the judgement's own hypotheses before there is any candidate, so what it calls
//! unresolvable is what [`judge`](super::judge) will demote. It never looks at a candidate.

mod cell;
#[cfg(test)]
mod tests;

use serde::Serialize;

use super::hypothesis::Hypothesis;
use super::power::LINT_POWER;
use super::{Mode, planned_looks};
use crate::compare::{Archive, Arrangement, ComparedCell, archived};
use crate::metric::Cell;
use crate::spec::{Gate, Limit};
use crate::stats::sequential::Design;

/// Pairs for which the smallest resolvable change is told.
pub const TOLD: [u32; 5] = [1, 3, 5, 7, 10];

/// What a gate will be able to tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Archived sessions that show the noise.
    pub sessions: u32,
    /// Their runs.
    pub runs: u32,
    /// Whether the noise of some gated cell is assumed, so that the first look comes later.
    pub assumed: bool,
    /// After how many pairs a comparison of two targets will be looked at.
    pub looks: Vec<u32>,
    /// After how many candidate runs one against stored sessions will be.
    pub stored_looks: Vec<u32>,
    /// The declared cells, in the order of the spec.
    pub cells: Vec<CellForecast>,
}

/// In what a change is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// As a fraction of the baseline's value, or of the limit.
    Ratio,
    /// As a difference of proportions.
    Points,
}

/// What one declared cell will be able to show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellForecast {
    /// The cell.
    pub cell: Cell,
    /// Its limit.
    pub limit: Limit,
    /// Whether the verdict depends on it.
    pub gated: bool,
    /// Archived sessions that hold it in two runs at least, and so show its noise.
    pub sessions: u32,
    /// Their runs.
    pub runs: u32,
    /// In what the following are counted.
    pub scale: Scale,
    /// How much runs scatter; `None` where nothing says.
    pub noise: Option<CellNoise>,
    /// The smallest change that as many pairs resolve, for each of [`TOLD`]; of a limit the smallest
    /// distance from it.
    pub pairs: Vec<Resolution>,
    /// The same for candidate runs against stored sessions; empty where there are too few of them.
    pub stored: Vec<Resolution>,
    /// What a change may take: the tolerance, or how far the archived runs are from the limit
    /// (below 0 where they break it). `None` where nothing says.
    pub room: Option<f64>,
    /// The smallest change that the last look resolves.
    pub smallest: Option<f64>,
    /// Whether the last look resolves the room; `None` where one of the two is unknown.
    pub resolvable: Option<bool>,
    /// Pairs that resolve it, where it is not: `repeats: {min: N, max: N}`. `None` where a hundred
    /// don't.
    pub pairs_needed: Option<u32>,
    /// Tolerance to declare: what the last look resolves in 99 of 100 comparisons of equal sides,
    /// rounded up, and no finer than the metric's usual one. `None` of absolute limits.
    pub recommended: Option<f64>,
    /// Why something is not known, in words.
    pub why: Option<String>,
}

/// How much runs of one cell scatter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CellNoise {
    /// Standard deviation of one run: a fraction of the value, or of proportions a difference.
    pub sigma: f64,
    /// Degrees of freedom behind it.
    pub df: f64,
    /// Whether it is assumed, for no session shows it.
    pub assumed: bool,
}

/// The smallest change that so many repeats resolve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Resolution {
    /// Pairs, or candidate runs.
    pub repeats: u32,
    /// The change; `None` where so many decide nothing.
    pub smallest: Option<f64>,
}

impl CellForecast {
    /// Whether it is gated by a tolerance that the last look can't resolve.
    pub fn is_unresolvable(&self) -> bool {
        self.gated && self.limit.is_relative() && self.resolvable == Some(false)
    }

    /// Whether its noise is assumed, so that nothing is known for sure.
    pub fn is_assumed(&self) -> bool {
        self.noise.is_some_and(|noise| noise.assumed)
    }
}

impl Forecast {
    /// Pairs at the last look.
    pub fn last_look(&self) -> u32 {
        self.looks.last().copied().unwrap_or(0)
    }
}

/// Forecasts a gate: total, whatever the archive holds; with none the noise is assumed.
pub fn forecast(archive: Archive<'_>, gate: &Gate) -> Forecast {
    forecast_with(archive, gate, LINT_POWER)
}

fn forecast_with(archive: Archive<'_>, gate: &Gate, power: f64) -> Forecast {
    let cells = archived(Arrangement::Interleaved, archive, gate);
    let stands = archived(Arrangement::Stored, archive, gate);
    let paired = hypotheses(&cells, Arrangement::Interleaved);
    let assumed = paired
        .iter()
        .any(|hypothesis| hypothesis.cell.gated && hypothesis.is_assumed());
    let mode = if assumed {
        Mode::PairsWithoutArchive
    } else {
        Mode::Pairs
    };
    let (design, stored_design) = (planned_looks(mode, gate), planned_looks(Mode::Stored, gate));
    let counted = cells.first().map_or(&[][..], |cell| cell.noise.as_slice());
    Forecast {
        sessions: counted.len() as u32,
        runs: counted.iter().map(Vec::len).sum::<usize>() as u32,
        assumed,
        cells: paired
            .iter()
            .zip(&hypotheses(&stands, Arrangement::Stored))
            .map(|(pairs, stored)| {
                cell::forecast((pairs, &design), (stored, &stored_design), power)
            })
            .collect(),
        looks: repeats(&design),
        stored_looks: repeats(&stored_design),
    }
}

/// Of declared cells over all archived runs, with no candidate.
fn hypotheses(cells: &[ComparedCell], arrangement: Arrangement) -> Vec<Hypothesis<'_>> {
    cells
        .iter()
        .filter_map(|cell| {
            let usable = (0..cell.baseline.len()).filter(|&i| cell.baseline[i].is_usable());
            let usable: Vec<usize> = usable.collect();
            Some(Hypothesis::new(cell, cell.limit?, arrangement, &usable))
        })
        .collect()
}

fn repeats(design: &Design) -> Vec<u32> {
    design.looks().iter().map(|look| look.repeats).collect()
}
