//! Whether a server's kept connections can be relied on.

use std::sync::atomic::{AtomicU32, Ordering};

/// Counts requests on kept connections, and those under which the connection closed.
///
/// Some servers close a connection right after an answer without saying so; a request sent into that
/// costs the time to be sent again, which is no time of the server's. Where that happens often, kept
/// connections are given up for good: each request opens its own, as with a server that says so.
#[derive(Debug, Default)]
pub(super) struct Trust {
    uses: AtomicU32,
    losses: AtomicU32,
}

impl Trust {
    /// Losses from which on they are held against the server.
    const LEAST: u32 = 10;
    /// One loss in so many uses is too often.
    const SHARE: u32 = 50;
    /// Uses that count as the latest.
    const LATEST: u32 = 1000;

    /// A request is sent on a kept connection.
    pub(super) fn used(&self) {
        if self.uses.fetch_add(1, Ordering::Relaxed) >= Self::LATEST {
            // Whoever counts meanwhile is off by little.
            self.uses.store(Self::LATEST / 2, Ordering::Relaxed);
            let losses = self.losses.load(Ordering::Relaxed);
            self.losses.store(losses / 2, Ordering::Relaxed);
        }
    }

    /// Its connection closed under it.
    pub(super) fn lost(&self) {
        self.losses.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether connections are to be kept.
    pub(super) fn holds(&self) -> bool {
        let losses = self.losses.load(Ordering::Relaxed);
        losses < Self::LEAST || losses * Self::SHARE < self.uses.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(uses: u32, one_lost_in: u32) -> bool {
        let trust = Trust::default();
        for number in 1..=uses {
            trust.used();
            if number % one_lost_in == 0 {
                trust.lost();
            }
        }
        trust.holds()
    }

    #[test]
    fn only_frequent_losses_cost_trust() {
        assert!(after(0, 1));
        assert!(after(9, 1), "too few to tell");
        assert!(!after(10, 1));
        assert!(!after(100_000, 3));
        assert!(after(100_000, 500));
    }
}
