//! The history as a long table: a line a run and cell.

use crate::history::{History, PointValue, Standing};
use crate::metric::Statistic;
use crate::report::export::write_table;

const HEADER: [&str; 24] = [
    "spec",
    "environment",
    "workload",
    "definition",
    "session",
    "started",
    "commit",
    "standing",
    "anchor",
    "epoch",
    "cell",
    "stage",
    "class",
    "metric",
    "statistic",
    "unit",
    "gated",
    "counts",
    "level_change",
    "session_value",
    "run",
    "value",
    "n",
    "why",
];

/// Every run of every point, superseded tracks too.
pub fn csv(histories: &[History]) -> String {
    let mut rows = Vec::new();
    let tracks = histories
        .iter()
        .flat_map(|history| history.tracks.iter().map(move |track| (history, track)));
    for (history, track) in tracks {
        for series in &track.series {
            let cell = &series.cell;
            let statistic = match cell.metric.statistic() {
                Statistic::Value => String::new(),
                Statistic::Mean => "mean".to_owned(),
                Statistic::Quantile(quantile) => quantile.to_string(),
                Statistic::Task(name) => name.to_string(),
            };
            for point in &series.points {
                let sitting = &track.sittings[point.sitting];
                let shift = series
                    .shifts
                    .iter()
                    .find(|shift| shift.sitting == point.sitting);
                for run in &point.runs {
                    let text = |text: &Option<String>| text.clone().unwrap_or_default();
                    rows.push([
                        history.name.clone(),
                        track.environment.clone(),
                        track.workload.clone(),
                        track.definition.clone(),
                        sitting.session.clone(),
                        sitting.started.clone(),
                        text(&sitting.commit),
                        standing(&sitting.standing).to_owned(),
                        text(&sitting.anchor),
                        text(&sitting.epoch),
                        cell.to_string(),
                        text(&cell.stage),
                        text(&cell.class),
                        cell.metric.metric().to_string(),
                        statistic.clone(),
                        series.unit.to_owned(),
                        series.gated.to_string(),
                        point.counts.to_string(),
                        shift.map_or_else(String::new, |shift| shift.change.to_string()),
                        match &point.value {
                            PointValue::Value(value) => value.to_string(),
                            PointValue::Failed => "inf".to_owned(),
                            PointValue::Unknown(_) => String::new(),
                        },
                        run.run.clone(),
                        run.value
                            .map_or_else(String::new, |value| value.to_string()),
                        run.n.to_string(),
                        text(&run.why),
                    ]);
                }
            }
        }
    }
    write_table(&HEADER, rows)
}

const fn standing(standing: &Standing) -> &'static str {
    match standing {
        Standing::Stands => "stands",
        Standing::Noise => "noise",
        Standing::Void { .. } => "void",
    }
}
