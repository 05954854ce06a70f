//! When a request is given up.

use std::pin::Pin;

use tokio::time::Sleep;

use super::clock::Clock;
use crate::sample::TimeoutPhase;
use crate::unit::Nanos;
use crate::wire::{Answer, End};

/// Limits of one request, from the instant it was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) first_token: Nanos,
    pub(super) stall: Nanos,
    pub(super) total: Nanos,
    /// When the plan has its client give it up.
    pub(super) cancel: Option<Nanos>,
}

impl Limits {
    /// The nearest limit and the end that it makes.
    pub(super) fn next(&self, sent: Nanos, answer: &Answer) -> (Nanos, End) {
        let total = (sent + self.total, End::Timeout(TimeoutPhase::Total));
        let waits = match answer.last_token() {
            Some(last) => Some((last + self.stall, End::Timeout(TimeoutPhase::Stall))),
            None if answer.is_stream() => Some((
                sent + self.first_token,
                End::Timeout(TimeoutPhase::FirstToken),
            )),
            None => None,
        };
        let cancel = self.cancel.map(|after| (sent + after, End::Cancelled));
        [cancel, waits]
            .into_iter()
            .flatten()
            .fold(
                total,
                |nearest, limit| {
                    if limit.0 < nearest.0 { limit } else { nearest }
                },
            )
    }

    /// The nearest limit, if it has passed; else sets the timer to it.
    pub(super) fn passed(
        &self,
        sent: Nanos,
        answer: &Answer,
        clock: Clock,
        timer: Pin<&mut Sleep>,
    ) -> Option<End> {
        let (due, end) = self.next(sent, answer);
        if clock.now() >= due {
            return Some(end);
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
            cancel: None,
        };
        let sent = Nanos::from_secs(1);
        let next = |answer: &Answer| limits.next(sent, answer);
        let mut answer = Answer::streamed(8);
        assert_eq!(
            next(&answer),
            (Nanos::from_secs(6), End::Timeout(TimeoutPhase::FirstToken))
        );
        assert_eq!(
            next(&Answer::whole()),
            (Nanos::from_secs(10), End::Timeout(TimeoutPhase::Total))
        );
        let token = b"data: {\"choices\":[{\"text\":\"a\"}]}\n\n";
        answer.feed(Nanos::from_secs(3), token);
        assert_eq!(
            next(&answer),
            (Nanos::from_secs(5), End::Timeout(TimeoutPhase::Stall))
        );
        answer.feed(Nanos::from_secs(9), token);
        assert_eq!(
            next(&answer),
            (Nanos::from_secs(10), End::Timeout(TimeoutPhase::Total))
        );
    }

    #[test]
    fn a_planned_cancellation_is_one_of_the_limits() {
        let limits = Limits {
            first_token: Nanos::from_secs(5),
            stall: Nanos::from_secs(2),
            total: Nanos::from_secs(9),
            cancel: Some(Nanos::from_secs(3)),
        };
        let mut answer = Answer::streamed(8);
        let next = |answer: &Answer| limits.next(Nanos::ZERO, answer);
        assert_eq!(next(&answer), (Nanos::from_secs(3), End::Cancelled));
        answer.feed(
            Nanos::from_millis(500),
            b"data: {\"choices\":[{\"text\":\"a\"}]}\n\n",
        );
        // A stall comes first.
        let stalled = (Nanos::from_millis(2500), End::Timeout(TimeoutPhase::Stall));
        assert_eq!(next(&answer), stalled);
    }
}
