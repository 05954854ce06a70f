//! Whether the target is still there.

use crate::sample::{Outcome, OutcomeKind, RequestRecord, TimeoutPhase};
use crate::unit::Nanos;

/// So many requests in a row without a connection, and the target is lost.
const IN_A_ROW: u32 = 20;

/// Nothing but failed connections for so long, and the target is lost.
const FOR: Nanos = Nanos::from_secs(3);

/// Watches for a target that takes no connections any more.
///
/// A request that got a response ends the row, if it was sent after the row began: answers that
/// were under way when the target died prove nothing.
#[derive(Debug, Default)]
pub(super) struct Lifeline {
    row: Option<Row>,
}

#[derive(Debug)]
struct Row {
    began: Nanos,
    failures: u32,
}

impl Lifeline {
    /// Takes a record; true once the target is lost.
    pub(super) fn lost_with(&mut self, record: &RequestRecord) -> bool {
        let no_connection = record.outcome.kind() == OutcomeKind::ConnectError
            || record.outcome
                == (Outcome::Timeout {
                    phase: TimeoutPhase::Connect,
                });
        if no_connection {
            let at = record.done.unwrap_or(record.scheduled);
            let row = self.row.get_or_insert(Row {
                began: at,
                failures: 0,
            });
            row.failures += 1;
            return row.failures >= IN_A_ROW || (row.failures > 1 && at.since(row.began) >= FOR);
        }
        if let (Some(row), Some(_), Some(sent)) = (&self.row, record.headers, record.sent)
            && sent >= row.began
        {
            self.row = None;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Phase;
    use crate::sample::TokenSource;

    fn record(sent: u64, done: u64, outcome: Outcome) -> RequestRecord {
        let answered = outcome != Outcome::ConnectError;
        RequestRecord {
            stage: 0,
            index: 0,
            class: 0,
            tenant: None,
            conversation: None,
            turn: None,
            phase: Phase::Measured,
            planned_input_tokens: 1,
            planned_output_tokens: 1,
            scheduled: Nanos::from_millis(sent),
            sent: Some(Nanos::from_millis(sent)),
            headers: answered.then_some(Nanos::from_millis(done)),
            first_answer: None,
            done: Some(Nanos::from_millis(done)),
            events: Vec::new(),
            event_tokens: Vec::new(),
            output_tokens: None,
            output_source: TokenSource::Events,
            input_tokens: None,
            cached_tokens: None,
            finish: None,
            resent: 0,
            bytes: 0,
            outcome,
            error: None,
            answer: None,
            heard: None,
        }
    }

    const REFUSED: Outcome = Outcome::ConnectError;

    #[test]
    fn twenty_in_a_row_are_a_loss() {
        let mut lifeline = Lifeline::default();
        let lost: Vec<bool> = (0..20)
            .map(|at| lifeline.lost_with(&record(at, at, REFUSED)))
            .collect();
        assert_eq!(lost.iter().position(|lost| *lost), Some(19));
    }

    #[test]
    fn nothing_else_for_three_seconds_is_a_loss() {
        let mut lifeline = Lifeline::default();
        assert!(!lifeline.lost_with(&record(0, 100, REFUSED)));
        assert!(!lifeline.lost_with(&record(3000, 3099, REFUSED)));
        assert!(lifeline.lost_with(&record(3100, 3100, REFUSED)));
    }

    #[test]
    fn an_answer_counts_if_it_was_asked_for_since() {
        let broken = Outcome::StreamError;
        let mut lifeline = Lifeline::default();
        assert!(!lifeline.lost_with(&record(500, 500, REFUSED)));
        // Sent before the target went away.
        assert!(!lifeline.lost_with(&record(0, 600, broken)));
        assert!(lifeline.lost_with(&record(4000, 4000, REFUSED)));
        let mut lifeline = Lifeline::default();
        assert!(!lifeline.lost_with(&record(500, 500, REFUSED)));
        assert!(!lifeline.lost_with(&record(501, 600, Outcome::HttpError { status: 500 })));
        assert!(!lifeline.lost_with(&record(4000, 4000, REFUSED)));
    }
}
