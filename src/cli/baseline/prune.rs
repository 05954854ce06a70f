//! `infergate baseline prune`: old sessions go, by one rule.

use std::fmt::Write as _;

use clap::Args;

use super::policy::allow_change;
use crate::baseline::{self, Change, EditError, Keep, Pruned};
use crate::cli::archive::ArchiveArgs;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::exit::Exit;

/// Take old sessions out of the archive
///
/// Keeps the newest sessions of each environment, and whatever their age the first ones of accepted
/// levels, pinned releases, and what accepts name. What went is still in git's history.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate baseline prune --dry-run
  infergate baseline prune chat-8b --keep 40")]
pub(in crate::cli) struct PruneArgs {
    /// A spec's name; without it, every spec
    name: Option<String>,

    /// Sessions that are kept of each environment, at least 5; the noise is learnt from the newest 20
    #[arg(long, value_name = "N", default_value_t = 20)]
    keep: usize,

    /// Say what would go, and let it stay
    #[arg(long)]
    dry_run: bool,

    /// Also in a job of a branch that is neither protected nor the default one
    #[arg(long)]
    force: bool,

    /// Print JSON on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    archive: ArchiveArgs,
}

pub(super) fn run(args: &PruneArgs, context: &mut Context) -> Result<Exit, Failure> {
    let Some(keep) = Keep::try_new(args.keep) else {
        return Err(Failure::usage(format!(
            "cannot keep {} sessions: a firm verdict needs 5; raise `--keep`",
            args.keep
        )));
    };
    let keeper = args.archive.keeper(None)?;
    let name = args.name.as_deref();
    let pruned: Vec<Pruned> = if args.dry_run {
        let shelf = args.archive.open(None, context)?;
        baseline::prune(&shelf, name, keep)?.1
    } else {
        allow_change("prune", args.force, context)?;
        keeper.keep(|shelf| -> Result<(Change, Vec<Pruned>), EditError> {
            Ok(baseline::prune(shelf, name, keep)?)
        })?
    };
    if args.json {
        let text = serde_json::to_string_pretty(&pruned).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the list as JSON: {error}"),
            )
        })?;
        context.print(&(text + "\n"));
        return Ok(Exit::Pass);
    }
    let mut text = String::new();
    for one in &pruned {
        let _ = writeln!(
            text,
            "{}: {} sessions with {} run files {}, {:.1} MB; {} sessions stay",
            one.folder,
            one.sessions.len(),
            one.runs,
            if args.dry_run { "would go" } else { "went" },
            one.bytes as f64 / 1e6,
            one.kept
        );
        for session in &one.sessions {
            let _ = writeln!(text, "  {session}");
        }
    }
    if pruned.is_empty() {
        let _ = writeln!(text, "nothing is old enough to go");
    }
    context.print(&text);
    Ok(Exit::Pass)
}
