//! Whether the target is still there.

use crate::sample::Outcome;
use crate::sample::{OutcomeKind, RequestRecord, TimeoutPhase};
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
