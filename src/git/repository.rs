//! A repository, and what is asked about its commits.

use std::path::{Path, PathBuf};

use super::call::{Answer, Call, without_credentials};
use super::error::GitError;
use crate::ident::Commit;

/// A git repository, with or without a working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    folder: PathBuf,
}

impl Repository {
    /// The repository around a folder.
    ///
    /// # Errors
    ///
    /// There is no git, no repository, or it belongs to somebody whom git does not trust.
    pub fn find(folder: &Path) -> Result<Self, GitError> {
        let doing = "find the git repository";
        let asked = |word| Call::new(folder, doing).with(["rev-parse", word]).answer();
        let inside = asked("--is-inside-work-tree")?;
        if inside.code != Some(0) {
            return Err(if inside.err.contains("dubious ownership") {
                GitError::Untrusted {
                    folder: folder.to_owned(),
                }
            } else if inside.err.contains("not a git repository") {
                GitError::NotARepository {
                    folder: folder.to_owned(),
                }
            } else {
                inside.failed(doing, folder)
            });
        }
        let top = if inside.out.starts_with(b"true") {
            asked("--show-toplevel")?
        } else {
            asked("--absolute-git-dir")?
        };
        if top.code != Some(0) {
            return Err(top.failed(doing, folder));
        }
        let path = String::from_utf8_lossy(&top.out);
        Ok(Self {
            folder: PathBuf::from(path.trim_end_matches(['\r', '\n'])),
        })
    }

    /// Its top folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The commit that is checked out; `None` where nothing is committed yet.
    pub fn head(&self) -> Result<Option<Commit>, GitError> {
        self.tip("HEAD")
    }

    /// The branch that is checked out; `None` where a commit is (a detached head).
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        let doing = "read the current branch";
        let words = ["symbolic-ref", "--quiet", "--short", "HEAD"];
        let answer = self.ask(doing).with(words).answer()?;
        match answer.code {
            Some(0) => Ok(Some(answer.text())),
            Some(1) => Ok(None),
            _ => Err(answer.failed(doing, &self.folder)),
        }
    }

    /// The commit that a revision names: `main`, `v1.2`, `HEAD~3`.
    pub fn resolve(&self, revision: &str) -> Result<Commit, GitError> {
        match self.tip(revision)? {
            Some(commit) => Ok(commit),
            None => Err(GitError::UnknownRevision {
                repository: self.folder.clone(),
                revision: revision.to_owned(),
                shallow: self.is_shallow()?,
            }),
        }
    }

    /// The same, or `None` where there is no such commit.
    pub fn tip(&self, revision: &str) -> Result<Option<Commit>, GitError> {
        let doing = format!("look up `{}`", revision.escape_debug());
        let answer = self
            .ask(&*doing)
            .with(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .with([format!("{revision}^{{commit}}")])
            .answer()?;
        match answer.code {
            Some(0) => self.commit(doing, &answer.text()).map(Some),
            // An unknown name says nothing; one that is no commit says so, and is none either way.
            Some(1) => Ok(None),
            _ if answer.err.is_empty() || answer.err.contains("Needed a single revision") => {
                Ok(None)
            }
            _ => Err(answer.failed(doing, &self.folder)),
        }
    }

    /// The newest commit that both have in their past; `None` where they share none, which in a shallow
    /// clone may be only because the past is missing.
    pub fn merge_base(&self, one: &Commit, other: &Commit) -> Result<Option<Commit>, GitError> {
        let doing = format!("find what {} and {} share", one.short(), other.short());
        let words = ["merge-base", one.as_str(), other.as_str()];
        let answer = self.ask(&*doing).with(words).answer()?;
        match answer.code {
            Some(0) => self.commit(doing, &answer.text()).map(Some),
            Some(1) => Ok(None),
            _ => Err(answer.failed(doing, &self.folder)),
        }
    }

    /// Whether a commit is in the past of another, or is it.
    pub fn is_ancestor(&self, old: &Commit, new: &Commit) -> Result<bool, GitError> {
        let doing = format!("ask whether {} came before {}", old.short(), new.short());
        let words = ["merge-base", "--is-ancestor", old.as_str(), new.as_str()];
        let answer = self.ask(&*doing).with(words).answer()?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.failed(doing, &self.folder)),
        }
    }

    /// Commits from `old` to `new`: how many `new` has in its past, itself among them, that `old` has not.
    /// `None` where `old` is not in its past, or not in this clone.
    pub fn distance(&self, old: &Commit, new: &Commit) -> Result<Option<u64>, GitError> {
        let doing = format!("count the commits from {} to {}", old.short(), new.short());
        let both = format!("{old}...{new}");
        let words = ["rev-list", "--left-right", "--count", &both];
        let answer = self.ask(&*doing).with(words).answer()?;
        if answer.code != Some(0) {
            return match self.tip(old.as_str())? {
                None => Ok(None),
                Some(_) => Err(answer.failed(doing, &self.folder)),
            };
        }
        let counts = answer.text();
        let (of_old, of_new) = (counts.split_once('\t'))
            .and_then(|(old, new)| Some((old.parse::<u64>().ok()?, new.parse::<u64>().ok()?)))
            .ok_or_else(|| self.strange(doing, &counts))?;
        Ok((of_old == 0).then_some(of_new))
    }

    /// Whether its history is cut short, as that of a clone with `--depth` is.
    pub fn is_shallow(&self) -> Result<bool, GitError> {
        let doing = "ask whether the clone is shallow";
        let words = ["rev-parse", "--is-shallow-repository"];
        Ok(self.ask(doing).with(words).line()? == "true")
    }

    /// The names of its remotes, sorted.
    pub fn remotes(&self) -> Result<Vec<String>, GitError> {
        let names = self.ask("list the remotes").with(["remote"]).line()?;
        let mut names: Vec<String> = names.lines().map(str::to_owned).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Where a remote is, without credentials; `None` where there is none of that name.
    pub fn remote_url(&self, remote: &str) -> Result<Option<String>, GitError> {
        let doing = format!("read the URL of remote `{}`", remote.escape_debug());
        let words = ["remote", "get-url", "--", remote];
        let answer = self.ask(&*doing).with(words).answer()?;
        match answer.code {
            Some(0) => Ok(Some(without_credentials(&answer.text()))),
            _ if answer.err.contains("No such remote") => Ok(None),
            _ => Err(answer.failed(doing, &self.folder)),
        }
    }

    /// A call in this repository.
    pub(super) fn ask(&self, doing: impl Into<String>) -> Call {
        Call::new(&self.folder, doing)
    }

    /// A full name that git answered.
    pub(super) fn commit(&self, doing: String, answer: &str) -> Result<Commit, GitError> {
        answer.parse().map_err(|_| self.strange(doing, answer))
    }

    /// An answer that git never should have given.
    pub(super) fn strange(&self, doing: impl Into<String>, answer: &str) -> GitError {
        GitError::Strange {
            doing: doing.into(),
            repository: self.folder.clone(),
            answer: answer.chars().take(80).collect(),
        }
    }
}

impl Answer {
    /// Its standard output as one line.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).trim_end().to_owned()
    }
}
