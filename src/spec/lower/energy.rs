//! Cells of energy: where they can be had.

use std::collections::BTreeSet;

use crate::metric::Kind;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::gate::Gate;
use crate::spec::place::TargetPlace;

/// Notes cells of energy of the embedded engine, which runs on no GPU, and of single classes.
pub(super) fn refuse(target: &TargetPlace, gate: &Gate, out: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for gated in &gate.cells {
        let metric = gated.cell.metric.metric();
        let is_energy = metric.kind() == Kind::Energy;
        let Some(place) = gated.place.as_ref().filter(|_| is_energy) else {
            continue;
        };
        if !seen.insert(metric) {
            continue;
        }
        if matches!(target, TargetPlace::Sim { .. }) {
            out.error(
                "spec::needs-gpu",
                place,
                format!("`{metric}` is of an engine on GPUs, and the embedded engine has none"),
                "gate it of a real engine on this machine, or gate something else",
            );
        } else if gated.cell.class.is_some() {
            out.error(
                "spec::of-the-stage",
                place,
                format!("`{metric}` is of a whole stage: GPUs work for all classes at once"),
                "leave `classes` out",
            );
        }
    }
}
