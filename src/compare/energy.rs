//! Cells of energy: what a stage's GPUs drew for what came of it.

use super::measure::Value;
use crate::metric::{Cell, Metric};
use crate::summary::{GpuView, StageSummary};

/// A stage's figure of energy with the requests behind it.
///
/// Both figures are of a window, so its length falls out: 1000 tok/s at 500 W are 2 tok/J, and 20 good
/// requests a second 25 J each.
pub(super) fn of(stages: &[&StageSummary], cell: &Cell) -> (Value, u64) {
    let metric = cell.metric.metric();
    let [stage] = stages else {
        let why = format!("`{metric}` of several stages can't be combined: name one stage");
        return (Value::Absent(why), 0);
    };
    if cell.class.is_some() && !stage.classes.is_empty() {
        let why = "the GPUs work for all classes at once, so no class has energy of its own";
        return (Value::Absent(why.to_owned()), 0);
    }
    let power_w = match power_w(stage) {
        Ok(power_w) => power_w,
        Err(why) => return (Value::Absent(why), 0),
    };
    let rates = &stage.pooled.rates;
    let value = match (metric, rates.output_tps) {
        (Metric::JoulesPerGood, _) => power_w / rates.goodput_rps,
        (_, Some(output_tps)) => output_tps / power_w,
        (_, None) => return (Value::Absent("nobody counted output tokens".to_owned()), 0),
    };
    // Energy that nothing came of is the target's failure.
    let value = if value > 0.0 && value.is_finite() {
        Value::Measured(value)
    } else {
        Value::Failed
    };
    (value, stage.pooled.ended_well())
}

/// Whether there is power to count with.
pub(super) fn is_known(stage: &StageSummary) -> bool {
    power_w(stage).is_ok()
}

/// Mean power of all GPUs over the window, in watts; or why it is not known.
fn power_w(stage: &StageSummary) -> Result<f64, String> {
    let gpus = match &stage.gpus {
        Some(GpuView::Seen(gpus)) => gpus,
        Some(GpuView::Unknown { why }) => return Err(format!("no power was seen: {why}")),
        None => return Err("no power was seen: no GPU was looked at".to_owned()),
    };
    let mut sum_w = 0.0;
    for gpu in gpus {
        let silent = || {
            format!(
                "no power was seen: GPU {} does not say what it draws",
                gpu.index
            )
        };
        sum_w += gpu.power_w.ok_or_else(silent)?.mean;
    }
    if sum_w > 0.0 && sum_w.is_finite() {
        Ok(sum_w)
    } else {
        Err(format!("no power was seen: the GPUs say {sum_w} W"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic::stage;
    use crate::summary::{Gauge, GpuFigures};

    fn gpu(index: u32, watts: Option<f64>) -> GpuFigures {
        GpuFigures {
            index,
            samples: 50,
            power_w: watts.map(|mean| Gauge { mean, max: mean }),
            utilization: None,
            sm_clock_mhz: None,
            temperature_c: None,
            memory_used: None,
            throttled: std::collections::BTreeMap::new(),
        }
    }

    fn measured(stage: &StageSummary, metric: &str) -> Value {
        let cell = Cell {
            stage: Some(stage.name.clone()),
            class: None,
            metric: metric.parse().unwrap(),
        };
        of(&[stage], &cell).0
    }

    fn drawing(gpus: Vec<GpuFigures>) -> StageSummary {
        StageSummary {
            gpus: Some(GpuView::Seen(gpus)),
            ..stage("steady")
        }
    }

    #[test]
    fn all_gpus_draw_for_what_came_of_it() {
        let stage = drawing(vec![gpu(0, Some(300.0)), gpu(1, Some(200.0))]);
        assert_eq!(measured(&stage, "tokens_per_joule"), Value::Measured(2.0));
        assert_eq!(measured(&stage, "joules_per_good"), Value::Measured(25.0));
    }

    #[test]
    fn energy_that_nothing_came_of_is_a_failure() {
        let mut stage = drawing(vec![gpu(0, Some(300.0))]);
        stage.pooled.rates.goodput_rps = 0.0;
        stage.pooled.rates.output_tps = Some(0.0);
        assert_eq!(measured(&stage, "tokens_per_joule"), Value::Failed);
        assert_eq!(measured(&stage, "joules_per_good"), Value::Failed);
    }

    #[test]
    fn without_power_there_is_a_reason() {
        let why = |stage: &StageSummary| match measured(stage, "tokens_per_joule") {
            Value::Absent(why) => why,
            other => panic!("{other:?}"),
        };
        assert!(why(&stage("a")).contains("no GPU was looked at"));
        let silent = drawing(vec![gpu(0, Some(300.0)), gpu(1, None)]);
        assert!(why(&silent).contains("GPU 1 does not say"));
        assert!(why(&drawing(vec![gpu(0, Some(0.0))])).contains("say 0 W"));
    }
}
