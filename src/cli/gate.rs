//! `infergate gate`: measure the candidate and judge it against the promoted sessions.

use std::path::PathBuf;

use clap::Args;

use super::ab::{AbRequest, SideArgs, interleave};
use super::baseline::stored_runs;
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::judge::Evidence;
use super::sitting::{OutArgs, open_sitting};
use super::source::{SelectArgs, load_spec};
use crate::exit::Exit;
use crate::session::RunningTarget;
use crate::spec::{Policy, Spec};
use crate::summary::{RunEnd, Side};
use crate::verdict::NextLook;

/// Stored sessions below which no verdict is given at all.
const LEAST_SESSIONS: usize = 3;

/// Measure a candidate and pass or fail it
///
/// Compares runs of the spec's target with the sessions under `baselines/<name>/`, at 1, 3 and 5
/// candidate runs: one run can pass, it takes three to fail. Stored sessions gate from three on
/// (with fewer than five the verdict is advisory). With a second live target it falls to `ab`,
/// which needs no baseline.
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

    /// Folder of promoted baselines
    #[arg(long, default_value = "baselines", value_name = "DIR")]
    baselines: PathBuf,

    #[command(flatten)]
    sides: SideArgs,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    out: OutArgs,

    /// Print the report as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(
    args: GateArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let spec = args.select.apply_gated(load_spec(&args.spec, context)?)?;
    let mut sitting = open_sitting(&spec, &args.out, context)?;
    if args.sides.names_baseline() {
        let request = AbRequest {
            spec: &spec,
            sides: &args.sides,
            baselines: Some(&args.baselines),
            json: args.json,
        };
        return interleave(request, &mut sitting, context, interrupt).await;
    }
    let target =
        RunningTarget::start(&args.sides.place(Side::Candidate, &spec)?, &context.program).await?;
    let pins = sitting.observe(&target).await?;
    let baseline = match stored_runs(&args.baselines, &spec, &pins) {
        Ok(baseline) => baseline,
        Err(failure) if failure.exit == Exit::Undecided => {
            return no_baseline(&spec, failure, context);
        }
        Err(failure) => return Err(failure),
    };
    let sessions = baseline.sessions.len();
    if sessions < LEAST_SESSIONS {
        let missing = LEAST_SESSIONS - sessions;
        let failure = Failure::new(
            Exit::Undecided,
            format!(
                "the baseline `{}` has {sessions} session{} and needs {LEAST_SESSIONS}: promote {missing} more, \
                 or compare with a second live target now: `infergate ab {} --baseline-url URL`",
                baseline.folder.display(),
                if sessions == 1 { "" } else { "s" },
                args.spec.display(),
            ),
        );
        return no_baseline(&spec, failure, context);
    }
    let mut evidence = Evidence {
        baseline: baseline
            .sessions
            .into_iter()
            .flat_map(|session| session.runs)
            .collect(),
        ..Evidence::default()
    };
    let judgement = loop {
        let number = evidence.candidate.len();
        context.note(&format!("candidate run {}", number + 1));
        let measured = sitting
            .measure(&target, None, number == 0, context, interrupt)
            .await?;
        let whole = measured.run.end == RunEnd::Complete;
        evidence.candidate.push(measured.run);
        let judgement = evidence.judge(&spec);
        match judgement.next {
            NextLook::Repeats(repeats)
                if whole && repeats as usize > evidence.candidate.len() && !interrupt.asked() => {}
            NextLook::Repeats(_) | NextLook::Stop => break judgement,
        }
    };
    target.stop().await;
    let folder = sitting.folder().to_owned();
    let reproduce = [format!(
        "infergate compare {} {}",
        baseline.folder.display(),
        folder.display()
    )];
    let exit = evidence.publish(
        &judgement,
        &spec,
        Some(&folder),
        &reproduce,
        args.json,
        context,
    )?;
    if interrupt.asked() {
        return Err(Failure::new(
            Exit::Invalid,
            format!(
                "interrupted; what was measured is in `{}`",
                folder.display()
            ),
        ));
    }
    Ok(exit)
}

/// What the spec's policy makes of a missing baseline.
fn no_baseline(spec: &Spec, failure: Failure, context: &mut Context) -> Result<Exit, Failure> {
    let (exit, word) = match spec.gate.no_baseline {
        Policy::Undecided => return Err(failure),
        Policy::Pass => (Exit::Pass, "pass"),
        Policy::Fail => (Exit::Regression, "fail"),
    };
    let text = failure.render();
    context.note(text.trim_end());
    context.note(&format!(
        "the spec's `no_baseline: {word}` makes this exit {}",
        exit.code()
    ));
    Ok(exit)
}
