//! The monotonic clock of a stage: the one place where the load client reads time.

use std::time::Instant;

use super::appointment::Appointment;
use crate::unit::Nanos;

/// Counts nanoseconds since a stage's start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "the load client's clock")]
    pub(super) fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// Starts when it is time, which may have passed.
    pub(super) fn start_at(begin: Appointment) -> Self {
        Self {
            start: begin.monotonic(),
        }
    }

    /// Now.
    pub(super) fn now(&self) -> Nanos {
        self.start.elapsed().into()
    }

    /// An instant of this clock as the runtime's timers want it.
    pub(super) fn timer(&self, at: Nanos) -> tokio::time::Instant {
        // A limit beyond what the platform can add is as good as none: thirty years ahead.
        const FAR: u64 = 30 * 365 * 86_400 * 1_000_000_000;
        let at = Nanos::new(at.get().min(FAR));
        tokio::time::Instant::from_std(self.start + at.to_duration())
    }
}
