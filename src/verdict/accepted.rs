//! Cells that may be worse for a while, as a reviewed file says: excused up to the accepted value and
//! the cell's own tolerance, and no further.

use serde::{Deserialize, Serialize};

use super::finding::reading;
use super::informational::default_limit;
use super::model::{Finding, Judgement, Reason};
use super::state::CellState;
use super::{judge, judge_as};
use crate::compare::{ComparedCell, Comparison};
use crate::lang::{Said, of_judged};
use crate::metric::Cell;
use crate::spec::{Gate, Limit};

/// A cell whose new level was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Excuse {
    /// The cell.
    pub cell: Cell,
    /// The accepted value, in the metric's unit.
    pub value: f64,
    /// The last day on which it is excused: `2027-02-28`.
    pub until: String,
    /// The file that says so.
    pub file: String,
    /// Whether that day was over when the candidate was measured.
    pub expired: bool,
}

/// Judges a comparison some of whose cells were accepted.
///
/// An accepted cell is judged by a limit that reaches from the baseline to the accepted value and its
/// tolerance beyond: of a TTFT that was 400 ms, is accepted at 500 ms and may be worse by 10 %, 550 ms,
/// so 37.5 % over the baseline. Where it keeps its own limit, nothing is excused; where it keeps the
/// wider one alone, it is [`CellState::Accepted`].
pub fn judge_accepting(comparison: &Comparison, gate: &Gate, excuses: &[Excuse]) -> Judgement {
    let mut judgement = judge_excusing(comparison, gate, excuses);
    let needless = |excuse: &&Excuse| {
        let kept = |finding: &Finding| {
            finding.gated && finding.cell == excuse.cell && finding.state.is_pass()
        };
        judgement.findings.iter().any(kept)
    };
    let caveats = excuses.iter().filter(needless).map(|excuse| {
        let args = [excuse.cell.to_string(), excuse.file.clone()];
        Said::new(of_judged::NEEDLESS_ACCEPT, args)
    });
    let caveats: Vec<Said> = caveats.collect();
    judgement.caveats.extend(caveats);
    judgement
}

/// The same, and says nothing of accepts that are not needed: another comparison may need them.
pub(super) fn judge_excusing(
    comparison: &Comparison,
    gate: &Gate,
    excuses: &[Excuse],
) -> Judgement {
    let of = |cell: &Cell| excuses.iter().rev().find(|excuse| excuse.cell == *cell);
    if !comparison
        .cells
        .iter()
        .any(|cell| cell.gated && of(&cell.cell).is_some())
    {
        return judge(comparison, gate);
    }
    let plain = judge(comparison, gate);
    let mut wider = comparison.clone();
    for cell in wider.cells.iter_mut().filter(|cell| cell.gated) {
        if let (Some(excuse), Some(limit)) = (of(&cell.cell), cell.limit)
            && !excuse.expired
        {
            cell.limit = Some(reaching(cell, limit, excuse.value));
        }
    }
    judge_as(&wider, gate, |findings| {
        for finding in findings {
            let own = plain
                .findings
                .iter()
                .find(|f| f.gated && f.cell == finding.cell);
            if let (Some(excuse), Some(own)) = (of(&finding.cell), own) {
                excuse.apply(finding, own);
            }
        }
    })
}

impl Excuse {
    /// What becomes of a finding under the wider limit, whose own limit found `own`.
    fn apply(&self, finding: &mut Finding, own: &Finding) {
        finding.limit = own.limit;
        if own.state.is_pass() {
            finding.clone_from(own);
        } else if self.expired {
            finding.reason = Some(Reason::AcceptExpired {
                until: self.until.clone(),
                file: self.file.clone(),
            });
        } else if finding.state.is_pass() || finding.state == CellState::Implausible {
            finding.state = CellState::Accepted;
            finding.reason = Some(Reason::Accepted {
                value: self.value,
                until: self.until.clone(),
                file: self.file.clone(),
            });
        } else if finding.reason.is_none() {
            finding.reason = Some(Reason::BeyondAccepted {
                value: self.value,
                file: self.file.clone(),
            });
        }
    }
}

/// The limit of a cell, moved so far that it stands its own tolerance beyond the accepted value; never a
/// narrower one.
fn reaching(cell: &ComparedCell, limit: Limit, accepted: f64) -> Limit {
    let sign = cell.cell.metric.metric().direction().sign();
    let base = reading(cell, &cell.baseline).and_then(|reading| reading.value);
    // A limit without a tolerance takes the one that the cell is seen with where nobody declares any.
    let beyond = |accepted: f64, way: f64| match default_limit(cell) {
        Limit::WorseBy { ratio, .. } => accepted * (1.0 + way * ratio),
        Limit::WorseByPoints(points) => accepted + way * points,
        Limit::AtMost(_) | Limit::AtLeast(_) => accepted,
    };
    match (limit, base) {
        (Limit::WorseBy { ratio, floor }, Some(base)) if base > 0.0 => {
            let moved = sign * (accepted / base * (1.0 + sign * ratio) - 1.0);
            Limit::WorseBy {
                ratio: ratio.max(moved),
                floor,
            }
        }
        (Limit::WorseByPoints(points), Some(base)) => {
            Limit::WorseByPoints(points.max(points + sign * (accepted - base)))
        }
        (Limit::AtMost(most), _) => Limit::AtMost(most.max(beyond(accepted, 1.0))),
        (Limit::AtLeast(least), _) => Limit::AtLeast(least.min(beyond(accepted, -1.0))),
        (Limit::WorseBy { .. } | Limit::WorseByPoints(_), _) => limit,
    }
}
