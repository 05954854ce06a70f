//! What the noise lets the gate tell, and what that costs.

use std::fmt::Write as _;

use serde::Serialize;

use crate::baseline::Shelf;
use crate::cli::archived::{Archived, Kept};
use crate::cli::baseline::stored_runs;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::provenance::Pins;
use crate::report::forecast::{change, table, written};
use crate::spec::Spec;
use crate::stats::quantile::quantile;
use crate::unit::scale;
use crate::verdict::forecast::{CellForecast, TOLD};

/// Of one environment, for `--json`.
#[derive(Debug, Serialize)]
struct Outcome {
    /// Always `infergate.calibration/1`.
    format: &'static str,
    /// The spec's name.
    name: String,
    #[serde(flatten)]
    archived: Archived,
    /// Median time of a run, load and drain.
    run_s: f64,
    /// What so many pairs take.
    costs: Vec<Cost>,
    /// Whether the last look resolves every gated tolerance.
    tolerances_hold: bool,
}

/// What so many pairs take.
#[derive(Debug, Serialize)]
struct Cost {
    pairs: u32,
    total_s: f64,
}

/// What is kept of this target.
pub(super) fn of_target(
    root: &Shelf,
    spec: &Spec,
    plan: &Plan,
    pins: &Pins,
) -> Result<Kept, Failure> {
    Ok(Kept::of(stored_runs(root, spec, pins)?, spec, plan))
}

/// Prints a table for each environment.
pub(super) fn print(
    spec: &Spec,
    kept: &[Kept],
    json: bool,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let outcomes: Vec<Outcome> = kept.iter().map(|kept| Outcome::of(spec, kept)).collect();
    let text = if json {
        serde_json::to_string_pretty(&outcomes).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the calibration as JSON: {error}"),
            )
        })? + "\n"
    } else {
        let texts: Vec<String> = outcomes.iter().map(Outcome::describe).collect();
        texts.join("\n")
    };
    context.print(&text);
    Ok(Exit::Pass)
}

impl Outcome {
    fn of(spec: &Spec, kept: &Kept) -> Self {
        let mut took: Vec<f64> = kept.runs().map(|run| run.elapsed_s).collect();
        took.sort_unstable_by(f64::total_cmp);
        let run_s = quantile(&took, 0.5).unwrap_or(0.0);
        let archived = kept.forecast(spec);
        Self {
            format: "infergate.calibration/1",
            name: spec.name.to_string(),
            run_s,
            costs: TOLD
                .into_iter()
                .map(|pairs| Cost {
                    pairs,
                    total_s: 2.0 * f64::from(pairs) * run_s,
                })
                .collect(),
            tolerances_hold: !archived
                .forecast
                .cells
                .iter()
                .any(CellForecast::is_unresolvable),
            archived,
        }
    }

    fn describe(&self) -> String {
        let forecast = &self.archived.forecast;
        let mut text = format!(
            "{}: the smallest change that can be told from {}, by pairs\n\n",
            self.name,
            self.archived.whose()
        );
        text.push_str(&table(forecast));
        if forecast.cells.iter().any(CellForecast::is_assumed) {
            text.push_str("~ assumed: no session shows it\n");
        }
        let costs: Vec<String> = self
            .costs
            .iter()
            .map(|cost| {
                let pairs = cost.pairs;
                let pairs = if pairs == 1 {
                    "1 pair".to_owned()
                } else {
                    format!("{pairs} pairs")
                };
                format!("{pairs} {}", scale::elapsed(cost.total_s))
            })
            .collect();
        let _ = writeln!(
            text,
            "\na run takes {}, so {}; starts not counted",
            scale::elapsed(self.run_s),
            costs.join(", ")
        );
        let pairs = forecast.last_look();
        if self.tolerances_hold {
            let _ = writeln!(text, "{pairs} pairs resolve every gated tolerance");
        }
        for cell in forecast.cells.iter().filter(|cell| cell.is_unresolvable()) {
            let told = |value: Option<f64>| {
                value.map_or_else(|| "?".to_owned(), |value| change(cell.scale, value))
            };
            let _ = write!(
                text,
                "{pairs} pairs don't resolve `{}`: {} is declared, {} is the least; write `worse_by: {}`",
                cell.cell,
                told(cell.room),
                told(cell.smallest),
                cell.recommended
                    .map_or_else(|| "?".to_owned(), |value| written(cell.scale, value)),
            );
            let _ = match cell.pairs_needed {
                Some(n) => writeln!(text, ", or `repeats: {{min: {n}, max: {n}}}`"),
                None => writeln!(text),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic::{archive, gate, worse_by};
    use crate::spec::Limit;
    use crate::verdict::forecast::forecast;

    #[test]
    fn the_table_reads_well() {
        let noise = archive(&vec![vec![-1.0, -0.98, -1.03]; 4]);
        let gate = gate(&[
            ("ttft.p95", worse_by(0.1)),
            ("tpot.p95", worse_by(0.02)),
            ("e2e.p95", Limit::AtMost(0.5)),
            ("error_ratio", Limit::WorseByPoints(0.005)),
        ]);
        let kept = crate::compare::Archive {
            stands: &[],
            noise: &noise,
        };
        let forecast = forecast(kept, &gate);
        let outcome = Outcome {
            format: "infergate.calibration/1",
            name: "chat-8b".to_owned(),
            tolerances_hold: false,
            archived: Archived {
                environment: Some("nvidia-h200-vllm-1f3a9c0e".to_owned()),
                forecast,
            },
            run_s: 240.0,
            costs: TOLD
                .into_iter()
                .map(|pairs| Cost {
                    pairs,
                    total_s: 480.0 * f64::from(pairs),
                })
                .collect(),
        };
        insta::assert_snapshot!(outcome.describe());
    }
}
