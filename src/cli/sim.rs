//! `infergate sim`: the embedded engine as a server of its own.

mod words;

use std::future::Future;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use clap::Args;

use crate::sim::{ServeOptions, SimError, TruthTarget, profile, serve};
use words::Switches;

pub(super) use words::parse_words;

/// Serve the embedded engine
///
/// A real HTTP server on 127.0.0.1 with `/v1` routes for chats and completions and a model of continuous batching behind
/// them: no GPU and no weights are needed. It prints one line with its address and serves until
/// interrupted.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(after_help = "\
Examples:
  infergate sim demo --port 8000
  infergate sim h100-8b --slower-prefill 30% --truth truth.jsonl
  infergate sim test --error-share 5% --queue-limit 8
  infergate sim demo --run-noise 1.5% --run-outliers 3% --drift 5%
  infergate sim --list

In a spec, the same words make a target: `sim: h100-8b --slower-prefill 30%`.
The switches of its machine are no arguments of the engine: sides that differ in them stay comparable.")]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(super) struct SimArgs {
    /// The engine to simulate; `--list` shows all
    #[arg(required_unless_present = "list")]
    profile: Option<String>,

    #[command(flatten)]
    switches: Switches,

    /// Show the profiles with their constants, and serve nothing
    #[arg(long)]
    list: bool,

    /// The port on 127.0.0.1; 0 is any free one
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    port: u16,

    /// Log what really happened to each request, as JSON Lines
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,

    /// Log the instant of every token too
    #[arg(long, requires = "truth")]
    truth_tokens: bool,

    /// Take trouble on demand: `POST /fault {"fault": "kill", "for_ms": 20000}`, or `stall`, `refuse`, `drop`
    #[arg(long)]
    takes_faults: bool,

    /// Stop when standard input ends, as it does when the parent process is gone
    #[arg(long)]
    parent_watch: bool,
}

/// Serves until `stop` resolves, standard input ends (with `--parent-watch`) or the server dies.
///
/// Prints `listening on http://127.0.0.1:PORT` once it accepts connections, or the profiles with
/// `--list`. [`SimError::Died`] where `--die-after` came true: the process is to end at once.
pub(super) async fn run(
    args: SimArgs,
    out: &mut dyn Write,
    stop: impl Future<Output = ()>,
) -> Result<(), SimError> {
    let Some(name) = args.profile.as_deref().filter(|_| !args.list) else {
        return write!(out, "{}", profile::list()).map_err(|source| SimError::Output { source });
    };
    let options = ServeOptions {
        sim: args.switches.apply(name)?,
        port: args.port,
        truth: args.truth.map_or(TruthTarget::Nowhere, TruthTarget::File),
        truth_tokens: args.truth_tokens,
        takes_faults: args.takes_faults,
    };
    let parent = args
        .parent_watch
        .then(|| Box::new(io::stdin()) as Box<dyn Read + Send>);
    serve(options, out, stop, parent).await
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Parser)]
    #[command(name = "infergate sim")]
    struct Cli {
        #[command(flatten)]
        sim: SimArgs,
    }

    #[test]
    fn help_is_complete() {
        let help = Cli::command().term_width(100).render_long_help();
        insta::assert_snapshot!(help.to_string());
    }

    #[test]
    fn a_profile_or_the_list_is_needed() {
        assert!(Cli::try_parse_from(["sim"]).is_err());
        assert!(Cli::try_parse_from(["sim", "--list"]).unwrap().sim.list);
    }
}
