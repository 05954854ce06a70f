//! What a judgement has to complain of, or to praise, stage by stage: for that a cause is looked for.

use std::collections::BTreeSet;

use super::model::Judgement;
use super::state::CellState;
use crate::diagnosis::{Complaint, Way};

impl Judgement {
    /// The stages whose gated cells moved, each with its direction. Cells that nobody gates move by
    /// chance now and then, so they ask for no cause.
    pub fn complaints(&self) -> Vec<Complaint> {
        let gated = self.findings.iter().filter(|finding| finding.gated);
        let complaints: BTreeSet<Complaint> = gated
            .filter_map(|finding| {
                let way = match finding.state {
                    CellState::Regressed | CellState::Suspect => Way::Worse,
                    CellState::Improved | CellState::Implausible => Way::Better,
                    CellState::Invalid => Way::Unmeasured,
                    CellState::Ok
                    | CellState::Accepted
                    | CellState::Missing
                    | CellState::Incomparable
                    | CellState::Inconclusive
                    | CellState::NotResolvable
                    | CellState::NotFinished
                    | CellState::New => return None,
                };
                let stage = finding.cell.stage.clone();
                Some(Complaint { stage, way })
            })
            .collect();
        complaints.into_iter().collect()
    }
}
