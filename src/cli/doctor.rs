//! `infergate doctor`: what this machine can drive, and whether a spec asks for more.

use std::path::{Path, PathBuf};

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::source::{SelectArgs, load_spec};
use crate::access::Access;
use crate::exit::Exit;
use crate::headroom::{CHECKUP_FORMAT, Checkup, Demand, Headroom, TargetLook, judge};
use crate::plan::Plan;
use crate::probe::Asking;
use crate::report;
use crate::session::{Effort, HeadroomError, Launchpad, Site, Station, look, measure_headroom};
use crate::unit::scale;

/// Measure what this machine's client can drive
///
/// Loads the embedded engine for some 20 seconds and finds the highest rate and the most streams at
/// which this client keeps every rule that makes a run valid, and its event loop wakes in time. With
/// a spec it says for each stage whether that is enough, and looks at the target without any load.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate doctor
  infergate doctor spec.yaml
  infergate doctor --json > here.json && infergate doctor spec.yaml --headroom here.json

Exit codes: 0 every stage fits · 2 spec error · 4 a stage does not fit, or nothing could be measured")]
pub(super) struct DoctorArgs {
    /// The spec, or a folder with `spec.yaml` in it
    spec: Option<PathBuf>,

    #[command(flatten)]
    select: SelectArgs,

    /// Search more coarsely: some 8 seconds
    #[arg(long)]
    quick: bool,

    /// Take the headroom from what `--json` printed on this machine before, and measure nothing
    #[arg(long, value_name = "FILE", conflicts_with = "quick")]
    headroom: Option<PathBuf>,

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
        Some(path) => Some(args.select.apply(load_spec(path, context)?)?),
        None => None,
    };
    let headroom = match &args.headroom {
        Some(path) => stored(path)?,
        None => measured(args.quick, context, interrupt).await?,
    };
    let mut checkup = Checkup {
        format: CHECKUP_FORMAT.to_owned(),
        headroom,
        spec: None,
        target: None,
        stages: Vec::new(),
    };
    if let Some(spec) = spec {
        let access = Access::read(&spec.target.connection, |name| context.variable(name));
        let demands = Demand::of(&Plan::expand(&spec));
        checkup.stages = judge(&checkup.headroom, &demands);
        checkup.target = Some(match access {
            Ok(access) => {
                let unique = context.unique("launch");
                let logs = std::env::temp_dir().join(format!("infergate-doctor-{unique}"));
                let pad = Launchpad {
                    program: context.program.clone(),
                    logs: logs.clone(),
                    access: access.clone(),
                    asking: Asking::of(&spec),
                };
                let station = Station::new(spec.target.place.clone(), "target", pad);
                let seen = look(&spec, station, &access, interrupt.stop()).await;
                // The end of a log is in the trouble that it made.
                let _ = std::fs::remove_dir_all(logs);
                seen
            }
            Err(error) => TargetLook::Trouble {
                why: error.to_string(),
            },
        });
        checkup.spec = Some(spec.name.to_string());
    }
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
    Ok(if checkup.fits() {
        Exit::Pass
    } else {
        Exit::Invalid
    })
}

fn stored(path: &Path) -> Result<Headroom, Failure> {
    let failure = |why: String| {
        Failure::usage(format!(
            "cannot read the headroom `{}`: {why}; write it with `infergate doctor --json`",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| failure(error.to_string()))?;
    let checkup: Checkup =
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
    let unique = context.unique("doctor");
    let site = Site {
        program: context.program.clone(),
        scratch: std::env::temp_dir().join(format!("infergate-doctor-{unique}")),
        unique,
        now: context.now(),
    };
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
