//! Did one thing change, or the whole machine? All cells that move by the same factor look like a
//! slower clock, a power limit or another machine rather than like one code path.

use super::model::{Change, Finding, UniformShift};
use super::state::CellState;
use crate::compare::{ComparedCell, Comparison};
use crate::metric::{Cell, Direction, Kind, Statistic};
use crate::stats::median;

/// Fewer cells than this say nothing of a pattern.
const FEWEST: usize = 4;
/// Fewer metrics than this don't either: the quantiles of one metric move together anyway.
const FEWEST_METRICS: usize = 3;
/// Smallest shift that is worth a sentence, in logarithms.
const LEAST: f64 = 0.03;
/// How far a cell may be off the median shift, as a part of it.
const ALIKE: f64 = 1.0 / 3.0;

/// Whether all supported latencies, and the rates of closed loops, moved by about the same factor.
///
/// Each change becomes a factor of time (a rate that falls to 1/1.1 is 10 % more time a request).
/// The shift is uniform where half of the intervals exclude zero, the median is 3 % or more
/// and every cell lies within a third of it: +9, +10, +10 and +12 % do, +3, +10, +10 and +12 % do not.
pub(super) fn uniform_shift(comparison: &Comparison, findings: &[Finding]) -> Option<UniformShift> {
    let mut metrics = std::collections::BTreeSet::new();
    let mut shifts: Vec<f64> = Vec::new();
    let mut clear = 0;
    let mut seen: Vec<&Cell> = Vec::new();
    for finding in findings {
        let Some(Change::Ratio {
            estimate,
            low,
            high,
        }) = finding.change
        else {
            continue;
        };
        let Some(cell) = comparison.cells.iter().find(|c| c.cell == finding.cell) else {
            continue;
        };
        if !tells(cell, finding) || seen.contains(&&finding.cell) {
            continue;
        }
        seen.push(&finding.cell);
        metrics.insert(finding.cell.metric.metric());
        clear += usize::from(low > 0.0 || high < 0.0);
        shifts.push(match finding.cell.metric.metric().direction() {
            Direction::LowerIsBetter => estimate.ln_1p(),
            Direction::HigherIsBetter => -estimate.ln_1p(),
        });
    }
    // Where most intervals hold zero, what is alike is noise.
    if shifts.len() < FEWEST || metrics.len() < FEWEST_METRICS || 2 * clear < shifts.len() {
        return None;
    }
    let middle = median(shifts.clone()).filter(|middle| middle.abs() >= LEAST)?;
    let alike = shifts
        .iter()
        .all(|shift| (shift - middle).abs() <= ALIKE * middle.abs());
    let low = shifts.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shifts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    alike.then(|| UniformShift {
        cells: shifts.len() as u32,
        low: low.exp_m1(),
        high: high.exp_m1(),
    })
}

/// Whether the cell follows the speed of the machine and its value rests on enough requests.
fn tells(cell: &ComparedCell, finding: &Finding) -> bool {
    let metric = finding.cell.metric;
    let tail = match metric.statistic() {
        // The tails have stalls of their own.
        Statistic::Quantile(quantile) => quantile.fraction() > 0.95,
        Statistic::Mean | Statistic::Value | Statistic::Task(_) => false,
    };
    let measured = !matches!(
        finding.state,
        CellState::Invalid | CellState::Missing | CellState::Incomparable | CellState::New
    );
    let few = matches!(
        finding.reason,
        Some(super::model::Reason::FewSamples { .. })
    );
    measured
        && !few
        && finding.cell.class.is_none()
        && match metric.metric().kind() {
            Kind::Distribution => !tail,
            Kind::Rate => cell.closed_loop,
            Kind::OfSweep | Kind::OfEvents | Kind::Proportion | Kind::Energy | Kind::OfRun => false,
        }
}
