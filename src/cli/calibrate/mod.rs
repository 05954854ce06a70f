//! `infergate calibrate`: how noisy is this machine, and how far can the gate be trusted?

mod empirical;
mod model;
mod noise;
mod outcome;

use std::path::PathBuf;

use clap::Args;

use super::archive::{self, ArchiveArgs};
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::lock::LockArgs;
use super::member::Member;
use super::sitting::OutArgs;
use super::source::{SelectArgs, load_spec};
use crate::baseline::Shelf;
use crate::exit::Exit;
use crate::plan::Plan;

/// Measure a machine's noise, or rehearse the decision
///
/// Takes sessions of runs of the spec's own target, with nothing to compare: they show how much equal
/// runs scatter, so what each gated cell can tell at 3, 5, 7 and 10 pairs, and which tolerances to
/// declare. They are kept under `baselines/`, where `check`, `ab` and `gate` learn the noise from
/// them; no candidate is ever compared with them. A target that infergate starts is started anew for
/// each session.
///
/// With `--model` makes whole comparisons on numbers drawn by a model of a machine, tens of thousands
/// a row, and shows how often the gate fails and passes them. The rows that are shown unless asked
/// otherwise stand beside the rates that an independent implementation found. Uses every core for a
/// minute or two; runs nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate calibrate spec.yaml
  infergate calibrate spec.yaml --from-archive      the table again, without load
  infergate calibrate spec.yaml --empirical         how often would the gate fail equal sides?
  infergate calibrate --model
  infergate calibrate --model --run-sd 3% --outliers 5% --effects 0,1,2
  infergate calibrate --model --drift 0.5% --order blocked

Exit codes: 0 done · 2 usage or spec error · 3 too little archive · 4 invalid measurement, the
reference rates are not reproduced, or interrupted")]
pub(super) struct CalibrateArgs {
    /// The spec, or a folder with `spec.yaml` in it
    #[arg(required_unless_present = "model", conflicts_with = "model")]
    spec: Option<PathBuf>,

    /// Rehearse on numbers drawn by a model
    #[arg(long)]
    model: bool,

    /// Print what was found as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    of_noise: NoiseArgs,

    #[command(flatten)]
    of_model: model::ModelArgs,
}

/// What is measured.
#[derive(Debug, Args)]
struct NoiseArgs {
    /// Sessions to take; four at least show what a restart changes
    #[arg(long, default_value_t = 4, value_name = "N", conflicts_with = "model",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    sessions: u32,

    /// Runs of each session
    #[arg(long, default_value_t = 3, value_name = "R", conflicts_with = "model",
        value_parser = clap::value_parser!(u32).range(2..=100))]
    repeats: u32,

    /// Measure nothing: what do the sessions that are kept already show?
    #[arg(long, conflicts_with = "model")]
    from_archive: bool,

    /// Measure nothing: pair the kept runs of each session as if they were two sides, and count how
    /// often the gate fails them
    #[arg(long, conflicts_with_all = ["model", "from_archive"])]
    empirical: bool,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    archive: ArchiveArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    lock: LockArgs,
}

pub(super) async fn run(
    args: &CalibrateArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let Some(path) = &args.spec else {
        return model::run(&args.of_model, args.json, context, interrupt);
    };
    let noise = &args.of_noise;
    let spec = noise
        .select
        .apply_gated(load_spec(&Member::of(path), context)?)?;
    let plan = Plan::expand(&spec);
    if noise.empirical {
        return empirical::run(noise, &spec, &plan, args.json, context);
    }
    if !noise.from_archive {
        let keeper = noise.archive.keeper(Some(&spec))?;
        let pins = noise::take(noise, path, &spec, &keeper, context, interrupt).await?;
        let shelf = archive::open(&keeper, context)?;
        let kept = outcome::of_target(&shelf, &spec, &plan, &pins)?;
        return outcome::print(&spec, &[kept], args.json, context);
    }
    let shelf = noise.archive.open(Some(&spec), context)?;
    let kept = super::archived::kept(&shelf, &spec, &plan)?;
    if kept.is_empty() {
        return Err(Failure::new(Exit::Undecided, no_archive(&shelf, &spec)));
    }
    outcome::print(&spec, &kept, args.json, context)
}

/// Why there is nothing to go by.
fn no_archive(shelf: &Shelf, spec: &crate::spec::Spec) -> String {
    format!(
        "no run of `{}` as it is now is kept in {shelf}; take some: `infergate calibrate SPEC`",
        spec.name,
    )
}
