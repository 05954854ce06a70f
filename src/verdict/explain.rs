//! Why a cell has its state: its values, the noise they are held against, every look, and what more
//! repeats would show.

use super::explanation::{Decided, Explanation, LookAhead, LookTaken, Repeat, Tail};
use super::finding::Context;
use super::hypothesis::{Collapse, Hypothesis, Looked};
use super::informational;
use super::model::Finding;
use super::procedure::Procedure;
use super::replay::Taken;
use crate::compare::{Arrangement, ComparedCell, Comparison, Measure, Value};
use crate::metric::{Cell, Statistic};
use crate::spec::Gate;
use crate::stats::moderated::{Estimate, Look};
use crate::stats::order::expected_exceedances;
use crate::stats::sequential::{ALPHA, Decision, PlannedLook};

/// Repeats that are looked ahead to.
const AHEAD: [u32; 6] = [3, 5, 7, 10, 15, 20];

/// Explains every finding of a cell: one for each of its limits, none where the comparison does not
/// hold it.
pub fn explain(comparison: &Comparison, gate: &Gate, cell: &Cell) -> Vec<Explanation> {
    let procedure = Procedure::new(comparison, gate);
    let context = procedure.context();
    let mut out: Vec<Explanation> = (0..procedure.cells.len())
        .filter(|&i| procedure.cells[i].gated && procedure.cells[i].cell == *cell)
        .map(|i| gated(&procedure, &context, i))
        .collect();
    let others = informational::findings(&context, procedure.kept());
    out.extend(
        others
            .into_iter()
            .filter(|f| f.cell == *cell)
            .filter_map(|found| {
                let of_cell =
                    |c: &&ComparedCell| !c.gated && c.cell == found.cell && c.limit == found.limit;
                let compared = comparison.cells.iter().find(of_cell)?;
                Some(informational_one(&procedure, &context, compared, found))
            }),
    );
    out
}

fn gated(procedure: &Procedure<'_>, context: &Context<'_>, index: usize) -> Explanation {
    let finding = procedure.finding(context, index);
    let hypothesis = procedure.hypotheses[index].as_ref();
    let looks =
        procedure
            .member(index)
            .zip(hypothesis)
            .map_or_else(Vec::new, |(member, hypothesis)| {
                procedure
                    .replay
                    .history
                    .iter()
                    .filter_map(|taken| look_taken(taken, member, hypothesis))
                    .collect()
            });
    of(
        procedure,
        context,
        procedure.cells[index],
        hypothesis,
        finding,
        looks,
    )
}

fn informational_one(
    procedure: &Procedure<'_>,
    context: &Context<'_>,
    cell: &ComparedCell,
    finding: Finding,
) -> Explanation {
    let limit = cell
        .limit
        .unwrap_or_else(|| informational::default_limit(cell));
    let hypothesis = Hypothesis::new(
        cell,
        limit,
        procedure.comparison.arrangement,
        procedure.kept(),
    );
    of(
        procedure,
        context,
        cell,
        Some(&hypothesis),
        finding,
        Vec::new(),
    )
}

fn of(
    procedure: &Procedure<'_>,
    context: &Context<'_>,
    cell: &ComparedCell,
    hypothesis: Option<&Hypothesis<'_>>,
    finding: Finding,
    looks: Vec<LookTaken>,
) -> Explanation {
    let shown = hypothesis.and_then(|hypothesis| context.look_now(hypothesis));
    let ratio = hypothesis.is_none_or(Hypothesis::is_log);
    let family = procedure.family.len() as u32;
    Explanation {
        ratio,
        family,
        noise: hypothesis.and_then(|hypothesis| hypothesis.noise_of_run(procedure.kept().len())),
        tolerance: hypothesis.zip(shown).and_then(|(hypothesis, shown)| {
            hypothesis
                .test
                .is_relative()
                .then(|| hypothesis.as_change(shown.tolerance))
        }),
        tail: tail(cell),
        repeats: repeats(procedure, cell, ratio),
        sessions: if procedure.comparison.arrangement == Arrangement::Stored {
            let values =
                |session: &Vec<Measure>| session.iter().filter_map(Measure::measured).collect();
            cell.sessions.iter().map(values).collect()
        } else {
            Vec::new()
        },
        ahead: hypothesis
            .zip(shown)
            .map_or_else(Vec::new, |(hypothesis, shown)| {
                ahead(hypothesis, &shown, procedure.design.last(), family)
            }),
        finding,
        looks,
    }
}

fn tail(cell: &ComparedCell) -> Option<Tail> {
    let Statistic::Quantile(quantile) = cell.cell.metric.statistic() else {
        return None;
    };
    let runs = cell.baseline.iter().chain(&cell.candidate);
    let n = runs.filter(|run| run.is_usable()).map(|run| run.n).min()?;
    Some(Tail {
        n,
        beyond: expected_exceedances(n, quantile.fraction()),
    })
}

fn repeats(procedure: &Procedure<'_>, cell: &ComparedCell, ratio: bool) -> Vec<Repeat> {
    let paired = procedure.comparison.arrangement == Arrangement::Interleaved;
    cell.candidate
        .iter()
        .enumerate()
        .map(|(i, candidate)| {
            let baseline = cell.baseline.get(i).filter(|_| paired);
            let of = |measure: &Measure| shown_value(measure, ratio);
            let values = baseline.and_then(of).zip(of(candidate));
            Repeat {
                number: i as u32 + 1,
                baseline: baseline.and_then(of),
                candidate: of(candidate),
                change: values
                    .map(|(base, head)| {
                        if ratio {
                            head / base - 1.0
                        } else {
                            head - base
                        }
                    })
                    .filter(|change| change.is_finite()),
                used: procedure.kept().contains(&i),
                note: baseline.and_then(lacking).or_else(|| lacking(candidate)),
            }
        })
        .collect()
}

/// The value as the test takes it: goodput that is judged in points as the share of good requests.
fn shown_value(measure: &Measure, ratio: bool) -> Option<f64> {
    let value = measure.measured()?;
    match measure.bad.and_then(crate::stats::proportion::Count::share) {
        Some(bad) if !ratio && value > 1.0 => Some(1.0 - bad),
        _ => Some(value),
    }
}

fn lacking(measure: &Measure) -> Option<String> {
    match &measure.value {
        Value::Measured(_) => None,
        Value::Failed => Some("the target failed too many requests".to_owned()),
        Value::Invalid(what) | Value::Absent(what) | Value::Untold(what) => Some(what.clone()),
    }
}

fn look_taken(taken: &Taken, member: usize, hypothesis: &Hypothesis<'_>) -> Option<LookTaken> {
    let result = taken.results[member];
    let Looked {
        look, tolerance, ..
    } = result.looked?;
    Some(LookTaken {
        repeats: taken.planned.repeats,
        noisy: taken.noisy,
        estimate: read(hypothesis, look.estimate),
        standard_error: look.standard_error,
        df: look.df,
        p_regression: look.p_worse,
        p_adjusted: result.adjusted,
        p_pass: look.p_within,
        pass_at: ALPHA * taken.planned.pass,
        over: look.estimate >= tolerance,
        decided: match (result.decision, result.collapse) {
            (_, Collapse::Candidate) | (Decision::Regression, _) => Decided::Regressed,
            (Decision::Pass, _) => Decided::Passed,
            (Decision::Open, _) => Decided::Open,
        },
    })
}

/// A change on the scale of the test as people read it: up is up.
fn read(hypothesis: &Hypothesis<'_>, y: f64) -> f64 {
    let sign = hypothesis.cell.cell.metric.metric().direction().sign();
    if hypothesis.is_log() {
        (sign * y).exp_m1()
    } else {
        sign * y
    }
}

/// The looks after the one that was taken, with the estimate and the scatter of today.
fn ahead(
    hypothesis: &Hypothesis<'_>,
    shown: &Looked,
    last: PlannedLook,
    family: u32,
) -> Vec<LookAhead> {
    let Look {
        repeats,
        estimate,
        variance,
        standard_error,
        df,
        ..
    } = shown.look;
    let fixed = hypothesis.arrangement != Arrangement::Interleaved;
    AHEAD
        .into_iter()
        .filter(|&more| more as usize > repeats && !fixed && repeats > 0 && df.is_finite())
        .map(|more| {
            let k = repeats as f64;
            let look = Look::from_estimate(
                more as usize,
                Estimate {
                    value: estimate,
                    variance,
                    standard_error: standard_error * (k / f64::from(more)).sqrt(),
                    df: df + f64::from(more) - k,
                },
                shown.tolerance,
                hypothesis.evidence(),
            );
            let worst = look.p_worse / last.worse.max(f64::MIN_POSITIVE) * f64::from(family.max(1));
            let would = if last.worse > 0.0 && worst <= ALPHA && estimate >= shown.tolerance {
                Decided::Regressed
            } else if look.p_within <= ALPHA * last.pass {
                Decided::Passed
            } else {
                Decided::Open
            };
            let planned = PlannedLook {
                repeats: more,
                ..last
            };
            LookAhead {
                repeats: more,
                resolvable: hypothesis
                    .resolvable_at(planned, &look)
                    .map(|smallest| hypothesis.as_change(smallest))
                    .filter(|smallest| smallest.is_finite()),
                would,
            }
        })
        .collect()
}
