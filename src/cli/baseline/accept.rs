//! `infergate baseline accept`: a file for review that says which cells may be worse, up to where and
//! until when.

use std::path::PathBuf;

use clap::Args;

use super::author::author;
use super::policy::allow_change;
use super::runs_at;
use crate::baseline::{
    ACCEPT_DAYS, ACCEPT_FORMAT, Accept, AcceptedCell, Change, EditError, Environment, Keeper,
};
use crate::cli::archive::ArchiveArgs;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::source::{embedded_spec, read_file};
use crate::exit::Exit;
use crate::ident::Day;
use crate::metric::Cell;
use crate::report::json::ReportFile;
use crate::summary::Side;
use crate::verdict::{CellState, Finding};

/// Accept cells that got worse, for a while
///
/// Writes `accepts/<date>-<words>.yaml` from the report of a `gate` or `ab` session: the cells, their old
/// and new values, why, who, and until when. Review and merge it like code: `gate` excuses the cells from
/// when the file is where it reads its baselines, up to the new value and the cell's tolerance, and no
/// further. The first session that is promoted after it starts a new level.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate baseline accept infergate-out/chat-8b-20261129T191243Z-1f3a --reason 'throughput over TTFT, see #41'
  infergate baseline accept infergate-out/SESSION --cell steady/ttft.p95 --expires 2027-03-01 --reason 'see #41'")]
pub(in crate::cli) struct AcceptArgs {
    /// The folder of a session with its `report.json`
    session: PathBuf,

    /// Why, for whoever reviews it
    #[arg(long)]
    reason: String,

    /// A cell to accept; without one, every gated cell that is worse than its limit
    #[arg(long = "cell", value_name = "CELL")]
    cells: Vec<Cell>,

    /// The last day on which it excuses anything; without it, 90 days from now
    #[arg(long, value_name = "DAY")]
    expires: Option<Day>,

    /// Who accepts it; without it, git's user
    #[arg(long, value_name = "NAME")]
    author: Option<String>,

    /// The pull request that brings the change
    #[arg(long, value_name = "ID")]
    pull_request: Option<String>,

    #[command(flatten)]
    archive: ArchiveArgs,
}

pub(super) fn run(args: &AcceptArgs, context: &mut Context) -> Result<Exit, Failure> {
    if args.reason.trim().is_empty() {
        return Err(Failure::usage(
            "an accept needs a reason: `--reason \"see #41\"`",
        ));
    }
    let report = args.session.join("report.json");
    let shown = report.display().to_string();
    let text = read_file(&report).map_err(|why| {
        Failure::usage(format!(
            "cannot read `{shown}`: {why}; name the folder of a session of `gate` or `ab`"
        ))
    })?;
    let report =
        ReportFile::parse(&text).map_err(|error| Failure::usage(format!("`{shown}` {error}")))?;
    let mut runs = runs_at(&args.session)?;
    runs.retain(|run| run.side != Some(Side::Baseline));
    let Some(first) = runs.first() else {
        return Err(Failure::usage(format!(
            "`{}` has no run of a candidate",
            args.session.display()
        )));
    };
    let spec = embedded_spec(&first.spec, context)?;
    let keeper = args.archive.keeper(Some(&spec))?;
    if matches!(keeper, Keeper::Branch(_)) {
        // In a folder it is reviewed before it counts; a branch takes it at once.
        allow_change("accept", false, context)?;
    }
    let created = context.now();
    let expires = match args.expires {
        Some(day) => day,
        None => context
            .day_in(ACCEPT_DAYS)
            .ok_or_else(|| Failure::usage("the clock says no day; give `--expires DAY`"))?,
    };
    let accept = Accept {
        format: ACCEPT_FORMAT.to_owned(),
        author: author(args.author.as_deref(), context)?,
        reason: args.reason.trim().to_owned(),
        pull_request: args.pull_request.clone().or_else(|| pull_request(context)),
        environment: Environment::of(&first.pins, &spec.under_test).folder(),
        sessions: vec![first.session.clone()],
        cells: accepted(&report.findings, &args.cells)?,
        created,
        expires,
    };
    let today = Day::of(&accept.created);
    if today.is_some_and(|today| accept.expires.is_over(today)) {
        return Err(Failure::usage(format!(
            "`--expires {}` is over already; name a later day",
            accept.expires
        )));
    }
    let path = format!("{}/accepts/{}.yaml", spec.name, accept.stem());
    let text = accept.render();
    let wrote: Result<bool, EditError> = keeper.keep(|shelf| {
        let there = shelf.read(&path)?.is_some();
        let mut change = Change::new(format!("{}: accept\n\n{}\n", spec.name, accept.reason));
        if !there {
            change.write(&*path, &*text);
        }
        Ok((change, !there))
    });
    if !wrote? {
        return Err(Failure::usage(format!(
            "`{}` is there already; give another reason, or edit that file",
            keeper.describe(&path)
        )));
    }
    context.print(&text);
    context.note(&format!("wrote `{}`", keeper.describe(&path)));
    if matches!(keeper, Keeper::Folder(_)) {
        context.note("it excuses nothing before it is reviewed and merged: `gate` reads it with its baselines");
    }
    Ok(Exit::Pass)
}

/// The pull request of this job, where CI says so.
fn pull_request(context: &Context) -> Option<String> {
    let name = context.variable("GITHUB_REF")?;
    let number = name.strip_prefix("refs/pull/")?.split('/').next()?;
    Some(format!("#{number}"))
}

/// The wanted cells of a report with both their values.
fn accepted(findings: &[Finding], wanted: &[Cell]) -> Result<Vec<AcceptedCell>, Failure> {
    let gated = || findings.iter().filter(|f| f.gated && f.since.is_none());
    let chosen: Vec<&Finding> = if wanted.is_empty() {
        let worse = |f: &&Finding| {
            matches!(
                f.state,
                CellState::Regressed | CellState::Suspect | CellState::Implausible
            )
        };
        gated().filter(worse).collect()
    } else {
        let found = wanted.iter().map(|cell| {
            gated()
                .find(|finding| finding.cell == *cell)
                .ok_or_else(|| {
                    let cells: Vec<String> = gated().map(|f| format!("`{}`", f.cell)).collect();
                    Failure::usage(format!(
                        "`{cell}` is no gated cell of that report; it has {}",
                        cells.join(", ")
                    ))
                })
        });
        found.collect::<Result<_, _>>()?
    };
    if chosen.is_empty() {
        return Err(Failure::usage(
            "no gated cell of that report is worse than its limit, so there is nothing to accept; \
             `--cell CELL` accepts the level of another one",
        ));
    }
    let levels = chosen.into_iter().map(|finding| {
        let new = finding.candidate.and_then(|reading| reading.value);
        let Some(new) = new else {
            return Err(Failure::usage(format!(
                "`{}` has no value that could be accepted: it is {}",
                finding.cell,
                finding.state.label()
            )));
        };
        Ok(AcceptedCell {
            cell: finding.cell.clone(),
            old: finding.baseline.and_then(|reading| reading.value),
            new,
        })
    });
    levels.collect()
}
