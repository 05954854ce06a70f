//! What a running stage tells whoever watches it.

use crate::sample::{Pulse, RequestRecord, StageEnd};
use crate::unit::Nanos;

/// One thing to know of a running stage. Values only: whoever shows them formats them.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadEvent {
    /// A stage begins.
    StageStarted {
        /// Its index in the plan.
        stage: usize,
        /// Its name.
        name: String,
    },
    /// The figures now: about four times a second, and at once when the window opens or closes.
    Tick(Live),
    /// How the client fared in the latest piece of the window.
    Pulse(Pulse),
    /// The stage is over; all its records were handed on.
    StageEnded {
        /// Its index in the plan.
        stage: usize,
        /// The last figures.
        live: Live,
        /// How it ended.
        end: StageEnd,
    },
}

/// Figures of a stage so far, its warm-up included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Live {
    /// Since the stage's start.
    pub elapsed: Nanos,
    /// Whether the measured window is open.
    pub measuring: bool,
    /// Where the measured window starts, once that is settled.
    pub opened: Option<Nanos>,
    /// All requests that were sent before this have ended, and their records were handed on.
    pub landed: Nanos,
    /// Requests sent.
    pub sent: u64,
    /// Requests that completed.
    pub completed: u64,
    /// Requests that count as errors, unsent ones included.
    pub errors: u64,
    /// Requests under way.
    pub in_flight: u32,
    /// Output tokens of requests that have ended.
    pub output_tokens: u64,
    /// Median time to first token, from send, of the latest requests; `None` before the first.
    pub ttft_p50: Option<Nanos>,
}

/// The latest times to first token.
#[derive(Debug, Default)]
pub(super) struct Recent {
    values: Vec<Nanos>,
    next: usize,
}

impl Recent {
    /// How many count as the latest.
    const SIZE: usize = 200;

    pub(super) fn take(&mut self, record: &RequestRecord) {
        let (Some(first), Some(sent)) = (record.first_token(), record.sent) else {
            return;
        };
        let ttft = first.since(sent);
        if self.values.len() < Self::SIZE {
            self.values.push(ttft);
        } else {
            self.values[self.next] = ttft;
            self.next = (self.next + 1) % Self::SIZE;
        }
    }

    /// The upper median.
    pub(super) fn median(&self) -> Option<Nanos> {
        let mut values = self.values.clone();
        let middle = values.len() / 2;
        (middle < values.len()).then(|| *values.select_nth_unstable(middle).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_the_latest() {
        let mut recent = Recent::default();
        assert_eq!(recent.median(), None);
        recent.values = [5, 1, 9].map(Nanos::new).to_vec();
        assert_eq!(recent.median(), Some(Nanos::new(5)));
    }
}
