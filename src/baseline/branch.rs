//! An archive that is a branch: read at its tip, written by commits that no working tree sees.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::time::Duration;

use super::change::Change;
use super::keeper::{KeepError, Opened};
use super::reference::BaselineError;
use super::shelf::{Shelf, below};
use crate::git::{Commit, Fetched, GitError, Pushed, Repository};
use crate::ident::Digest;
use crate::spec::{Archive, ArchivePlace};

/// Tries to get a change in. Of all who push at once one gets through, so this is how many may.
const TRIES: u32 = 100;
/// The longest wait before the second try; it doubles up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// A branch that holds an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveBranch {
    /// The repository whose objects it goes through.
    repository: Repository,
    /// The branch's name.
    branch: String,
    /// The archive's folder in it; `""` is all of it.
    folder: String,
    /// Where the branch is; `None` is the repository itself.
    remote: Option<Remote>,
}

/// Another repository.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Remote {
    /// How git calls it: a remote's name, a URL or a path.
    address: String,
    /// Where its branch is copied to.
    copy: String,
}

/// Why a branch is not found.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveBranchError {
    /// The spec names a remote that is none.
    #[error(
        "`archive` names the remote `{remote}`, and the repository `{repository}` has {has}; \
         write one of those, or add it: `git remote add {remote} URL`"
    )]
    NoRemote {
        /// The name.
        remote: String,
        /// Of which repository.
        repository: String,
        /// Those that there are, in words.
        has: String,
    },
    /// Which of several remotes is not said.
    #[error(
        "`archive` names no remote, and the repository `{repository}` has {has}; \
         say which holds the archive: `archive: {{branch: {branch}, remote: NAME}}`"
    )]
    WhichRemote {
        /// Of which repository.
        repository: String,
        /// Those that there are, in words.
        has: String,
        /// The branch.
        branch: String,
    },
    /// Git could not say.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Where the branch's newest commit is.
enum Tip {
    Commit(Commit),
    /// The branch does not exist yet.
    Nothing,
    /// The remote can't be reached; what was fetched of it before.
    Unreachable {
        why: String,
        copy: Option<Commit>,
    },
}

impl ArchiveBranch {
    /// The branch that a spec names, for the repository around a folder.
    pub fn find(folder: &Path, archive: &Archive) -> Result<Self, ArchiveBranchError> {
        let repository = Repository::find(folder)?;
        let branch = archive.branch.to_string();
        let remotes = || repository.remotes();
        let named = |name: &str| Remote {
            address: name.to_owned(),
            copy: format!("refs/remotes/{name}/{branch}"),
        };
        let remote = match &archive.place {
            ArchivePlace::Repository(address) => Some(Remote {
                copy: format!(
                    "refs/infergate/{}/{branch}",
                    &Digest::of(address.as_bytes()).hex()[..12]
                ),
                address: address.clone(),
            }),
            ArchivePlace::Remote(name) => {
                let remotes = remotes()?;
                if !remotes.contains(name) {
                    return Err(ArchiveBranchError::NoRemote {
                        remote: name.clone(),
                        repository: repository.folder().display().to_string(),
                        has: listed(&remotes),
                    });
                }
                Some(named(name))
            }
            ArchivePlace::Unsaid => {
                let remotes = remotes()?;
                match &remotes[..] {
                    [] => None,
                    [only] => Some(named(only)),
                    several if several.iter().any(|name| name == "origin") => Some(named("origin")),
                    several => {
                        return Err(ArchiveBranchError::WhichRemote {
                            repository: repository.folder().display().to_string(),
                            has: listed(several),
                            branch,
                        });
                    }
                }
            }
        };
        Ok(Self {
            repository,
            branch,
            folder: archive.folder.clone(),
            remote,
        })
    }

    /// What the branch holds now.
    pub(super) fn open(&self) -> Result<Opened, BaselineError> {
        let note = |text: String| Some(text);
        let (commit, note) = match self.tip()? {
            Tip::Commit(commit) => (Some(commit), None),
            Tip::Nothing => (None, None),
            Tip::Unreachable {
                why,
                copy: Some(copy),
            } => {
                let entry = self.repository.describe(&copy)?;
                let text = format!(
                    "{self} cannot be reached ({why}); reading the copy that was fetched before, of {}",
                    entry.date
                );
                (Some(copy), note(text))
            }
            Tip::Unreachable { why, copy: None } => {
                return Err(BaselineError::Unreachable {
                    place: self.to_string(),
                    why,
                });
            }
        };
        Ok(Opened {
            shelf: self.shelf(commit),
            note,
        })
    }

    fn shelf(&self, commit: Option<Commit>) -> Shelf {
        let label = self.to_string();
        match commit {
            None => Shelf::Empty { label },
            Some(commit) => Shelf::Tree {
                repository: self.repository.clone(),
                commit,
                prefix: self.folder.clone(),
                label,
            },
        }
    }

    fn tip(&self) -> Result<Tip, GitError> {
        let local = || self.repository.tip(&format!("refs/heads/{}", self.branch));
        let found = |commit: Option<Commit>| commit.map_or(Tip::Nothing, Tip::Commit);
        let Some(remote) = &self.remote else {
            return Ok(found(local()?));
        };
        let fetched = self
            .repository
            .fetch_branch(&remote.address, &self.branch, &remote.copy)?;
        Ok(match fetched {
            Fetched::Tip(commit) => Tip::Commit(commit),
            // One that was begun before there was a remote goes there with the next change.
            Fetched::NoBranch => found(local()?),
            Fetched::Unreachable(why) => Tip::Unreachable {
                why,
                copy: self.repository.tip(&remote.copy)?,
            },
        })
    }

    /// See [`super::Keeper::keep`].
    pub(super) fn keep<T, E: From<KeepError>>(
        &self,
        make: impl FnMut(&Shelf) -> Result<(Change, T), E>,
    ) -> Result<T, E> {
        self.keep_within(TRIES, make)
    }

    fn keep_within<T, E: From<KeepError>>(
        &self,
        tries: u32,
        mut make: impl FnMut(&Shelf) -> Result<(Change, T), E>,
    ) -> Result<T, E> {
        let mut ours: Option<(Commit, T)> = None;
        let mut lost = None;
        for number in 0..tries {
            wait(number);
            let tip = match self.tip().map_err(KeepError::from)? {
                Tip::Commit(commit) => Some(commit),
                Tip::Nothing => None,
                Tip::Unreachable { why, .. } => return Err(self.unreachable(why).into()),
            };
            // A connection that broke after the push had arrived has lost nothing.
            if let (Some((commit, made)), Some(tip), Some(_)) = (ours.take(), &tip, &lost)
                && (self.repository.is_ancestor(&commit, tip)).map_err(KeepError::from)?
            {
                return Ok(made);
            }
            let (change, made) = make(&self.shelf(tip.clone()))?;
            let Some(commit) = self.commit(tip.as_ref(), &change)? else {
                return Ok(made);
            };
            match self.publish(tip.as_ref(), &commit)? {
                Pushed::Done => return Ok(made),
                Pushed::Behind => lost = None,
                Pushed::Refused(refusal) => {
                    let place = self.to_string();
                    return Err(KeepError::Refused { place, refusal }.into());
                }
                Pushed::Unreachable(why) if lost.is_some() => {
                    return Err(self.unreachable(why).into());
                }
                Pushed::Unreachable(why) => lost = Some(why),
            }
            ours = Some((commit, made));
        }
        let place = self.to_string();
        Err(KeepError::Crowded { place, tries }.into())
    }

    fn commit(&self, tip: Option<&Commit>, change: &Change) -> Result<Option<Commit>, KeepError> {
        let files = change.files().into_iter();
        let edits: BTreeMap<String, Option<&str>> = files
            .map(|(path, text)| (below(&self.folder, path), text))
            .collect();
        Ok(self
            .repository
            .commit_files(tip, &edits, change.message())?)
    }

    /// Makes the commit the branch's tip, where the branch is still at the old one.
    fn publish(&self, old: Option<&Commit>, new: &Commit) -> Result<Pushed, KeepError> {
        if let Some(remote) = &self.remote {
            return Ok(self
                .repository
                .push_branch(&remote.address, &self.branch, new)?);
        }
        if let Some(folder) = self.repository.checked_out_in(&self.branch)? {
            let branch = self.branch.clone();
            return Err(KeepError::CheckedOut { branch, folder });
        }
        let moved = self.repository.move_branch(&self.branch, old, new)?;
        Ok(if moved { Pushed::Done } else { Pushed::Behind })
    }

    fn unreachable(&self, why: String) -> KeepError {
        KeepError::Unreachable {
            place: self.to_string(),
            why,
        }
    }

    /// The file or folder at a path, for people: `infergate-archive:demo/spec.yaml`.
    pub(super) fn describe(&self, path: &str) -> String {
        format!("{}:{}", self.branch, below(&self.folder, path))
    }
}

impl std::fmt::Display for ArchiveBranch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "branch `{}`", self.branch)?;
        match &self.remote {
            Some(remote) => write!(f, " of `{}`", remote.address),
            None => Ok(()),
        }
    }
}

fn listed(remotes: &[String]) -> String {
    if remotes.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> = remotes.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Before a try that is not the first: a random time, so that those who met do not meet again.
fn wait(number: u32) {
    if number == 0 {
        return;
    }
    let most = SHORTEST
        .saturating_mul(1 << number.min(16).saturating_sub(1))
        .min(LONGEST);
    let share = RandomState::new().hash_one(number) as f64 / u64::MAX as f64;
    std::thread::sleep(most.mul_f64(share));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::scratch::Scratch;

    #[test]
    fn a_branch_that_changes_under_each_try_is_given_up_with_their_number() {
        let scratch = Scratch::new();
        scratch.commit("first", &[("a", "1")]);
        let archive = Archive {
            branch: "archive".parse().unwrap(),
            place: ArchivePlace::Unsaid,
            folder: String::new(),
        };
        let branch = ArchiveBranch::find(scratch.path(), &archive).unwrap();
        let writes = |text: &str| {
            let mut change = Change::new("a change");
            change.write("file", text);
            change
        };
        let mut tries = 0;
        let mut keep = |least: u32| {
            branch.keep_within(3, |_| -> Result<(Change, u32), KeepError> {
                tries += 1;
                if tries < least {
                    // Somebody else is faster.
                    let other = writes(&format!("other {tries}"));
                    branch.keep(|_| Ok::<_, KeepError>((other.clone(), ())))?;
                }
                Ok((writes("ours"), tries))
            })
        };
        let crowded = keep(u32::MAX).unwrap_err();
        assert!(matches!(crowded, KeepError::Crowded { tries: 3, .. }));
        let says = "branch `archive` changed under each of 3 tries";
        assert!(crowded.to_string().starts_with(says), "{crowded}");
        let read = || branch.open().unwrap().shelf.read("file").unwrap();
        assert_eq!(read().as_deref(), Some("other 3"), "theirs is whole");
        // From the fourth try on nobody is faster any more, so the first of the next three gets through.
        assert_eq!(keep(4).unwrap(), 4);
        assert_eq!(read().as_deref(), Some("ours"));
    }
}
