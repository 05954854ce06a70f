//! `infergate guard`: what stands between infergate and an engine that it launches; no verb for people.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::failure::Failure;
use crate::exit::Exit;
use crate::session::{Ward, guard};
use crate::spec::StopSignal;

/// Run a command until standard input ends, then end it and all that it started
#[derive(Debug, Args)]
pub(super) struct GuardArgs {
    /// What asks it to end
    #[arg(long, value_parser = signal)]
    signal: StopSignal,

    /// A word of the command that is run first, to end what is no child
    #[arg(long, allow_hyphen_values = true)]
    stop: Vec<OsString>,

    /// Milliseconds that each may take
    #[arg(long)]
    grace_ms: u64,

    /// Where its output goes
    #[arg(long)]
    log: PathBuf,

    /// The program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

fn signal(text: &str) -> Result<StopSignal, String> {
    let known = StopSignal::ALL.into_iter();
    let mut named = known.filter(|signal| signal.name() == text);
    named
        .next()
        .ok_or_else(|| "is no signal that ends an engine".to_owned())
}

pub(super) async fn run(args: GuardArgs) -> Result<Exit, Failure> {
    let ward = Ward {
        command: args.command,
        log: args.log,
        signal: args.signal,
        stop: args.stop,
        grace: Duration::from_millis(args.grace_ms),
    };
    match guard(ward).await {
        Ok(()) => Ok(Exit::Pass),
        Err(error) => Err(Failure::new(
            Exit::Invalid,
            format!("cannot guard the engine: {error}"),
        )),
    }
}
