//! An instant of the wall clock at which several clients begin together.

use std::time::{Duration, Instant, SystemTime};

use tokio::time::sleep_until;

use crate::unit::Nanos;

/// When a stage begins, by the wall clock: clients that share a run have no other clock in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appointment(SystemTime);

impl Appointment {
    /// At this instant.
    pub const fn at(instant: SystemTime) -> Self {
        Self(instant)
    }

    /// So much later.
    #[must_use]
    pub fn after(self, span: Nanos) -> Self {
        Self(self.0.checked_add(span.to_duration()).unwrap_or(self.0))
    }

    /// Whether it is over.
    pub fn has_passed(self) -> bool {
        self.left().is_none()
    }

    /// Waits until so much before it; no time at all where that has passed.
    pub async fn wait(self, before: Nanos) {
        let left = self.left().unwrap_or_default();
        let wait = left.saturating_sub(before.to_duration());
        if let Some(until) = now().checked_add(wait) {
            sleep_until(until.into()).await;
        }
    }

    /// By the monotonic clock.
    pub(super) fn monotonic(self) -> Instant {
        match self.left() {
            Some(left) => now().checked_add(left),
            None => now().checked_sub(wall().duration_since(self.0).unwrap_or_default()),
        }
        .unwrap_or_else(now)
    }

    fn left(self) -> Option<Duration> {
        self.0.duration_since(wall()).ok()
    }
}

#[expect(clippy::disallowed_methods, reason = "meets the wall clock")]
fn wall() -> SystemTime {
    SystemTime::now()
}

#[expect(clippy::disallowed_methods, reason = "the load client's clock")]
fn now() -> Instant {
    Instant::now()
}
