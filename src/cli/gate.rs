//! `infergate gate`: measure the candidate and judge it against the promoted sessions.

mod first;
mod ground;
mod measured;
mod suite;

use std::path::{Path, PathBuf};

use clap::Args;

use self::first::First;
use self::ground::{Groundless, Groundlessness, Wanted, ground, keep_ground};
use super::ab::{AbRequest, SideArgs, interleave};
use super::archive::ArchiveArgs;
use super::base::{BaseArgs, Footing};
use super::budget::{Ledger, keep_stop, stopped};
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::judge::{Evidence, Show, ShowArgs};
use super::lock::LockArgs;
use super::member::{Asked, Group, Member, OnlyArgs};
use super::origin::source_of;
use super::publish::announce::AnnounceArgs;
use super::run::resume;
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
  infergate gate specs/ --publish github           all specs of a folder: one verdict, one comment
  infergate gate specs/ --only engine=vllm         those members of its suite.yaml
  infergate gate spec.yaml --candidate infergate-out/chat-8b-20261129T191243Z-1f3a

A new user starts with `ab`: a baseline needs sessions of several days before it can judge.

Exit codes: 0 pass · 1 regression · 2 spec error · 3 cannot decide · 4 invalid measurement")]
pub(super) struct GateArgs {
    /// The spec, or a folder with `spec.yaml` in it; several specs, a folder of them or a suite (a folder with
    /// `suite.yaml`) are measured one after the other and judged as one
    #[arg(required = true, value_name = "SPEC")]
    spec: Vec<PathBuf>,

    #[command(flatten)]
    only: OnlyArgs,

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

impl GateArgs {
    /// Refuses words that speak of one spec's runs.
    fn refuse_several(&self, group: &Group) -> Result<(), Failure> {
        if self.candidate.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "`--candidate` names runs of one spec, and `{}` stands for {}; name that spec, and bring reports \
             together by `infergate publish` or `infergate report`",
            group.name,
            group.members.len()
        )))
    }
}

pub(super) async fn run(
    args: GateArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let show = args.show.find(context)?;
    let member = match args.only.members(&args.spec, context)? {
        Asked::One(member) => member,
        Asked::Several(group) => {
            args.refuse_several(&group)?;
            return suite::run(&args, &show, &group, context, interrupt).await;
        }
    };
    if !args.candidate.is_empty() {
        return measured::run(&args, &show, &member, context).await;
    }
    let mut gate = Gate::open(&args, &show, &member, &args.out, context)?;
    let announced = args
        .announce
        .begin(gate.spec.name.as_str(), &show.look, context)
        .await?;
    let outcome = gate.measure(context, interrupt).await;
    announced
        .conclude(outcome, gate.sitting.folder(), context)
        .await
}

/// One spec that is measured and judged.
struct Gate<'a> {
    args: &'a GateArgs,
    show: &'a Show,
    member: &'a Member,
    spec: Spec,
    footing: Footing,
    sitting: CliSitting,
}

impl<'a> Gate<'a> {
    fn open(
        args: &'a GateArgs,
        show: &'a Show,
        member: &'a Member,
        out: &OutArgs,
        context: &mut Context,
    ) -> Result<Self, Failure> {
        let mut spec = args.select.apply_gated(load_spec(member, context)?)?;
        let declared = spec.clone();
        let footing = (args.base).find(member, &args.archive, &mut spec, context)?;
        let mut sitting = open_sitting(&spec, out, context)?;
        sitting.place(&member.path, &declared);
        sitting.stamp(source_of(&member.path, context));
        Ok(Self {
            args,
            show,
            member,
            spec,
            footing,
            sitting,
        })
    }

    async fn measure(
        &mut self,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Exit, Failure> {
        let stored = Stored {
            args: self.args,
            path: &self.member.path,
            show: self.show,
            spec: &self.spec,
            footing: &mut self.footing,
        };
        measure(stored, &mut self.sitting, context, interrupt).await
    }
}

async fn measure(
    gate: Stored<'_>,
    sitting: &mut CliSitting,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let Stored {
        args,
        path,
        show,
        spec,
        footing,
    } = gate;
    if args.sides.names_baseline() || spec.baseline.is_some() {
        sitting.score(scores::of_both(spec)?);
        let request = AbRequest {
            spec,
            path,
            sides: &args.sides,
            archive: Some(&args.archive),
            footing: Some(footing),
            lock: &args.lock,
            show,
        };
        return interleave(request, sitting, context, interrupt).await;
    }
    footing.tell(context);
    let groundless = match Groundless::spec(footing, spec, path) {
        Some(Groundless::Policy(groundless)) => Some(groundless),
        Some(Groundless::Failed(failure)) => return Err(failure),
        None => None,
    };
    let stored = Stored {
        args,
        path,
        show,
        spec,
        footing,
    };
    let groundless = match groundless {
        Some(groundless) if !groundless.can_begin => {
            let folder = sitting.folder().to_owned();
            let first = stored.first(groundless);
            return first.report(Vec::new(), &folder, sitting.places(), context);
        }
        other => other,
    };
    sitting.score(scores::of_target(spec)?);
    let place = args.sides.place(Side::Candidate, spec)?;
    let places = [&place];
    let locks = args.lock.hold(spec, &places, false, context, interrupt);
    let _locks = locks.await?;
    let mut station = sitting.station(place.clone(), "candidate", context);
    let gated = stored.against(groundless, sitting, &mut station, context, interrupt);
    let gated = gated.await;
    station.down().await;
    gated
}

/// What is judged, and by what.
struct Stored<'a> {
    args: &'a GateArgs,
    /// Where the spec was read.
    path: &'a Path,
    show: &'a Show,
    spec: &'a Spec,
    footing: &'a mut Footing,
}

impl<'a> Stored<'a> {
    /// Without anything to hold the candidate against.
    fn first(self, groundless: Groundlessness) -> First<'a> {
        First {
            path: self.path,
            spec: self.spec,
            footing: self.footing,
            groundless,
            show: self.show,
        }
    }

    async fn against(
        self,
        groundless: Option<Groundlessness>,
        sitting: &mut CliSitting,
        station: &mut Station,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Exit, Failure> {
        let target = station.up(interrupt.stop()).await?;
        let pins = sitting.observe(target, interrupt).await?;
        let wanted = Wanted {
            spec: self.spec,
            path: self.path,
            pins: &pins,
            trace: sitting.trace_digest(),
            foreign: None,
            day: Day::of(&context.now()),
        };
        let ground = match groundless {
            Some(groundless) => Err(Groundless::Policy(groundless)),
            None => ground(&wanted, self.footing, context),
        };
        match ground {
            Ok(evidence) => sample(self, evidence, sitting, station, context, interrupt).await,
            Err(Groundless::Policy(groundless)) => {
                let first = self.first(groundless);
                first.measure(sitting, station, context, interrupt).await
            }
            Err(Groundless::Failed(failure)) => Err(failure),
        }
    }
}

/// Takes candidate runs until the judgement needs no more, and reports.
async fn sample(
    Stored {
        path,
        show,
        spec,
        footing,
        ..
    }: Stored<'_>,
    mut evidence: Evidence,
    sitting: &mut CliSitting,
    station: &mut Station,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    sitting.calibrate_as(&evidence.baseline);
    keep_ground(sitting.folder(), &evidence, footing)?;
    let mut ledger = Ledger::open(spec, sitting.plan(), [], context);
    let mut hold = None;
    let judgement = loop {
        if let Some(why) = ledger.stops(1, context) {
            keep_stop(sitting.folder(), &why, evidence.candidate.len())?;
            break stopped(evidence.judge(spec), why, context);
        }
        let number = evidence.candidate.len();
        context.note(&format!("candidate run {}", number + 1));
        let target = station.up(interrupt.stop()).await?;
        if hold.is_none() {
            hold = Some(resume::begin(sitting, path, &spec.select, 1)?);
        }
        let measured = sitting
            .measure(target, None, number == 0, context, interrupt)
            .await?;
        station.rest().await;
        if measured.run.end == RunEnd::Interrupted {
            let (command, folder) = (resume::command(sitting), sitting.folder().display());
            context.note(&format!(
                "interrupted; `{command}` goes on with it, then `infergate gate {} --candidate {folder}` judges it",
                path.display()
            ));
        }
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
