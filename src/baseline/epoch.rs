//! Epochs: after a change was accepted, a new level counts, and what was learnt of the noise stays.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::reference::Reference;
use crate::stats::stored::{FEWEST_SESSIONS, FIRM_SESSIONS};

/// A level that was accepted, from its first session on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Epoch {
    /// The first session of the new level.
    pub from: String,
    /// The accept that started it: the name of its file in `accepts/`, without `.yaml`.
    pub accept: String,
    /// When that session was promoted, RFC 3339.
    pub started: String,
}

impl Reference {
    /// Starts an epoch with the session that was promoted last, for each accept that has none yet.
    pub fn start_epochs<'a>(&mut self, accepts: impl IntoIterator<Item = &'a str>, now: &str) {
        let Some(newest) = self.sessions.last() else {
            return;
        };
        let from = newest.session.clone();
        for accept in accepts {
            if self.epochs.iter().all(|epoch| epoch.accept != accept) {
                self.epochs.push(Epoch {
                    from: from.clone(),
                    accept: accept.to_owned(),
                    started: now.to_owned(),
                });
            }
        }
    }

    /// Which of the sessions that stand are the centre, as a range of `sessions`.
    ///
    /// Those of the newest epoch that has five, from which on a verdict is firm. Until then the epoch
    /// before it stays the centre, and the accept says what is excused; where none has five, the
    /// newest with three, else all of them. Void sessions are in the range and count as none.
    pub fn centre(&self) -> Range<usize> {
        let mut starts: Vec<usize> = self
            .epochs
            .iter()
            .filter_map(|epoch| self.sessions.iter().position(|s| s.session == epoch.from))
            .collect();
        starts.extend([0, self.sessions.len()]);
        starts.sort_unstable();
        starts.dedup();
        let counting = |range: &Range<usize>| {
            let sessions = self.sessions[range.clone()].iter();
            let counts = |session: &&super::ReferenceSession| {
                session
                    .runs
                    .iter()
                    .any(|run| self.counts(&session.session, run))
            };
            sessions.filter(counts).count()
        };
        let epochs: Vec<Range<usize>> = starts.windows(2).map(|two| two[0]..two[1]).collect();
        [FIRM_SESSIONS, FEWEST_SESSIONS]
            .into_iter()
            .find_map(|least| {
                let enough = |epoch: &&Range<usize>| counting(epoch) >= least;
                epochs.iter().rev().find(enough).cloned()
            })
            .unwrap_or(0..self.sessions.len())
    }

    /// Whether what was accepted has become the centre, so that the accept excuses nothing more.
    pub fn is_settled(&self, accept: &str) -> bool {
        let from = self
            .epochs
            .iter()
            .find(|epoch| epoch.accept == accept)
            .and_then(|epoch| self.sessions.iter().position(|s| s.session == epoch.from));
        from.is_some_and(|from| from <= self.centre().start)
    }
}
