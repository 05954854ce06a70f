//! `infergate report`: a run, a session or report files rendered again.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::base::{judged_as, kept_stamp};
use super::baseline::{kept_archive, kept_baseline, runs_at};
use super::compare::kept_places;
use super::context::Context;
use super::failure::Failure;
use super::judge::Evidence;
use super::look::{Look, LookArgs};
use super::run::layers::as_json;
use super::source::{embedded_spec, read_file};
use super::standing::Standing;
use crate::archive::save_text;
use crate::exit::Exit;
use crate::layers::side_by_side;
use crate::report::export::openmetrics;
use crate::report::json::ReportFile;
use crate::report::template::Kind;
use crate::report::{self, suite};
use crate::summary::{Run, Side};

/// Render runs, sessions or reports again
///
/// A run file gives the figures of that run; the folder of an `ab` or `gate` session, or the
/// `report.json` that it wrote, gives its comparison; that of a `run` of two layers gives both side
/// by side. Several sessions or reports give one report: the worst verdict, a line a spec, all
/// failing cells first. Rendering judges nothing anew for CI: it exits 0 whatever the report says.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate report infergate-out/chat-8b-20261129T191243Z-1f3a > report.md
  infergate report infergate-out/*/report.json --limit 65000      one comment of many specs
  infergate report infergate-out/chat-8b-20261129T191243Z-1f3a --html report.html
  infergate report new/report.json --diff old/report.json         what changed on the candidate's side
  infergate report runs/20261129T191243Z-ab12cd34ef56-1f3a.json --format text")]
pub(super) struct ReportArgs {
    /// A run file, the folder of a session, or a `report.json`; several of the latter two
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// What to print
    #[arg(long, value_enum, default_value = "markdown")]
    format: Format,

    /// Most UTF-16 code units of a comparison as Markdown: whole sections are left out to keep it,
    /// never a failing row while any other text is left
    #[arg(long, value_name = "N", conflicts_with = "html")]
    limit: Option<usize>,

    /// Show instead what changed from this report's or session's candidate to that of PATH, by their
    /// pins, as a unified diff
    #[arg(long, value_name = "OLD", conflicts_with_all = ["html", "limit"])]
    diff: Option<PathBuf>,

    /// Write a page into this file instead: whole in itself, with plots and tables
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    html: Option<PathBuf>,

    #[command(flatten)]
    look: LookArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For a pull request
    Markdown,
    /// For a terminal
    Text,
    /// For a machine
    Json,
    /// For the test report of any CI; of comparisons
    Junit,
    /// For Prometheus and for GitLab's metrics reports
    Openmetrics,
}

pub(super) fn run(args: &ReportArgs, context: &mut Context) -> Result<Exit, Failure> {
    let look = found(args, context)?;
    if let Some(old) = &args.diff {
        let text = differences(old, args, context)?;
        context.print(&text);
        return Ok(Exit::Pass);
    }
    let text = match args.paths.as_slice() {
        [path] if !is_report(path) => of_runs(path, args, &look, context)?,
        paths => {
            let mut reports = Vec::new();
            for path in paths {
                reports.extend(reports_at(path, context)?);
            }
            of_reports(&reports, args, &look, context)?
        }
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

/// How the report is written. A template stands for Markdown, and only Markdown can be cut to a limit.
fn found(args: &ReportArgs, context: &Context) -> Result<Look, Failure> {
    let look = args.look.find_any(context)?;
    let alone = args.diff.is_none() && args.html.is_none() && args.format == Format::Markdown;
    match look.kind() {
        Some(_) if !alone => Err(Failure::usage(
            "`--template` says what the report looks like, so it takes no other `--format`, nor `--html` or `--diff`",
        )),
        Some(Kind::Html | Kind::Plain) if args.limit.is_some() => Err(Failure::usage(
            "`--limit` is of Markdown; leave it out, or let the template's name end in `.md.j2`",
        )),
        _ => Ok(look),
    }
}

/// What changed from one report's pins to another's.
fn differences(old: &Path, args: &ReportArgs, context: &Context) -> Result<String, Failure> {
    let one = |path: &Path| match &reports_at(path, context)?[..] {
        [report] => Ok(report.clone()),
        _ => Err(Failure::usage(format!(
            "`{}` holds several reports; `--diff` compares two",
            path.display()
        ))),
    };
    let [new] = &args.paths[..] else {
        return Err(Failure::usage(
            "`--diff` compares two reports: name one PATH",
        ));
    };
    Ok(match report::textdiff::between(&one(old)?, &one(new)?) {
        None => "No pin differs.\n".to_owned(),
        Some(diff) if args.format == Format::Markdown => report::textdiff::fenced(&diff),
        Some(diff) => diff,
    })
}

/// Whether a path is a file that says it is a report.
pub(super) fn is_report(path: &Path) -> bool {
    path.is_file() && read_file(path).is_ok_and(|text| suite::is_one(&text))
}

/// The reports in a file, of one spec or of several.
pub(super) fn read_reports(path: &Path) -> Result<Vec<ReportFile>, Failure> {
    let wrong = |why: String| Failure::usage(format!("`{}` {why}", path.display()));
    let text = read_file(path).map_err(|why| wrong(format!("cannot be read: {why}")))?;
    suite::read(&text).map_err(|error| wrong(error.to_string()))
}

/// The report of a session, judged again from its runs; or those in a file.
fn reports_at(path: &Path, context: &Context) -> Result<Vec<ReportFile>, Failure> {
    if path.is_file() {
        return read_reports(path);
    }
    let runs = runs_at(path)?;
    match both_sides(path, runs)? {
        Ok((baseline, candidate)) => {
            let compared = Compared::of(path, baseline, candidate, context)?;
            Ok(vec![compared.file(path)])
        }
        Err(_) => Err(Failure::usage(format!(
            "`{}` is no session of `ab` or `gate`; of several paths each is one, or a `report.json`",
            path.display()
        ))),
    }
}

fn of_reports(
    reports: &[ReportFile],
    args: &ReportArgs,
    look: &Look,
    context: &mut Context,
) -> Result<String, Failure> {
    look.warn(reports, context);
    if args.html.is_some() {
        return match reports {
            [report] => Ok(report::html::of_file(report)),
            _ => Err(Failure::usage(
                "a page is of one comparison; give `--html` one session or `report.json`",
            )),
        };
    }
    Ok(match args.format {
        Format::Markdown => look.markdown(reports, args.limit.unwrap_or(usize::MAX)),
        Format::Text => context.paint(&look.lines(reports)),
        Format::Json => match reports {
            [report] => report.render(),
            reports => suite::SuiteFile::new(reports).render(),
        },
        Format::Junit => report::junit::render(reports),
        Format::Openmetrics => report::metrics::openmetrics(reports),
    })
}

/// A run, a session or two layers, from their runs.
fn of_runs(
    path: &Path,
    args: &ReportArgs,
    look: &Look,
    context: &mut Context,
) -> Result<String, Failure> {
    let runs = match both_sides(path, runs_at(path)?)? {
        Ok((baseline, candidate)) => {
            let compared = Compared::of(path, baseline, candidate, context)?;
            return of_reports(&[compared.file(path)], args, look, context);
        }
        Err(runs) => runs,
    };
    if look.kind().is_some() {
        return Err(Failure::usage(format!(
            "`{}` is no comparison, and `--template` is of comparisons; name a session of `ab` or `gate`, or its \
             `report.json`",
            path.display()
        )));
    }
    if args.html.is_some() {
        return Ok(report::html::run(&runs));
    }
    if let Some(layers) = side_by_side(&runs) {
        let model = report::layers::build(&layers);
        return Ok(match args.format {
            Format::Markdown => report::layers::markdown(&model),
            Format::Text => context.paint(&report::layers::text(&model)),
            Format::Json => as_json(&layers)?,
            Format::Junit => return Err(no_verdict()),
            Format::Openmetrics => openmetrics(&runs),
        });
    }
    if args.format == Format::Openmetrics {
        return Ok(openmetrics(&runs));
    }
    let each = runs.iter().map(|run| single(run, args.format, context));
    each.collect()
}

/// Runs of a baseline and of a candidate.
type BothSides = (Vec<Run>, Vec<Run>);

/// Both sides of a session of `ab` or `gate`; the runs themselves where they are none.
fn both_sides(path: &Path, runs: Vec<Run>) -> Result<Result<BothSides, Vec<Run>>, Failure> {
    let kept = kept_baseline(path)?;
    if !kept.is_empty() {
        return Ok(Ok((kept, runs)));
    }
    if !runs.iter().any(|run| run.side == Some(Side::Candidate)) {
        return Ok(Err(runs));
    }
    let (candidate, baseline) = runs
        .into_iter()
        .partition(|run| run.side == Some(Side::Candidate));
    Ok(Ok((baseline, candidate)))
}

/// A session that is judged again.
struct Compared {
    title: String,
    evidence: Evidence,
    judgement: crate::verdict::Judgement,
}

impl Compared {
    fn of(
        path: &Path,
        baseline: Vec<Run>,
        candidate: Vec<Run>,
        context: &Context,
    ) -> Result<Self, Failure> {
        let Some(first) = candidate.first().or(baseline.first()) else {
            return Err(Failure::usage("there is no run to report"));
        };
        let mut spec = embedded_spec(&first.spec, context)?;
        judged_as(path, first, &mut spec, context)?;
        let evidence = Evidence {
            baseline,
            candidate,
            archive: kept_archive(path)?,
            base: kept_stamp(path)?,
            standing: Standing::read(path)?,
        };
        let judgement = evidence.judge(&spec);
        Ok(Self {
            title: spec.name.as_str().to_owned(),
            evidence,
            judgement,
        })
    }

    fn file(&self, path: &Path) -> ReportFile {
        let sides = report::Sides {
            title: &self.title,
            baseline: &self.evidence.baseline,
            candidate: &self.evidence.candidate,
            reproduce: &[format!("infergate compare {}", path.display())],
            places: &kept_places(path),
        };
        ReportFile::new(&self.judgement, &sides)
    }
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
        Format::Junit => return Err(no_verdict()),
        Format::Openmetrics => openmetrics(std::slice::from_ref(run)),
    })
}

fn no_verdict() -> Failure {
    Failure::usage(
        "JUnit has test cases of a verdict, and runs have none; name a session of `ab` or `gate`, or its `report.json`",
    )
}
