//! Runs as OpenMetrics text 1.0, which Prometheus and its kin read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::cells;
use crate::compare::{Measure, Value};
use crate::history::instant;
use crate::metric::{Cell, Kind, Metric};
use crate::provenance::PinPath;
use crate::summary::{Run, Side};

/// Pins that name what was measured.
const PINS: [&str; 5] = [
    "model.name",
    "precision.weights",
    "engine.name",
    "engine.version",
    "hardware.gpu",
];

/// A family a metric, a sample a cell and run, at the instant at which the run began; families in the
/// order of the metrics, `# EOF` at the end.
///
/// Percentiles of failures are `+Inf`. What has no value is left out and counted in
/// `infergate_cells_without_value`, by why.
pub fn openmetrics(runs: &[Run]) -> String {
    let mut out = String::new();
    family(
        &mut out,
        "infergate_run",
        "info",
        "",
        "A run and what it measured.",
    );
    for run in runs {
        sample(&mut out, "infergate_run_info", &about(run), "1", run);
    }
    let mut samples: BTreeMap<Metric, Vec<(&Run, Cell, String)>> = BTreeMap::new();
    let mut without: Vec<(&Run, [u64; 3])> = Vec::new();
    for run in runs {
        let mut missing = [0; 3];
        for (cell, measure) in cells::of(run) {
            let metric = cell.metric.metric();
            match text_of(metric, &measure) {
                Ok(value) => samples.entry(metric).or_default().push((run, cell, value)),
                Err(state) => missing[state as usize] += 1,
            }
        }
        without.push((run, missing));
    }
    for metric in Metric::ALL {
        let Some(samples) = samples.get(&metric) else {
            continue;
        };
        let (name, unit) = (name(metric), metric.unit().word());
        family(&mut out, &name, "gauge", unit, metric.definition());
        for (run, cell, value) in samples {
            let statistic = cells::statistic(cell);
            let mut labels = whose(run);
            labels.extend([
                ("stage", cell.stage.clone().unwrap_or_default()),
                ("class", cell.class.clone().unwrap_or_default()),
                ("statistic", statistic),
            ]);
            sample(&mut out, &name, &labels, value, run);
        }
    }
    let name = "infergate_cells_without_value";
    family(
        &mut out,
        name,
        "gauge",
        "",
        "Cells of a run that have no value, by why.",
    );
    for (run, missing) in &without {
        for state in [State::Failed, State::Invalid, State::Absent] {
            let mut labels = whose(run);
            labels.push(("state", state.word().to_owned()));
            sample(
                &mut out,
                name,
                &labels,
                &missing[state as usize].to_string(),
                run,
            );
        }
    }
    out.push_str("# EOF\n");
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Failed,
    Invalid,
    Absent,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Absent => "absent",
        }
    }
}

fn text_of(metric: Metric, measure: &Measure) -> Result<String, State> {
    match measure.value {
        Value::Measured(value) => Ok(value.to_string()),
        Value::Failed if metric.kind() == Kind::Distribution => Ok("+Inf".to_owned()),
        Value::Failed => Err(State::Failed),
        Value::Invalid(_) => Err(State::Invalid),
        Value::Absent(_) | Value::Untold(_) => Err(State::Absent),
    }
}

/// `infergate_ttft_seconds`; a unit ends its family's name, as the format asks.
pub(in crate::report) fn name(metric: Metric) -> String {
    let (name, unit) = (metric.name().replace('.', "_"), metric.unit().word());
    if name.ends_with(unit) {
        format!("infergate_{name}")
    } else {
        format!("infergate_{name}_{unit}")
    }
}

fn whose(run: &Run) -> Vec<(&'static str, String)> {
    vec![
        ("spec", run.spec.name.clone()),
        ("session", run.session.clone()),
        ("run", run.id.clone()),
    ]
}

fn about(run: &Run) -> Vec<(&'static str, String)> {
    let mut labels = whose(run);
    labels.push(("definition", run.definition.clone()));
    let side = run.side.map(|side| match side {
        Side::Baseline => "baseline",
        Side::Candidate => "candidate",
    });
    labels.push(("side", side.unwrap_or_default().to_owned()));
    for (name, path) in ["model", "precision", "engine", "engine_version", "gpu"]
        .into_iter()
        .zip(PINS)
    {
        let pin = path
            .parse()
            .ok()
            .and_then(|pin: PinPath| run.pins.get(&pin));
        let value = pin.and_then(|pin| pin.value()).unwrap_or_default();
        labels.push((name, value.to_owned()));
    }
    labels
}

/// The lines that begin a family.
pub(in crate::report) fn family(out: &mut String, name: &str, kind: &str, unit: &str, help: &str) {
    let _ = writeln!(out, "# TYPE {name} {kind}");
    if !unit.is_empty() {
        let _ = writeln!(out, "# UNIT {name} {unit}");
    }
    let _ = writeln!(out, "# HELP {name} {}", escaped(help));
}

fn sample(out: &mut String, name: &str, labels: &[(&str, String)], value: &str, run: &Run) {
    let mut line = unstamped(name, labels, value);
    if let Some(seconds) = instant::seconds(&run.started) {
        let _ = write!(line, " {seconds}");
    }
    out.push_str(&line);
    out.push('\n');
}

/// A sample without an instant and a line end. Labels without a value are left out: the format takes an
/// empty one for none.
pub(in crate::report) fn unstamped(name: &str, labels: &[(&str, String)], value: &str) -> String {
    let labels: Vec<String> = labels
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    format!("{name}{{{}}} {value}", labels.join(","))
}

/// Backslashes, quotes and line feeds escaped, other control characters replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
pub(in crate::report) mod tests;
