//! What was observed on one clock, as another shows it.

use super::record::RequestRecord;
use super::stage::Pulse;
use crate::unit::Nanos;

/// From one clock to another: what this one shows at `from`, that one shows at `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// On this clock.
    pub from: Nanos,
    /// On the other.
    pub to: Nanos,
}

impl Move {
    /// An instant as the other clock shows it; 0 of one from before that began.
    ///
    /// From 5 s to 60 s, 7 s is 62 s and 4 s is 59 s.
    pub fn of(self, at: Nanos) -> Nanos {
        (self.to + at.since(self.from)).since(self.from.since(at))
    }

    /// The same of all instants of a record.
    #[must_use]
    pub fn record(self, mut record: RequestRecord) -> RequestRecord {
        let instants = [
            &mut record.sent,
            &mut record.headers,
            &mut record.first_answer,
            &mut record.done,
        ];
        let instants = instants.into_iter().flatten();
        let all = instants.chain(&mut record.events);
        for at in all.chain([&mut record.scheduled]) {
            *at = self.of(*at);
        }
        record
    }

    /// The same of a pulse.
    #[must_use]
    pub fn pulse(self, pulse: Pulse) -> Pulse {
        Pulse {
            start: self.of(pulse.start),
            end: self.of(pulse.end),
            ..pulse
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Outcome;
    use crate::sample::record::tests::record;

    #[test]
    fn a_record_keeps_its_latencies() {
        let secs = Nanos::from_secs;
        let there = Move {
            from: secs(5),
            to: secs(60),
        };
        assert_eq!([7, 4, 5].map(|s| there.of(secs(s))), [62, 59, 60].map(secs));
        let own = RequestRecord {
            scheduled: secs(6),
            sent: Some(secs(7)),
            first_answer: Some(secs(8)),
            done: Some(secs(9)),
            events: vec![secs(8), secs(9)],
            ..record(Outcome::Completed)
        };
        let moved = there.record(own.clone());
        assert_eq!(moved.scheduled, there.of(own.scheduled));
        let latency = |record: &RequestRecord| {
            let since = |at: Option<Nanos>| at.map(|at| at.since(record.scheduled));
            (
                since(record.sent),
                since(record.headers),
                since(record.first_token()),
                since(record.done),
                since(record.first_answer),
            )
        };
        assert_eq!(latency(&moved), latency(&own));
        let back = Move {
            from: there.to,
            to: there.from,
        };
        assert_eq!(back.record(moved), own);
    }
}
