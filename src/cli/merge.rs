//! `infergate merge`: the shards of one run to that run.

use std::path::{Path, PathBuf};

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use super::run::{ending, show};
use super::source::embedded_spec;
use crate::archive::load_runs;
use crate::exit::Exit;
use crate::session::{MergeFailure, Shard, merge};
use crate::summary::MergeError;

/// Put the shards of one run together
///
/// Takes what `run --shard` has left on each machine: run files, or folders of them, with the records
/// beside them. Every count, rate, window, histogram and percentile is made anew from all records, as if
/// one client had sent them. A shard whose client fell short makes the stage invalid.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate merge shard-*/chat-8b-20261129T191200000Z-1f3a -o merged
  infergate merge infergate-out/chat-8b-20261129T191200000Z-1f3a -o merged --json

Exit codes: 0 merged · 2 not the shards of one run, or some missing · 4 invalid: a client too slow, the
target lost, shards that saw different targets")]
pub(super) struct MergeArgs {
    /// Run files of all shards, or the folders of their sessions
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,

    /// Folder for the run and its records
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,

    /// Print the run as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &MergeArgs, context: &mut Context) -> Result<Exit, Failure> {
    let mut shards = Vec::new();
    for path in &args.runs {
        for run in load_runs(path)? {
            let records = records_of(path, &run.id);
            shards.push(Shard { run, records });
        }
    }
    let Some(first) = shards.first() else {
        return Err(Failure::usage("there is no run to merge"));
    };
    let spec = embedded_spec(&first.run.spec, context)?;
    let merged = merge(shards, &spec, &args.out)?;
    show(&merged.run, args.json, context)?;
    context.note(&format!("run file: {}", merged.path.display()));
    context.note(&format!("records:  {}", merged.records.display()));
    Ok(ending(&merged.run))
}

/// Where a run's records are: in the folder `records` beside its own, or beside it.
fn records_of(path: &Path, run: &str) -> PathBuf {
    let name = format!("{run}.jsonl.gz");
    let folder = if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(Path::new(""))
    };
    let places = [
        folder.join("records").join(&name),
        folder.join("..").join("records").join(&name),
        folder.join(&name),
    ];
    let found = places.iter().find(|place| place.is_file());
    found.unwrap_or(&places[0]).clone()
}

impl From<MergeFailure> for Failure {
    fn from(error: MergeFailure) -> Self {
        match error {
            MergeFailure::Archive(error) => error.into(),
            MergeFailure::Merge(MergeError::Apart { .. } | MergeError::Clocks { .. })
            | MergeFailure::Records { .. } => Self::new(Exit::Invalid, error.to_string()),
            MergeFailure::Merge(_) => Self::usage(error.to_string()),
        }
    }
}
