//! Which sessions stand for a base: those that were measured in its past.

use std::collections::BTreeMap;

use super::sessions::{Baseline, Session};
use crate::git::{GitError, Repository};
use crate::ident::Commit;
use crate::verdict::{BaseStamp, Nearest};

/// Whether a tree says itself which sessions belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The sessions lie in the history of what is measured: what lies in the base's tree has landed there,
    /// whatever became of the commit that it was measured at.
    WithTheCode,
    /// They lie on a branch of their own, where sessions of all branches come together.
    Apart,
}

/// Why it is not known which sessions stand.
#[derive(Debug, thiserror::Error)]
pub enum AncestryError {
    /// Git could not answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// No session's commit is in the base's past.
    #[error(
        "none of the {sessions} sessions of the baseline was measured in the past of {}; promote sessions \
         of the branch that it comes from, or name another base: `--base REV`{more}",
        tip.short()
    )]
    NoneBefore {
        /// Sessions that there are.
        sessions: usize,
        /// The base.
        tip: Commit,
        /// What else may be the reason.
        more: &'static str,
    },
}

/// Leaves the sessions of `baseline` that stand for the commit `tip`, and tells the stamp of them.
///
/// Sessions without a stamp stay, and where they are kept with the code those of commits that the past of
/// `tip` does not have stay too: a squashed pull request leaves none of its commits. Sessions that show the
/// noise alone are of any commit.
pub fn retain_ancestors(
    baseline: &mut Baseline,
    repository: &Repository,
    tip: &Commit,
    kept: Kept,
    stamp: &mut BaseStamp,
) -> Result<(), AncestryError> {
    let before = baseline.sessions.len();
    let mut known: BTreeMap<Commit, Option<u64>> = BTreeMap::new();
    let mut standing = Vec::new();
    for session in baseline.sessions.drain(..) {
        let Some(commit) = commit_of(&session) else {
            stamp.unstamped += 1;
            standing.push(session);
            continue;
        };
        if !known.contains_key(commit) {
            known.insert(commit.clone(), repository.distance(commit, tip)?);
        }
        let distance = known.get(commit).copied().flatten();
        match (distance, kept) {
            (Some(distance), _) => {
                if stamp
                    .nearest
                    .as_ref()
                    .is_none_or(|nearest| distance < nearest.distance)
                {
                    stamp.nearest = Some(Nearest {
                        commit: commit.clone(),
                        distance,
                    });
                }
                standing.push(session);
            }
            (None, Kept::WithTheCode) => {
                stamp.rewritten += 1;
                standing.push(session);
            }
            (None, Kept::Apart) => stamp.elsewhere += 1,
        }
    }
    baseline.sessions = standing;
    if before > 0 && baseline.sessions.is_empty() {
        return Err(AncestryError::NoneBefore {
            sessions: before,
            tip: tip.clone(),
            more: if repository.is_shallow()? {
                "; the clone is shallow, so most of its past is missing: `git fetch --unshallow`"
            } else {
                ""
            },
        });
    }
    Ok(())
}

/// The commit that a session was measured at; that of a trial merge is found through its head.
fn commit_of(session: &Session) -> Option<&Commit> {
    let source = session.runs.first()?.source.as_ref()?;
    Some(source.head.as_ref().unwrap_or(&source.commit))
}
