//! What the archive keeps of a spec, as it is handed in.

use serde::Serialize;

use crate::ident::Day;
use crate::summary::Run;

/// What is kept of one spec in one environment.
#[derive(Debug, Clone, Default)]
pub struct Kept<'a> {
    /// The environment's folder, without its path.
    pub environment: String,
    /// Its sessions, in any order.
    pub sessions: Vec<KeptSession<'a>>,
    /// Changes that were accepted.
    pub accepts: Vec<Acceptance>,
    /// The session that drift is held against; the newest anchor where none is named.
    pub drift_from: Option<String>,
}

/// A kept session.
#[derive(Debug, Clone)]
pub struct KeptSession<'a> {
    /// Its id.
    pub id: String,
    /// Its runs; one without any is passed over.
    pub runs: &'a [Run],
    /// What it counts for.
    pub standing: Standing,
    /// Why it was promoted; `None` where nobody said.
    pub reason: Option<String>,
    /// The name under which it is an anchor; `None` where it is none.
    pub anchor: Option<String>,
    /// Why a new epoch begins with it; `None` where none does.
    pub epoch: Option<String>,
    /// The commit that was measured, in full; `None` where its runs don't say.
    pub commit: Option<String>,
}

/// What a session counts for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Candidates are compared with it.
    Stands,
    /// It shows how runs scatter, and nothing else.
    Noise,
    /// It was declared void.
    Void {
        /// Why.
        reason: String,
    },
}

/// A change that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Acceptance {
    /// When, RFC 3339 or a date.
    pub made: String,
    /// The cells that it names, as reports do.
    pub cells: Vec<String>,
    /// Why.
    pub reason: String,
    /// The last day on which it holds, `2026-03-01`; `None` where it always does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Day>,
}

impl Acceptance {
    /// Its last day, where it holds no longer at an instant.
    pub fn over(&self, now: &str) -> Option<Day> {
        let today = Day::of(now)?;
        self.expires.filter(|last| last.is_over(today))
    }
}
