//! Looks at GPUs over a stage of any length, in bounded memory.

use std::collections::BTreeMap;

use super::gpu::{GpuSample, Throttle};
use crate::unit::Nanos;

/// Stretches of one GPU at the most: half an hour of looks a second, and of half a day stretches of 32 s.
const MOST: usize = 2048;

/// Looks at GPUs. Each GPU keeps 2,048 stretches at the most, some 400 kB; from there on, two become one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GpuLooks(BTreeMap<u32, Looks>);

#[derive(Debug, Clone, PartialEq)]
struct Looks {
    /// Looks that make a stretch.
    each: u32,
    stretches: Vec<GpuStretch>,
}

/// One look at a GPU, or several in a row that were put together.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuStretch {
    /// The middle of its looks.
    pub at: Nanos,
    /// How many there were.
    pub looks: u32,
    /// Power drawn, in watts.
    pub power_w: Option<Range>,
    /// Share of time in which a kernel ran.
    pub utilization: Option<Range>,
    /// Clock of the multiprocessors, in MHz.
    pub sm_clock_mhz: Option<Range>,
    /// Temperature, in °C.
    pub temperature_c: Option<Range>,
    /// Memory in use, in bytes.
    pub memory_used: Option<Range>,
    /// Looks in which something held the clocks back, by what.
    pub throttled: BTreeMap<Throttle, u32>,
}

/// Values of a stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub max: f64,
}

impl GpuLooks {
    /// Takes a look, after all before it at the same GPU.
    pub fn see(&mut self, sample: &GpuSample) {
        let looks = self.0.entry(sample.index).or_insert(Looks {
            each: 1,
            stretches: Vec::new(),
        });
        let new = GpuStretch::of(sample);
        match looks.stretches.last_mut() {
            Some(last) if last.looks < looks.each => *last = last.with(&new),
            _ => looks.stretches.push(new),
        }
        if looks.stretches.len() > MOST {
            looks.each = looks.each.saturating_mul(2);
            let pairs = looks.stretches.chunks(2);
            looks.stretches = pairs
                .map(|pair| match pair {
                    [one, next] => one.with(next),
                    _ => pair[0].clone(),
                })
                .collect();
        }
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each GPU with its stretches, in order of time.
    pub fn each(&self) -> impl Iterator<Item = (u32, &[GpuStretch])> {
        let all = self.0.iter();
        all.map(|(index, looks)| (*index, &looks.stretches[..]))
    }
}

impl FromIterator<GpuSample> for GpuLooks {
    /// Of looks in order of time.
    fn from_iter<I: IntoIterator<Item = GpuSample>>(samples: I) -> Self {
        let mut looks = Self::default();
        for sample in samples {
            looks.see(&sample);
        }
        looks
    }
}

impl GpuStretch {
    fn of(sample: &GpuSample) -> Self {
        let range = |value: Option<f64>| {
            value.map(|value| Range {
                mean: value,
                max: value,
            })
        };
        Self {
            at: sample.at,
            looks: 1,
            power_w: range(sample.power_w),
            utilization: range(sample.utilization),
            sm_clock_mhz: range(sample.sm_clock_mhz),
            temperature_c: range(sample.temperature_c),
            memory_used: range(sample.memory_used.map(|bytes| bytes as f64)),
            throttled: sample.throttled.iter().map(|reason| (*reason, 1)).collect(),
        }
    }

    /// Both as one: 300 W over two looks and 600 W in one are 400 W, 600 W at most.
    fn with(&self, next: &Self) -> Self {
        let (own, others) = (f64::from(self.looks), f64::from(next.looks));
        let share = others / (own + others);
        let both = |one: Option<Range>, other: Option<Range>| match (one, other) {
            (Some(one), Some(other)) => Some(Range {
                mean: one.mean + (other.mean - one.mean) * share,
                max: one.max.max(other.max),
            }),
            (one, other) => one.or(other),
        };
        let mut throttled = self.throttled.clone();
        for (reason, count) in &next.throttled {
            *throttled.entry(*reason).or_default() += count;
        }
        let apart = next.at.since(self.at).as_secs_f64();
        Self {
            at: self.at + Nanos::try_from_secs_f64(apart * share).unwrap_or_default(),
            looks: self.looks.saturating_add(next.looks),
            power_w: both(self.power_w, next.power_w),
            utilization: both(self.utilization, next.utilization),
            sm_clock_mhz: both(self.sm_clock_mhz, next.sm_clock_mhz),
            temperature_c: both(self.temperature_c, next.temperature_c),
            memory_used: both(self.memory_used, next.memory_used),
            throttled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(second: u64, index: u32, power_w: f64, throttled: &[Throttle]) -> GpuSample {
        GpuSample {
            at: Nanos::from_secs(second),
            index,
            power_w: Some(power_w),
            utilization: None,
            sm_clock_mhz: Some(1980.0),
            temperature_c: Some(60.0),
            memory_used: Some(1 << 30),
            throttled: throttled.iter().copied().collect(),
        }
    }

    #[test]
    fn stretches_are_weighted_by_their_looks() {
        let [one, two, three] = [(0, 300.0), (1, 300.0), (2, 600.0)]
            .map(|(second, power)| GpuStretch::of(&sample(second, 0, power, &[])));
        let both = one.with(&two).with(&three);
        let power = both.power_w.unwrap();
        assert!(
            (power.mean - 400.0).abs() < 1e-9 && power.max >= 600.0,
            "{power:?}"
        );
        assert_eq!((both.looks, both.at), (3, Nanos::from_secs(1)));
        assert_eq!(both.utilization, None, "never 0 where nobody says");
    }

    #[test]
    fn half_a_day_of_eight_gpus_stays_small_and_tells_the_same() {
        let mut looks = GpuLooks::default();
        let seconds = 12 * 3600;
        for second in 0..seconds {
            for index in 0..8 {
                let power = if second == 20_000 { 700.0 } else { 400.0 };
                let reasons: &[Throttle] = if second < seconds / 4 {
                    &[Throttle::PowerCap]
                } else {
                    &[]
                };
                looks.see(&sample(second, index, power, reasons));
            }
        }
        let all: Vec<(u32, &[GpuStretch])> = looks.each().collect();
        assert_eq!(all.len(), 8);
        for (_, stretches) in &all {
            assert!(
                (MOST / 2..=MOST).contains(&stretches.len()),
                "{}",
                stretches.len()
            );
            let count: u64 = stretches.iter().map(|one| u64::from(one.looks)).sum();
            assert_eq!(count, seconds);
            let held = stretches
                .iter()
                .filter_map(|one| one.throttled.get(&Throttle::PowerCap));
            assert_eq!(u64::from(held.sum::<u32>()), seconds / 4);
            let peak = stretches.iter().filter_map(|one| one.power_w);
            assert!(peak.map(|power| power.max).fold(0.0, f64::max) >= 700.0);
            assert!(stretches.windows(2).all(|pair| pair[0].at < pair[1].at));
        }
        // All of them as objects of JSON, a look each, would be 60 MB.
        let bytes = all.len() * MOST * size_of::<GpuStretch>();
        assert!(bytes < 4 << 20, "{bytes}");
    }
}
