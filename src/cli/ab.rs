//! `infergate ab`: interleaved pairs of two targets, judged look by look.

mod forecast;
pub(super) mod pairs;
mod resume;
mod sides;

use std::path::{Path, PathBuf};

use clap::Args;

use self::forecast::Forecast;
use self::pairs::Pairs;
use self::resume::{Progress, begin, refuse_changed, reopen};
pub(super) use self::sides::SideArgs;
use self::sides::{Stations, order};
use super::archive::ArchiveArgs;
use super::base::{BaseArgs, Footing, shelf_of};
use super::baseline::archived_runs;
use super::budget::Ledger;
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::judge::{Show, ShowArgs};
use super::lock::LockArgs;
use super::member::Member;
use super::origin::source_of;
use super::publish::announce::AnnounceArgs;
use super::scores;
use super::sitting::{CliSitting, OutArgs, open_sitting};
use super::source::{SelectArgs, load_spec};
use crate::baseline::Shelf;
use crate::exit::Exit;
use crate::spec::Spec;
use crate::summary::Side;
use crate::verdict::{Judgement, Mode, NextLook, planned_looks};

/// Compare two targets in alternating runs
///
/// Takes pairs of runs, baseline and candidate in turn (A B, B A, A B, …), looks at 3, 5, 7 and 10
/// pairs (from 5 on while no promoted session shows the machine's noise), and stops as soon as every
/// gated cell is decided. A side that is not named is the spec's: its `target`, and for the baseline
/// its `baseline` where there is one; so `ab` of a spec without is the target against itself. Engines
/// that the spec launches take turns, each started anew for each of its runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate ab spec.yaml --baseline-url http://127.0.0.1:8000 --candidate-url http://127.0.0.1:8001
  infergate ab spec.yaml --candidate-sim 'demo --slower-prefill 30%'
  infergate ab spec.yaml            the target against itself: how noisy is this machine?
  infergate ab --resume infergate-out/chat-8b-20261129T191243Z-1f3a

Exit codes: 0 pass · 1 regression · 2 spec error · 3 cannot decide · 4 invalid measurement")]
pub(super) struct AbArgs {
    /// The spec, or a folder with `spec.yaml` in it
    #[arg(required_unless_present = "resume")]
    spec: Option<PathBuf>,

    /// Go on with a session that was cut off, from its folder (or its name, below `--out`): sides,
    /// labels and noise are its own
    #[arg(
        long,
        value_name = "SESSION",
        conflicts_with_all = ["baseline_url", "baseline_sim", "candidate_url", "candidate_sim", "select"]
    )]
    resume: Option<PathBuf>,

    #[command(flatten)]
    sides: SideArgs,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    archive: ArchiveArgs,

    #[command(flatten)]
    base: BaseArgs,

    #[command(flatten)]
    lock: LockArgs,

    #[command(flatten)]
    announce: AnnounceArgs,

    #[command(flatten)]
    show: ShowArgs,
}

pub(super) async fn run(
    args: AbArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let show = args.show.find(context)?;
    if let Some(session) = &args.resume {
        return go_on(&args, &show, session, context, interrupt).await;
    }
    let path = args.spec.unwrap_or_default();
    let mut spec = args
        .select
        .apply_gated(load_spec(&Member::of(&path), context)?)?;
    let declared = spec.clone();
    let footing = (args.base).find(&Member::of(&path), &args.archive, &mut spec, context)?;
    let mut sitting = open_sitting(&spec, &args.out, context)?;
    sitting.place(&path, &declared);
    sitting.stamp(source_of(&path, context));
    sitting.score(scores::of_both(&spec)?);
    let request = AbRequest {
        spec: &spec,
        path: &path,
        sides: &args.sides,
        archive: Some(&args.archive),
        footing: Some(&footing),
        lock: &args.lock,
        show: &show,
    };
    let announced = args
        .announce
        .begin(spec.name.as_str(), &show.look, context)
        .await?;
    let outcome = interleave(request, &mut sitting, context, interrupt).await;
    announced.conclude(outcome, sitting.folder(), context).await
}

async fn go_on(
    args: &AbArgs,
    show: &Show,
    session: &Path,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let below = args.out.out.join(session);
    let session = if session.is_dir() { session } else { &below };
    let mut resumed = reopen(session, args.spec.as_deref(), context)?;
    let request = AbRequest {
        spec: &resumed.spec,
        path: &resumed.folder,
        sides: &resumed.sides,
        archive: resumed.archive.as_ref(),
        footing: None,
        lock: &args.lock,
        show,
    };
    let stations = Stations::find(request.sides, request.spec, &resumed.sitting, context)?;
    let announced = args
        .announce
        .begin(request.spec.name.as_str(), &show.look, context)
        .await?;
    let ended = proceed(
        request,
        stations,
        resumed.progress,
        &mut resumed.sitting,
        context,
        interrupt,
    );
    let ended = ended.await;
    drop(resumed.hold);
    announced
        .conclude(ended, resumed.sitting.folder(), context)
        .await
}

/// What is to be compared.
#[derive(Clone, Copy)]
pub(super) struct AbRequest<'a> {
    pub(super) spec: &'a Spec,
    /// Where the spec was read.
    pub(super) path: &'a Path,
    pub(super) sides: &'a SideArgs,
    /// Where promoted sessions are, whose runs show how noisy this machine is; `None` assumes the noise.
    pub(super) archive: Option<&'a ArchiveArgs>,
    /// Where they and the gate are read from; `None` reads them as the evidence's base has them.
    pub(super) footing: Option<&'a Footing>,
    pub(super) lock: &'a LockArgs,
    pub(super) show: &'a Show,
}

/// Takes pairs until the judgement needs no more, and reports.
pub(super) async fn interleave(
    request: AbRequest<'_>,
    sitting: &mut CliSitting,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let AbRequest { spec, sides, .. } = request;
    let stations = Stations::find(sides, spec, sitting, context)?;
    let _hold = begin(sitting, spec, request.path, sides, request.archive)?;
    let mut nothing = Progress::default();
    if let Some(footing) = request.footing
        && footing.stamp.commit.is_some()
    {
        if let Some(line) = footing.gate_told() {
            context.note(&line);
        }
        footing.keep(sitting.folder())?;
        nothing.evidence.base = Some(footing.stamp.clone());
    }
    proceed(request, stations, nothing, sitting, context, interrupt).await
}

/// The same from where a session stands.
async fn proceed(
    request: AbRequest<'_>,
    stations: Stations,
    progress: Progress,
    sitting: &mut CliSitting,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let spec = request.spec;
    let baseline = request.sides.place(Side::Baseline, spec)?;
    let candidate = request.sides.place(Side::Candidate, spec)?;
    let places = [&baseline, &candidate];
    let locks = request.lock.hold(spec, &places, false, context, interrupt);
    let _locks = locks.await?;
    let launches = stations.any_launched();
    let mut forecast = Forecast::new(spec, sitting.plan(), launches);
    let evidence = progress.evidence;
    for run in evidence.baseline.iter().chain(&evidence.candidate) {
        forecast.took(run.pair.unwrap_or(0), run.elapsed_s);
    }
    let runs = evidence.baseline.iter().chain(&evidence.candidate);
    let ledger = Ledger::open(spec, sitting.plan(), runs, context);
    let mut pairs = Pairs {
        ledger,
        stations,
        sitting,
        evidence,
        forecast,
        done: progress.done,
        retakes: progress.retakes,
    };
    let outcome = sample(&mut pairs, request, context, interrupt).await;
    pairs.stations.down().await;
    let (evidence, sitting) = (pairs.evidence, pairs.sitting);
    match outcome {
        Ok(judgement) => {
            evidence.conclude(&judgement, spec, sitting, request.show, context, interrupt)
        }
        Err(failure) => {
            if let (Some(command), false) = (sitting.go_on_command(), evidence.baseline.is_empty())
            {
                context.note(&format!(
                    "{} in `{}`; to go on: {command}",
                    counted(pairs.done, "whole pair is", "whole pairs are"),
                    sitting.folder().display()
                ));
            }
            Err(failure)
        }
    }
}

/// `1 pair`, `2 pairs`.
fn counted(n: u32, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

async fn sample(
    pairs: &mut Pairs<'_>,
    request: AbRequest<'_>,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Judgement, Failure> {
    let spec = request.spec;
    if pairs.done > 0 {
        let judgement = pairs.evidence.judge(spec);
        if !matches!(judgement.next, NextLook::Repeats(repeats) if repeats > pairs.done) {
            context.note("no pair is left to take");
            return Ok(judgement);
        }
    }
    let shelf = match (request.footing, request.archive) {
        (Some(footing), _) => Some(footing.shelf.clone()),
        (None, Some(archive)) if pairs.done == 0 => {
            let base = pairs.evidence.base.as_ref();
            let keeper = archive.keeper(Some(spec))?;
            Some(shelf_of(request.path, base, &keeper, context)?)
        }
        (None, _) => None,
    };
    observe(pairs, request, shelf.as_ref(), interrupt).await?;
    let mode = if pairs.evidence.archive.is_empty() {
        Mode::PairsWithoutArchive
    } else {
        Mode::Pairs
    };
    let design = planned_looks(mode, &spec.gate);
    pairs.forecast.looks_until(design.last().repeats);
    let mut looks = design.looks().iter().map(|look| look.repeats);
    let look = looks.find(|look| *look > pairs.done);
    context.note(&pairs.forecast.before(pairs.done, look.unwrap_or(1)));
    pairs.take_all(spec, context, interrupt).await
}

/// Looks at both sides before any load: one that is not there, or not what it was, is found now and
/// not after the other's run. The side that runs first is left up for that.
async fn observe(
    pairs: &mut Pairs<'_>,
    request: AbRequest<'_>,
    shelf: Option<&Shelf>,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let [first, second] = order(pairs.done);
    let sides: &[Side] = if pairs.stations.are_one() {
        &[Side::Baseline]
    } else {
        &[second, first]
    };
    for &side in sides {
        let station = pairs.stations.of(side);
        let target = station.up(interrupt.stop()).await?;
        let pins = pairs.sitting.observe(target, interrupt).await?;
        let runs = match side {
            Side::Baseline => &pairs.evidence.baseline,
            Side::Candidate => &pairs.evidence.candidate,
        };
        refuse_changed(runs, side, &pins)?;
        if let (Side::Baseline, 0, Some(shelf)) = (side, pairs.done, shelf) {
            let archive = archived_runs(shelf, request.spec, &pins)?;
            pairs.sitting.keep_archive(&archive)?;
            pairs.evidence.archive = archive;
        }
        if side == second {
            station.rest().await;
        }
    }
    Ok(())
}
