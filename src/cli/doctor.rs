//! `infergate doctor`: what this machine can drive, whether a spec asks for more, and what is in the way
//! of its runs.

mod checks;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;

use super::archive::ArchiveArgs;
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::member::Member;
use super::source::{SelectArgs, load_spec};
use crate::access::Access;
use crate::checkup::{self, CHECKUP_FORMAT, Checkup, Finding, Topic};
use crate::exit::Exit;
use crate::headroom::{Demand, Headroom, judge};
use crate::plan::Plan;
use crate::probe::Asking;
use crate::provenance::Pins;
use crate::report;
use crate::session::{Effort, HeadroomError, Launchpad, Site, Station, look, measure_headroom};
use crate::spec::Spec;
use crate::unit::scale;

/// Find what is in the way of a run
///
/// Loads the embedded engine for some 20 seconds and finds the highest rate and the most streams at
/// which this client keeps every rule that makes a run valid, and its event loop wakes in time. With
/// a spec it says for each stage whether that is enough. It also asks the spec's target what it is,
/// sends it a few short requests (does it stream, count its tokens, keep to the lengths asked for?),
/// and looks at pins, archive, machine and CI. Each thing found has what to do about it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate doctor
  infergate doctor spec.yaml
  infergate doctor --json > here.json && infergate doctor spec.yaml --headroom here.json

Exit codes: 0 nothing is in the way · 2 spec error · 4 trouble, or a stage that does not fit")]
pub(super) struct DoctorArgs {
    /// The spec, or a folder with `spec.yaml` in it
    spec: Option<PathBuf>,

    #[command(flatten)]
    select: SelectArgs,

    /// Search more coarsely: some 8 seconds
    #[arg(long)]
    quick: bool,

    /// Take the headroom from what `--json` printed on this machine before, and measure none
    #[arg(long, value_name = "FILE", conflicts_with = "quick")]
    headroom: Option<PathBuf>,

    #[command(flatten)]
    archive: ArchiveArgs,

    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(
    args: DoctorArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let spec = match &args.spec {
        Some(path) => Some(args.select.apply(load_spec(&Member::of(path), context)?)?),
        None => None,
    };
    let stored = match &args.headroom {
        Some(path) => Some(stored(path)?),
        None => None,
    };
    let mut findings = Vec::new();
    if let Some(spec) = &spec {
        let plan = Plan::expand(spec);
        findings.extend(target(spec, &plan, context, interrupt).await);
        let shelf = args.archive.open(Some(spec), context)?;
        findings.extend(checks::archive(spec, &plan, &shelf, context)?);
    }
    findings.extend(checks::machine(spec.as_ref()));
    findings.extend(checks::job(context));
    let headroom = match stored {
        Some(headroom) => headroom,
        None => measured(args.quick, context, interrupt).await?,
    };
    findings.extend(checkup::cpu_allowance(&headroom.machine));
    findings.sort_by_key(|finding| finding.topic);
    let demands = spec.as_ref().map(|spec| Demand::of(&Plan::expand(spec)));
    let checkup = Checkup {
        format: CHECKUP_FORMAT.to_owned(),
        stages: judge(&headroom, &demands.unwrap_or_default()),
        headroom,
        spec: spec.map(|spec| spec.name.to_string()),
        findings,
    };
    let text = if args.json {
        serde_json::to_string_pretty(&checkup).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the checkup as JSON: {error}"),
            )
        })? + "\n"
    } else {
        context.paint(&report::doctor::doctor(&checkup))
    };
    context.print(&text);
    Ok(if checkup.is_well() {
        Exit::Pass
    } else {
        Exit::Invalid
    })
}

/// What the spec's target shows, and what its engine takes of the plan.
async fn target(
    spec: &Spec,
    plan: &Plan,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Vec<Finding> {
    let refused = |why: String| {
        vec![Finding::trouble(
            Topic::Endpoint,
            format!("the target was not asked: {why}"),
            "no run can be taken",
            "see to what is said there, then ask again",
        )]
    };
    let access = match Access::read(&spec.target.connection, |name| context.variable(name)) {
        Ok(access) => access,
        Err(error) => return refused(error.to_string()),
    };
    context.note("asking the target, and sending it a few short requests");
    let site = site(context);
    let logs = site.scratch.with_extension("logs");
    let pad = Launchpad {
        program: site.program.clone(),
        logs: logs.clone(),
        access: access.clone(),
        asking: Asking::of(spec),
    };
    let station = Station::new(spec.target.place.clone(), "target", pad);
    let exam = look(spec, station, &access, &site, interrupt.stop()).await;
    // The end of a log is in the trouble that it made.
    let _ = std::fs::remove_dir_all(logs);
    let exam = match exam {
        Ok(exam) => exam,
        Err(why) => return refused(why),
    };
    let mut found = checkup::target(spec, &exam);
    let unknown = Pins::new();
    let pins = exam.seen.as_ref().map_or(&unknown, |seen| &seen.pins);
    found.extend(checkup::capacity(spec, plan, pins));
    found
}

fn site(context: &Context) -> Site {
    let unique = context.unique("doctor");
    Site {
        program: context.program.clone(),
        scratch: std::env::temp_dir().join(format!("infergate-doctor-{unique}")),
        unique,
        now: context.now(),
    }
}

/// What is read of a checkup that was printed before.
#[derive(Deserialize)]
struct Stored {
    format: String,
    headroom: Headroom,
}

fn stored(path: &Path) -> Result<Headroom, Failure> {
    let failure = |why: String| {
        Failure::usage(format!(
            "cannot read the headroom `{}`: {why}; write it with `infergate doctor --json`",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| failure(error.to_string()))?;
    let checkup: Stored =
        serde_json::from_str(&text).map_err(|error| failure(error.to_string()))?;
    if checkup.format == CHECKUP_FORMAT {
        Ok(checkup.headroom)
    } else {
        Err(failure(format!(
            "its format is `{}` and not `{CHECKUP_FORMAT}`",
            checkup.format
        )))
    }
}

async fn measured(
    quick: bool,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Headroom, Failure> {
    let site = site(context);
    let effort = if quick { Effort::QUICK } else { Effort::USUAL };
    context.note("measuring what this machine's client can drive");
    let stop = interrupt.stop();
    let measured = measure_headroom(&site, effort, &stop, |load, unit| {
        let load = scale::count(load.round() as u64);
        context.note(&format!("  trying {load} {unit}"));
    });
    measured.await.map_err(|error| match error {
        HeadroomError::Target(error) => error.into(),
        HeadroomError::Measure(error) => error.into(),
        error @ HeadroomError::Interrupted => Failure::new(Exit::Invalid, error.to_string()),
    })
}
