//! The largest goodput of a sweep, as a cell of the sweep as a whole.

use super::fault::fault;
use super::measure::{Measure, Value, class_of, lost_in};
use crate::metric::{Cell, Metric};
use crate::sample::StopReason;
use crate::summary::{ClassSummary, Run, StageSummary};

/// The largest goodput over a sweep's own steps. Steps that refine it are left out: more of them would find a
/// larger one, and sides need not have the same.
///
/// Goodputs of 1.95, 6.4, 8.81 and 6.86 a second are 8.81. A step at which failures ended the stage, or that was
/// not run because the target broke before, brings nothing; one of which nothing is known, for the client was at
/// fault, might have been the best, so then there is no value.
pub(super) fn measure(run: &Run, cell: &Cell) -> Measure {
    match best(run, cell) {
        Ok((class, window_s)) => Measure {
            n: class.ended_well(),
            window_s,
            ..Measure::without(Value::Measured(class.rates.goodput_rps))
        },
        Err(value) => Measure::without(value),
    }
}

/// Whether a run has something to say: a sweep of two steps and more, of requests that are good or not.
pub(super) fn sweeps(run: &Run) -> Vec<&str> {
    let mut found: Vec<(&str, u32)> = Vec::new();
    for stage in run.stages.iter().filter(|stage| !stage.refined) {
        let Some((sweep, _)) = stage.name.rsplit_once('@') else {
            continue;
        };
        if stage.pooled.attainment.is_none() {
            continue;
        }
        match found.iter_mut().find(|(name, _)| *name == sweep) {
            Some((_, steps)) => *steps += 1,
            None => found.push((sweep, 1)),
        }
    }
    let several = found.into_iter().filter(|(_, steps)| *steps > 1);
    several.map(|(sweep, _)| sweep).collect()
}

fn best<'a>(run: &'a Run, cell: &Cell) -> Result<(&'a ClassSummary, f64), Value> {
    let metric = Metric::MaxGoodput;
    let Some(sweep) = cell.stage.as_deref() else {
        let why = format!("`{metric}` is of one sweep: name it");
        return Err(Value::Absent(why));
    };
    let steps: Vec<&StageSummary> = run
        .stages
        .iter()
        .filter(|stage| !stage.refined && cell.is_of(&stage.name))
        .collect();
    if lost_in(run, &steps) {
        return Err(Value::Failed);
    }
    if steps.is_empty() {
        return Err(Value::Absent(format!("the run has no sweep `{sweep}`")));
    }
    let faults = steps.iter().flat_map(|step| {
        let faults = step.invalid.iter();
        faults.map(|reason| format!("`{}`: {}", step.name, fault(reason)))
    });
    let faults: Vec<String> = faults.collect();
    if !faults.is_empty() {
        return Err(Value::Invalid(faults.join("; ")));
    }
    let mut found: Option<(&ClassSummary, f64)> = None;
    for step in steps {
        let Some(class) = class_of(step, cell.class.as_deref()) else {
            let class = cell.class.as_deref().unwrap_or("*");
            let why = format!("stage `{}` has no class `{class}`", step.name);
            return Err(Value::Absent(why));
        };
        if let Some(why) = class.untold.get(&Metric::Goodput) {
            return Err(Value::Untold(why.clone()));
        }
        if class.attainment.is_none() {
            let why = format!(
                "no class has an SLO at `{}`, so no request is good",
                step.name
            );
            return Err(Value::Absent(why));
        }
        let goodput = class.rates.goodput_rps;
        if !(goodput >= 0.0 && goodput.is_finite()) {
            let why = format!("the run file has {goodput} a second, which is no rate");
            return Err(Value::Invalid(why));
        }
        let ended = matches!(step.stopped, Some(StopReason::Errors { .. }));
        if !ended && found.is_none_or(|(best, _)| goodput > best.rates.goodput_rps) {
            found = Some((class, step.window_s));
        }
    }
    // Failures ended every step.
    found.ok_or(Value::Failed)
}
