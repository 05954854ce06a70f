//! `infergate gate`: measure the candidate and judge it against the promoted sessions.

mod ground;
mod measured;

use std::path::PathBuf;

use clap::Args;

use self::ground::{Groundless, Wanted, ground, keep_ground};
use super::ab::{AbRequest, SideArgs, interleave};
use super::archive::ArchiveArgs;
use super::base::{BaseArgs, Footing};
use super::budget::{Ledger, keep_stop, stopped};
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::judge::{Show, ShowArgs};
use super::lock::LockArgs;
use super::origin::source_of;
use super::publish::announce::AnnounceArgs;
use super::scores;
use super::sitting::{CliSitting, OutArgs, open_sitting};
use super::source::{SelectArgs, load_spec};
use crate::exit::Exit;
use crate::ident::Day;
use crate::session::Station;
use crate::spec::Spec;
use crate::summary::{RunEnd, Side};
use crate::verdict::NextLook;

/// Measure a candidate and pass or fail it
///
/// Compares runs of the spec's target with the sessions that were promoted (under `baselines/<name>/`, or on
/// the branch that the spec's `archive` names), at 1, 3 and 5
/// candidate runs: one run can pass, it takes three to fail. Stored sessions gate from three on
/// (with fewer than five the verdict is advisory). With a second live target, or a `baseline` in the
/// spec, it falls to `ab`, which needs no history.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate gate spec.yaml
  infergate gate spec.yaml --baseline-url http://127.0.0.1:8001
  infergate gate spec.yaml --candidate infergate-out/chat-8b-20261129T191243Z-1f3a

A new user starts with `ab`: a baseline needs sessions of several days before it can judge.

Exit codes: 0 pass · 1 regression · 2 spec error · 3 cannot decide · 4 invalid measurement")]
pub(super) struct GateArgs {
    /// The spec, or a folder with `spec.yaml` in it
    spec: PathBuf,

    #[command(flatten)]
    archive: ArchiveArgs,

    #[command(flatten)]
    base: BaseArgs,

    #[command(flatten)]
    sides: SideArgs,

    /// Judge runs that were measured before, as on the day of the newest, and measure nothing: run files,
    /// or the folder of a session; those of both sides of an `ab` session against each other
    #[arg(
        long,
        value_name = "PATH",
        num_args = 1..,
        conflicts_with_all = ["baseline_url", "baseline_sim", "candidate_url", "candidate_sim"]
    )]
    candidate: Vec<PathBuf>,

    /// Those runs come from a job that is not trusted, as that of a pull request from a fork: they are read
    /// within limits, as data alone, and everything that comes of them says so
    #[arg(long, requires = "candidate")]
    untrusted: bool,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    lock: LockArgs,

    #[command(flatten)]
    announce: AnnounceArgs,

    #[command(flatten)]
    show: ShowArgs,
}

pub(super) async fn run(
    args: GateArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let show = args.show.find(context)?;
    if !args.candidate.is_empty() {
        return measured::run(&args, &show, context).await;
    }
    let mut spec = args.select.apply_gated(load_spec(&args.spec, context)?)?;
    let declared = spec.clone();
    let base = &args.base;
    let mut footing = base.find(&args.spec, &args.archive, &mut spec, context)?;
    let mut sitting = open_sitting(&spec, &args.out, context)?;
    sitting.place(&args.spec, &declared);
    sitting.stamp(source_of(&args.spec, context));
    let announced = args.announce.begin(&spec, &show.look, context).await?;
    let gate = Stored {
        args: &args,
        show: &show,
        spec: &spec,
        footing: &mut footing,
    };
    let outcome = measure(gate, &mut sitting, context, interrupt).await;
    announced.conclude(outcome, sitting.folder(), context).await
}

async fn measure(
    gate: Stored<'_>,
    sitting: &mut CliSitting,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let Stored {
        args,
        show,
        spec,
        footing,
    } = gate;
    if args.sides.names_baseline() || spec.baseline.is_some() {
        sitting.score(scores::of_both(spec)?);
        let request = AbRequest {
            spec,
            path: &args.spec,
            sides: &args.sides,
            archive: Some(&args.archive),
            footing: Some(footing),
            lock: &args.lock,
            show,
        };
        return interleave(request, sitting, context, interrupt).await;
    }
    footing.tell(context);
    if let Some(groundless) = Groundless::spec(footing, spec, &args.spec) {
        return groundless.end(context);
    }
    sitting.score(scores::of_target(spec)?);
    let place = args.sides.place(Side::Candidate, spec)?;
    let places = [&place];
    let locks = args.lock.hold(spec, &places, false, context, interrupt);
    let _locks = locks.await?;
    let mut station = sitting.station(place.clone(), "candidate", context);
    let stored = Stored {
        args,
        show,
        spec,
        footing,
    };
    let gated = against_stored(stored, sitting, &mut station, context, interrupt).await;
    station.down().await;
    gated
}

/// What is judged, and by what.
struct Stored<'a> {
    args: &'a GateArgs,
    show: &'a Show,
    spec: &'a Spec,
    footing: &'a mut Footing,
}

async fn against_stored(
    Stored {
        args,
        show,
        spec,
        footing,
    }: Stored<'_>,
    sitting: &mut CliSitting,
    station: &mut Station,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let target = station.up(interrupt.stop()).await?;
    let pins = sitting.observe(target, interrupt).await?;
    let wanted = Wanted {
        spec,
        path: &args.spec,
        pins: &pins,
        trace: sitting.trace_digest(),
        day: Day::of(&context.now()),
    };
    let mut evidence = match ground(&wanted, footing, context) {
        Ok(evidence) => evidence,
        Err(groundless) => return groundless.end(context),
    };
    sitting.calibrate_as(&evidence.baseline);
    keep_ground(sitting.folder(), &evidence, footing)?;
    let mut ledger = Ledger::open(spec, sitting.plan(), [], context);
    let judgement = loop {
        if let Some(why) = ledger.stops(1, context) {
            keep_stop(sitting.folder(), &why, evidence.candidate.len())?;
            break stopped(evidence.judge(spec), why, context);
        }
        let number = evidence.candidate.len();
        context.note(&format!("candidate run {}", number + 1));
        let target = station.up(interrupt.stop()).await?;
        let measured = sitting
            .measure(target, None, number == 0, context, interrupt)
            .await?;
        station.rest().await;
        ledger.took(&measured.run);
        let whole = measured.run.end == RunEnd::Complete;
        evidence.candidate.push(measured.run);
        let judgement = evidence.judge(spec);
        match judgement.next {
            NextLook::Repeats(repeats)
                if whole && repeats as usize > evidence.candidate.len() && !interrupt.asked() => {}
            NextLook::Repeats(_) | NextLook::Stop => break judgement,
        }
    };
    evidence.conclude(&judgement, spec, sitting, show, context, interrupt)
}
