//! What a run holds, a cell at a time.

use std::collections::BTreeSet;

use crate::compare::{Measure, Reductions, held, measures};
use crate::metric::{Cell, Quantile, Statistic};
use crate::summary::Run;

/// Every cell of a run with its value: each quantile that the run keeps, and means.
pub(super) fn of(run: &Run) -> Vec<(Cell, Measure)> {
    let quantiles: BTreeSet<Quantile> = run
        .stages
        .iter()
        .flat_map(|stage| std::iter::once(&stage.pooled).chain(stage.classes.values()))
        .flat_map(|class| class.distributions.values())
        .flat_map(|distribution| distribution.quantiles.keys().copied())
        .collect();
    let quantiles: Vec<Quantile> = quantiles.into_iter().collect();
    let reductions = Reductions {
        quantiles: &quantiles,
        mean: true,
    };
    held(&[run], reductions)
        .into_iter()
        .filter_map(|cell| {
            let measure = measures(&[run], &cell).pop()?;
            Some((cell, measure))
        })
        .collect()
}

/// `p95`, `mean`, an imported score's name; empty of a metric that is one number.
pub(in crate::report) fn statistic(cell: &Cell) -> String {
    match cell.metric.statistic() {
        Statistic::Value => String::new(),
        Statistic::Mean => "mean".to_owned(),
        Statistic::Quantile(quantile) => quantile.to_string(),
        Statistic::Task(name) => name.to_string(),
    }
}
