//! What followed from a stage's events and bursts, as cells.

use super::measure::Value;
use crate::metric::{Bad, Cell, Kind, Metric, Source};
use crate::stats::proportion::Count;
use crate::summary::{Aftermath, Recovery, StageSummary};

/// The shortest time that is told from none: what followed is read from slices of that length, and a ratio
/// needs more than 0.
const RESOLUTION_S: f64 = 0.1;

/// Whether a metric is one of what followed.
pub(super) fn is_of(metric: Metric) -> bool {
    metric.kind() == Kind::OfEvents || metric.source() == Source::Bad(Bad::Lost)
}

/// Whether a stage tells of it: one in which nothing happens has none, and all others are shown.
pub(super) fn is_told(metric: Metric, stage: &StageSummary) -> bool {
    match metric {
        Metric::DrainTime => stage.bursts.is_some() || !stage.events.is_empty(),
        _ => !is_of(metric) || !stage.events.is_empty(),
    }
}

/// A stage's figure, with the events and bursts behind it. What was never back is the target's failure, worse
/// than any time.
pub(super) fn of(stages: &[&StageSummary], cell: &Cell) -> (Value, u64) {
    let metric = cell.metric.metric();
    let absent = |why: String| (Value::Absent(why), 0);
    if let Some(class) = &cell.class {
        return absent(format!(
            "what follows from events is of all classes together, so `{class}` has none of its own"
        ));
    }
    if metric == Metric::LostToEvents {
        return match lost(stages).and_then(|lost| Some((lost.share()?, lost.trials))) {
            Some((share, of)) => (Value::Measured(share), of),
            None => absent("no event happened in it".to_owned()),
        };
    }
    let [stage] = stages else {
        return absent(format!(
            "`{metric}` of several stages can't be combined: name one stage"
        ));
    };
    let times = if metric == Metric::DrainTime {
        drains(stage)
    } else {
        after(stage).map(|after| after.recovery.clone()).collect()
    };
    match longest(&times) {
        Some(value) => (value, times.len() as u64),
        None => absent("nothing happened in it".to_owned()),
    }
}

/// Requests that failed after an event, of all that count; `None` where no event happened.
pub(super) fn lost(stages: &[&StageSummary]) -> Option<Count> {
    let counts = stages.iter().filter_map(|stage| {
        let lost: u64 = after(stage).map(Aftermath::lost).sum();
        let trials = stage.pooled.counted();
        after(stage).next().map(|_| Count {
            events: lost.min(trials),
            trials,
        })
    });
    let counts: Vec<Count> = counts.collect();
    (!counts.is_empty()).then(|| Count::pool(&counts))
}

fn after(stage: &StageSummary) -> impl Iterator<Item = &Aftermath> {
    stage
        .events
        .iter()
        .filter_map(|event| event.aftermath.as_ref())
}

/// From the last event, for those before it are followed by another, and from the bursts.
fn drains(stage: &StageSummary) -> Vec<Recovery> {
    let last = after(stage).last().map(|after| after.drained.clone());
    let bursts = stage.bursts.as_ref().filter(|bursts| bursts.bursts > 0);
    let bursts = bursts.map(|bursts| match bursts.drain_max_s {
        Some(s) if bursts.drained == bursts.bursts => Recovery::After { s },
        _ => Recovery::Never {
            why: "a burst's backlog was not gone before the next".to_owned(),
        },
    });
    last.into_iter().chain(bursts).collect()
}

/// The longest of them: never is longer than any, and one that nobody can tell is told as that.
fn longest(times: &[Recovery]) -> Option<Value> {
    let never = |time: &Recovery| matches!(time, Recovery::Never { .. });
    if times.iter().any(never) {
        return Some(Value::Failed);
    }
    let untold = times.iter().find_map(|time| match time {
        Recovery::Absent { why } => Some(Value::Absent(why.clone())),
        Recovery::Kept | Recovery::After { .. } | Recovery::Never { .. } => None,
    });
    let longest = times.iter().filter_map(Recovery::seconds);
    let longest = longest.max_by(f64::total_cmp);
    untold.or_else(|| longest.map(|s| Value::Measured(s.max(RESOLUTION_S))))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::compare::synthetic::stage;
    use crate::sample::{EventOutcome, OutcomeKind};
    use crate::summary::{Bursts, EventSummary};

    fn event(lost: u64, recovery: Recovery, drained: Recovery) -> EventSummary {
        EventSummary {
            name: "gone".to_owned(),
            what: "kill replica 2".to_owned(),
            planned_s: 3.0,
            began_s: Some(3.0),
            took_s: None,
            outcome: EventOutcome::Done,
            output: String::new(),
            aftermath: Some(Aftermath {
                lost: BTreeMap::from([(OutcomeKind::ConnectError, lost)]),
                attainment_before: Some(1.0),
                recovery,
                while_s: 3.0,
                goodput_before_rps: 8.0,
                goodput_while_rps: 4.0,
                in_flight_before: 2.0,
                in_flight_most: 9,
                drained,
            }),
        }
    }

    fn measured(stage: &StageSummary, metric: &str) -> (Value, u64) {
        let cell = Cell {
            stage: Some(stage.name.clone()),
            class: None,
            metric: metric.parse().unwrap(),
        };
        of(&[stage], &cell)
    }

    #[test]
    fn the_longest_of_its_events_counts_and_never_is_worse_than_any() {
        let back = |s| Recovery::After { s };
        let never = || Recovery::Never {
            why: "not back".to_owned(),
        };
        let mut stage = stage("failover");
        assert!(matches!(
            measured(&stage, "recovery_time").0,
            Value::Absent(_)
        ));
        stage.events = vec![
            event(30, back(7.5), never()),
            event(2, Recovery::Kept, back(1.5)),
        ];
        assert_eq!(measured(&stage, "recovery_time"), (Value::Measured(7.5), 2));
        assert_eq!(measured(&stage, "drain_time"), (Value::Measured(1.5), 1));
        let counted = stage.pooled.counted();
        let (lost, of) = measured(&stage, "lost_to_events");
        assert_eq!(
            (lost, of),
            (Value::Measured(32.0 / counted as f64), counted)
        );
        stage.events[1] = event(0, never(), Recovery::Kept);
        assert_eq!(measured(&stage, "recovery_time").0, Value::Failed);
        assert_eq!(measured(&stage, "drain_time").0, Value::Measured(0.1));
        let why = "too few".to_owned();
        stage.events[1] = event(0, Recovery::Absent { why: why.clone() }, Recovery::Kept);
        assert_eq!(measured(&stage, "recovery_time").0, Value::Absent(why));
    }

    #[test]
    fn bursts_have_to_drain_all() {
        let bursts = |drained| Bursts {
            bursts: 4,
            drained,
            in_flight_before: 2.0,
            in_flight_most: 40,
            drain_median_s: Some(1.0),
            drain_max_s: Some(2.5),
        };
        let mut stage = stage("bursts");
        stage.bursts = Some(bursts(4));
        assert!(is_told(Metric::DrainTime, &stage) && !is_told(Metric::RecoveryTime, &stage));
        assert_eq!(measured(&stage, "drain_time"), (Value::Measured(2.5), 1));
        stage.bursts = Some(bursts(3));
        assert_eq!(measured(&stage, "drain_time").0, Value::Failed);
        assert!(matches!(
            measured(&stage, "lost_to_events").0,
            Value::Absent(_)
        ));
    }
}
