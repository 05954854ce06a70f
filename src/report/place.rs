//! Where a gated cell stands in its spec, for whoever annotates the spec's lines.

use serde::{Deserialize, Serialize};

use crate::diag::line_column;
use crate::metric::Cell;
use crate::spec::Spec;
use crate::verdict::Finding;

/// Where the limit of one cell is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CellPlace {
    /// The cell.
    pub cell: Cell,
    /// The field that says its limit: `worse_by`, `at_most`, `at_least`.
    pub limit: String,
    /// The spec's file, as the command was given it.
    pub path: String,
    /// Line of the limit, from 1.
    pub line: u32,
    /// Column of its first character, from 1.
    pub column: u32,
    /// Line of its end.
    pub end_line: u32,
    /// Column behind its last character.
    pub end_column: u32,
}

impl CellPlace {
    /// Of each gated cell of a spec that was read from this file, or from one that it extends; none of cells
    /// that no text declares.
    pub fn of(spec: &Spec, path: &str) -> Vec<Self> {
        let place = |gated: &crate::spec::GateCell| {
            let place = spec.sources.locate(gated.place.as_ref()?)?;
            let at = |offset| {
                let (line, column) = line_column(&place.source.text, offset);
                let bounded = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                (bounded(line), bounded(column))
            };
            let ((line, column), (end_line, end_column)) =
                (at(place.span.start), at(place.span.end));
            let path = if place.is_first {
                path
            } else {
                &place.source.path
            };
            Some(Self {
                cell: gated.cell.clone(),
                limit: gated.limit.key().to_owned(),
                path: path.to_owned(),
                line,
                column,
                end_line,
                end_column,
            })
        };
        spec.gate.cells.iter().filter_map(place).collect()
    }

    /// Whether it is that of a finding.
    pub fn is_of(&self, finding: &Finding) -> bool {
        self.cell == finding.cell && finding.limit.is_none_or(|limit| limit.key() == self.limit)
    }
}
