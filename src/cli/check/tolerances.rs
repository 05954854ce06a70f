//! Tolerances against the noise that the archive shows: what can't be told is refused while it costs
//! nothing.

use crate::cli::archived::Archived;
use crate::diag::Diagnostic;
use crate::report::forecast::change;
use crate::spec::{GateCell, Spec};
use crate::verdict::forecast::CellForecast;

/// One diagnostic for each gated tolerance that no archived environment resolves (an error), or not
/// every one of them (a warning).
pub(in crate::cli) fn mistakes(spec: &Spec, archived: &[Archived]) -> Vec<Diagnostic> {
    let cells = spec.gate.cells.iter().enumerate();
    cells
        .filter_map(|(i, declared)| {
            // Where the noise is assumed, nothing is known against the tolerance.
            let known = || {
                archived
                    .iter()
                    .filter(move |archived| !archived.forecast.cells[i].is_assumed())
            };
            let unresolvable = |archived: &&Archived| archived.forecast.cells[i].is_unresolvable();
            let worst = known().find(unresolvable)?;
            let anywhere = !known().all(|archived| unresolvable(&archived));
            Some(mistake(declared, worst, &worst.forecast.cells[i], anywhere))
        })
        .collect()
}

fn mistake(
    declared: &GateCell,
    archived: &Archived,
    cell: &CellForecast,
    anywhere: bool,
) -> Diagnostic {
    let told = |value: Option<f64>| value.map_or("?".to_owned(), |value| change(cell.scale, value));
    let pairs = archived.forecast.last_look();
    let message = format!(
        "`{}` may be worse by {}, and {pairs} pairs tell no less than {} from {}",
        cell.cell,
        told(cell.room),
        told(cell.smallest),
        archived.whose(),
    );
    let code = "spec::unresolvable";
    let mut diagnostic = if anywhere {
        Diagnostic::warning(code, message).help("other environments in the archive resolve it")
    } else {
        Diagnostic::error(code, message)
    };
    if let Some(place) = &declared.place {
        diagnostic = diagnostic
            .at(place.clone())
            .label(format!("{} at least", told(cell.smallest)));
    }
    if let Some(recommended) = cell.recommended {
        diagnostic = diagnostic.help(format!(
            "raise it: `worse_by: {}` leaves equal sides undecided in one of 100 comparisons at most",
            written(cell, recommended)
        ));
    }
    diagnostic
        .help(match cell.pairs_needed {
            Some(pairs) => format!(
                "or repeat more: `repeats: {{min: {pairs}, max: {pairs}}}` resolves it in one look"
            ),
            None => "a hundred pairs would not resolve it".to_owned(),
        })
        .help("or show it without gating: `informational: true`")
}

/// A tolerance as a spec has it: `8%`, `0.5pp`.
fn written(cell: &CellForecast, value: f64) -> String {
    crate::report::forecast::written(cell.scale, value)
}

/// What is worth knowing of tolerances whose noise is assumed.
pub(in crate::cli) fn notes(archived: &[Archived]) -> Vec<String> {
    archived
        .iter()
        .filter_map(|archived| {
            let cells = archived.forecast.cells.iter();
            let cells: Vec<String> = cells
                .filter(|cell| cell.is_unresolvable() && cell.is_assumed())
                .map(|cell| format!("`{}`", cell.cell))
                .collect();
            (!cells.is_empty()).then(|| {
                format!(
                    "on assumed noise {} pairs can't resolve the tolerance of {}; `infergate \
                     calibrate` measures what this machine's own lets them",
                    archived.forecast.last_look(),
                    cells.join(", "),
                )
            })
        })
        .collect()
}
