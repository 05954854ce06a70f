//! How a launched engine came up, as cells.

use super::measure::{Measure, Value, above_zero};
use crate::metric::Metric;
use crate::summary::{EarlyAnswer, Run};

/// How the engine came up: whatever became of the run, it did.
pub(super) fn measure(run: &Run, metric: Metric) -> Measure {
    let Some(cold) = &run.cold_start else {
        let why = "the engine was not launched for the run, so there is no cold start";
        return Measure::without(Value::Absent(why.to_owned()));
    };
    let value = match (metric, &cold.first, &cold.warm) {
        (Metric::ColdFirstRequest, EarlyAnswer::Answered { e2e_s, .. }, _)
        | (Metric::ColdWarmRequest, _, EarlyAnswer::Answered { e2e_s, .. }) => above_zero(*e2e_s),
        (Metric::ColdFirstRequest, EarlyAnswer::Failed { .. }, _)
        | (Metric::ColdWarmRequest, _, EarlyAnswer::Failed { .. }) => Value::Failed,
        (_, _, _) => above_zero(cold.ready_s),
    };
    Measure {
        n: 1,
        ..Measure::without(value)
    }
}
