//! When a request is given up.

use std::pin::Pin;

use tokio::time::Sleep;

use super::clock::Clock;
use crate::sample::TimeoutPhase;
use crate::unit::Nanos;
use crate::wire::Answer;

/// Limits of one request, from the instant it was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) first_token: Nanos,
    pub(super) stall: Nanos,
    pub(super) total: Nanos,
}

impl Limits {
    /// The nearest limit and its name.
    pub(super) fn next(&self, sent: Nanos, answer: &Answer) -> (Nanos, TimeoutPhase) {
        let total = (sent + self.total, TimeoutPhase::Total);
        let nearer = match answer.last_token() {
            Some(last) => (last + self.stall, TimeoutPhase::Stall),
            None if answer.is_stream() => (sent + self.first_token, TimeoutPhase::FirstToken),
            None => total,
        };
        if nearer.0 < total.0 { nearer } else { total }
    }

    /// The nearest limit, if it has passed; else sets the timer to it.
    pub(super) fn passed(
        &self,
        sent: Nanos,
        answer: &Answer,
        clock: Clock,
        timer: Pin<&mut Sleep>,
    ) -> Option<TimeoutPhase> {
        let (due, phase) = self.next(sent, answer);
        if clock.now() >= due {
            return Some(phase);
        }
        timer.reset(clock.timer(due));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_limit_counts() {
        let limits = Limits {
            first_token: Nanos::from_secs(5),
            stall: Nanos::from_secs(2),
            total: Nanos::from_secs(9),
        };
        let sent = Nanos::from_secs(1);
        let next = |answer: &Answer| limits.next(sent, answer);
        let mut answer = Answer::streamed(8);
        assert_eq!(
            next(&answer),
            (Nanos::from_secs(6), TimeoutPhase::FirstToken)
        );
        assert_eq!(
            next(&Answer::whole()),
            (Nanos::from_secs(10), TimeoutPhase::Total)
        );
        let token = b"data: {\"choices\":[{\"text\":\"a\"}]}\n\n";
        answer.feed(Nanos::from_secs(3), token);
        assert_eq!(next(&answer), (Nanos::from_secs(5), TimeoutPhase::Stall));
        answer.feed(Nanos::from_secs(9), token);
        assert_eq!(next(&answer), (Nanos::from_secs(10), TimeoutPhase::Total));
    }
}
