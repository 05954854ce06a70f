//! `infergate export`: runs for other tools.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::baseline::runs_at;
use super::context::Context;
use super::failure::Failure;
use crate::archive::save_text;
use crate::exit::Exit;
use crate::report::export::{Exported, csv, llm_d, openmetrics, vllm};
use crate::summary::Run;

/// Views of DuckDB over an archive.
const DUCKDB: &str = include_str!("../../sql/infergate.sql");
/// The folder that they read, as they say it.
const FOLDER: &str = "baselines";

/// Write runs for other tools
///
/// CSV is a line a cell with its unit, sample count and definition; OpenMetrics is a sample a cell at the
/// instant at which its run began. Values are those that gates judge: in percentiles every failed
/// request counts as infinitely slow. For DuckDB it prints views over the archive as it lies. Judges
/// nothing.
///
/// `vllm` and `llm-d` are the result files of `vllm bench serve` and of llm-d's benchmarks, one for each stage
/// of each run, so that what reads those goes on. Their percentiles are of completed requests, as the tools'
/// are, with the failed ones counted beside them. A stage that is invalid, cut off, untrusted or another
/// tool's is left out and named: those files have no word for that. `infergate import` reads a vLLM file of
/// ours as what it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate export infergate-out/chat-8b-20261129T191243Z-1f3a --format csv > cells.csv
  infergate export baselines/chat-8b/nvidia-h200-vllm-1f3a9c0e --format openmetrics > chat-8b.om
  infergate export infergate-out/chat-8b-20261129T191243Z-1f3a --format vllm --dir results
  infergate export --format duckdb > infergate.sql
  promtool tsdb create-blocks-from openmetrics chat-8b.om data

Exit codes: 0 written · 2 no such run")]
pub(super) struct ExportArgs {
    /// Run files, or folders of sessions or of a baseline's environment
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,

    /// What to write
    #[arg(long, value_enum)]
    format: Format,

    /// Folder for the files of `vllm` and `llm-d`, a file each; without it they go to standard output,
    /// several vLLM results a line each
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Folder of promoted baselines that the views read
    #[arg(long, default_value = FOLDER, value_name = "DIR")]
    baselines: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line a cell
    Csv,
    /// OpenMetrics text 1.0
    Openmetrics,
    /// JSON as `vllm bench serve --save-result` writes it
    Vllm,
    /// Benchmark report 0.2 of llm-d, as YAML
    LlmD,
    /// SQL that makes the views `infergate_runs`, a run a row, and `infergate_cells`, a cell a row
    Duckdb,
}

pub(super) fn run(args: &ExportArgs, context: &mut Context) -> Result<Exit, Failure> {
    if args.dir.is_some() && !matches!(args.format, Format::Vllm | Format::LlmD) {
        return Err(Failure::usage(
            "`--dir` is for `--format vllm` and `llm-d`, which are many files; send others where you like by `>`",
        ));
    }
    let text = match args.format {
        Format::Vllm => results(args, vllm(&runs(args)?), context)?,
        Format::LlmD => results(args, llm_d(&runs(args)?), context)?,
        Format::Csv => csv(&runs(args)?),
        Format::Openmetrics => openmetrics(&runs(args)?),
        Format::Duckdb if args.runs.is_empty() => views(&args.baselines.to_string_lossy())?,
        Format::Duckdb => {
            return Err(Failure::usage(
                "views read the whole archive: leave the runs out, and name the archive by `--baselines`",
            ));
        }
    };
    context.print(&text);
    Ok(Exit::Pass)
}

/// The named runs, each once, by time.
fn runs(args: &ExportArgs) -> Result<Vec<Run>, Failure> {
    if args.runs.is_empty() {
        return Err(Failure::usage(
            "name what to export: run files, or folders of sessions or of a baseline's environment",
        ));
    }
    let mut runs = Vec::new();
    for path in &args.runs {
        runs.append(&mut runs_at(path)?);
    }
    runs.sort_by(|a, b| a.started.cmp(&b.started).then_with(|| a.id.cmp(&b.id)));
    runs.dedup_by(|a, b| a.id == b.id);
    Ok(runs)
}

/// Writes results into their folder, or gives what to print of them.
fn results(
    args: &ExportArgs,
    exported: Exported,
    context: &mut Context,
) -> Result<String, Failure> {
    for left in &exported.left_out {
        context.note(&format!("left out {left}"));
    }
    let Exported { files, left_out } = exported;
    if files.is_empty() {
        return Err(Failure::usage(format!(
            "nothing to export: {}",
            left_out.first().map_or(
                "the runs have no stage",
                |_| "each stage was left out, as said above"
            )
        )));
    }
    let is_llm_d = args.format == Format::LlmD;
    let Some(folder) = &args.dir else {
        if is_llm_d && files.len() > 1 {
            return Err(Failure::usage(format!(
                "{} reports do not fit in one file of llm-d; name a folder for them by `--dir`",
                files.len()
            )));
        }
        return Ok(files.into_iter().map(|file| file.text).collect());
    };
    let ending = if is_llm_d { "yaml" } else { "json" };
    for file in &files {
        let path = folder.join(format!("{}.{ending}", file.stem));
        save_text(&path, &file.text)?;
        context.note(&format!("wrote {}", path.display()));
    }
    Ok(String::new())
}

/// The views over a folder; one that a pattern or a quoted text would read otherwise is refused.
fn views(folder: &str) -> Result<String, Failure> {
    if folder.contains(['*', '?', '[', ']', '{', '}', '\n']) {
        return Err(Failure::usage(format!(
            "DuckDB would read the folder `{}` as a pattern; give one without `*?[]{{}}`",
            folder.escape_debug()
        )));
    }
    let folder = folder.trim_end_matches('/').replace('\'', "''");
    Ok(DUCKDB.replace(&format!("'{FOLDER}/**"), &format!("'{folder}/**")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_views_read_the_folder_that_was_named() {
        let views = |folder: &str| views(folder).map_err(|failure| failure.render());
        assert_eq!(views("baselines").unwrap(), DUCKDB);
        let other = views("it's/here/").unwrap();
        assert!(other.contains("'it''s/here/**/runs/*.json'"), "{other}");
        assert!(views("a*").unwrap_err().contains("pattern"));
    }
}
