//! `infergate history`: cells over time and commits.

use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use super::source::embedded_spec;
use crate::baseline::{self, Baseline, Shelf, Stored};
use crate::diag::suggest;
use crate::exit::Exit;
use crate::history::{History, Kept, KeptSession, Standing, assemble};
use crate::ident::Name;
use crate::metric::Cell;
use crate::report::history::{Page, cell, csv, overview};
use crate::summary::Run;

/// Columns where nobody says how many there are.
const WIDTH: usize = 100;

/// Show cells over time: where their level changed, and how far they are from an anchor
///
/// Reads the promoted sessions, and those kept for their noise, and makes one point of each: the mean of
/// its runs. Sessions of several environments or workloads never share a line. A change of level is
/// found by an E-divisive split that a t-test confirms (p < 0.001, 2 % at least); it shows several small
/// steps that a gate let pass. Judges nothing: it exits 0 whatever it shows.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate history                               the gated cells of every spec, a line each
  infergate history steady/ttft.p95               one cell, a line a session
  infergate history --name chat-8b --last 90 --all
  infergate history --csv > history.csv

Exit codes: 0 shown · 2 no such cell, or nothing in the archive yet")]
pub(super) struct HistoryArgs {
    /// The cell, as reports name it: `stage/metric`, `stage/class/metric` or `*/metric`
    cell: Option<String>,

    /// Only of this spec
    #[arg(long, value_name = "SPEC")]
    name: Option<String>,

    /// Only of environments whose folder has this in its name
    #[arg(long, value_name = "E")]
    environment: Option<String>,

    /// Show the newest N sessions; levels and changes are still those of the whole line
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,

    /// List cells that no gate judges too, and lines of workloads that changed since
    #[arg(long)]
    all: bool,

    /// Print JSON on standard output
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print a table on standard output, a line a run and cell
    #[arg(long)]
    csv: bool,

    /// Folder of promoted baselines
    #[arg(long, default_value = "baselines", value_name = "DIR")]
    baselines: PathBuf,
}

pub(super) fn run(args: &HistoryArgs, context: &mut Context) -> Result<Exit, Failure> {
    let mut histories = read(args, context)?;
    if let Some(wanted) = &args.cell {
        keep_cell(&mut histories, wanted)?;
    }
    if let Some(last) = args.last {
        for track in histories.iter_mut().flat_map(|history| &mut history.tracks) {
            track.keep_newest(last as usize);
        }
    }
    let text = if args.json {
        as_json(&histories)?
    } else if args.csv {
        csv(&histories)
    } else {
        as_text(args, &histories, context)
    };
    context.print(&text);
    Ok(Exit::Pass)
}

fn as_json(histories: &[History]) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(histories).map_err(|error| {
        Failure::new(
            Exit::Invalid,
            format!("cannot write the history as JSON: {error}"),
        )
    })?;
    Ok(text + "\n")
}

fn as_text(args: &HistoryArgs, histories: &[History], context: &Context) -> String {
    let page = Page {
        width: width(context),
        ascii: is_ascii(context),
        all: args.all,
        superseded: args.all,
    };
    let pages: Vec<String> = histories
        .iter()
        .map(|history| match &args.cell {
            Some(wanted) => cell(history, wanted, page),
            None => overview(history, page),
        })
        .filter(|lines| !lines.is_empty())
        .map(|lines| context.paint(&lines))
        .collect();
    pages.join("\n")
}

/// The history of each wanted spec that has one.
fn read(args: &HistoryArgs, context: &mut Context) -> Result<Vec<History>, Failure> {
    let shelf = Shelf::folder(&args.baselines);
    let mut stored = baseline::list(&shelf)?;
    let is_wanted = |stored: &Stored| {
        args.name.as_ref().is_none_or(|name| *name == stored.name)
            && args
                .environment
                .as_ref()
                .is_none_or(|part| stored.environment.contains(part.as_str()))
    };
    let known: Vec<String> = stored.iter().map(|stored| stored.name.clone()).collect();
    stored.retain(is_wanted);
    if stored.is_empty() {
        return Err(nothing(args, &known));
    }
    let mut names: Vec<&str> = stored.iter().map(|stored| stored.name.as_str()).collect();
    names.dedup();
    let now = context.now();
    let mut histories = Vec::new();
    for name in names {
        let parsed: Name = name
            .parse()
            .map_err(|error| Failure::usage(format!("`{name}` {error}")))?;
        let baselines = baseline::load_all(&shelf, &parsed)?;
        let kept: Vec<Kept<'_>> = baselines
            .iter()
            .filter_map(|baseline| {
                let own = stored.iter().find(|stored| {
                    stored.name == name && stored.environment == baseline.environment
                })?;
                Some(kept(baseline, own))
            })
            .collect();
        let gated = gated(&kept, context);
        let history = assemble(name, &kept, &gated, &now);
        if !history.tracks.is_empty() {
            histories.push(history);
        }
    }
    if histories.is_empty() {
        return Err(nothing(args, &known));
    }
    Ok(histories)
}

/// What an environment holds, as the history takes it.
fn kept<'a>(baseline: &'a Baseline, stored: &Stored) -> Kept<'a> {
    let session = |session: &'a baseline::Session, standing: Standing| {
        let mut promoted = stored.reference.sessions.iter();
        let promoted = promoted.find(|promoted| promoted.session == session.id);
        KeptSession {
            id: session.id.clone(),
            runs: &session.runs,
            standing,
            reason: promoted.map(|promoted| promoted.reason.clone()),
            anchor: None,
            epoch: None,
            commit: commit(&session.runs),
        }
    };
    let stands = baseline
        .sessions
        .iter()
        .map(|s| session(s, Standing::Stands));
    let noise = baseline.noise.iter().map(|s| session(s, Standing::Noise));
    Kept {
        environment: stored.environment.clone(),
        sessions: stands.chain(noise).collect(),
        accepts: Vec::new(),
    }
}

/// The commit that a session measured, where all of its runs say the same.
fn commit(runs: &[Run]) -> Option<String> {
    let mut commits = runs.iter().map(|run| {
        let source = run.source.as_ref()?;
        Some(source.head.as_ref().unwrap_or(&source.commit).as_str())
    });
    let first = commits.next()??;
    commits
        .all(|commit| commit == Some(first))
        .then(|| first.to_owned())
}

/// The cells that the gate of the newest run's spec judges; none where this version can't read it.
fn gated(kept: &[Kept<'_>], context: &mut Context) -> Vec<Cell> {
    let runs = kept.iter().flat_map(|kept| &kept.sessions);
    let newest = runs
        .flat_map(|session| session.runs)
        .max_by(|a, b| a.started.cmp(&b.started));
    let Some(run) = newest else {
        return Vec::new();
    };
    let Ok(spec) = embedded_spec(&run.spec, context) else {
        context.note(&format!(
            "the spec in run `{}` can't be read, so every cell is shown",
            run.id
        ));
        return Vec::new();
    };
    let cells = spec.gate.cells.into_iter();
    cells
        .filter(|cell| !cell.informational)
        .map(|cell| cell.cell)
        .collect()
}

/// Leaves out the specs that do not hold the cell.
fn keep_cell(histories: &mut Vec<History>, wanted: &str) -> Result<(), Failure> {
    let names: Vec<String> = histories
        .iter()
        .flat_map(History::cells)
        .map(ToString::to_string)
        .collect();
    histories.retain(|history| {
        history
            .tracks
            .iter()
            .any(|track| track.find(wanted).is_some())
    });
    if !histories.is_empty() {
        return Ok(());
    }
    let near = suggest(wanted, names.iter().map(String::as_str))
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    let some: Vec<String> = names
        .iter()
        .take(12)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if names.len() > some.len() {
        ", …"
    } else {
        ""
    };
    Err(Failure::usage(format!(
        "no session holds a cell `{wanted}`{near}\ncells are {}{more}",
        some.join(", ")
    )))
}

fn nothing(args: &HistoryArgs, known: &[String]) -> Failure {
    let root = args.baselines.display();
    let of = match (&args.name, &args.environment) {
        (Some(name), Some(environment)) => format!(" of `{name}` in `{environment}`"),
        (Some(name), None) => format!(" of `{name}`"),
        (None, Some(environment)) => format!(" in an environment `{environment}`"),
        (None, None) => String::new(),
    };
    let near = args
        .name
        .as_ref()
        .and_then(|name| suggest(name, known.iter().map(String::as_str)))
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    Failure::usage(format!(
        "no history{of} in `{root}`{near}; promote a session first: \
         `infergate baseline promote SESSION --reason TEXT`"
    ))
}

/// Columns: what `COLUMNS` says, else the terminal, else 100.
fn width(context: &Context) -> usize {
    let said = context.variable("COLUMNS");
    said.and_then(|columns| columns.parse().ok())
        .or(context.columns)
        .filter(|columns| *columns > 0)
        .unwrap_or(WIDTH)
}

/// Whether the terminal shows nothing but ASCII: a dumb one, or a locale that says another encoding than
/// UTF-8. Without a locale text is UTF-8, as in every other file that infergate writes.
fn is_ascii(context: &Context) -> bool {
    let dumb = context.variable("TERM").is_some_and(|term| term == "dumb");
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| context.variable(name).filter(|locale| !locale.is_empty()));
    dumb || locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}
