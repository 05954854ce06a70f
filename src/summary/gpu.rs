//! What GPUs did in a stage's window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::course::Course;
use super::engine::Gauge;
use crate::sample::{GpuSample, Throttle};
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
    /// What was seen of a window, each GPU by itself; unknown where no look lies in it. Looks may come in
    /// any order.
    pub fn of(samples: &[GpuSample], window_start: Nanos, window_end: Nanos) -> Self {
        let mut gpus: BTreeMap<u32, Vec<&GpuSample>> = BTreeMap::new();
        for sample in samples {
            gpus.entry(sample.index).or_default().push(sample);
        }
        let seen: Vec<GpuFigures> = gpus
            .into_iter()
            .filter_map(|(index, mut samples)| {
                samples.sort_by_key(|sample| sample.at);
                GpuFigures::of(index, &samples, window_start, window_end)
            })
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
    fn of(index: u32, samples: &[&GpuSample], from: Nanos, to: Nanos) -> Option<Self> {
        let inside: Vec<&GpuSample> = samples
            .iter()
            .copied()
            .filter(|sample| from <= sample.at && sample.at <= to)
            .collect();
        if inside.is_empty() {
            return None;
        }
        let level = |value: fn(&GpuSample) -> Option<f64>| {
            let looks = samples.iter();
            let looks = looks.filter_map(|sample| Some((sample.at, value(sample)?)));
            Course::new(looks).over(from, to)
        };
        let mut throttled: BTreeMap<Throttle, f64> = BTreeMap::new();
        for reason in inside.iter().flat_map(|sample| &sample.throttled) {
            *throttled.entry(*reason).or_default() += 1.0 / inside.len() as f64;
        }
        Some(Self {
            index,
            samples: u32::try_from(inside.len()).unwrap_or(u32::MAX),
            power_w: level(|sample| sample.power_w),
            utilization: level(|sample| sample.utilization),
            sm_clock_mhz: level(|sample| sample.sm_clock_mhz),
            temperature_c: level(|sample| sample.temperature_c),
            memory_used: level(|sample| sample.memory_used.map(|bytes| bytes as f64)),
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
            look(3, 0, 500.0, &[Throttle::PowerCap]),
            look(1, 0, 100.0, &[]),
            look(2, 0, 300.0, &[Throttle::PowerCap]),
            look(2, 1, 50.0, &[]),
            look(9, 2, 70.0, &[]),
        ];
        let view = GpuView::of(&samples, Nanos::from_secs(1), Nanos::from_secs(3));
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
        let none = GpuView::of(&[], Nanos::ZERO, Nanos::from_secs(1));
        assert!(matches!(none, GpuView::Unknown { .. }));
    }
}
