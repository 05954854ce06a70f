//! Whether so many requests fail that a stage need not go on.

use std::collections::VecDeque;

use crate::sample::{OutcomeKind, RequestRecord, StopReason};

/// How many of the latest requests count.
const LATEST: usize = 100;

/// Requests without which nothing is concluded.
const LEAST: usize = 50;

/// Watches the latest requests, those of the warm-up too, for the share that failed. Planned
/// cancellations don't count.
#[derive(Debug)]
pub(super) struct ErrorWatch {
    /// Share that ends the stage.
    limit: Option<f64>,
    latest: VecDeque<bool>,
}

impl ErrorWatch {
    /// With the limit of the stage's `stop_when`, if it has one.
    pub(super) const fn new(limit: Option<f64>) -> Self {
        Self {
            limit,
            latest: VecDeque::new(),
        }
    }

    /// Takes a record; the reason once the stage is to end.
    pub(super) fn exceeded_with(&mut self, record: &RequestRecord) -> Option<StopReason> {
        let limit = self.limit?;
        let kind = record.outcome.kind();
        if kind == OutcomeKind::Cancelled {
            return None;
        }
        if self.latest.len() == LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back(kind.is_error());
        let (errors, of) = (
            self.latest.iter().filter(|failed| **failed).count(),
            self.latest.len(),
        );
        (of >= LEAST && errors as f64 >= limit * of as f64).then_some(StopReason::Errors {
            errors: errors as u32,
            of: of as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Outcome;
    use crate::sample::record::tests::record;

    fn watch(
        limit: Option<f64>,
        outcomes: impl IntoIterator<Item = Outcome>,
    ) -> Option<StopReason> {
        let mut watch = ErrorWatch::new(limit);
        outcomes
            .into_iter()
            .find_map(|outcome| watch.exceeded_with(&record(outcome)))
    }

    #[test]
    fn the_latest_fifty_to_a_hundred_decide() {
        const OK: Outcome = Outcome::Completed;
        const BAD: Outcome = Outcome::StreamError;
        let of = |n: usize, outcome: Outcome| std::iter::repeat_n(outcome, n);
        assert_eq!(
            watch(Some(0.2), of(100, BAD)),
            Some(StopReason::Errors { errors: 50, of: 50 })
        );
        // Long ago does not count, and a storm after a calm does.
        assert_eq!(
            watch(Some(0.2), of(500, OK).chain(of(30, BAD))),
            Some(StopReason::Errors {
                errors: 20,
                of: 100
            })
        );
        assert_eq!(watch(Some(0.2), of(500, OK).chain(of(19, BAD))), None);
        assert_eq!(watch(Some(0.2), of(500, Outcome::Cancelled)), None);
        assert_eq!(watch(None, of(500, BAD)), None);
    }
}
