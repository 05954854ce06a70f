//! `infergate check`: what a valid spec asks for, in size and time.

mod budget;
mod conversations;
mod replay;
mod rows;
mod size;
pub(super) mod tolerances;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use comfy_table::{CellAlignment, Table, presets};

use self::size::Size;
use super::archive::ArchiveArgs;
use super::archived::{Archived, kept, plural};
use super::context::Context;
use super::failure::{Failure, FailureText};
use super::member::{Asked, Member, OnlyArgs};
use super::source::{SelectArgs, merged, read_spec, style};
use crate::diag::{Severity, render};
use crate::exit::Exit;
use crate::plan::Plan;
use crate::report::forecast::told;
use crate::spec::Spec;
use crate::unit::scale;

/// Check a spec
///
/// Shows every mistake at once with its place, or the plan's size, how long it takes, and what is
/// judged. Where sessions are archived, a gated tolerance that their noise does not let anybody
/// resolve is a mistake too.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  infergate check spec.yaml
  infergate check baselines/chat-8b --json
  infergate check specs/                       all specs of a folder or a suite
  infergate check spec.yaml --explain          which file says what, of a spec that extends others

Exit codes: 0 the spec is right · 2 it has mistakes")]
pub(super) struct CheckArgs {
    /// The spec, or a folder with `spec.yaml` in it; or several, a folder of them or a suite
    #[arg(required = true, value_name = "SPEC")]
    spec: Vec<PathBuf>,

    #[command(flatten)]
    only: OnlyArgs,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    archive: ArchiveArgs,

    /// Print the plan's size as JSON, of several specs one after the other
    #[arg(long)]
    json: bool,

    /// Print the spec together with what it extends instead, each value with the file and line that it is from
    #[arg(long, conflicts_with = "json")]
    explain: bool,
}

pub(super) fn run(args: &CheckArgs, context: &mut Context) -> Result<Exit, Failure> {
    let group = match args.only.members(&args.spec, context)? {
        Asked::One(member) => return one(&member, args, context),
        Asked::Several(group) => group,
    };
    let mut wrong = 0;
    for (number, member) in group.members.iter().enumerate() {
        if !args.json {
            let before = if number == 0 { "" } else { "\n" };
            context.print(&format!("{before}## {}\n\n", member.label));
        }
        if let Err(failure) = one(member, args, context) {
            let _ = write!(context.err, "{}", failure.render());
            wrong += 1;
        }
    }
    if wrong == 0 {
        return Ok(Exit::Pass);
    }
    Err(Failure::usage(format!(
        "{wrong} of {} specs have mistakes",
        group.members.len()
    )))
}

fn one(member: &Member, args: &CheckArgs, context: &mut Context) -> Result<Exit, Failure> {
    let (source, parsed) = read_spec(member, context)?;
    if args.explain {
        context.print(&merged(member, context)?.explained);
        return Ok(Exit::Pass);
    }
    let spec = args.select.apply(parsed.spec)?;
    let plan = Plan::expand(&spec);
    let shelf = args.archive.open(Some(&spec), context)?;
    let archive = Archived::in_each(&kept(&shelf, &spec, &plan)?, &spec);
    let mut found = tolerances::mistakes(&spec, &archive);
    found.extend(budget::mistakes(&spec, &plan, &archive));
    let found = found.into_iter().map(|one| spec.sources.resolve(one));
    let (errors, more): (Vec<_>, Vec<_>) =
        found.partition(|diagnostic| diagnostic.severity == Severity::Error);
    let warnings = [parsed.warnings, more].concat();
    if !warnings.is_empty() {
        let text = render(&warnings, &source, style(context));
        context.note(text.trim_end());
    }
    let mut size = Size::of(&spec, &plan, archive);
    size.mistakes = errors.iter().map(|error| error.message.clone()).collect();
    let text = if args.json {
        serde_json::to_string_pretty(&size).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the size as JSON: {error}"),
            )
        })? + "\n"
    } else {
        describe(&spec, &size)
    };
    context.print(&text);
    if errors.is_empty() {
        return Ok(Exit::Pass);
    }
    Err(Failure {
        exit: Exit::Usage,
        text: FailureText::Diagnostics(render(&errors, &source, style(context))),
    })
}

/// The size as text for people, ending in a line break.
fn describe(spec: &Spec, size: &Size) -> String {
    let mut text = format!(
        "{}: {} and {}, workload {}\n\n{}\n\n",
        size.name,
        plural(size.stages.len() as u32, "stage", "stages"),
        plural(spec.workload.classes.len() as u32, "class", "classes"),
        spec.workload_digest(),
        table(size)
    );
    text.push_str(&times(size));
    for (stage, trace) in size
        .stages
        .iter()
        .filter_map(|s| Some((s, s.trace.as_ref()?)))
    {
        let _ = write!(text, "\n`{}` {}", stage.name, trace.describe());
    }
    for archived in &size.archive {
        text.push_str(&cells(archived));
    }
    for note in &size.notes {
        let _ = writeln!(text, "\nnote: {note}");
    }
    text
}

/// The declared cells, and from what change on the last look tells it from noise.
fn cells(archived: &Archived) -> String {
    let mut text = String::new();
    let cells = &archived.forecast.cells;
    let (gated, shown): (Vec<_>, Vec<_>) = cells.iter().partition(|cell| cell.gated);
    for (what, cells) in [("gated", gated), ("informational", shown)] {
        if cells.is_empty() {
            continue;
        }
        let _ = writeln!(
            text,
            "\n{} {what} {}, and what {} pairs tell from {}:",
            cells.len(),
            if cells.len() == 1 { "limit" } else { "limits" },
            archived.forecast.last_look(),
            archived.whose(),
        );
        let rows: Vec<[String; 3]> = cells
            .iter()
            .map(|cell| {
                let limit = cell.limit.describe(cell.cell.metric.metric());
                [cell.cell.to_string(), limit.to_string(), told(cell)]
            })
            .collect();
        let width = |i: usize| rows.iter().map(|row| row[i].len()).max().unwrap_or(0);
        let (first, second) = (width(0), width(1));
        for [cell, limit, told] in &rows {
            let _ = writeln!(text, "  {cell:first$}  {limit:second$}  {told}");
        }
    }
    text
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
    let mut text = String::new();
    for added in &size.refined {
        let _ = writeln!(
            text,
            "refining `{}` adds up to {} stages, {} at most, to the first run of a side",
            added.sweep,
            added.stages,
            scale::elapsed(added.duration_s)
        );
    }
    let _ = write!(
        text,
        "one run takes {}, drains and starts not counted",
        bounded(size.run_s, size.run_is_bound)
    );
    if size.stages.iter().any(|stage| stage.duration_is_bound) {
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
    if size.looks.iter().all(|look| look.pairs > 3) && size.archive.iter().any(assumes) {
        let _ = writeln!(
            text,
            "with archived sessions already after 3 pairs ({}): `infergate calibrate` takes them",
            bounded(size.three_pairs_s, size.run_is_bound)
        );
    }
    text
}

/// Whether archived sessions would bring an earlier look.
fn assumes(archived: &Archived) -> bool {
    archived.forecast.assumed
}

#[cfg(test)]
mod tests;
