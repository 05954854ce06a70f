//! `infergate calibrate`: how far can the gate be trusted?

mod model;

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use crate::exit::Exit;

/// Rehearse the decision procedure
///
/// With `--model` makes whole comparisons on numbers drawn by a model of a machine, tens of thousands
/// a row, and shows how often the gate fails and passes them. The rows that are shown unless asked
/// otherwise stand beside the rates that an independent implementation found. Uses every core for a
/// minute or two; runs nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate calibrate --model
  infergate calibrate --model --run-sd 3% --outliers 5% --effects 0,1,2
  infergate calibrate --model --drift 0.5% --order blocked

Exit codes: 0 done · 2 usage error · 4 the reference rates are not reproduced, or interrupted")]
pub(super) struct CalibrateArgs {
    /// Rehearse on numbers drawn by a model
    #[arg(long, required = true)]
    model: bool,

    /// Print what was found as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    of_model: model::ModelArgs,
}

pub(super) fn run(
    args: &CalibrateArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    model::run(&args.of_model, args.json, context, interrupt)
}
