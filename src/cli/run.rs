//! `infergate run`: measure, keep, show.

pub(super) mod layers;
pub(super) mod resume;

use std::path::PathBuf;

use clap::Args;

use self::resume::Left;
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::lock::LockArgs;
use super::member::Member;
use super::origin::source_of;
use super::scores;
use super::shard::{ShardArgs, Sharing};
use super::sitting::{CliSitting, OutArgs, open_sitting};
use super::source::{SelectArgs, load_spec};
use crate::exit::Exit;
use crate::report;
use crate::session::{Measured, Station};
use crate::summary::{Run, RunEnd};

/// Measure a target
///
/// Executes the spec's plan against its target, and leaves a run file (percentiles, histograms,
/// outcomes, pins, client health) and the records of every request. Judges nothing. Where the spec's
/// `targets` name the engine and its front, both are measured in turn, and what lies between is said.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate run spec.yaml
  TARGET_URL=http://127.0.0.1:8000 infergate run spec.yaml --repeats 3
  infergate run spec.yaml --shard 2/4 --start-at 2026-11-29T19:12:00Z    # then: infergate merge
  infergate run --resume infergate-out/soak-20261129T191243Z-1f3a
  infergate run spec.yaml --json | jq '.stages[0].pooled.distributions.ttft.quantiles'

Exit codes: 0 measured · 1 a soak found something · 2 spec error · 4 invalid: target lost, client too slow, interrupted")]
pub(super) struct RunArgs {
    /// The spec, or a folder with `spec.yaml` in it
    #[arg(required_unless_present = "resume")]
    spec: Option<PathBuf>,

    /// Runs to take, one after another, as one session; of two layers each [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: Option<u32>,

    /// Go on with a session that was cut off, from its folder (or its name, below `--out`): stages that had
    /// ended and whole windows of a soak are kept
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["select", "shard", "start_at"])]
    resume: Option<PathBuf>,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    shard: ShardArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    lock: LockArgs,

    /// Print the run as JSON (one run a line) on standard output
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(
    args: RunArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    if let Some(session) = &args.resume {
        return Box::pin(resume::go_on(&args, session, context, interrupt)).await;
    }
    let path = args.spec.clone().unwrap_or_default();
    let spec = args.select.apply(load_spec(&Member::of(&path), context)?)?;
    if let Some(layers) = spec.layers() {
        // Two sittings make a large future, which every other run would carry too.
        return Box::pin(layers::run(&args, &layers, context, interrupt)).await;
    }
    let shared = args.shard.open(&spec, &args.out, context)?;
    let repeats = args.repeats.unwrap_or(1);
    if shared.is_some() && repeats > 1 {
        return Err(Failure::usage(
            "a shard takes one run; for another, run all shards again with a later `--start-at`",
        ));
    }
    let places = [&spec.target.place];
    let locks = args
        .lock
        .hold(&spec, &places, shared.is_some(), context, interrupt);
    let _locks = locks.await?;
    let stamp = |sitting: &mut CliSitting, context: &Context| {
        sitting.score(scores::of_target(&spec)?);
        sitting.stamp(source_of(&path, context));
        Ok::<_, Failure>(())
    };
    if let Some((mut sitting, sharing)) = shared {
        stamp(&mut sitting, context)?;
        let mut station = sitting.station(spec.target.place.clone(), "target", context);
        let part = Taker::Part(&sharing);
        let taken = take_one(part, &mut sitting, &mut station, context, interrupt).await;
        station.down().await;
        return shown(&taken?.run, args.json, context);
    }
    let mut sitting = open_sitting(&spec, &args.out, context)?;
    stamp(&mut sitting, context)?;
    let mut station = sitting.station(spec.target.place.clone(), "target", context);
    station.up(interrupt.stop()).await?;
    let _hold = resume::begin(&sitting, &path, &spec.select, repeats)?;
    let all = (repeats, args.json);
    take_all(all, &mut sitting, (station, None), context, interrupt).await
}

/// Takes so many runs at a station; the first of them goes on with what is left of others.
async fn take_all(
    (count, json): (u32, bool),
    sitting: &mut CliSitting,
    (mut station, mut left): (Station, Option<&Left>),
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Pass;
    for number in 0..count {
        if count > 1 {
            context.note(&format!("run {} of {count}", number + 1));
        }
        let taken = take_one(Taker::Whole, sitting, &mut station, context, interrupt).await;
        let run = match taken {
            Ok(measured) => measured.run,
            Err(error) => {
                station.down().await;
                return Err(error);
            }
        };
        if let Some(left) = left.take() {
            left.set_aside()?;
        }
        exit = exit.worst(shown(&run, json, context)?);
        if run.end == RunEnd::Interrupted {
            let command = resume::command(sitting);
            context.note(&format!("interrupted; `{command}` goes on with it"));
        }
        if run.end != RunEnd::Complete {
            break;
        }
    }
    station.down().await;
    Ok(exit)
}

/// Who takes a run.
#[derive(Clone, Copy)]
enum Taker<'a> {
    /// This client alone.
    Whole,
    /// One of several.
    Part(&'a Sharing),
}

async fn take_one(
    taker: Taker<'_>,
    sitting: &mut CliSitting,
    station: &mut Station,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Measured, Failure> {
    let target = station.up(interrupt.stop()).await?;
    let measured = match taker {
        Taker::Part(sharing) => {
            sitting
                .measure_part(target, sharing, context, interrupt)
                .await?
        }
        Taker::Whole => {
            sitting
                .measure(target, None, true, context, interrupt)
                .await?
        }
    };
    station.rest().await;
    context.note(&format!("run file: {}", measured.path.display()));
    context.note(&format!("records:  {}", measured.records.display()));
    Ok(measured)
}

/// Shows a run, and says what it means.
fn shown(run: &Run, json: bool, context: &mut Context) -> Result<Exit, Failure> {
    show(run, json, context)?;
    Ok(ending(run))
}

/// A run that is not whole, has a stage that the client spoilt, or in which nothing completed, is no
/// measurement; of one that is, a soak that found something is a result of its own.
pub(super) fn ending(run: &Run) -> Exit {
    let spoilt = run.stages.iter().any(|stage| !stage.invalid.is_empty());
    if run.end != RunEnd::Complete || spoilt || nothing_completed(run) {
        return Exit::Invalid;
    }
    soaked(run)
}

/// A soak that found something is no pass: what is the client's spoils the measurement, what is the engine's
/// is a result.
fn soaked(run: &Run) -> Exit {
    let soaks = run.stages.iter().filter_map(|stage| stage.soak.as_ref());
    let findings = soaks.flat_map(|soak| &soak.findings);
    let exits = findings.map(|finding| {
        if finding.code.is_clients() {
            Exit::Invalid
        } else {
            Exit::Regression
        }
    });
    exits.fold(Exit::Pass, Exit::worst)
}

fn nothing_completed(run: &Run) -> bool {
    run.stages
        .iter()
        .all(|stage| stage.pooled.ended_well() == 0)
}

pub(super) fn show(run: &Run, json: bool, context: &mut Context) -> Result<(), Failure> {
    let text = if json {
        let line = serde_json::to_string(run).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the run as JSON: {error}"),
            )
        })?;
        line + "\n"
    } else {
        context.paint(&report::text::run(&report::run::build(run)))
    };
    context.print(&text);
    if let RunEnd::TargetLost { error } = &run.end {
        context.note(&format!(
            "the target was lost: {error}; what was measured until then is kept and cannot be judged"
        ));
    } else if nothing_completed(run) {
        context.note(
            "no request completed, so nothing was measured; the errors above say what the target answered",
        );
    }
    Ok(())
}
