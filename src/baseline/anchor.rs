//! The pinned session that drift is measured from.

use serde::{Deserialize, Serialize};

use super::reference::Reference;
use super::void::Voided;
use crate::ident::Name;

/// A session that is kept as a fixed point: a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Anchor {
    /// The session's id.
    pub session: String,
    /// What it is called: `v1.2`.
    pub label: Name,
    /// When it was pinned, RFC 3339.
    pub pinned: String,
}

/// Why nothing was pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// No such session stands here.
    #[error(
        "cannot pin `{session}`: no session of that id stands here; promote it first: \
         `infergate baseline promote SESSION --reason TEXT`"
    )]
    Unknown {
        /// The session's id.
        session: String,
    },
    /// The session counts no more.
    #[error("cannot pin `{session}`: it is void ({reason})")]
    Void {
        /// The session's id.
        session: String,
        /// Why it was made so.
        reason: String,
    },
    /// Another session has the label.
    #[error("`{label}` is pinned already, to session `{session}`; choose another label")]
    Taken {
        /// The label.
        label: Name,
        /// The session that has it.
        session: String,
    },
}

impl Reference {
    /// The anchor that counts: the one that was pinned last.
    pub fn anchor(&self) -> Option<&Anchor> {
        self.anchors.last()
    }

    /// Pins a session that stands. Earlier anchors stay, and so are kept by `prune`; the newest counts.
    pub fn pin(&mut self, session: &str, label: Name, now: &str) -> Result<(), PinError> {
        if let Some(taken) = self.anchors.iter().find(|anchor| anchor.label == label) {
            return Err(PinError::Taken {
                label,
                session: taken.session.clone(),
            });
        }
        let Some(stands) = self
            .sessions
            .iter()
            .find(|stands| stands.session == session)
        else {
            return Err(PinError::Unknown {
                session: session.to_owned(),
            });
        };
        let counts = |run: &String| self.counts(session, run);
        if !stands.runs.iter().any(counts) {
            let of_it = |what: &Voided| match what {
                Voided::Session(id) => id == session,
                Voided::Run(id) => stands.runs.contains(id),
            };
            let void = self.voids.iter().find(|void| of_it(&void.what));
            return Err(PinError::Void {
                session: session.to_owned(),
                reason: void.map(|void| void.reason.clone()).unwrap_or_default(),
            });
        }
        self.anchors.push(Anchor {
            session: session.to_owned(),
            label,
            pinned: now.to_owned(),
        });
        Ok(())
    }
}
