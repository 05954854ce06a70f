//! How far a stage has come: where it is, and sums over its records so far.

use super::window::Bounds;
use crate::plan::Phase;
use crate::sample::{Outcome, RequestRecord};
use crate::unit::Nanos;

/// Where a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Warmup,
    Window,
    Drain {
        until: Nanos,
    },
    /// What was left is cut.
    Cut,
}

impl Step {
    pub(super) const fn is_drain(self) -> bool {
        matches!(self, Self::Drain { .. } | Self::Cut)
    }
}

/// Sums over the records so far.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) completed: u64,
    pub(super) errors: u64,
    pub(super) output_tokens: u64,
    pub(super) bytes: u64,
    pub(super) cap_hits: u32,
    pub(super) backlog: u32,
    /// Request-nanoseconds in flight within the window.
    pub(super) in_flight: u128,
}

impl Totals {
    /// Counts a record; one that has not ended is taken to be in flight until `now`.
    pub(super) fn take(&mut self, record: &RequestRecord, bounds: Bounds, now: impl Fn() -> Nanos) {
        if let Some(sent) = record.sent {
            let until = record.done.unwrap_or_else(now);
            self.in_flight += u128::from(bounds.overlap(sent, until).get());
        }
        self.completed += u64::from(record.outcome == Outcome::Completed);
        self.errors += u64::from(record.outcome.kind().is_error());
        self.output_tokens += u64::from(record.output_tokens.unwrap_or(0));
        self.bytes += record.bytes;
        match record.outcome {
            Outcome::Unsent => self.cap_hits += u32::from(record.phase == Phase::Measured),
            Outcome::Unfinished => self.backlog += 1,
            _ => {}
        }
    }
}
