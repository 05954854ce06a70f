//! `infergate import`: files of other load tools, as runs.

use std::path::{Path, PathBuf};

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use super::foreign::foreign_at;
use super::member::Member;
use super::source::load_spec;
use crate::archive::{save_run, save_text};
use crate::exit::Exit;
use crate::importer::Options;
use crate::metric::Metric;
use crate::provenance::PinPath;
use crate::report;
use crate::spec::{Slo, SloClause};
use crate::summary::Run;
use crate::unit::Nanos;

/// Read result files of other load tools
///
/// Recognises each file by what is in it and shows what it says in infergate's terms: requests, good and
/// failed ones, latencies, what the tool could not tell, and what to doubt. Where a file has its requests,
/// percentiles and goodput are computed from them; else the tool's own figures stand, marked as such. A
/// folder stands for every file in it that is recognised. Files need not be imported first: `compare`,
/// `report`, `gate --candidate` and `baseline promote` read them as they are.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate import vllm.json
  infergate import run-*.json -o runs --pin engine.version=0.14.1 --pin hardware.gpu=H200
  infergate import k6.json --metric-map time_to_first_token=ttft
  infergate import profile_export.jsonl --slo ttft=300ms --slo tpot=40ms
  infergate compare --base old/*.json --candidate new/*.json
  infergate baseline promote nightly/ --reason 'nightly of Monday'   # three of them gate
  infergate import nightly/ --write-spec vllm.yaml
  infergate gate vllm.yaml --candidate new/

Exit codes: 0 imported · 2 no such file, or of no known tool")]
pub(super) struct ImportArgs {
    /// Result files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write a run file for each run into this folder
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write a spec to gate such files by: its load is what the files tell, its cells are yours to change
    #[arg(long, value_name = "SPEC")]
    write_spec: Option<PathBuf>,

    /// Print the runs as JSON
    #[arg(long)]
    json: bool,

    /// What you know of a pin, as in `engine.version=0.14.1`
    #[arg(long, value_name = "PIN=VALUE", value_parser = pin)]
    pin: Vec<(PinPath, String)>,

    /// A limit that a good request keeps, as in `ttft=300ms`; needs a file with its requests
    #[arg(long, value_name = "CLAUSE=LIMIT", value_parser = clause, conflicts_with = "slo_from")]
    slo: Vec<(SloClause, Nanos)>,

    /// What a script of k6 or Locust calls a metric, as in `custom_ttft=ttft`; times in milliseconds
    #[arg(long, value_name = "NAME=METRIC", value_parser = metric)]
    metric_map: Vec<(String, Metric)>,

    /// Take those limits from the one class of this spec
    #[arg(long, value_name = "SPEC")]
    slo_from: Option<PathBuf>,
}

pub(super) fn run(args: &ImportArgs, context: &mut Context) -> Result<Exit, Failure> {
    let options = Options {
        pins: args.pin.iter().cloned().collect(),
        slo: match &args.slo_from {
            Some(path) => slo_of(path, context)?,
            None => args.slo.iter().copied().collect(),
        },
        metrics: args.metric_map.iter().cloned().collect(),
    };
    let mut runs = Vec::new();
    for path in &args.files {
        runs.extend(foreign_at(path, &options)?);
    }
    if let Some(folder) = &args.out {
        for run in &runs {
            let path = save_run(folder, run)?;
            context.note(&format!("wrote `{}`", path.display()));
        }
    }
    if let Some(path) = &args.write_spec {
        write_spec(path, &runs, context)?;
    }
    let text = if args.json {
        let json = serde_json::to_string_pretty(&runs);
        json.map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the runs as JSON: {error}"),
            )
        })? + "\n"
    } else {
        context.paint(&report::imports::text(&runs))
    };
    context.print(&text);
    warn_of_unused(&runs, &options.slo, context);
    Ok(Exit::Pass)
}

/// Writes the spec that the files' load comes to. A file that is there already may be someone's work.
fn write_spec(path: &Path, runs: &[Run], context: &mut Context) -> Result<(), Failure> {
    let refused =
        |why: &str| Failure::usage(format!("cannot write the spec `{}`: {why}", path.display()));
    let Some((first, others)) = runs.split_first() else {
        return Err(refused("the files hold no run"));
    };
    if others
        .iter()
        .any(|run| run.spec.name != first.spec.name || !run.is_of_load(first))
    {
        return Err(refused(
            "the files are of different tools or loads; name those of one load",
        ));
    }
    if path.exists() {
        return Err(refused("it exists; name another, or remove it"));
    }
    save_text(path, &first.spec.text)?;
    context.note(&format!(
        "wrote `{}`; `infergate gate {0} --candidate FILE` judges by it",
        path.display()
    ));
    Ok(())
}

/// Says so where limits were given and no request is known that they could be held against.
fn warn_of_unused(runs: &[Run], slo: &Slo, context: &mut Context) {
    let unused = |run: &&Run| {
        run.stages
            .iter()
            .any(|stage| stage.pooled.attainment.is_none())
    };
    if !slo.is_empty() && runs.iter().any(|run| unused(&run)) {
        context.note(
            "the limits of --slo were not used where a file has no requests of its own: only the tool's summary is known",
        );
    }
}

fn slo_of(path: &Path, context: &mut Context) -> Result<Slo, Failure> {
    let spec = load_spec(&Member::of(path), context)?;
    match spec.workload.classes.as_slice() {
        [class] => Ok(class.slo.clone()),
        classes => Err(Failure::usage(format!(
            "`{}` has {} classes, and an imported file does not say which of its requests is of which; give `--slo`",
            path.display(),
            classes.len()
        ))),
    }
}

fn pin(text: &str) -> Result<(PinPath, String), String> {
    let (path, value) = parts(text, "engine.version=0.14.1")?;
    let path = path.parse::<PinPath>().map_err(|error| {
        let near = crate::diag::suggest(path, PinPath::all().map(PinPath::as_str));
        near.map_or_else(
            || error.to_string(),
            |near| format!("{error}; did you mean `{near}`?"),
        )
    })?;
    Ok((path, value.to_owned()))
}

/// Metrics that a script can measure.
const OF_SCRIPTS: [Metric; 4] = [Metric::Ttft, Metric::Tpot, Metric::Itl, Metric::E2e];

fn metric(text: &str) -> Result<(String, Metric), String> {
    let (name, metric) = parts(text, "custom_ttft=ttft")?;
    let names = || OF_SCRIPTS.iter().map(|metric| metric.name());
    let known = OF_SCRIPTS.into_iter().find(|known| known.name() == metric);
    let known = known.ok_or_else(|| {
        let all = names().collect::<Vec<_>>().join(", ");
        let near = crate::diag::suggest(metric, names());
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("a script's metric is one of {all}, and `{metric}` is none of them{near}")
    })?;
    Ok((name.to_owned(), known))
}

fn clause(text: &str) -> Result<(SloClause, Nanos), String> {
    let (name, limit) = parts(text, "ttft=300ms")?;
    let clause = SloClause::ALL
        .into_iter()
        .find(|clause| clause.name() == name);
    let names: Vec<&str> = SloClause::ALL.into_iter().map(SloClause::name).collect();
    let clause = clause.ok_or_else(|| {
        format!(
            "no limit is called `{name}`; there are {}",
            names.join(", ")
        )
    })?;
    let limit = limit
        .parse()
        .map_err(|error| format!("`{limit}` {error}"))?;
    Ok((clause, limit))
}

fn parts<'a>(text: &'a str, example: &str) -> Result<(&'a str, &'a str), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.trim(), value.trim()))
        }
        _ => Err(format!("write it as in `{example}`")),
    }
}
