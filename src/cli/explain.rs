//! `infergate explain`: why a cell has its state.

use std::path::{Path, PathBuf};

use clap::Args;

use super::budget::stop_of;
use super::compare::{judging_spec, of_session};
use super::context::Context;
use super::failure::Failure;
use super::judge::Evidence;
use super::look::LangArgs;
use crate::compare::compare;
use crate::diag::suggest;
use crate::exit::Exit;
use crate::metric::Cell;
use crate::report;
use crate::verdict::explain;

/// Why a cell has its state
///
/// Shows the cell's value in every run, the change of every pair, the noise that they are held against,
/// what each look said, and what more repeats would show. Judges nothing: it exits 0 whatever the cell's
/// state.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate explain steady/ttft.p95                     in the newest session of infergate-out
  infergate explain 'steady/chat/tpot.p95' infergate-out/chat-8b-20261129T191243Z-1f3a
  infergate explain '*/error_ratio' --json

Exit codes: 0 explained · 2 no such cell, or no session")]
pub(super) struct ExplainArgs {
    /// The cell, as reports name it: `stage/metric`, `stage/class/metric` or `*/metric`
    cell: String,

    /// The folder of an `ab` or `gate` session; the newest one of `--out` unless given
    session: Option<PathBuf>,

    /// Where sessions are
    #[arg(long, default_value = "infergate-out", value_name = "DIR")]
    out: PathBuf,

    /// Print the explanation as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    lang: LangArgs,
}

pub(super) fn run(args: &ExplainArgs, context: &mut Context) -> Result<Exit, Failure> {
    let lang = args.lang.find(context)?;
    let session = match &args.session {
        Some(session) => session.clone(),
        None => newest(&args.out)?,
    };
    let evidence: Evidence = of_session(&session)?;
    let spec = judging_spec(&session, &evidence, context)?;
    let comparison = compare(&evidence.sides(), &spec.gate, &spec.under_test);
    let known: Vec<&Cell> = comparison.cells.iter().map(|cell| &cell.cell).collect();
    let Some(cell) = known.iter().find(|cell| cell.to_string() == args.cell) else {
        return Err(unknown(&args.cell, &known, &session));
    };
    let explanations = explain(&comparison, &spec.gate, cell);
    if explanations.is_empty() {
        return Err(Failure::usage(format!(
            "`{}` has no value on either side of `{}`, so there is nothing to explain",
            args.cell,
            session.display()
        )));
    }
    let stop = stop_of(&session, evidence.candidate.len())?;
    if let Some(why) = &stop {
        context.note(why);
    }
    let text = if args.json {
        serde_json::to_string_pretty(&explanations).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the explanation as JSON: {error}"),
            )
        })? + "\n"
    } else {
        context.note(&format!("session: {}", session.display()));
        let pages: Vec<String> = explanations
            .iter()
            .map(|explained| context.paint(&report::explain::explanation(explained, lang)))
            .collect();
        pages.join("\n")
    };
    context.print(&text);
    Ok(Exit::Pass)
}

/// The session that was begun last: folders are named by spec and instant, so by time of change.
fn newest(out: &Path) -> Result<PathBuf, Failure> {
    let failure = |why: &str| {
        Failure::usage(format!(
            "cannot find a session in `{}`: {why}; name one: `infergate explain CELL SESSION`",
            out.display()
        ))
    };
    let entries = std::fs::read_dir(out).map_err(|error| failure(&error.to_string()))?;
    entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let changed = path.join("report.json").metadata().ok()?.modified().ok()?;
            Some((changed, path))
        })
        .max()
        .map(|(_, path)| path)
        .ok_or_else(|| failure("no folder in it holds a judged session"))
}

fn unknown(wanted: &str, known: &[&Cell], session: &Path) -> Failure {
    let names: Vec<String> = known.iter().map(ToString::to_string).collect();
    let near = suggest(wanted, names.iter().map(String::as_str))
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    let gated: Vec<String> = names
        .iter()
        .take(12)
        .map(|name| format!("`{name}`"))
        .collect();
    Failure::usage(format!(
        "`{}` holds no cell `{wanted}`{near}\ncells are {}{}",
        session.display(),
        gated.join(", "),
        if names.len() > gated.len() {
            ", …"
        } else {
            ""
        }
    ))
}
