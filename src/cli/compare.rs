//! `infergate compare`: the judgement again from files, offline.

use std::path::{Path, PathBuf};

use clap::Args;

use super::base::{file_of, judged_as, kept_stamp};
use super::baseline::{kept_archive, kept_baseline, runs_at};
use super::budget::{stop_of, stopped};
use super::context::Context;
use super::failure::Failure;
use super::judge::{Evidence, ShowArgs};
use super::member::Member;
use super::report::read_reports;
use super::source::{embedded_spec, load_spec, selected};
use super::standing::Standing;
use crate::exit::Exit;
use crate::report::CellPlace;
use crate::spec::Spec;
use crate::summary::{Run, Side};

/// Compare runs from files
///
/// Each side is a run file, a folder of runs, or several of them. One folder of an `ab` session is
/// enough: its runs say which side and which pair they are; so is one of a `gate` session, which
/// keeps the baseline that it was judged against. The gate's cells and tolerances are
/// those of the baseline's spec, so that a candidate can't loosen its own.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate compare infergate-out/chat-8b-20261129T191243Z-1f3a
  infergate compare baselines/chat-8b/cpu-llama-cpp-0c1d2e3f infergate-out/chat-8b-20261129T191243Z-1f3a
  infergate compare --base old/*.json --candidate new/*.json

Exit codes: 0 pass · 1 regression · 2 wrong files · 3 cannot decide, or the same run twice · 4 invalid")]
pub(super) struct CompareArgs {
    /// The baseline, or the folder of an `ab` or `gate` session
    #[arg(
        value_name = "BASE",
        required_unless_present = "base",
        conflicts_with = "base"
    )]
    first: Option<PathBuf>,

    /// The candidate
    #[arg(value_name = "CANDIDATE", conflicts_with = "candidate")]
    second: Option<PathBuf>,

    /// Files or folders of the baseline
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "candidate")]
    base: Vec<PathBuf>,

    /// Files or folders of the candidate
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "base")]
    candidate: Vec<PathBuf>,

    /// Earlier runs of the baseline, to learn this machine's noise from
    #[arg(long, value_name = "PATH", num_args = 1..)]
    archive: Vec<PathBuf>,

    /// Judge by the gate of this spec
    #[arg(long, value_name = "SPEC")]
    spec: Option<PathBuf>,

    /// Write `report.md`, `report.json`, `junit.xml` and `metrics.txt` into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    show: ShowArgs,
}

pub(super) fn run(args: &CompareArgs, context: &mut Context) -> Result<Exit, Failure> {
    let show = args.show.find(context)?;
    let evidence = evidence(args)?;
    evidence.refuse_shards()?;
    let Some(first) = evidence.baseline.first() else {
        return Err(Failure::usage("there is no run on the baseline's side"));
    };
    let spec = if let Some(path) = &args.spec {
        selected(load_spec(&Member::of(path), context)?, &first.spec.select)?
    } else {
        let judge = judged_by(&evidence, args, first);
        let mut spec = embedded_spec(&judge.spec, context)?;
        if let (Some(session), None) = (&args.first, &args.second) {
            judged_as(session, judge, &mut spec, context)?;
        }
        spec
    };
    let mut judgement = evidence.judge(&spec);
    if let (Some(session), None, true) = (&args.first, &args.second, args.candidate.is_empty())
        && let Some(why) = stop_of(session, evidence.candidate.len())?
    {
        judgement = stopped(judgement, why, context);
    }
    evidence.publish(
        &judgement,
        &spec,
        args.out.as_deref(),
        (&[], &places(args, &spec)),
        &show,
        context,
    )
}

/// Where the gated cells stand: in the spec that was named, or where the session says.
fn places(args: &CompareArgs, spec: &Spec) -> Vec<CellPlace> {
    match (&args.spec, &args.first, &args.second) {
        (Some(path), _, _) => CellPlace::of(spec, &file_of(path).display().to_string()),
        (None, Some(session), None) => kept_places(session),
        _ => Vec::new(),
    }
}

/// Where the gated cells stood when the session was reported; empty where it was not.
pub(super) fn kept_places(session: &Path) -> Vec<CellPlace> {
    let report = read_reports(&session.join("report.json")).unwrap_or_default();
    report
        .into_iter()
        .next()
        .map_or_else(Vec::new, |report| report.places)
}

/// The run whose spec is the judge: the baseline's, but of a gate's session the one that it was
/// judged by.
fn judged_by<'a>(evidence: &'a Evidence, args: &CompareArgs, baseline: &'a Run) -> &'a Run {
    let alone = args.second.is_none() && args.candidate.is_empty();
    match evidence.candidate.first() {
        Some(candidate) if alone => candidate,
        _ => baseline,
    }
}

fn evidence(args: &CompareArgs) -> Result<Evidence, Failure> {
    let archive = all(&args.archive)?;
    match (&args.first, &args.second) {
        (Some(session), None) if args.candidate.is_empty() => {
            let mut evidence = of_session(session)?;
            evidence.archive.splice(0..0, archive);
            Ok(evidence)
        }
        (Some(base), Some(candidate)) => Ok(Evidence {
            baseline: runs_at(base)?,
            candidate: runs_at(candidate)?,
            archive,
            ..Evidence::default()
        }),
        _ => Ok(Evidence {
            baseline: all(&args.base)?,
            candidate: all(&args.candidate)?,
            archive,
            ..Evidence::default()
        }),
    }
}

/// Both sides of an `ab` or `gate` session, with the runs that its noise was learnt from.
pub(super) fn of_session(session: &Path) -> Result<Evidence, Failure> {
    let runs = runs_at(session)?;
    let kept = kept_baseline(session)?;
    let (baseline, candidate) = if kept.is_empty() {
        split(runs, session)?
    } else {
        (kept, runs)
    };
    Ok(Evidence {
        baseline,
        candidate,
        archive: kept_archive(session)?,
        base: kept_stamp(session)?,
        standing: Standing::read(session)?,
    })
}

/// The spec that judged a session: its candidate's, with the gate of its base.
pub(super) fn judging_spec(
    session: &Path,
    evidence: &Evidence,
    context: &Context,
) -> Result<Spec, Failure> {
    match evidence.candidate.first().or(evidence.baseline.first()) {
        Some(run) => {
            let mut spec = embedded_spec(&run.spec, context)?;
            judged_as(session, run, &mut spec, context)?;
            Ok(spec)
        }
        None => Err(Failure::usage("there is no run in the session")),
    }
}

fn all(paths: &[PathBuf]) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    for path in paths {
        runs.extend(runs_at(path)?);
    }
    Ok(runs)
}

/// The sides of an `ab` session.
fn split(runs: Vec<Run>, folder: &Path) -> Result<(Vec<Run>, Vec<Run>), Failure> {
    let (candidate, baseline): (Vec<Run>, Vec<Run>) = runs
        .into_iter()
        .partition(|run| run.side == Some(Side::Candidate));
    let unsided = baseline.iter().any(|run| run.side.is_none());
    if candidate.is_empty() || baseline.is_empty() || unsided {
        return Err(Failure::usage(format!(
            "`{}` is no session of `ab` or `gate`: its runs don't name both sides; name the candidate too: \
             `infergate compare BASE CANDIDATE`",
            folder.display()
        )));
    }
    Ok((baseline, candidate))
}
