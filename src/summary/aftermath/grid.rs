//! The window of a stage in slices fine enough to see how long something took.

use crate::summary::class::Frame;
use crate::unit::Nanos;

/// The shortest slice.
const SHORTEST: u64 = 100_000_000;
/// Most slices: 1.3 MB.
const MOST: u64 = 1 << 15;

/// Slices of a window: of 100 ms, of a longer window as long as makes 32,768 of them.
#[derive(Debug)]
pub(super) struct Grid {
    start: Nanos,
    end: Nanos,
    /// Nanoseconds in a slice.
    slice: u64,
    slices: Vec<Slice>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slice {
    /// Requests due in it, without cancelled.
    due: u64,
    /// Of those, good.
    good: u64,
    /// Good requests that ended in it.
    ended_good: u64,
    /// Requests that took off, minus those that landed.
    flow: i64,
}

/// Until when a span was bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    /// Never.
    Never,
    /// Until then, and not after.
    Until(Nanos),
    /// At its end.
    Still,
    /// Too few requests say.
    TooFew,
}

impl Grid {
    pub(super) fn new(frame: Frame) -> Self {
        let length = frame.end.since(frame.start).get();
        let slice = length.div_ceil(MOST).max(SHORTEST);
        Self {
            start: frame.start,
            end: frame.end,
            slice,
            slices: vec![Slice::default(); length.div_ceil(slice).max(1) as usize],
        }
    }

    /// The slice of an instant; that of the window's start before it, `None` from its end on.
    fn index(&self, at: Nanos) -> Option<usize> {
        (at < self.end).then(|| (at.since(self.start).get() / self.slice) as usize)
    }

    /// The first slice that begins at or after an instant.
    fn after(&self, at: Nanos) -> usize {
        let index = at.since(self.start).get().div_ceil(self.slice) as usize;
        index.min(self.slices.len())
    }

    fn starts(&self, index: usize) -> Nanos {
        (self.start + Nanos::new(self.slice * index as u64)).min(self.end)
    }

    /// A request was in flight between these.
    pub(super) fn flew(&mut self, from: Nanos, to: Nanos) {
        if to <= self.start {
            return;
        }
        for (at, step) in [(from, 1), (to, -1)] {
            if let Some(index) = self.index(at) {
                self.slices[index].flow += step;
            }
        }
    }

    /// A request of the window ended.
    pub(super) fn ended(&mut self, scheduled: Nanos, end: Nanos, good: bool) {
        if let Some(index) = self.index(scheduled) {
            self.slices[index].due += 1;
            self.slices[index].good += u64::from(good);
        }
        if good && let Some(index) = self.index(end) {
            self.slices[index].ended_good += 1;
        }
    }

    /// Good requests a second that ended between these, by whole slices.
    pub(super) fn good_rate(&self, from: Nanos, to: Nanos) -> f64 {
        let (first, last) = (self.after(from), self.after(to));
        let seconds = self.starts(last).since(self.starts(first)).as_secs_f64();
        let good: u64 = self.slices[first.min(last)..last]
            .iter()
            .map(|s| s.ended_good)
            .sum();
        if seconds > 0.0 {
            good as f64 / seconds
        } else {
            0.0
        }
    }

    /// In flight at the end of each slice.
    fn levels(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let flows = self.slices.iter().enumerate();
        flows.scan(0, |level, (index, slice)| {
            *level += slice.flow;
            Some((index, *level))
        })
    }

    /// Mean of requests in flight between these.
    pub(super) fn level(&self, from: Nanos, to: Nanos) -> f64 {
        let (first, last) = (self.after(from), self.after(to));
        let inside = self
            .levels()
            .filter(|(index, _)| (first..last).contains(index));
        let (sum, count) = inside.fold((0, 0_u64), |(sum, n), (_, level)| (sum + level, n + 1));
        sum as f64 / count.max(1) as f64
    }

    /// Most in flight between these.
    pub(super) fn most(&self, from: Nanos, to: Nanos) -> u64 {
        let (first, last) = (self.after(from), self.after(to));
        let inside = self
            .levels()
            .filter(|(index, _)| (first..last).contains(index));
        inside
            .map(|(_, level)| level.max(0) as u64)
            .max()
            .unwrap_or(0)
    }

    /// When no more than so many were in flight, first, between these.
    pub(super) fn down_to(&self, limit: f64, from: Nanos, to: Nanos) -> Option<Nanos> {
        let (first, last) = (self.after(from), self.after(to));
        let mut inside = self
            .levels()
            .filter(|(index, _)| (first..last).contains(index));
        let (index, _) = inside.find(|(_, level)| *level as f64 <= limit)?;
        Some(self.starts(index + 1))
    }

    /// The end of the last bad stretch between these. A stretch is so many slices as `fewest` requests
    /// are due in; `bad` is given those that were good, and all.
    pub(super) fn last_bad(
        &self,
        from: Nanos,
        to: Nanos,
        fewest: u64,
        bad: impl Fn(u64, u64) -> bool,
    ) -> Bad {
        // The slice that it falls into is partly after it.
        let (first, last) = (self.index(from).unwrap_or(0), self.after(to));
        let slices = self.slices.get(first..last).unwrap_or_default();
        if slices.iter().map(|slice| slice.due).sum::<u64>() < fewest {
            return Bad::TooFew;
        }
        let (mut due, mut good, mut begin) = (0, 0, 0);
        let mut found = Bad::Never;
        for (index, slice) in slices.iter().enumerate() {
            due += slice.due;
            good += slice.good;
            while due - slices[begin].due >= fewest {
                due -= slices[begin].due;
                good -= slices[begin].good;
                begin += 1;
            }
            if due >= fewest && bad(good, due) {
                // What is bad in it ends with the last slice in which a request was lost.
                let lost = (begin..=index)
                    .rev()
                    .find(|&i| slices[i].good < slices[i].due);
                found = Bad::Until(self.starts(first + lost.unwrap_or(index) + 1));
            }
        }
        // The last stretch reaches to the end.
        if due >= fewest && bad(good, due) {
            Bad::Still
        } else {
            found
        }
    }
}
