//! `infergate ab`: interleaved pairs of two live targets, judged look by look.

use std::path::{Path, PathBuf};

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::judge::Evidence;
use super::sitting::{CliSitting, OutArgs, open_sitting};
use super::source::{SelectArgs, load_spec};
use crate::exit::Exit;
use crate::session::{Measured, RunningTarget};
use crate::spec::{Spec, TargetPlace, base_url};
use crate::summary::{InvalidReason, RunEnd, Side};
use crate::verdict::{Judgement, NextLook};

/// How often a pair is taken again when the client spoilt it.
const RETAKES: u32 = 2;

/// Compare two targets in alternating runs
///
/// Takes pairs of runs, baseline and candidate in turn (A B, B A, A B, …), looks at 3, 5, 7 and 10
/// pairs (from 5 on while no promoted session shows the machine's noise), and stops as soon as every
/// gated cell is decided. A side that is not named is the spec's
/// own target, so `ab` without any is the target against itself.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate ab spec.yaml --baseline-url http://127.0.0.1:8000 --candidate-url http://127.0.0.1:8001
  infergate ab spec.yaml --candidate-sim 'demo --slower-prefill 30%'
  infergate ab spec.yaml            the target against itself: how noisy is this machine?

Exit codes: 0 pass · 1 regression · 2 spec error · 3 cannot decide · 4 invalid measurement")]
pub(super) struct AbArgs {
    /// The spec, or a folder with `spec.yaml` in it
    spec: PathBuf,

    #[command(flatten)]
    sides: SideArgs,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    out: OutArgs,

    /// Folder of promoted baselines: their runs show how noisy this machine is
    #[arg(long, default_value = "baselines", value_name = "DIR")]
    baselines: PathBuf,

    /// Print the report as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Where the two sides are.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct SideArgs {
    /// URL of the baseline
    #[arg(long, value_name = "URL", conflicts_with = "baseline_sim")]
    pub(super) baseline_url: Option<String>,

    /// The embedded engine as the baseline: a profile and its switches
    #[arg(long, value_name = "WORDS")]
    pub(super) baseline_sim: Option<String>,

    /// URL of the candidate
    #[arg(long, value_name = "URL", conflicts_with = "candidate_sim")]
    pub(super) candidate_url: Option<String>,

    /// The embedded engine as the candidate: a profile and its switches
    #[arg(long, value_name = "WORDS")]
    pub(super) candidate_sim: Option<String>,
}

impl SideArgs {
    /// Whether the baseline is a live target of its own.
    pub(super) const fn names_baseline(&self) -> bool {
        self.baseline_url.is_some() || self.baseline_sim.is_some()
    }

    /// Where a side is: as named, else the spec's own target.
    pub(super) fn place(&self, side: Side, spec: &Spec) -> Result<TargetPlace, Failure> {
        let (url, words, flag) = match side {
            Side::Baseline => (&self.baseline_url, &self.baseline_sim, "--baseline"),
            Side::Candidate => (&self.candidate_url, &self.candidate_sim, "--candidate"),
        };
        if let Some(url) = url {
            let url = base_url(url).map_err(|fault| {
                Failure::usage(format!(
                    "`{flag}-url` {fault}; write it like `http://127.0.0.1:8000`"
                ))
            })?;
            return Ok(TargetPlace::Urls(vec![url.to_owned()]));
        }
        if let Some(words) = words {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            if words.is_empty() {
                return Err(Failure::usage(format!(
                    "`{flag}-sim` names no profile; `infergate sim --list` shows all"
                )));
            }
            super::sim::parse_words(&words)
                .map_err(|error| Failure::usage(format!("`{flag}-sim`: {error}")))?;
            return Ok(TargetPlace::Sim(words));
        }
        Ok(spec.target.place.clone())
    }
}

pub(super) async fn run(
    args: AbArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let spec = args.select.apply_gated(load_spec(&args.spec, context)?)?;
    let mut sitting = open_sitting(&spec, &args.out, context)?;
    let request = AbRequest {
        spec: &spec,
        sides: &args.sides,
        baselines: Some(&args.baselines),
        json: args.json,
    };
    interleave(request, &mut sitting, context, interrupt).await
}

/// What is to be compared.
#[derive(Clone, Copy)]
pub(super) struct AbRequest<'a> {
    pub(super) spec: &'a Spec,
    pub(super) sides: &'a SideArgs,
    /// Where promoted sessions are; `None` assumes the noise.
    pub(super) baselines: Option<&'a Path>,
    pub(super) json: bool,
}

/// Takes pairs until the judgement needs no more, and reports.
pub(super) async fn interleave(
    request: AbRequest<'_>,
    sitting: &mut CliSitting,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let AbRequest { spec, sides, .. } = request;
    let (baseline, candidate) = (
        sides.place(Side::Baseline, spec)?,
        sides.place(Side::Candidate, spec)?,
    );
    // One target for both sides is one server: two would share the machine for nothing.
    let shared = baseline == candidate && matches!(baseline, TargetPlace::Urls(_));
    let mut pairs = Pairs {
        baseline: RunningTarget::start(&baseline, &context.program).await?,
        candidate: if shared {
            None
        } else {
            Some(RunningTarget::start(&candidate, &context.program).await?)
        },
        sitting,
        evidence: Evidence::default(),
    };
    // Both before any load: a side that is not there is found now, not after the other's run.
    let pins = pairs.sitting.observe(&pairs.baseline, interrupt).await?;
    if let Some(candidate) = &pairs.candidate {
        pairs.sitting.observe(candidate, interrupt).await?;
    }
    if let Some(baselines) = request.baselines {
        let archive = super::baseline::archived_runs(baselines, spec, &pins)?;
        pairs.sitting.keep_archive(&archive)?;
        pairs.evidence.archive = archive;
    }
    let outcome = pairs.take_all(spec, context, interrupt).await;
    let Pairs {
        baseline,
        candidate,
        sitting,
        evidence,
    } = pairs;
    baseline.stop().await;
    if let Some(candidate) = candidate {
        candidate.stop().await;
    }
    let judgement = outcome?;
    evidence.conclude(&judgement, spec, sitting, request.json, context, interrupt)
}

struct Pairs<'a> {
    baseline: RunningTarget,
    /// `None`: the baseline's.
    candidate: Option<RunningTarget>,
    sitting: &'a mut CliSitting,
    evidence: Evidence,
}

impl Pairs<'_> {
    async fn take_all(
        &mut self,
        spec: &Spec,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Judgement, Failure> {
        let mut wanted = 1;
        let mut number = 0;
        loop {
            while number < wanted {
                let over = self.take_pair(number, context, interrupt).await?;
                number += 1;
                if over {
                    return Ok(self.evidence.judge(spec));
                }
            }
            let judgement = self.evidence.judge(spec);
            match judgement.next {
                NextLook::Repeats(repeats) if repeats > number => {
                    if number == 1 {
                        context.note(&format!("first look at {repeats} pairs"));
                    } else {
                        context.note(&format!(
                            "after {number} pairs: {} of {} gated cells decided; next look at {repeats}",
                            judgement.headline.passed + judgement.headline.regressed,
                            judgement.headline.gated,
                        ));
                    }
                    wanted = repeats;
                }
                NextLook::Repeats(_) | NextLook::Stop => return Ok(judgement),
            }
        }
    }

    /// Takes one pair; true where sampling cannot go on. A pair that the client spoilt is taken
    /// again, both sides together; what the target did is data.
    async fn take_pair(
        &mut self,
        number: u32,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<bool, Failure> {
        for retake in 0..=RETAKES {
            let order = if number.is_multiple_of(2) {
                [Side::Baseline, Side::Candidate]
            } else {
                [Side::Candidate, Side::Baseline]
            };
            let mut taken: Vec<Measured> = Vec::new();
            for side in order {
                context.note(&format!("pair {}, {}", number + 1, name(side)));
                let target = match (side, &self.candidate) {
                    (Side::Candidate, Some(candidate)) => candidate,
                    (Side::Candidate, None) | (Side::Baseline, _) => &self.baseline,
                };
                let measured = self
                    .sitting
                    .measure(
                        target,
                        Some((number, side)),
                        number == 0,
                        context,
                        interrupt,
                    )
                    .await?;
                taken.push(measured);
                if interrupt.asked() {
                    break;
                }
            }
            let lost = taken
                .iter()
                .any(|measured| measured.run.end != RunEnd::Complete);
            let spoilt = taken.iter().find_map(|measured| fault(measured));
            if let Some(what) = spoilt
                && !lost
                && retake < RETAKES
            {
                context.note(&format!("pair {} is taken again: {what}", number + 1));
                for measured in taken {
                    self.sitting.set_aside(&measured)?;
                }
                continue;
            }
            for measured in taken {
                match measured.run.side {
                    Some(Side::Candidate) => self.evidence.candidate.push(measured.run),
                    Some(Side::Baseline) | None => self.evidence.baseline.push(measured.run),
                }
            }
            return Ok(lost || interrupt.asked());
        }
        Ok(false)
    }
}

/// What the client or the harness did wrong in a run. Tokens off the plan are no accident that
/// another run would mend.
pub(super) fn fault(measured: &Measured) -> Option<&'static str> {
    measured
        .run
        .stages
        .iter()
        .flat_map(|stage| &stage.invalid)
        .find_map(|reason| match reason {
            InvalidReason::Late { .. } => Some("requests left too late"),
            InvalidReason::SentShort { .. } => Some("too few requests were sent"),
            InvalidReason::ClientCpu { .. } => Some("the client used too much CPU"),
            InvalidReason::TokensOffPlan { .. }
            | InvalidReason::NoRequests
            | InvalidReason::Interrupted
            | InvalidReason::Shard { .. } => None,
        })
}

const fn name(side: Side) -> &'static str {
    match side {
        Side::Baseline => "baseline",
        Side::Candidate => "candidate",
    }
}
