//! `infergate gate`: measure the candidate and judge it against the promoted sessions.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;

use super::ab::{AbRequest, SideArgs, interleave};
use super::archive::ArchiveArgs;
use super::base::{BaseArgs, Footing, SpecChange};
use super::baseline::{runs_of, stored_runs};
use super::budget::{Ledger, keep_stop, stopped};
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::judge::{Evidence, Show};
use super::lock::LockArgs;
use super::origin::source_of;
use super::scores;
use super::sitting::{CliSitting, OutArgs, open_sitting};
use super::source::{SelectArgs, load_spec};
use super::standing::Standing;
use crate::baseline::Day;
use crate::exit::Exit;
use crate::session::Station;
use crate::spec::{Policy, Spec};
use crate::summary::{Run, RunEnd, Side};
use crate::verdict::NextLook;

/// Stored sessions below which no verdict is given at all.
const LEAST_SESSIONS: usize = 3;

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

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    lock: LockArgs,

    #[command(flatten)]
    show: Show,
}

pub(super) async fn run(
    args: GateArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let mut spec = args.select.apply_gated(load_spec(&args.spec, context)?)?;
    let declared = spec.clone();
    let base = &args.base;
    let mut footing = base.find(&args.spec, &args.archive, &mut spec, context)?;
    let mut sitting = open_sitting(&spec, &args.out, context)?;
    sitting.place(&args.spec, &declared);
    sitting.stamp(source_of(&args.spec, context));
    if args.sides.names_baseline() || spec.baseline.is_some() {
        sitting.score(scores::of_both(&spec)?);
        let request = AbRequest {
            spec: &spec,
            path: &args.spec,
            sides: &args.sides,
            archive: Some(&args.archive),
            footing: Some(&footing),
            lock: &args.lock,
            show: args.show,
        };
        return interleave(request, &mut sitting, context, interrupt).await;
    }
    footing.tell(context);
    if let Some(why) = footing.refuses_stored(&args.spec) {
        let (policy, name) = match footing.change {
            SpecChange::New => (spec.gate.no_baseline, "no_baseline"),
            SpecChange::None | SpecChange::Workload => (spec.gate.incomparable, "incomparable"),
        };
        return without_baseline(policy, name, Failure::new(Exit::Undecided, why), context);
    }
    sitting.score(scores::of_target(&spec)?);
    let place = args.sides.place(Side::Candidate, &spec)?;
    let places = [&place];
    let locks = args.lock.hold(&spec, &places, false, context, interrupt);
    let _locks = locks.await?;
    let mut station = sitting.station(place.clone(), "candidate", context);
    let stored = Stored {
        args: &args,
        spec: &spec,
        footing: &mut footing,
    };
    let gated = against_stored(stored, &mut sitting, &mut station, context, interrupt).await;
    station.down().await;
    gated
}

/// What is judged, and by what.
struct Stored<'a> {
    args: &'a GateArgs,
    spec: &'a Spec,
    footing: &'a mut Footing,
}

async fn against_stored(
    Stored {
        args,
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
    let mut baseline = match stored_runs(&footing.shelf, spec, &pins) {
        Ok(baseline) => baseline,
        Err(failure) if failure.exit == Exit::Undecided => {
            return without_baseline(spec.gate.no_baseline, "no_baseline", failure, context);
        }
        Err(failure) => return Err(failure),
    };
    let promoted = baseline.sessions.len();
    let (workload, trace) = (spec.workload_digest(), sitting.trace_digest());
    baseline.retain(|run: &Run| run.spec.workload_digest == workload && run.trace_digest == trace);
    let sessions = baseline.sessions.len();
    if promoted > 0 && sessions == 0 {
        let failure = Failure::new(
            Exit::Undecided,
            format!(
                "the spec changed: no session of the baseline `{}` ran this workload; promote \
                 {LEAST_SESSIONS} sessions of the spec as it is now, or compare with a second live \
                 target: `infergate ab {} --baseline-url URL`",
                baseline.place,
                args.spec.display(),
            ),
        );
        return without_baseline(spec.gate.incomparable, "incomparable", failure, context);
    }
    if sessions < promoted {
        context.note(&format!(
            "{} of {promoted} sessions of the baseline ran another workload and are left out",
            promoted - sessions
        ));
    }
    let said = footing.stamp.says().len();
    footing.retain(&mut baseline)?;
    for line in footing.stamp.says().into_iter().skip(said) {
        context.note(&line);
    }
    let sessions = baseline.sessions.len();
    if sessions < LEAST_SESSIONS {
        let missing = LEAST_SESSIONS - sessions;
        let failure = Failure::new(
            Exit::Undecided,
            format!(
                "the baseline `{}` has {sessions} session{} and needs {LEAST_SESSIONS}: promote {missing} more, \
                 or compare with a second live target now: `infergate ab {} --baseline-url URL`",
                baseline.place,
                if sessions == 1 { "" } else { "s" },
                args.spec.display(),
            ),
        );
        return without_baseline(spec.gate.no_baseline, "no_baseline", failure, context);
    }
    let standing = match Day::of(&context.now()) {
        Some(today) => Standing::of(&baseline, &today),
        None => Standing::default(),
    };
    let mut evidence = Evidence {
        standing,
        baseline: runs_of(baseline.sessions),
        archive: runs_of(baseline.others.into_iter().chain(baseline.noise)),
        base: Some(footing.stamp.clone()),
        ..Evidence::default()
    };
    sitting.calibrate_as(&evidence.baseline);
    sitting.keep_baseline(&evidence.baseline)?;
    sitting.keep_archive(&evidence.archive)?;
    footing.keep(sitting.folder())?;
    evidence.standing.keep(sitting.folder())?;
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
    evidence.conclude(&judgement, spec, sitting, args.show, context, interrupt)
}

/// What the spec's policy of this name makes of a baseline that can't be used.
fn without_baseline(
    policy: Policy,
    name: &str,
    failure: Failure,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let (exit, word) = match policy {
        Policy::Undecided => return Err(failure),
        Policy::Pass => (Exit::Pass, "pass"),
        Policy::Fail => (Exit::Regression, "fail"),
    };
    // Shown in quiet too: an exit code that rests on no measurement says so.
    let _ = writeln!(
        context.err,
        "{}the spec's `{name}: {word}` makes this exit {}",
        failure.render(),
        exit.code()
    );
    Ok(exit)
}
