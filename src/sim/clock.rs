//! The server's clock: the only place of the embedded engine that reads the time.

use std::time::{Duration, Instant, SystemTime};

use crate::unit::Nanos;

/// Time since the server's start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    start: Instant,
    unix_start: Duration,
}

impl Clock {
    /// Starts counting.
    #[expect(
        clippy::disallowed_methods,
        reason = "the embedded engine's one clock; the load side has its own"
    )]
    pub(super) fn start() -> Self {
        Self {
            start: Instant::now(),
            unix_start: SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default(),
        }
    }

    /// The time since the start.
    pub(super) fn now(&self) -> Nanos {
        self.start.elapsed().into()
    }

    /// Blocks the thread until an instant; returns at once where it has passed.
    ///
    /// The kernel's timer is late by some 60 µs. Deadlines are absolute, so that never adds up.
    pub(super) fn sleep_until(&self, deadline: Nanos) {
        let left = deadline.since(self.now());
        if left > Nanos::ZERO {
            std::thread::sleep(left.to_duration());
        }
    }

    /// When it started, in µs of Unix time.
    pub(super) fn unix_start_us(&self) -> u64 {
        u64::try_from(self.unix_start.as_micros()).unwrap_or(u64::MAX)
    }

    /// The current second of Unix time.
    pub(super) fn unix_secs(&self) -> u64 {
        (self.unix_start + self.start.elapsed()).as_secs()
    }
}
