//! `infergate baseline`: promote a session, list and show what stands; and what other commands
//! read from baselines.

mod accept;
mod author;
mod mark;
mod policy;
mod prune;
mod verify;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::archive::{ArchiveArgs, nothing_lost};
use super::context::Context;
use super::failure::Failure;
use super::source::embedded_spec;
use crate::baseline::{
    self, Baseline, Environment, Keeper, MeasuredSession, Session, Shelf, Stored,
};
use crate::exit::Exit;
use crate::layers::layer;
use crate::provenance::Pins;
use crate::report;
use crate::spec::Spec;
use crate::summary::{Run, Side, SourceStamp};

/// Keep sessions that candidates are compared with
#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    Promote(PromoteArgs),
    List(ListArgs),
    Show(ShowArgs),
    Accept(accept::AcceptArgs),
    Void(mark::VoidArgs),
    Pin(mark::PinArgs),
    Prune(prune::PruneArgs),
    Verify(verify::VerifyArgs),
}

/// Make a session the baseline
///
/// Copies the runs of one session (two at least) below the baselines folder, where `gate` finds
/// them by spec and environment. Commit the folder: git is the archive. Where the spec's `archive` names
/// a branch, they are committed there, and neither the working tree nor its index is touched.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate run spec.yaml --repeats 3
  infergate baseline promote infergate-out/chat-8b-20261129T191243Z-1f3a --reason 'vLLM 0.32, see #41'")]
pub(super) struct PromoteArgs {
    /// The folder of a session, or of a suite: then each of its members' sessions
    session: PathBuf,

    /// Why it is promoted, for whoever reads the archive later
    #[arg(long)]
    reason: String,

    /// Of an `ab` session: whose runs
    #[arg(long, value_enum, default_value = "baseline")]
    side: SideWord,

    /// Also in a job of a branch that is neither protected nor the default one; never in one of a pull
    /// request
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    archive: ArchiveArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SideWord {
    /// The side that was compared with
    Baseline,
    /// The side that was judged
    Candidate,
}

/// List the promoted sessions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate baseline list
  infergate baseline list --json | jq '.[].reference.sessions | length'")]
pub(super) struct ListArgs {
    #[command(flatten)]
    archive: ArchiveArgs,

    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Show the sessions of one spec with their runs and reasons
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate baseline show chat-8b")]
pub(super) struct ShowArgs {
    /// The spec's name
    name: String,

    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(command: BaselineCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        BaselineCommand::Promote(args) => promote(&args, context),
        BaselineCommand::List(args) => list(&args, None, context),
        BaselineCommand::Show(args) => list(&args.list, Some(&args.name), context),
        BaselineCommand::Accept(args) => accept::run(&args, context),
        BaselineCommand::Void(args) => mark::void(&args, context),
        BaselineCommand::Pin(args) => mark::pin(&args, context),
        BaselineCommand::Prune(args) => prune::run(&args, context),
        BaselineCommand::Verify(args) => verify::run(&args, context),
    }
}

fn promote(args: &PromoteArgs, context: &mut Context) -> Result<Exit, Failure> {
    policy::allow_change("promote", args.force, context)?;
    let wanted = match args.side {
        SideWord::Baseline => Side::Baseline,
        SideWord::Candidate => Side::Candidate,
    };
    let members = members_of(&args.session);
    if members.is_empty() {
        return promote_session(&args.session, args, wanted, context);
    }
    for session in &members {
        promote_session(session, args, wanted, context)?;
    }
    Ok(Exit::Pass)
}

/// The sessions of a suite's folder; none of any other.
fn members_of(folder: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let members = below(&folder.join("members")).into_iter();
    let sessions = members.flat_map(|member| below(&member));
    sessions
        .filter(|session| session.join("runs").is_dir())
        .collect()
}

fn promote_session(
    session: &Path,
    args: &PromoteArgs,
    wanted: Side,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let mut runs = runs_at(session)?;
    runs.retain(|run| run.side.is_none_or(|side| side == wanted));
    let Some(first) = runs.first() else {
        return Err(Failure::usage(format!(
            "`{}` has no run of that side",
            session.display()
        )));
    };
    let spec = embedded_spec(&first.spec, context)?;
    if spec.beside.is_some() {
        // Of two layers the one that gates is the baseline.
        runs.retain(|run| layer(run) == Some(spec.target.layer));
    }
    let keeper = args.archive.keeper(Some(&spec))?;
    let measured = MeasuredSession {
        runs: &runs,
        is_gated: &|stage| spec.gate.repeats_stage(stage),
        under_test: &spec.under_test,
        now: &context.now(),
    };
    let promoted = keeper
        .keep(|shelf| baseline::promote(shelf, measured, &args.reason))
        .map_err(|error| nothing_lost(error, session))?;
    context.note(&format!(
        "promoted {} runs into `{}`; {} session{} there now",
        runs.len(),
        keeper.describe(&promoted.folder),
        promoted.sessions,
        if promoted.sessions == 1 {
            " stands"
        } else {
            "s stand"
        },
    ));
    if matches!(keeper, Keeper::Folder(_)) {
        context.note("commit that folder, so that other machines and CI find it");
    }
    Ok(Exit::Pass)
}

fn list(args: &ListArgs, name: Option<&str>, context: &mut Context) -> Result<Exit, Failure> {
    let shelf = args.archive.open(None, context)?;
    let mut stored = baseline::list(&shelf)?;
    stored.retain(|stored| name.is_none_or(|name| name == stored.name));
    if args.json {
        let text = serde_json::to_string_pretty(&stored).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the list as JSON: {error}"),
            )
        })?;
        context.print(&(text + "\n"));
        return Ok(Exit::Pass);
    }
    if stored.is_empty() {
        let whose = name.map_or_else(String::new, |name| format!(" of `{name}`"));
        return Err(Failure::usage(format!(
            "no baselines{whose} in {shelf}; promote a session first: \
             `infergate baseline promote SESSION --reason TEXT`"
        )));
    }
    let mut text = String::new();
    for stored in &stored {
        let kept = match name {
            Some(_) => sources(&shelf, stored)?,
            None => BTreeMap::new(),
        };
        text.push_str(&describe(stored, name.is_some(), &kept));
    }
    context.print(&text);
    Ok(Exit::Pass)
}

/// What sessions were measured at, by their ids, as far as their runs say.
fn sources(shelf: &Shelf, stored: &Stored) -> Result<BTreeMap<String, SourceStamp>, Failure> {
    let Ok(name) = stored.name.parse() else {
        return Ok(BTreeMap::new());
    };
    let all = baseline::load_all(shelf, &name)?;
    let here = all
        .into_iter()
        .filter(|kept| kept.environment == stored.environment);
    let sessions = here.flat_map(|kept| kept.sessions.into_iter().chain(kept.noise));
    let sourced = sessions.filter_map(|session| {
        let source = session.runs.into_iter().next()?.source?;
        Some((session.id, source))
    });
    Ok(sourced.collect())
}

fn describe(stored: &Stored, whole: bool, sources: &BTreeMap<String, SourceStamp>) -> String {
    let (sessions, noise) = (&stored.reference.sessions, &stored.reference.noise);
    let runs: usize = sessions.iter().map(|session| session.runs.len()).sum();
    let noise_runs: usize = noise.iter().map(|session| session.runs.len()).sum();
    let mut text = format!(
        "{}/{}: {} sessions, {runs} runs",
        stored.name,
        stored.environment,
        sessions.len()
    );
    if !noise.is_empty() {
        let _ = write!(text, "; {} more for noise, {noise_runs} runs", noise.len());
    }
    text.push('\n');
    if whole {
        for session in sessions {
            let (when, id, why) = (&session.promoted, &session.session, &session.reason);
            let _ = writeln!(text, "  {when}  {id}  {why}");
            text.push_str(&source_line(sources.get(id)));
            for run in &session.runs {
                let _ = writeln!(text, "    {run}");
            }
        }
        for session in noise {
            let _ = writeln!(text, "  {}  {}  for noise", session.kept, session.session);
            text.push_str(&source_line(sources.get(&session.session)));
            for run in &session.runs {
                let _ = writeln!(text, "    {run}");
            }
        }
    }
    text
}

/// Its line below a session; nothing where no run says.
fn source_line(source: Option<&SourceStamp>) -> String {
    source.map_or_else(String::new, |source| {
        format!("    {}\n", report::run::source(source).plain())
    })
}

/// The runs at a path: a run file, a folder of runs, a session, or a baseline's environment.
pub(super) fn runs_at(path: &Path) -> Result<Vec<Run>, Failure> {
    super::foreign::runs_at(path)
}

/// The runs that a session's noise was learnt from.
pub(super) fn kept_archive(session: &Path) -> Result<Vec<Run>, Failure> {
    kept(&super::sitting::archive_of(session))
}

/// The baseline's runs that the session of a gate was judged against; none of any other session.
pub(super) fn kept_baseline(session: &Path) -> Result<Vec<Run>, Failure> {
    kept(&super::sitting::baseline_of(session))
}

/// The runs in a folder of a session; none where there is no such folder.
pub(super) fn kept(folder: &Path) -> Result<Vec<Run>, Failure> {
    if folder.is_dir() {
        runs_at(folder)
    } else {
        Ok(Vec::new())
    }
}

/// The kept sessions of a spec for a target with these pins, as far as the same stages ran.
pub(super) fn stored_runs(shelf: &Shelf, spec: &Spec, pins: &Pins) -> Result<Baseline, Failure> {
    let environment = Environment::of(pins, &spec.under_test);
    let mut baseline = baseline::load(shelf, &spec.name, &environment)?;
    baseline.retain(|run| run.spec.select == spec.select);
    Ok(baseline)
}

/// Every kept run that shows this machine's noise; none where there is no baseline yet.
pub(super) fn archived_runs(shelf: &Shelf, spec: &Spec, pins: &Pins) -> Result<Vec<Run>, Failure> {
    match stored_runs(shelf, spec, pins) {
        Ok(baseline) => {
            let others = baseline.others.into_iter().chain(baseline.noise);
            Ok(runs_of(baseline.sessions.into_iter().chain(others)))
        }
        Err(failure) if failure.exit == Exit::Undecided => Ok(Vec::new()),
        Err(failure) => Err(failure),
    }
}

/// The runs of sessions.
pub(super) fn runs_of(sessions: impl IntoIterator<Item = Session>) -> Vec<Run> {
    let runs = sessions.into_iter().flat_map(|session| session.runs);
    runs.collect()
}
