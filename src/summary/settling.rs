//! Whether a stage's latencies speak of a steady state, or still of a warm-up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::class::Frame;
use crate::metric::Metric;
use crate::plan::Phase;
use crate::sample::{RequestRecord, Timeline};
use crate::stats::mser::mser5;
use crate::stats::sum::ExactSum;
use crate::unit::Nanos;

/// Points of a series at the most.
const MOST: usize = 1 << 15;

/// Where a stage's latencies settle, by MSER-5 over their logarithms in the order of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Settling {
    /// Which latency takes longest to settle: TTFT or E2E.
    pub metric: Metric,
    /// Requests of the window that are warm-up by the rule.
    pub cut: u64,
    /// Requests that have this latency.
    pub of: u64,
    /// False where that is beyond doubt: a cut of more than a tenth (or at the search's end), of at
    /// least 100 requests, whose latencies are 4 standard errors off the rest.
    pub settled: bool,
}

/// Where the window's TTFT and E2E settle.
pub(super) struct Settlings {
    from_schedule: bool,
    ttft: Series,
    e2e: Series,
}

impl Settlings {
    /// Before the one pass that it takes.
    pub(super) const fn new(frame: Frame) -> Self {
        Self {
            from_schedule: frame.from_schedule,
            ttft: Series::new(MOST),
            e2e: Series::new(MOST),
        }
    }

    /// A record.
    pub(super) fn see(&mut self, record: &RequestRecord) {
        let Some(sent) = record.sent.filter(|_| record.phase == Phase::Measured) else {
            return;
        };
        let timeline = Timeline::new(record, self.from_schedule);
        for (series, value) in [
            (&mut self.ttft, timeline.ttft()),
            (&mut self.e2e, timeline.e2e()),
        ] {
            if let Some(seconds) = value.ok().filter(|seconds| *seconds > 0.0) {
                series.push(sent, record.index, seconds.ln());
            }
        }
    }

    /// The one that does not settle, or takes longer; `None` with fewer than 20 values of either.
    pub(super) fn finish(&self) -> Option<Settling> {
        [(Metric::Ttft, &self.ttft), (Metric::E2e, &self.e2e)]
            .into_iter()
            .filter_map(|(metric, series)| series.settling(metric))
            .min_by_key(|settling| (settling.settled, std::cmp::Reverse(settling.cut)))
    }
}

/// Values in the order of their sends.
///
/// Beyond so many points, one point is the mean of a stretch of time: as short a power of two of
/// nanoseconds as keeps to that number, whatever order the values come in. A long series is only
/// smoother for it, and its cut as fine as one of its stretches.
struct Series {
    most: usize,
    /// Stretches of 2^`bits` ns, or single values.
    bits: Option<u32>,
    points: BTreeMap<(u64, u32), Point>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Point {
    sum: ExactSum,
    count: u64,
}

impl Series {
    const fn new(most: usize) -> Self {
        Self {
            most,
            bits: None,
            points: BTreeMap::new(),
        }
    }

    fn push(&mut self, sent: Nanos, index: u32, value: f64) {
        let place = self.place((sent.get(), index));
        let point = self.points.entry(place).or_default();
        point.sum.add(value, 1);
        point.count += 1;
        while self.points.len() > self.most {
            self.coarsen();
        }
    }

    const fn place(&self, (sent, index): (u64, u32)) -> (u64, u32) {
        match self.bits {
            None => (sent, index),
            Some(bits) => (sent >> bits << bits, 0),
        }
    }

    fn coarsen(&mut self) {
        self.bits = Some(self.bits.map_or(0, |bits| bits + 1));
        for (place, point) in std::mem::take(&mut self.points) {
            let merged = self.points.entry(self.place(place)).or_default();
            merged.sum.merge(point.sum);
            merged.count += point.count;
        }
    }

    fn settling(&self, metric: Metric) -> Option<Settling> {
        let points: Vec<Point> = self.points.values().copied().collect();
        let means: Vec<f64> = points
            .iter()
            .map(|point| point.sum.value() / point.count as f64)
            .collect();
        let values = |points: &[Point]| points.iter().map(|point| point.count).sum();
        mser5(&means).map(|found| Settling {
            metric,
            cut: values(&points[..found.cut]),
            of: values(&points),
            settled: !found.is_warming(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Outcome;
    use crate::sample::record::tests::record;

    /// A series that falls over its first fifth and then stays.
    fn series(most: usize, values: impl Iterator<Item = u32>) -> Series {
        let mut series = Series::new(most);
        for index in values {
            let start = if index < 2000 { 3.0 } else { 0.0 };
            let noise = f64::from(index * 37 % 101) / 100.0;
            series.push(Nanos::from_millis(u64::from(index)), index, start + noise);
        }
        series
    }

    #[test]
    fn a_long_series_is_bounded_and_finds_the_same() {
        let whole = series(20_000, 0..10_000).settling(Metric::Ttft).unwrap();
        assert_eq!((whole.of, whole.settled), (10_000, false));
        assert!((2000..4000).contains(&whole.cut), "{}", whole.cut);
        let bounded = series(500, 0..10_000);
        assert!((250..=500).contains(&bounded.points.len()));
        let found = bounded.settling(Metric::Ttft).unwrap();
        assert_eq!((found.of, found.settled), (10_000, false));
        assert!((2000..4000).contains(&found.cut), "{}", found.cut);
    }

    #[test]
    fn the_order_of_the_values_does_not_matter() {
        let (forth, back) = (series(300, 0..5000), series(300, (0..5000).rev()));
        assert_eq!(forth.bits, back.bits);
        assert!(
            forth
                .points
                .iter()
                .zip(&back.points)
                .all(|(a, b)| a.0 == b.0 && a.1.sum == b.1.sum && a.1.count == b.1.count)
        );
    }

    #[test]
    fn a_slow_start_is_found_in_either_latency() {
        let frame = Frame {
            start: Nanos::ZERO,
            end: Nanos::from_secs(30),
            from_schedule: true,
        };
        let found = |slow: u64| {
            let mut settlings = Settlings::new(frame);
            for index in 0..500_u32 {
                let at = |ms: u64| Nanos::from_millis(u64::from(index) * 50 + ms);
                let start = if index < 100 { slow } else { 0 };
                let noise = u64::from(index * 37 % 101);
                settlings.see(&RequestRecord {
                    index,
                    scheduled: at(0),
                    sent: Some(at(0)),
                    events: vec![at(50), at(60 + start + noise)],
                    done: Some(at(100 + start + noise)),
                    ..record(Outcome::Completed)
                });
            }
            settlings.finish().unwrap()
        };
        assert!(found(0).settled);
        let late = found(300);
        assert_eq!(
            (late.metric, late.of, late.settled),
            (Metric::E2e, 500, false)
        );
        assert!((100..=115).contains(&late.cut), "{}", late.cut);
    }
}
