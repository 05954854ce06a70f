//! Sessions of runs of one target, for the noise that they show.

use std::path::Path;

use super::NoiseArgs;
use crate::baseline::{Keeper, MeasuredSession, keep_noise};
use crate::cli::ab::pairs::{fault, set_aside};
use crate::cli::archive::nothing_lost;
use crate::cli::budget::Ledger;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Interrupt;
use crate::cli::origin::source_of;
use crate::cli::run::ending;
use crate::cli::sitting::{CliSitting, open_sitting};
use crate::exit::Exit;
use crate::provenance::Pins;
use crate::session::Station;
use crate::spec::{Spec, TargetPlace};
use crate::summary::Run;

/// How often a run is taken again when the client spoilt it.
const RETAKES: u32 = 2;
/// Runs under which a session shows no noise.
const LEAST_RUNS: usize = 2;

/// Takes the sessions and keeps each as soon as it is whole. What came before an interruption or a
/// failure stays, as far as it shows noise. Returns the target's pins.
pub(super) async fn take(
    args: &NoiseArgs,
    path: &Path,
    spec: &Spec,
    keeper: &Keeper,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Pins, Failure> {
    if matches!(spec.target.place, TargetPlace::Urls(_)) {
        context.note(
            "the target runs already and is not started anew between sessions: what a restart adds to \
             the noise does not show",
        );
    }
    let places = [&spec.target.place];
    let locks = args.lock.hold(spec, &places, false, context, interrupt);
    let _locks = locks.await?;
    let mut pins = Pins::new();
    let mut ledger = None;
    for number in 1..=args.sessions {
        let of = args.sessions;
        context.note(&format!("session {number} of {of}"));
        let mut sitting = open_sitting(spec, &args.out, context)?;
        sitting.stamp(source_of(path, context));
        let ledger = ledger.get_or_insert_with(|| Ledger::open(spec, sitting.plan(), [], context));
        if let Some(why) = ledger.stops(args.repeats, context) {
            return Err(Failure::new(
                Exit::Undecided,
                format!("{why}; {} of {of} sessions are kept", number - 1),
            ));
        }
        let mut station = sitting.station(spec.target.place.clone(), "target", context);
        let mut runs = Vec::new();
        let outcome = fill(
            &mut runs,
            &mut sitting,
            &mut station,
            args,
            context,
            interrupt,
        )
        .await;
        station.down().await;
        for run in &runs {
            ledger.took(run);
        }
        if runs.len() >= LEAST_RUNS {
            let session = MeasuredSession {
                runs: &runs,
                is_gated: &|stage| spec.gate.repeats_stage(stage),
                under_test: &spec.under_test,
                now: &context.now(),
            };
            let kept = keeper.keep(|shelf| keep_noise(shelf, session));
            let kept = kept.map_err(|error| nothing_lost(error, sitting.folder()))?;
            context.note(&format!(
                "kept {} runs for their noise in `{}`",
                runs.len(),
                keeper.describe(&kept.folder)
            ));
        }
        pins = outcome?;
    }
    Ok(pins)
}

/// Takes the runs of one session; those that are left in `runs` are whole. Returns the target's pins.
async fn fill(
    runs: &mut Vec<Run>,
    sitting: &mut CliSitting,
    station: &mut Station,
    args: &NoiseArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Pins, Failure> {
    let of = args.repeats;
    let target = station.up(interrupt.stop()).await?;
    let pins = sitting.observe(target, interrupt).await?;
    let mut retaken = 0;
    while (runs.len() as u32) < of {
        context.note(&format!("run {} of {of}", runs.len() + 1));
        // A launched engine is started for each run, as it is for those of a comparison.
        let target = station.up(interrupt.stop()).await?;
        let measured = sitting
            .measure(target, None, false, context, interrupt)
            .await?;
        station.rest().await;
        if interrupt.asked() {
            return Err(Failure::new(
                Exit::Invalid,
                format!(
                    "interrupted; what is whole is kept, the runs are in `{}`",
                    sitting.folder().display()
                ),
            ));
        }
        match fault(&measured.run) {
            Some(what) if retaken < RETAKES => {
                retaken += 1;
                context.note(&format!("the run is taken again: {what}"));
                set_aside(sitting, &measured.run)?;
            }
            _ if ending(&measured.run) == Exit::Pass => {
                retaken = 0;
                runs.push(measured.run);
            }
            fault => {
                let why = fault.unwrap_or("the target was lost, or did not do what was planned");
                return Err(Failure::new(
                    Exit::Invalid,
                    format!(
                        "run `{}` shows no noise: {why}; `infergate report {}` says more",
                        measured.run.id,
                        measured.path.display()
                    ),
                ));
            }
        }
    }
    Ok(pins)
}
