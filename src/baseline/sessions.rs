//! Kept sessions with their runs.

use super::standing::Standing;
use crate::ident::Name;
use crate::summary::Run;

/// A kept session with its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Its runs, at least one.
    pub runs: Vec<Run>,
}

/// A session that is pinned as a release.
#[derive(Debug, Clone, PartialEq)]
pub struct PinnedRelease {
    /// What it is called.
    pub label: Name,
    /// The session.
    pub session: Session,
}

/// The sessions of one spec in one environment, without what is void.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Where they lie, for people: `baselines/demo/cpu-vllm-1f3a9c0e`.
    pub place: String,
    /// The environment's folder, without its path.
    pub environment: String,
    /// Those that a candidate is compared with, in the order of their promotion: of the level that counts.
    pub sessions: Vec<Session>,
    /// Those of other levels, and of one that is accepted and too young: they show the noise.
    pub others: Vec<Session>,
    /// Those that show the noise alone.
    pub noise: Vec<Session>,
    /// The release that was pinned last.
    pub release: Option<PinnedRelease>,
    /// What was accepted here.
    pub accepts: Vec<Standing>,
}

impl Baseline {
    /// Leaves out the sessions of which some run is not so.
    pub fn retain(&mut self, is_so: impl Fn(&Run) -> bool) {
        let keeps = |session: &Session| session.runs.iter().all(&is_so);
        for sessions in [&mut self.sessions, &mut self.others, &mut self.noise] {
            sessions.retain(keeps);
        }
        self.release.take_if(|release| !keeps(&release.session));
    }
}
