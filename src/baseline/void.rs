//! What no longer counts: the file stays, and with it why it does not.

use serde::{Deserialize, Serialize};

use super::reference::Reference;

/// A run or a session that counts no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Void {
    /// What it is.
    #[serde(flatten)]
    pub what: Voided,
    /// Why.
    pub reason: String,
    /// Who said so.
    pub by: String,
    /// When, RFC 3339.
    pub voided: String,
}

/// What can be void.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Voided {
    /// The run of this id.
    Run(String),
    /// Every run of the session of this id.
    Session(String),
}

/// Why nothing was made void.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VoidError {
    /// There is no such session or run here.
    #[error(
        "cannot void `{id}`: no session or run of that id is kept here; `infergate baseline show NAME` lists them"
    )]
    Unknown {
        /// The id.
        id: String,
    },
    /// It is already.
    #[error("`{id}` is void already: {reason}")]
    Already {
        /// The id.
        id: String,
        /// Why it was made so.
        reason: String,
    },
    /// Drift is measured from it.
    #[error(
        "cannot void `{id}`: it is pinned as the anchor `{label}`; pin another session first: \
         `infergate baseline pin SESSION --as {label}`"
    )]
    Anchor {
        /// The session's id.
        id: String,
        /// The anchor's label.
        label: String,
    },
    /// No reason was given.
    #[error("to void takes a reason: `--reason \"GPU 3 was throttled, see #52\"`")]
    NoReason,
}

impl Reference {
    /// Whether a run counts: neither it nor its session is void.
    pub fn counts(&self, session: &str, run: &str) -> bool {
        !self.voids.iter().any(|void| match &void.what {
            Voided::Run(id) => id == run,
            Voided::Session(id) => id == session,
        })
    }

    /// Ids of every session that is kept, those that stand first.
    pub fn kept(&self) -> impl Iterator<Item = (&str, &[String])> {
        let stands = self
            .sessions
            .iter()
            .map(|s| (s.session.as_str(), s.runs.as_slice()));
        let noise = self
            .noise
            .iter()
            .map(|s| (s.session.as_str(), s.runs.as_slice()));
        stands.chain(noise)
    }

    /// Makes the run or the session of this id void.
    pub fn void(&mut self, id: &str, reason: &str, by: &str, now: &str) -> Result<(), VoidError> {
        let reason = reason.trim();
        if reason.is_empty() {
            return Err(VoidError::NoReason);
        }
        let of_session = self.kept().any(|(session, _)| session == id);
        let of_run = self
            .kept()
            .any(|(_, runs)| runs.iter().any(|run| run == id));
        let what = match (of_session, of_run) {
            (true, _) => Voided::Session(id.to_owned()),
            (false, true) => Voided::Run(id.to_owned()),
            (false, false) => return Err(VoidError::Unknown { id: id.to_owned() }),
        };
        if let Some(void) = self.voids.iter().find(|void| void.what == what) {
            return Err(VoidError::Already {
                id: id.to_owned(),
                reason: void.reason.clone(),
            });
        }
        if let Some(anchor) = self.anchors.last().filter(|anchor| anchor.session == id) {
            return Err(VoidError::Anchor {
                id: id.to_owned(),
                label: anchor.label.to_string(),
            });
        }
        self.voids.push(Void {
            what,
            reason: reason.to_owned(),
            by: by.to_owned(),
            voided: now.to_owned(),
        });
        Ok(())
    }
}
