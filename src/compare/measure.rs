//! The value of one cell in one run, or why there is none.

use super::fault::fault;
use super::{aftermath, cold_start, energy, max_goodput, quality};
use crate::metric::{Bad, Cell, Direction, Kind, Metric, Rate, Source, Statistic};
use crate::quality::CheckKind;
use crate::sample::{OutcomeKind, StopReason};
use crate::stats::proportion::Count;
use crate::summary::{Adjusted, ClassSummary, Run, RunEnd, Saturation, StageSummary};

/// What a run says of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A value in the metric's unit: finite; above 0, or 0 for rates and proportions.
    Measured(f64),
    /// The target failed so many requests that there is no finite value: worse than any.
    Failed,
    /// The client or the harness was at fault, and how.
    Invalid(String),
    /// The run holds no such value, and why.
    Absent(String),
    /// Another tool measured the run, and its file does not tell, and why: nothing is wrong with the run, and
    /// nothing can be said of it.
    Untold(String),
}

/// Why a latency that was measured says little of the target under this load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unfit {
    /// The stage was still warming up.
    NotSettled {
        /// Requests that are warm-up.
        cut: u64,
        /// Of so many.
        of: u64,
    },
    /// The target did not keep up with what it was sent: latency grows as long as the stage lasts.
    Overloaded {
        /// Requests that it completed by those that were due.
        completed: f64,
    },
}

/// A cell in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Its value.
    pub value: Value,
    /// Requests (or tokens) behind it.
    pub n: u64,
    /// Bad requests among those that count, for proportions and goodput.
    pub bad: Option<Count>,
    /// Length of the measured window; 0 where there is none.
    pub window_s: f64,
    /// Why its value can't be judged, of latencies.
    pub unfit: Option<Unfit>,
    /// A round trip to the target, of latencies that begin with a request: none can be shorter.
    pub round_trip_s: Option<f64>,
    /// Requests on which it and the run that it is held against differ in whether the answer passes,
    /// of checked answers.
    pub discordant: Option<Count>,
    /// Standard error of the value, where it brings its own.
    pub standard_error: Option<f64>,
}

impl Measure {
    /// The value, where there is one.
    pub const fn measured(&self) -> Option<f64> {
        match self.value {
            Value::Measured(value) => Some(value),
            Value::Failed | Value::Invalid(_) | Value::Absent(_) | Value::Untold(_) => None,
        }
    }

    /// Whether the run says something of the target, a value or its failure.
    pub const fn is_usable(&self) -> bool {
        matches!(self.value, Value::Measured(_) | Value::Failed)
    }

    pub(super) fn without(value: Value) -> Self {
        Self {
            value,
            n: 0,
            bad: None,
            window_s: 0.0,
            unfit: None,
            round_trip_s: None,
            discordant: None,
            standard_error: None,
        }
    }
}

/// Reads a cell from a run; `partner` is the run that its answers are held against.
pub(super) fn measure(run: &Run, partner: Option<&Run>, cell: &Cell) -> Measure {
    let metric = cell.metric.metric();
    if metric.kind() == Kind::OfRun {
        return cold_start::measure(run, metric);
    }
    if metric.kind() == Kind::OfSweep {
        return max_goodput::measure(run, cell);
    }
    if let Statistic::Task(name) = cell.metric.statistic() {
        return quality::imported(run, name);
    }
    let stages: Vec<&StageSummary> = run
        .stages
        .iter()
        .filter(|stage| cell.stage.as_ref().is_none_or(|name| *name == stage.name))
        .collect();
    if lost_in(run, &stages) {
        return Measure::without(Value::Failed);
    }
    if stages.is_empty() {
        if let Some(value) = skipped(run, cell) {
            return Measure::without(value);
        }
        let stage = cell.stage.as_deref().unwrap_or("*");
        return Measure::without(Value::Absent(format!("the run has no stage `{stage}`")));
    }
    let faults: Vec<String> = stages
        .iter()
        .flat_map(|stage| stage.invalid.iter().map(fault))
        .collect();
    if !faults.is_empty() {
        return Measure::without(Value::Invalid(faults.join("; ")));
    }
    let mut parts = Vec::new();
    for stage in &stages {
        match class_of(stage, cell.class.as_deref()) {
            Some(class) => parts.push(class),
            None => {
                return Measure::without(Value::Absent(format!(
                    "stage `{}` has no class `{}`",
                    stage.name,
                    cell.class.as_deref().unwrap_or("*")
                )));
            }
        }
    }
    if let Some(why) = parts.iter().find_map(|class| class.untold.get(&metric)) {
        return Measure::without(untold(&parts, why.clone()));
    }
    if metric == Metric::QualityAgreement {
        return quality::agreement(run, partner, cell);
    }
    let (value, n) = match (cell.metric.statistic(), parts.as_slice()) {
        _ if metric.kind() == Kind::Energy => energy::of(&stages, cell),
        _ if aftermath::is_of(metric) => aftermath::of(&stages, cell),
        (Statistic::Value, [class]) if rate(class, cell.metric.metric()).is_some() => {
            let value = rate(class, cell.metric.metric()).unwrap_or(f64::NAN);
            (at_least_zero(value), class.ended_well())
        }
        (Statistic::Value | Statistic::Task(_), _) => share(&parts, cell.metric.metric()),
        (statistic, [class]) => distribution(class, cell.metric.metric(), statistic),
        (Statistic::Quantile(_) | Statistic::Mean, _) => (
            Value::Absent("quantiles of several stages can't be combined: name one stage".into()),
            0,
        ),
    };
    let latency = cell.metric.metric().kind() == Kind::Distribution;
    // What is left of a stage that failures ended is not the stage.
    let cut_off = stages
        .iter()
        .any(|stage| matches!(stage.stopped, Some(StopReason::Errors { .. })));
    let value = if cut_off && cell.metric.metric().kind() != Kind::Proportion {
        Value::Failed
    } else {
        value
    };
    Measure {
        value,
        unfit: stages
            .iter()
            .find_map(|stage| unfit(stage))
            .filter(|_| latency),
        n,
        round_trip_s: run
            .network
            .filter(|_| {
                matches!(
                    cell.metric.metric(),
                    Metric::Ttft | Metric::Ttfa | Metric::E2e
                )
            })
            .map(|network| network.rtt_s),
        bad: match metric {
            Metric::LostToEvents => aftermath::lost(&stages),
            _ => bad(&parts, metric),
        },
        window_s: stages.iter().map(|stage| stage.window_s).sum(),
        discordant: CheckKind::counted_by(metric)
            .and_then(|kind| quality::discordant(run, partner, cell, kind)),
        standard_error: None,
    }
}

/// Whether the target was lost in one of these stages or before them: what was measured until then
/// is no figure of the stage, and what was not is no gap.
pub(super) fn lost_in(run: &Run, stages: &[&StageSummary]) -> bool {
    let last = run.stages.last().map(|stage| stage.name.as_str());
    matches!(run.end, RunEnd::TargetLost { .. })
        && (stages.is_empty() || stages.iter().any(|stage| Some(stage.name.as_str()) == last))
}

/// Of a step that was not run: a failure of the target, where it was the target that ended the sweep.
fn skipped(run: &Run, cell: &Cell) -> Option<Value> {
    let name = cell.stage.as_ref()?;
    let skipped = run.skipped.iter().find(|stage| stage.name == *name)?;
    let after = run.stages.iter().find(|stage| stage.name == skipped.after);
    Some(if after.is_some_and(|stage| stage.invalid.is_empty()) {
        Value::Failed
    } else {
        Value::Absent(format!(
            "`{name}` was not run, for `{}` before it was ended, and is invalid",
            skipped.after
        ))
    })
}

fn unfit(stage: &StageSummary) -> Option<Unfit> {
    match (stage.load_state, stage.settling) {
        (Some(load), _) if load.state == Saturation::Overloaded => Some(Unfit::Overloaded {
            completed: load.completed_by_due,
        }),
        (_, Some(settling)) if !settling.settled => Some(Unfit::NotSettled {
            cut: settling.cut,
            of: settling.of,
        }),
        _ => None,
    }
}

/// A class of a stage, all pooled without a name. A stage of one class doesn't repeat it.
pub(super) fn class_of<'a>(
    stage: &'a StageSummary,
    class: Option<&str>,
) -> Option<&'a ClassSummary> {
    match class {
        Some(name) if !stage.classes.is_empty() => stage.classes.get(name),
        Some(_) | None => Some(&stage.pooled),
    }
}

/// Of a figure that a tool's file does not tell. With not one good answer it is missing: such a run is never
/// left open.
fn untold(parts: &[&ClassSummary], why: String) -> Value {
    if parts.iter().any(|class| class.ended_well() > 0) {
        Value::Untold(why)
    } else {
        Value::Absent(why)
    }
}

fn distribution(class: &ClassSummary, metric: Metric, statistic: Statistic) -> (Value, u64) {
    let Some(distribution) = class.distributions.get(&metric) else {
        let failed = class.errors() > 0 && class.ended_well() == 0;
        return if failed {
            (Value::Failed, class.errors())
        } else {
            (Value::Absent(format!("no request has a `{metric}`")), 0)
        };
    };
    let n = distribution.n + distribution.failed;
    if n == 0 {
        return (Value::Absent(format!("no request has a `{metric}`")), 0);
    }
    let value = match statistic {
        Statistic::Quantile(quantile) => match distribution.adjusted(quantile) {
            // Requests that nobody counted are not none.
            Some(Adjusted::Finite(_)) if class.untold.contains_key(&Metric::ErrorRatio) => untold(
                &[class],
                format!("nobody counted failed requests, so the {quantile} of all is not known"),
            ),
            Some(Adjusted::Finite(seconds)) => above_zero(seconds),
            Some(Adjusted::Infinite) => Value::Failed,
            Some(Adjusted::Untold) => Value::Untold(format!(
                "{} of {n} requests failed, and a summary of the others can't tell the {quantile} of all",
                distribution.failed
            )),
            None => Value::Absent(format!("the run holds no {quantile} of `{metric}`")),
        },
        Statistic::Mean | Statistic::Value | Statistic::Task(_) => {
            let none = || Value::Absent(format!("the run holds no mean of `{metric}`"));
            distribution.mean_s.map_or_else(none, above_zero)
        }
    };
    (value, n)
}

pub(super) fn above_zero(value: f64) -> Value {
    if value > 0.0 && value.is_finite() {
        Value::Measured(value)
    } else {
        Value::Invalid(format!("the run file has {value} s, which is no latency"))
    }
}

fn at_least_zero(value: f64) -> Value {
    if value >= 0.0 && value.is_finite() {
        Value::Measured(value)
    } else {
        Value::Invalid(format!(
            "the run file has {value} a second, which is no rate"
        ))
    }
}

/// A rate; `None` where the metric is not one.
fn rate(class: &ClassSummary, metric: Metric) -> Option<f64> {
    let Source::Rate(rate) = metric.source() else {
        return None;
    };
    let rates = &class.rates;
    Some(match rate {
        Rate::Good => rates.goodput_rps,
        Rate::Completed => rates.completed_rps,
        Rate::Output => rates.output_tps?,
        Rate::Input => rates.input_tps?,
        Rate::Total => rates.input_tps? + rates.output_tps?,
    })
}

/// A proportion over one or several stages.
fn share(parts: &[&ClassSummary], metric: Metric) -> (Value, u64) {
    let Some(bad) = bad(parts, metric) else {
        let why = if metric.is_quality() {
            format!("no answer was checked for `{metric}`")
        } else {
            format!("`{metric}` of several stages can't be combined: name one stage")
        };
        return (Value::Absent(why), 0);
    };
    match bad.share() {
        // Where more is better it is read as the share of good requests, kept as the count of bad ones.
        Some(share) if metric.direction() == Direction::HigherIsBetter => {
            (Value::Measured(1.0 - share), bad.trials)
        }
        Some(share) => (Value::Measured(share), bad.trials),
        None => (Value::Absent("no request counts in it".into()), 0),
    }
}

/// Bad requests among those that count; `None` where the metric counts nothing.
fn bad(parts: &[&ClassSummary], metric: Metric) -> Option<Count> {
    if let Some(kind) = CheckKind::counted_by(metric) {
        return quality::failing(parts, kind);
    }
    let events = |class: &ClassSummary| match metric.source() {
        Source::Bad(Bad::NotGood) | Source::Rate(Rate::Good) => {
            Some(class.counted().saturating_sub(class.good))
        }
        Source::Bad(Bad::Failed) => Some(class.errors()),
        Source::Bad(Bad::Truncated) => Some(class.count(OutcomeKind::Truncated)),
        Source::Requests
        | Source::Gaps
        | Source::Rate(_)
        | Source::Sweep
        | Source::Energy
        | Source::Bad(Bad::Lost)
        | Source::ColdStart
        | Source::Aftermath
        | Source::Checks
        | Source::Agreement
        | Source::Import => None,
    };
    let counts: Option<Vec<Count>> = parts
        .iter()
        .map(|class| {
            Some(Count {
                events: events(class)?.min(class.counted()),
                trials: class.counted(),
            })
        })
        .collect();
    counts.map(|counts| Count::pool(&counts))
}
