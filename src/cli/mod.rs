//! The command line: words to typed requests, results to text and exit codes.

mod ab;
mod archive;
mod archived;
mod base;
mod baseline;
mod bisect;
mod budget;
mod calibrate;
mod capacity;
mod check;
mod compare;
mod context;
mod demo;
mod doctor;
mod explain;
mod export;
mod failure;
mod foreign;
mod gate;
mod guard;
mod history;
mod import;
mod init;
mod interrupt;
mod judge;
mod lock;
mod look;
mod member;
mod merge;
mod origin;
mod percent;
mod publish;
mod reopen;
mod report;
mod run;
mod schema;
mod scores;
mod shard;
mod sim;
mod sitting;
mod source;
mod standing;
mod template;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use context::Context;
pub use failure::{Failure, FailureText};

use crate::exit::Exit;
use crate::publish::actions::fence;
use interrupt::Interrupt;

/// Threads of the runtime: sending and timing take one, records and progress the other.
const WORKERS: usize = 2;

/// The regression gate for LLM inference
///
/// Runs a pinned benchmark spec against an OpenAI-compatible server, compares with a baseline under
/// statistical tolerances, and passes or fails by its exit code.
#[derive(Debug, Parser)]
#[command(
    name = "infergate",
    version,
    max_term_width = 100,
    after_help = "\
Start here:
  infergate demo                                     a regression, found and reported, in a minute
  infergate init --url http://…                      a spec of your server, and a workflow
  infergate doctor spec.yaml                         what is in the way of a run?
  infergate ab spec.yaml --candidate-url http://…    is the candidate slower than the target?

Exit codes: 0 pass · 1 regression · 2 usage or spec error · 3 cannot decide · 4 invalid measurement"
)]
struct Cli {
    /// Print results and errors only
    #[arg(long, short, global = true)]
    quiet: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Init(init::InitArgs),
    Check(check::CheckArgs),
    Doctor(doctor::DoctorArgs),
    Run(run::RunArgs),
    Merge(merge::MergeArgs),
    Ab(ab::AbArgs),
    Gate(gate::GateArgs),
    Compare(compare::CompareArgs),
    Explain(explain::ExplainArgs),
    Report(report::ReportArgs),
    Capacity(capacity::CapacityArgs),
    Publish(publish::PublishArgs),
    #[command(subcommand)]
    Baseline(baseline::BaselineCommand),
    History(history::HistoryArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Bisect(bisect::BisectArgs),
    Calibrate(calibrate::CalibrateArgs),
    Schema(schema::SchemaArgs),
    Sim(sim::SimArgs),
    #[command(hide = true)]
    Guard(guard::GuardArgs),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    // reqwest panics at its first client without a provider; a second install is harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not mistakes.
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Pass
            };
            let _ = error.print();
            return exit.into();
        }
    };
    let mut context = Context::of_process(cli.quiet);
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Invalid, format!("cannot start the runtime: {error}")))
        .and_then(|runtime| {
            let outcome = runtime.block_on(dispatch(cli.command, &mut context));
            // A blocked read of standard input must not hold up the end.
            runtime.shutdown_background();
            outcome
        });
    let outcome = match (outcome, context.lost.take()) {
        (Ok(exit), Some(error)) => Err(Failure::new(
            exit.worst(Exit::Invalid),
            format!("cannot write to standard output: {error}"),
        )),
        (outcome, _) => outcome,
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            let _ = write!(context.err, "{}", told(&failure, &context));
            failure.exit.into()
        }
    }
}

/// A failure as it is printed. It may hold what an engine printed, of which a runner of GitHub Actions
/// would take lines as commands.
fn told(failure: &Failure, context: &Context) -> String {
    let text = failure.render();
    if context
        .variable("GITHUB_ACTIONS")
        .is_some_and(|value| value == "true")
    {
        fence(&text, &context.unique("fence"))
    } else {
        text
    }
}

async fn dispatch(command: Command, context: &mut Context) -> Result<Exit, Failure> {
    // It hears the signals that it sends to its own group, and lives until its parent is gone.
    let command = match command {
        Command::Guard(args) => return guard::run(args).await,
        command => command,
    };
    let interrupt = Interrupt::listen()
        .map_err(|error| Failure::new(Exit::Invalid, format!("cannot watch signals: {error}")))?;
    match command {
        Command::Demo(args) => demo::run(args, context, &interrupt).await,
        Command::Init(args) => init::run(args, context, &interrupt).await,
        Command::Check(args) => check::run(&args, context),
        Command::Doctor(args) => doctor::run(args, context, &interrupt).await,
        Command::Run(args) => Box::pin(run::run(args, context, &interrupt)).await,
        Command::Merge(args) => merge::run(&args, context),
        Command::Ab(args) => Box::pin(ab::run(args, context, &interrupt)).await,
        Command::Gate(args) => Box::pin(gate::run(args, context, &interrupt)).await,
        Command::Compare(args) => compare::run(&args, context),
        Command::Explain(args) => explain::run(&args, context),
        Command::Report(args) => report::run(&args, context),
        Command::Capacity(args) => capacity::run(&args, context),
        Command::Publish(args) => Box::pin(publish::run(&args, context)).await,
        Command::Baseline(command) => baseline::run(command, context),
        Command::History(args) => history::run(&args, context),
        Command::Export(args) => export::run(&args, context),
        Command::Import(args) => import::run(&args, context),
        Command::Bisect(args) => bisect::run(args, context, &interrupt).await,
        Command::Guard(args) => guard::run(args).await,
        Command::Calibrate(args) => calibrate::run(&args, context, &interrupt).await,
        Command::Schema(args) => Ok(schema::run(&args, context)),
        Command::Sim(args) => {
            let stop = interrupt.wait();
            match sim::run(args, &mut *context.out, stop).await {
                Ok(()) => Ok(Exit::Pass),
                Err(error) => Err(Failure::usage(error.to_string())),
            }
        }
    }
}
