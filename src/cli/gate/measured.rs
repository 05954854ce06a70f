//! `gate --candidate`: the same judgement of runs that were measured before, by another job or on another
//! day. Nothing is sent to any target.

use super::GateArgs;
use super::ground::{Groundless, Wanted, ground, keep_ground};
use crate::cli::base::file_of;
use crate::cli::baseline::runs_at;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::sitting::{keep, new_session};
use crate::cli::source::load_spec_unasked;
use crate::exit::Exit;
use crate::ident::Day;
use crate::plan::Plan;
use crate::report::CellPlace;
use crate::summary::{Run, Side};

pub(super) fn run(args: &GateArgs, context: &mut Context) -> Result<Exit, Failure> {
    let spec = load_spec_unasked(&args.spec, context)?;
    let mut spec = args.select.apply_gated(spec)?;
    let declared = spec.clone();
    let mut footing = (args.base).find(&args.spec, &args.archive, &mut spec, context)?;
    footing.tell(context);
    if let Some(groundless) = Groundless::spec(&footing, &spec, &args.spec) {
        return groundless.end(context);
    }
    let candidate = candidate(args)?;
    let newest = candidate.iter().max_by(|a, b| a.started.cmp(&b.started));
    let Some(newest) = newest.cloned() else {
        return Err(Failure::usage("there is no run of a candidate"));
    };
    let trace = Plan::expand(&spec).trace_digest();
    let workload = spec.workload_digest();
    let differs = |run: &&Run| {
        run.spec.workload_digest != workload
            || run.trace_digest != trace
            || run.spec.select != spec.select
    };
    if let Some(run) = candidate.iter().find(differs) {
        let why = format!(
            "the candidate's run `{}` ran another workload than `{}`, so neither its gate nor the baseline speak \
             of it; measure the spec as it is now: `infergate run {1}`",
            run.id,
            args.spec.display(),
        );
        return Groundless::incomparable(&spec, why).end(context);
    }
    let wanted = Wanted {
        spec: &spec,
        path: &args.spec,
        pins: &newest.pins,
        trace,
        day: Day::of(&newest.started),
    };
    let mut evidence = match ground(&wanted, &mut footing, context) {
        Ok(evidence) => evidence,
        Err(groundless) => return groundless.end(context),
    };
    evidence.candidate = candidate;
    evidence.refuse_shards()?;
    if newest.spec.text != spec.text {
        footing.judges_by(&spec);
    }
    let folder = args.out.out.join(new_session(&spec, context));
    keep(&folder.join("runs"), &evidence.candidate)?;
    keep_ground(&folder, &evidence, &footing)?;
    let judgement = evidence.judge(&spec);
    let places = CellPlace::of(&declared, &file_of(&args.spec).display().to_string());
    let reproduce = [format!("infergate compare {}", folder.display())];
    evidence.publish(
        &judgement,
        &spec,
        Some(&folder),
        (&reproduce, &places),
        args.show,
        context,
    )
}

/// The runs that are named; of an `ab` session those of its candidate.
fn candidate(args: &GateArgs) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    for path in &args.candidate {
        runs.extend(runs_at(path)?);
    }
    runs.retain(|run| run.side != Some(Side::Baseline));
    Ok(runs)
}
