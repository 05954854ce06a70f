//! `infergate run`: measure, keep, show.

pub(super) mod layers;

use std::path::PathBuf;

use clap::Args;

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
use crate::session::Station;
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
  infergate run spec.yaml --json | jq '.stages[0].pooled.distributions.ttft.quantiles'

Exit codes: 0 measured · 1 a soak found something · 2 spec error · 4 invalid: target lost, client too slow, interrupted")]
pub(super) struct RunArgs {
    /// The spec, or a folder with `spec.yaml` in it
    spec: PathBuf,

    /// Runs to take, one after another, as one session; of two layers each
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,

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
    let spec = args
        .select
        .apply(load_spec(&Member::of(&args.spec), context)?)?;
    if let Some(layers) = spec.layers() {
        // Two sittings make a large future, which every other run would carry too.
        return Box::pin(layers::run(&args, &layers, context, interrupt)).await;
    }
    let shared = args.shard.open(&spec, &args.out, context)?;
    if shared.is_some() && args.repeats > 1 {
        return Err(Failure::usage(
            "a shard takes one run; for another, run all shards again with a later `--start-at`",
        ));
    }
    let places = [&spec.target.place];
    let locks = args
        .lock
        .hold(&spec, &places, shared.is_some(), context, interrupt);
    let _locks = locks.await?;
    let (mut sitting, sharing) = match shared {
        Some((sitting, sharing)) => (sitting, Some(sharing)),
        None => (open_sitting(&spec, &args.out, context)?, None),
    };
    sitting.score(scores::of_target(&spec)?);
    sitting.stamp(source_of(&args.spec, context));
    let mut station = sitting.station(spec.target.place.clone(), "target", context);
    let taken = take_all(
        &args,
        &mut sitting,
        sharing.as_ref(),
        &mut station,
        context,
        interrupt,
    )
    .await;
    station.down().await;
    taken
}

async fn take_all(
    args: &RunArgs,
    sitting: &mut CliSitting,
    sharing: Option<&Sharing>,
    station: &mut Station,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Pass;
    for number in 0..args.repeats {
        if args.repeats > 1 {
            context.note(&format!("run {} of {}", number + 1, args.repeats));
        }
        let target = station.up(interrupt.stop()).await?;
        let measured = match sharing {
            Some(sharing) => {
                sitting
                    .measure_part(target, sharing, context, interrupt)
                    .await?
            }
            None => {
                sitting
                    .measure(target, None, true, context, interrupt)
                    .await?
            }
        };
        station.rest().await;
        show(&measured.run, args.json, context)?;
        context.note(&format!("run file: {}", measured.path.display()));
        context.note(&format!("records:  {}", measured.records.display()));
        exit = exit.worst(ending(&measured.run));
        if measured.run.end != RunEnd::Complete {
            break;
        }
    }
    Ok(exit)
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
