//! `infergate baseline void` and `pin`: what counts no more, and what stays a fixed point.

use clap::Args;

use super::author::author;
use super::policy::allow_change;
use crate::baseline::{self, Said};
use crate::cli::archive::ArchiveArgs;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::exit::Exit;
use crate::ident::Name;

/// Let a run or a session count no more
///
/// Its files stay, and why it does not count stands in `reference.json`. It is neither in the centre of
/// its baseline nor in what that knows of the noise.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate baseline void chat-8b-20261129T191243Z-1f3a --reason 'GPU 3 was throttled, see #52'")]
pub(in crate::cli) struct VoidArgs {
    /// The id of a session or of a run
    id: String,

    /// Why
    #[arg(long)]
    reason: String,

    /// Who says so; without it, git's user
    #[arg(long, value_name = "NAME")]
    author: Option<String>,

    /// Also in a job of a branch that is neither protected nor the default one
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    archive: ArchiveArgs,
}

pub(super) fn void(args: &VoidArgs, context: &mut Context) -> Result<Exit, Failure> {
    allow_change("void", args.force, context)?;
    let by = author(args.author.as_deref(), context)?;
    let now = context.now();
    let said = Said {
        reason: &args.reason,
        by: &by,
        now: &now,
    };
    let keeper = args.archive.keeper(None)?;
    let folder = keeper.keep(|shelf| baseline::void(shelf, &args.id, said))?;
    context.note(&format!(
        "`{}` counts no more in `{}`; its files stay",
        args.id,
        keeper.describe(&folder)
    ));
    Ok(Exit::Pass)
}

/// Pin a session as a release that drift is measured from
///
/// `gate: {anchor: {drift: 15%}}` of a spec holds its cells against the session that was pinned last, so
/// that many small losses can't hide. Earlier pins stay, and `prune` leaves them alone.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate baseline pin chat-8b-20261129T191243Z-1f3a --as v1.2")]
pub(in crate::cli) struct PinArgs {
    /// The id of a session that stands
    session: String,

    /// What it is called: `v1.2`
    #[arg(long = "as", value_name = "LABEL")]
    label: Name,

    /// Also in a job of a branch that is neither protected nor the default one
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    archive: ArchiveArgs,
}

pub(super) fn pin(args: &PinArgs, context: &mut Context) -> Result<Exit, Failure> {
    allow_change("pin", args.force, context)?;
    let now = context.now();
    let keeper = args.archive.keeper(None)?;
    let folder = keeper.keep(|shelf| baseline::pin(shelf, &args.session, &args.label, &now))?;
    context.note(&format!(
        "`{}` is `{}` in `{}`; `gate: {{anchor: {{drift: 15%}}}}` holds candidates against it",
        args.session,
        args.label,
        keeper.describe(&folder)
    ));
    Ok(Exit::Pass)
}
