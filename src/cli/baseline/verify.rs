//! `infergate baseline verify`: can the archive be relied on?

use std::fmt::Write as _;

use clap::Args;

use crate::baseline::{self, Gravity, Verification};
use crate::cli::archive::ArchiveArgs;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::exit::Exit;
use crate::ident::Day;

/// Look through the archive: what is damaged, missing, stale or about to expire
///
/// Reads every file and says of each finding what to do. Errors make it exit 4, so that a nightly job
/// notices what no pull request does: a baseline that is damaged, missing, or older than a verdict may rest on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate baseline verify
  infergate baseline verify --json | jq '.findings[].code'

Exit codes: 0 nothing or warnings alone · 4 errors")]
pub(in crate::cli) struct VerifyArgs {
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    archive: ArchiveArgs,
}

pub(super) fn run(args: &VerifyArgs, context: &mut Context) -> Result<Exit, Failure> {
    let shelf = args.archive.open(None, context)?;
    let today = Day::of(&context.now())
        .ok_or_else(|| Failure::new(Exit::Invalid, "the clock of this machine says no day"))?;
    let found = baseline::verify(&shelf, today)?;
    let text = if args.json {
        let text = serde_json::to_string_pretty(&found).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the findings as JSON: {error}"),
            )
        })?;
        text + "\n"
    } else {
        describe(&found)
    };
    // Names and texts of files that others wrote.
    let text: String = text
        .chars()
        .filter(|c| *c == '\n' || !c.is_control())
        .collect();
    context.print(&text);
    Ok(if found.has_errors() {
        Exit::Invalid
    } else {
        Exit::Pass
    })
}

fn describe(found: &Verification) -> String {
    let mut text = String::new();
    for finding in &found.findings {
        let word = match finding.gravity {
            Gravity::Error => "error",
            Gravity::Warning => "warning",
            Gravity::Note => "note",
        };
        let path = if finding.path.is_empty() {
            "."
        } else {
            &finding.path
        };
        let _ = writeln!(
            text,
            "{word}[{}] {path}: {}\n  {}",
            finding.code, finding.what, finding.remedy
        );
    }
    let count = |gravity: Gravity| {
        found
            .findings
            .iter()
            .filter(|f| f.gravity == gravity)
            .count()
    };
    let _ = writeln!(
        text,
        "{} errors, {} warnings, {} notes in {} specs, {} environments, {} run files ({:.1} MB), {} accepts",
        count(Gravity::Error),
        count(Gravity::Warning),
        count(Gravity::Note),
        found.specs,
        found.environments,
        found.runs,
        found.run_bytes as f64 / 1e6,
        found.accepts
    );
    text
}
