//! How many requests of a stage are and were in flight, and up to when all have ended.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::unit::Nanos;

/// Counts requests as they depart and land, from all lanes.
#[derive(Debug, Default)]
pub(super) struct Level {
    in_flight: AtomicU32,
    most_in_window: AtomicU32,
    sent: AtomicU64,
    /// Which of the two below counts those that depart now.
    flock: AtomicU32,
    flocks: [AtomicU32; 2],
}

/// Those that departed in the same stretch of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flock(u32);

impl Level {
    /// Requests in flight.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Most of them right after a send in the window.
    pub(super) fn most_in_window(&self) -> u32 {
        self.most_in_window.load(Ordering::Relaxed)
    }

    /// Requests sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// One more is in flight; gives which flock it is of.
    pub(super) fn depart(&self, in_window: bool) -> Flock {
        let flock = self.flock.load(Ordering::Relaxed);
        self.flocks[flock as usize % 2].fetch_add(1, Ordering::Relaxed);
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.sent.fetch_add(1, Ordering::Relaxed);
        if in_window {
            self.most_in_window.fetch_max(in_flight, Ordering::Relaxed);
        }
        Flock(flock)
    }

    /// One has ended, and its record was left.
    pub(super) fn land(&self, Flock(flock): Flock) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.flocks[flock as usize % 2].fetch_sub(1, Ordering::Release);
    }
}

/// Follows up to when all requests have ended.
///
/// At any time those that depart are of one of two flocks. Once all of the other have landed, all that
/// departed before this one began have; then the two change places. So it lags by the longest request,
/// twice at the most, and costs a count a request.
#[derive(Debug, Default)]
pub(super) struct Landed {
    /// When the flock that departs now began.
    since: Nanos,
    until: Nanos,
}

impl Landed {
    /// The instant before which all that departed have ended and left their records.
    pub(super) const fn until(&self) -> Nanos {
        self.until
    }

    /// Looks, before records are collected.
    pub(super) fn look(&mut self, level: &Level, now: Nanos) {
        let other = (level.flock.load(Ordering::Relaxed) + 1) % 2;
        if level.flocks[other as usize].load(Ordering::Acquire) == 0 {
            self.until = self.since;
            self.since = now;
            level.flock.store(other, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_departed_before_has_landed_where_nothing_of_it_is_in_flight() {
        let (level, mut landed) = (Level::default(), Landed::default());
        let mut look = |second: u64| {
            landed.look(&level, Nanos::from_secs(second));
            landed.until()
        };
        let secs = Nanos::from_secs;
        assert_eq!(look(1), Nanos::ZERO);
        let long = level.depart(true);
        assert_eq!(look(2), secs(1), "nothing departed before that");
        let short = level.depart(true);
        assert_eq!(look(3), secs(1), "one that departed at 1 s is in flight");
        level.land(short);
        assert_eq!(look(4), secs(1), "the long one still is");
        level.land(long);
        assert_eq!(look(5), secs(2));
        assert_eq!(look(6), secs(5));
        assert_eq!((level.in_flight(), level.sent()), (0, 2));
        assert_eq!(level.most_in_window(), 2);
    }
}
