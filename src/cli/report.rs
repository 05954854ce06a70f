//! `infergate report`: a run or a session rendered again.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::base::{judged_as, kept_stamp};
use super::baseline::{kept_archive, kept_baseline, runs_at};
use super::context::Context;
use super::failure::Failure;
use super::judge::Evidence;
use super::run::layers::as_json;
use super::source::embedded_spec;
use super::standing::Standing;
use crate::archive::save_text;
use crate::exit::Exit;
use crate::layers::side_by_side;
use crate::report;
use crate::summary::{Run, Side};

/// Render a run or a session again
///
/// A run file gives the figures of that run; the folder of an `ab` or `gate` session gives
/// its comparison, that of a `run` of two layers both side by side.
/// Rendering judges nothing anew for CI: it exits 0 whatever the report says.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate report infergate-out/chat-8b-20261129T191243Z-1f3a > report.md
  infergate report infergate-out/chat-8b-20261129T191243Z-1f3a --html report.html
  infergate report runs/20261129T191243Z-ab12cd34ef56-1f3a.json --format text")]
pub(super) struct ReportArgs {
    /// A run file, or the folder of a session
    path: PathBuf,

    /// What to print
    #[arg(long, value_enum, default_value = "markdown")]
    format: Format,

    /// Write a page into this file instead: whole in itself, with plots and tables
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    html: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a pull request
    Markdown,
    /// For a terminal
    Text,
    /// For a machine
    Json,
}

pub(super) fn run(args: &ReportArgs, context: &mut Context) -> Result<Exit, Failure> {
    let runs = runs_at(&args.path)?;
    let kept = kept_baseline(&args.path)?;
    let text = if !kept.is_empty() {
        comparison(kept, runs, args, context)?
    } else if runs.iter().any(|run| run.side == Some(Side::Candidate)) {
        let (candidate, baseline) = runs
            .into_iter()
            .partition(|run| run.side == Some(Side::Candidate));
        comparison(baseline, candidate, args, context)?
    } else if args.html.is_some() {
        report::html::run(&runs)
    } else if let Some(layers) = side_by_side(&runs) {
        let model = report::layers::build(&layers);
        match args.format {
            Format::Markdown => report::layers::markdown(&model),
            Format::Text => context.paint(&report::layers::text(&model)),
            Format::Json => as_json(&layers)?,
        }
    } else {
        let mut text = String::new();
        for run in &runs {
            text.push_str(&single(run, args.format, context)?);
        }
        text
    };
    match &args.html {
        Some(path) => {
            save_text(path, &text)?;
            context.note(&format!("wrote `{}`", path.display()));
        }
        None => context.print(&text),
    }
    Ok(Exit::Pass)
}

fn comparison(
    baseline: Vec<Run>,
    candidate: Vec<Run>,
    args: &ReportArgs,
    context: &Context,
) -> Result<String, Failure> {
    let Some(first) = candidate.first().or(baseline.first()) else {
        return Err(Failure::usage("there is no run to report"));
    };
    let mut spec = embedded_spec(&first.spec, context)?;
    judged_as(&args.path, first, &mut spec, context)?;
    let evidence = Evidence {
        baseline,
        candidate,
        archive: kept_archive(&args.path)?,
        base: kept_stamp(&args.path)?,
        standing: Standing::read(&args.path)?,
    };
    let judgement = evidence.judge(&spec);
    let sides = report::Sides {
        title: spec.name.as_str(),
        baseline: &evidence.baseline,
        candidate: &evidence.candidate,
        reproduce: &[format!("infergate compare {}", args.path.display())],
    };
    if args.html.is_some() {
        return Ok(report::html::comparison(&judgement, &sides));
    }
    let model = report::build(&judgement, &sides);
    Ok(match args.format {
        Format::Markdown => report::markdown::report(&model),
        Format::Text => context.paint(&report::text::report(&model)),
        Format::Json => report::json::ReportFile::new(&judgement, &sides).render(),
    })
}

fn single(run: &Run, format: Format, context: &Context) -> Result<String, Failure> {
    let model = report::run::build(run);
    Ok(match format {
        Format::Markdown => report::markdown::run(&model),
        Format::Text => context.paint(&report::text::run(&model)),
        Format::Json => {
            serde_json::to_string_pretty(run).map_err(|error| {
                Failure::new(
                    Exit::Invalid,
                    format!("cannot write the run as JSON: {error}"),
                )
            })? + "\n"
        }
    })
}
