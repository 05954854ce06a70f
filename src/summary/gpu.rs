//! What GPUs did in a stage's window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::course::Course;
use super::engine::Gauge;
use crate::sample::{GpuLooks, GpuStretch, Range, Throttle};
use crate::unit::Nanos;

/// The GPUs' side of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GpuView {
    /// They were looked at.
    Seen(Vec<GpuFigures>),
    /// They were not.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// One GPU over the measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GpuFigures {
    /// Which, as the driver numbers them.
    pub index: u32,
    /// Looks at it.
    pub samples: u32,
    /// Power drawn, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_w: Option<Gauge>,
    /// Share of time in which a kernel ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<Gauge>,
    /// Clock of the multiprocessors, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<Gauge>,
    /// Temperature, in °C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<Gauge>,
    /// Memory in use, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<Gauge>,
    /// Share of the looks in which something held the clocks back, by what.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub throttled: BTreeMap<Throttle, f64>,
}

impl GpuView {
    /// What was seen of a window, each GPU by itself; unknown where no look lies in it.
    pub fn of(looks: &GpuLooks, window_start: Nanos, window_end: Nanos) -> Self {
        let gpus = looks.each();
        let seen: Vec<GpuFigures> = gpus
            .filter_map(|(index, looks)| GpuFigures::of(index, looks, window_start, window_end))
            .collect();
        if seen.is_empty() {
            let why = "no GPU was looked at in the window".to_owned();
            return Self::Unknown { why };
        }
        Self::Seen(seen)
    }
}

impl GpuFigures {
    /// Of looks at one GPU in order of time.
    fn of(index: u32, looks: &[GpuStretch], from: Nanos, to: Nanos) -> Option<Self> {
        let inside = looks.iter().filter(|look| from <= look.at && look.at <= to);
        let samples: u32 = inside.clone().map(|look| look.looks).sum();
        if samples == 0 {
            return None;
        }
        let level = |value: fn(&GpuStretch) -> Option<Range>| {
            let course = |of: fn(Range) -> f64| {
                let known = looks
                    .iter()
                    .filter_map(|look| Some((look.at, of(value(look)?))));
                Course::new(known).over(from, to)
            };
            Some(Gauge {
                mean: course(|range| range.mean)?.mean,
                max: course(|range| range.max)?.max,
            })
        };
        let mut throttled: BTreeMap<Throttle, f64> = BTreeMap::new();
        for (reason, held) in inside.flat_map(|look| &look.throttled) {
            *throttled.entry(*reason).or_default() += f64::from(*held) / f64::from(samples);
        }
        Some(Self {
            index,
            samples,
            power_w: level(|look| look.power_w),
            utilization: level(|look| look.utilization),
            sm_clock_mhz: level(|look| look.sm_clock_mhz),
            temperature_c: level(|look| look.temperature_c),
            memory_used: level(|look| look.memory_used),
            throttled,
        })
    }

    /// Energy drawn in a window of so many seconds, in joules: its mean power times its length, which is
    /// the integral of the power seen. 350 W over 60 s are 21 kJ.
    pub fn energy_j(&self, window_s: f64) -> Option<f64> {
        Some(self.power_w?.mean * window_s)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sample::GpuSample;

    fn look(at: u64, index: u32, power_w: f64, throttled: &[Throttle]) -> GpuSample {
        GpuSample {
            at: Nanos::from_secs(at),
            index,
            power_w: Some(power_w),
            utilization: None,
            sm_clock_mhz: Some(1980.0),
            temperature_c: None,
            memory_used: Some(1 << 30),
            throttled: throttled.iter().copied().collect::<BTreeSet<_>>(),
        }
    }

    #[test]
    fn each_gpu_is_weighted_by_time() {
        let samples = [
            look(1, 0, 100.0, &[]),
            look(2, 0, 300.0, &[Throttle::PowerCap]),
            look(3, 0, 500.0, &[Throttle::PowerCap]),
            look(2, 1, 50.0, &[]),
            look(9, 2, 70.0, &[]),
        ];
        let looks = samples.into_iter().collect();
        let view = GpuView::of(&looks, Nanos::from_secs(1), Nanos::from_secs(3));
        let GpuView::Seen(gpus) = view else { panic!() };
        let indices: Vec<u32> = gpus.iter().map(|gpu| gpu.index).collect();
        assert_eq!(indices, [0, 1], "the third was seen after the window only");
        assert_eq!(gpus[0].samples, 3);
        let (mean, max) = (300.0, 500.0);
        assert_eq!(gpus[0].power_w, Some(Gauge { mean, max }));
        assert_eq!(gpus[0].energy_j(2.0), Some(600.0));
        assert_eq!(gpus[0].utilization, None, "never 0 where nobody says");
        let share = gpus[0].throttled[&Throttle::PowerCap];
        assert!((share - 2.0 / 3.0).abs() < 1e-12);
        assert!(gpus[1].throttled.is_empty());
    }

    #[test]
    fn no_look_is_no_figure() {
        let none = GpuView::of(&GpuLooks::default(), Nanos::ZERO, Nanos::from_secs(1));
        assert!(matches!(none, GpuView::Unknown { .. }));
    }
}
