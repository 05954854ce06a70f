//! `infergate capacity`: what runs say of a server's capacity, and how it changed.

use std::path::{Path, PathBuf};

use clap::Args;

use super::baseline::{kept_baseline, runs_at};
use super::context::Context;
use super::failure::Failure;
use super::look::LangArgs;
use super::report::is_report;
use super::source::read_file;
use crate::capacity::{self, Capacity, CapacityFile, Compared, Memory, ModelInMemory, ModelShape};
use crate::exit::Exit;
use crate::report;
use crate::summary::{Run, Side};

/// Knee, load within the SLO, replicas for a peak, KV cache and cost, from runs with a sweep
///
/// Reads what was measured and judges nothing: it exits 0 whatever it says. The session of an `ab` or
/// `gate`, or two paths, give both sides and what changed, with intervals. The declared peak, the factors and the
/// price are the spec's: `capacity: {peak: 50/s, redundancy: 1.3}`, `cost: {gpu_hour: 3.50, currency: USD}`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate capacity infergate-out/chat-8b-20261129T191243Z-1f3a
  infergate capacity infergate-out/before infergate-out/after --markdown --lang zh > capacity.md
  infergate capacity infergate-out/chat-8b-20261129T191243Z-1f3a --json | jq .capacity.carries
  infergate capacity RUN.json --model-config config.json --gpu-memory 80 --weights 16.1 --activation 2

Exit codes: 0 printed · 2 no run there, or no model's configuration")]
pub(super) struct CapacityArgs {
    /// A run file, the folder of a session, or the `report.json` in one
    path: PathBuf,

    /// The same of what it is held against: PATH is before, OTHER after
    other: Option<PathBuf>,

    /// Print JSON (its schema: `infergate schema capacity`)
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print Markdown, for a job summary
    #[arg(long)]
    markdown: bool,

    #[command(flatten)]
    lang: LangArgs,

    #[command(flatten)]
    model: ModelArgs,
}

/// What the KV cache follows from where the engine does not report its blocks.
#[derive(Debug, Args)]
struct ModelArgs {
    /// The model's `config.json`
    #[arg(long, value_name = "FILE", requires_all = ["gpu_memory", "weights"])]
    model_config: Option<PathBuf>,

    /// Memory of one GPU, in GB (10⁹ bytes)
    #[arg(long, value_name = "GB", value_parser = gigabytes, requires = "model_config")]
    gpu_memory: Option<f64>,

    /// Weights on one GPU, in GB
    #[arg(long, value_name = "GB", value_parser = gigabytes, requires = "model_config")]
    weights: Option<f64>,

    /// Activations and all else on one GPU, in GB
    #[arg(long, value_name = "GB", value_parser = gigabytes, default_value = "2")]
    activation: f64,

    /// Share of the memory that the engine may use; what it reports, else 0.9
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "model_config")]
    utilization: Option<f64>,
}

fn gigabytes(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let fits = (0.0..=1e6).contains(&value);
    fits.then_some(value * 1e9)
        .ok_or_else(|| "it must be from 0 to 1,000,000".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let fits = value > 0.0 && value <= 1.0;
    fits.then_some(value)
        .ok_or_else(|| "it must be above 0 and at most 1".to_owned())
}

pub(super) fn run(args: &CapacityArgs, context: &mut Context) -> Result<Exit, Failure> {
    let (before, after) = match &args.other {
        Some(other) => (Some(one_side(&args.path)?), one_side(other)?),
        None => sides(&args.path)?,
    };
    let read = |runs: &[Run]| -> Result<Capacity, Failure> {
        let model = args.model.of(runs)?;
        Ok(capacity::read(runs, model.as_ref()))
    };
    let after = read(&after)?;
    let text = match before {
        None => {
            let model = report::capacity::of_one(&after);
            args.print(&model, context, || CapacityFile::of_one(after))?
        }
        Some(before) => {
            let compared = Compared::of(read(&before)?, after);
            let model = report::capacity::of_both(&compared);
            args.print(&model, context, || CapacityFile::of_both(compared))?
        }
    };
    context.print(&text);
    Ok(Exit::Pass)
}

impl CapacityArgs {
    fn print(
        &self,
        model: &report::capacity::CapacityModel,
        context: &Context,
        file: impl FnOnce() -> CapacityFile,
    ) -> Result<String, Failure> {
        let lang = self.lang.find(context)?;
        if self.markdown {
            return Ok(report::capacity::markdown(model, lang));
        }
        if !self.json {
            return Ok(context.paint(&report::capacity::text(model, lang)));
        }
        let text = serde_json::to_string_pretty(&file());
        text.map(|text| text + "\n").map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the capacity as JSON: {error}"),
            )
        })
    }
}

impl ModelArgs {
    /// The model in the memory of a GPU; `None` where none was given.
    fn of(&self, runs: &[Run]) -> Result<Option<ModelInMemory>, Failure> {
        let (Some(path), Some(bytes), Some(weights)) =
            (&self.model_config, self.gpu_memory, self.weights)
        else {
            return Ok(None);
        };
        let wrong = |why: String| Failure::usage(format!("`{}` {why}", path.display()));
        let text = read_file(path).map_err(|why| wrong(format!("cannot be read: {why}")))?;
        let shape = ModelShape::parse(&text).map_err(|error| wrong(error.to_string()))?;
        let reported = || {
            let path = "limits.gpu_memory_utilization".parse().ok()?;
            runs.first()?.pins.get(&path)?.value()?.parse().ok()
        };
        Ok(Some(ModelInMemory {
            shape,
            memory: Memory {
                bytes,
                utilization: self.utilization.or_else(reported).unwrap_or(0.9),
                weights,
                activation: self.activation,
            },
        }))
    }
}

/// The runs of a path; of a session with two sides the earlier ones too.
fn sides(path: &Path) -> Result<(Option<Vec<Run>>, Vec<Run>), Failure> {
    let folder = folder_of(path);
    let runs = runs_at(&folder)?;
    let kept = kept_baseline(&folder)?;
    if !kept.is_empty() {
        return Ok((Some(kept), runs));
    }
    let (candidate, others): (Vec<Run>, Vec<Run>) = runs
        .into_iter()
        .partition(|run| run.side == Some(Side::Candidate));
    let (before, after) = match (candidate.is_empty(), others.is_empty()) {
        (false, false) => (Some(others), candidate),
        (false, true) => (None, candidate),
        (true, _) => (None, others),
    };
    if after.is_empty() {
        return Err(Failure::usage(format!("`{}` has no run", path.display())));
    }
    Ok((before, after))
}

/// The runs of one path of two: of a session with two sides those under test.
fn one_side(path: &Path) -> Result<Vec<Run>, Failure> {
    Ok(sides(path)?.1)
}

/// The session that a report lies in.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if is_report(path) => parent.to_owned(),
        _ => path.to_owned(),
    }
}
