//! `infergate check`: what a valid spec asks for, in size and time.

mod conversations;
mod replay;

use std::fmt::Write as _;
use std::path::PathBuf;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use self::replay::TraceSize;
use super::context::Context;
use super::failure::Failure;
use super::source::{SelectArgs, load_spec};
use crate::exit::Exit;
use crate::metric::{Cell, Metric};
use crate::plan::{Plan, StagePlan};
use crate::spec::{Extent, GateCell, Limit, Spec, Stage, looks};
use crate::unit::{Nanos, scale};

/// Check a spec
///
/// Shows every mistake at once with its place, or the plan's size, how long it takes, and what is
/// judged.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(after_help = "\
Examples:
  infergate check spec.yaml
  infergate check baselines/chat-8b --json

Exit codes: 0 the spec is right · 2 it has mistakes")]
pub(super) struct CheckArgs {
    /// The spec, or a folder with `spec.yaml` in it
    spec: PathBuf,

    #[command(flatten)]
    select: SelectArgs,

    /// Print the plan's size as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CheckArgs, context: &mut Context) -> Result<Exit, Failure> {
    let spec = args.select.apply(load_spec(&args.spec, context)?)?;
    let plan = Plan::expand(&spec);
    let text = if args.json {
        let size = Size::of(&spec, &plan);
        serde_json::to_string_pretty(&size).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the size as JSON: {error}"),
            )
        })? + "\n"
    } else {
        describe(&spec, &plan)
    };
    context.print(&text);
    Ok(Exit::Pass)
}

/// The size of a plan, for `--json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Size {
    /// Always `infergate.check/1`.
    pub format: &'static str,
    /// The spec's name.
    pub name: String,
    /// Digest of what has to be equal for two runs to be comparable.
    pub workload_digest: String,
    /// The stages, sweeps expanded.
    pub stages: Vec<StageSize>,
    /// One run of all stages.
    pub run_s: f64,
    /// Whether `run_s` is a bound and not the time itself.
    pub run_is_bound: bool,
    /// After how many pairs the comparison is looked at, and how long it has taken by then.
    pub looks: Vec<Look>,
    /// What is judged.
    pub cells: Vec<CellSize>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// One stage in figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct StageSize {
    /// The stage's name.
    pub name: String,
    /// How requests come, in words.
    pub arrival: String,
    /// Requests in the window; `None` where the target's speed decides.
    pub requests: Option<u64>,
    /// Warm-up, in words.
    pub warmup: String,
    /// The window; `None` where the target's speed decides.
    pub window_s: Option<f64>,
    /// Warm-up and window together.
    pub duration_s: f64,
    /// Whether `duration_s` is a bound: the time that the stage takes when every request just keeps
    /// its SLO.
    pub duration_is_bound: bool,
    /// Whether every pair repeats it; another stage runs once a side.
    pub repeated: bool,
    /// What it replays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSize>,
}

/// One look of an `ab`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Look {
    /// Pairs done by then.
    pub pairs: u32,
    /// Time taken by then.
    pub total_s: f64,
}

/// One judged cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct CellSize {
    /// As in `steady/ttft.p95`.
    pub cell: String,
    /// As in `worse by 10 %`.
    pub limit: String,
    /// Shown, but never in the verdict.
    pub informational: bool,
}

impl Size {
    /// The size of a spec's plan.
    pub(super) fn of(spec: &Spec, plan: &Plan) -> Self {
        let latency = spec.workload.latency_at_slo();
        let stages: Vec<StageSize> = plan
            .stages()
            .iter()
            .enumerate()
            .map(|(index, stage)| {
                let repeated = spec.gate.repeats_stage(&stage.stage.name);
                StageSize::of(stage, (latency, plan.has_conversations(index)), repeated)
            })
            .collect();
        let run_s: f64 = stages.iter().map(|stage| stage.duration_s).sum();
        let repeated_s: f64 = stages
            .iter()
            .filter(|stage| stage.repeated)
            .map(|stage| stage.duration_s)
            .sum();
        let looks = looks(spec.gate.repeats)
            .into_iter()
            .map(|pairs| Look {
                pairs,
                // Both sides of each pair, and the other stages once a side in the last one.
                total_s: 2.0 * (f64::from(pairs) * repeated_s + (run_s - repeated_s)),
            })
            .collect();
        Self {
            format: "infergate.check/1",
            name: spec.name.to_string(),
            workload_digest: spec.workload_digest().hex(),
            run_s,
            run_is_bound: stages.iter().any(|stage| stage.duration_is_bound),
            looks,
            cells: spec.gate.cells.iter().map(CellSize::of).collect(),
            notes: [
                notes(spec),
                conversations::notes(plan.stages(), &spec.workload),
            ]
            .concat(),
            stages,
        }
    }
}

impl StageSize {
    fn of(planned: &StagePlan, (latency, conversations): (Nanos, bool), repeated: bool) -> Self {
        let stage = &planned.stage;
        let (requests, window) = match &planned.schedule {
            Some(schedule) => (
                // Of conversations, the schedule has the first requests only.
                if conversations {
                    stage
                        .expected_requests()
                        .map(|requests| requests.round() as u64)
                } else {
                    Some(schedule.measured.len() as u64)
                },
                Some(schedule.window_end.since(schedule.window_start)),
            ),
            None => match stage.extent {
                Extent::Requests(requests) => (Some(requests.into()), None),
                Extent::Duration(window) => (None, Some(window)),
            },
        };
        Self {
            name: stage.name.clone(),
            arrival: stage.arrival.to_string(),
            requests,
            warmup: warmup(stage),
            window_s: window.map(Nanos::as_secs_f64),
            duration_s: stage.expected_duration(latency).as_secs_f64(),
            duration_is_bound: !stage.has_fixed_duration(),
            repeated,
            trace: TraceSize::of(&stage.arrival),
        }
    }
}

impl CellSize {
    fn of(cell: &GateCell) -> Self {
        Self {
            cell: cell.cell.to_string(),
            limit: cell.limit.describe(cell.cell.metric.metric()).to_string(),
            informational: cell.informational,
        }
    }
}

fn warmup(stage: &Stage) -> String {
    let requests = format!("{} requests", scale::count(stage.warmup.requests.into()));
    match (stage.warmup.requests, stage.warmup.duration) {
        (0, Nanos::ZERO) => "none".to_owned(),
        (0, time) => time.to_string(),
        (_, Nanos::ZERO) => requests,
        (_, time) => format!("{requests} and {time}"),
    }
}

fn notes(spec: &Spec) -> Vec<String> {
    let is_open = |name: &str| {
        let mut stages = spec.stages.iter();
        stages.any(|stage| stage.name == name && stage.arrival.is_open())
    };
    spec.gate
        .cells
        .iter()
        .filter(|gated| {
            let Cell { stage, metric, .. } = &gated.cell;
            metric.metric() == Metric::Goodput
                && matches!(gated.limit, Limit::WorseBy { .. })
                && stage.as_deref().is_some_and(is_open)
        })
        .map(|gated| {
            format!(
                "`{}` is judged as attainment, in points: at an open-loop stage goodput is attainment \
                 times the arrival rate",
                gated.cell
            )
        })
        .collect()
}

/// The size as text for people, ending in a line break.
pub(super) fn describe(spec: &Spec, plan: &Plan) -> String {
    let size = Size::of(spec, plan);
    let mut text = format!(
        "{}: {} and {}, workload {}\n\n{}\n\n",
        size.name,
        plural(size.stages.len(), "stage", "stages"),
        plural(spec.workload.classes.len(), "class", "classes"),
        spec.workload_digest(),
        table(&size)
    );
    text.push_str(&times(&size));
    for (stage, trace) in size
        .stages
        .iter()
        .filter_map(|s| Some((s, s.trace.as_ref()?)))
    {
        let _ = write!(text, "\n`{}` {}", stage.name, trace.describe());
    }
    let (shown, gated): (Vec<_>, Vec<_>) = size.cells.iter().partition(|cell| cell.informational);
    for (what, cells) in [("gated", gated), ("informational", shown)] {
        if cells.is_empty() {
            continue;
        }
        let limits = if cells.len() == 1 { "limit" } else { "limits" };
        let _ = writeln!(text, "\n{} {what} {limits}:", cells.len());
        let width = cells.iter().map(|cell| cell.cell.len()).max().unwrap_or(0);
        for cell in cells {
            let _ = writeln!(text, "  {:width$}  {}", cell.cell, cell.limit);
        }
    }
    for note in &size.notes {
        let _ = writeln!(text, "\nnote: {note}");
    }
    text
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn table(size: &Size) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "stage", "arrival", "requests", "warm-up", "window", "takes", "runs",
    ]);
    for stage in &size.stages {
        let requests = stage
            .requests
            .map_or("by duration".to_owned(), scale::count);
        let window = stage
            .window_s
            .map_or("by requests".to_owned(), scale::elapsed);
        table.add_row([
            stage.name.clone(),
            stage.arrival.clone(),
            requests,
            stage.warmup.clone(),
            window,
            bounded(stage.duration_s, stage.duration_is_bound),
            if stage.repeated { "every pair" } else { "once" }.to_owned(),
        ]);
    }
    for column in [2, 4, 5] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((u16::from(index > 0), 1));
    }
    table.trim_fmt()
}

fn bounded(seconds: f64, is_bound: bool) -> String {
    let sign = if is_bound { "≤ " } else { "" };
    format!("{sign}{}", scale::elapsed(seconds))
}

fn times(size: &Size) -> String {
    let mut text = format!(
        "one run takes {}, drains and starts not counted",
        bounded(size.run_s, size.run_is_bound)
    );
    if size.run_is_bound {
        text.push_str(
            " (≤ where the target decides: as long as when every request just keeps its SLO, or takes 10 s without one)",
        );
    }
    text.push('\n');
    let looks: Vec<String> = size
        .looks
        .iter()
        .map(|look| {
            let total = bounded(look.total_s, size.run_is_bound);
            format!("{} pairs ({total})", look.pairs)
        })
        .collect();
    let _ = writeln!(text, "a comparison is looked at after {}", looks.join(", "));
    text
}

#[cfg(test)]
mod tests;
