//! Which commit's baselines count: what CI says of its job, and what git says of its commits.

use crate::event::{Aim, Ci, Destination, Event, EventError};
use crate::git::{GitError, Repository};
use crate::ident::Commit;

/// Where baselines, accepts and the gate are read from, and why there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The commit whose files count; `None` is the working tree.
    pub commit: Option<Commit>,
    /// The commit whose past counts; `None` where nothing is committed.
    pub tip: Option<Commit>,
    /// Why, in words.
    pub why: String,
}

/// Why there is no base.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    /// What CI says can't be made out.
    #[error(transparent)]
    Event(#[from] EventError),
    /// Git could not answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Nothing is committed.
    #[error("{says}; but nothing is committed in this repository, so there is no base to find")]
    Unborn {
        /// What CI says.
        says: String,
    },
    /// The history is cut short.
    #[error(
        "{says}; but the clone is shallow, so what it shares with `{branch}` can't be found; \
         fetch the whole history:\n\n{yaml}\n\nor name the base: `--base REV`"
    )]
    Shallow {
        /// What CI says.
        says: String,
        /// Where the commit is going.
        branch: String,
        /// What to write into the job.
        yaml: &'static str,
    },
    /// The commit is not in this clone.
    #[error(
        "{says}; but that commit is not in this clone (its checkout is another one); check it out{how}, or \
         name the base: `--base REV`"
    )]
    NoHead {
        /// What CI says.
        says: String,
        /// How, where this CI has a way.
        how: &'static str,
    },
    /// The branch is not in this clone.
    #[error(
        "{says}; but the branch `{branch}` is not in this clone, and no commit of it is known (was it \
         deleted?); fetch it: `git fetch origin {branch}:refs/remotes/origin/{branch}`, or name the base: \
         `--base REV`"
    )]
    NoBranch {
        /// What CI says.
        says: String,
        /// Where the commit is going.
        branch: String,
    },
    /// The two have no common past.
    #[error(
        "{says}; but {} and `{branch}` ({}) have no commit in common, so nothing of that branch can be \
         the baseline; name the base by yourself: `--base REV`",
        from.short(), tip.short()
    )]
    Unrelated {
        /// What CI says.
        says: String,
        /// What is judged.
        from: Commit,
        /// Where it is going.
        branch: String,
        /// The branch's tip.
        tip: Commit,
    },
}

impl Base {
    /// Finds the base: as asked for, else by the event, else the working tree.
    pub fn find(
        repository: &Repository,
        event: Option<&Event>,
        asked: Option<&str>,
    ) -> Result<Self, BaseError> {
        if let Some(revision) = asked {
            let commit = repository.resolve(revision)?;
            return Ok(Self::at(commit, format!("`--base {revision}` names it")));
        }
        let head = repository.head()?;
        let Some(event) = event else {
            return Ok(Self {
                commit: None,
                tip: head,
                why: "no job of CI says otherwise".to_owned(),
            });
        };
        let says = event.says();
        let Some(head) = head else {
            return Err(BaseError::Unborn { says });
        };
        let mut search = Search {
            repository,
            event,
            says,
            judged: event.head.clone().unwrap_or_else(|| head.clone()),
            head,
        };
        match (&event.aim, &event.branch) {
            (Aim::Into(to), _) => search.merge_base(to),
            (Aim::Landed, Some(branch)) if search.judged != search.head => {
                // The job checked out something else, and that is what is measured.
                search.judged = search.head.clone();
                let here = search.head.short();
                search.says = format!("{}; but {here} is checked out and judged", search.says);
                search.merge_base(&Destination {
                    branch: branch.clone(),
                    seen: None,
                })
            }
            (Aim::Landed, _) => Ok(Self {
                commit: None,
                tip: Some(search.head),
                why: search.says,
            }),
        }
    }

    fn at(commit: Commit, why: String) -> Self {
        Self {
            commit: Some(commit.clone()),
            tip: Some(commit),
            why,
        }
    }
}

/// The search for what a commit and a branch share.
struct Search<'a> {
    repository: &'a Repository,
    event: &'a Event,
    says: String,
    /// What is judged.
    judged: Commit,
    /// What is checked out.
    head: Commit,
}

impl Search<'_> {
    fn merge_base(&self, to: &Destination) -> Result<Base, BaseError> {
        let branch = to.branch.as_str();
        if self.repository.is_shallow()? {
            return Err(BaseError::Shallow {
                says: self.says.clone(),
                branch: branch.to_owned(),
                yaml: self.event.ci.whole_history(),
            });
        }
        if let Some(parent) = self.trial_merge()? {
            let why = format!(
                "{}; what is checked out is its trial merge, so the base is the other side of that merge",
                self.says
            );
            return Ok(Base::at(parent, why));
        }
        let from = self.judged()?;
        let (tip, stand_in) = self.tip(to)?;
        let Some(base) = self.repository.merge_base(&from, &tip)? else {
            return Err(BaseError::Unrelated {
                says: self.says.clone(),
                from,
                branch: branch.to_owned(),
                tip,
            });
        };
        let said = &self.says;
        let why = format!("{said}; it is the newest commit that both share{stand_in}");
        Ok(Base::at(base, why))
    }

    /// The branch's side of a merge that was made for trial: what is measured differs from that by the
    /// pull request alone, while the merge base would charge it with what others have landed since.
    fn trial_merge(&self) -> Result<Option<Commit>, BaseError> {
        if self.event.pull_request.is_none() || self.judged == self.head {
            return Ok(None);
        }
        let parents = self.repository.parents(&self.head)?;
        Ok(match &parents[..] {
            [branch, head] if *head == self.judged => Some(branch.clone()),
            _ => None,
        })
    }

    /// The commit that is judged, which has to be here.
    fn judged(&self) -> Result<Commit, BaseError> {
        let here = self.repository.tip(self.judged.as_str())?;
        here.ok_or_else(|| BaseError::NoHead {
            says: self.says.clone(),
            how: match (self.event.ci, self.event.name.as_str()) {
                (Ci::GitHub, "workflow_run") => {
                    " (`with: {ref: \"${{ github.event.workflow_run.head_sha }}\", fetch-depth: 0}`)"
                }
                (Ci::GitHub, name) if name.starts_with("pull_request") => {
                    " (`with: {ref: \"${{ github.event.pull_request.head.sha }}\", fetch-depth: 0}`)"
                }
                (Ci::GitHub | Ci::GitLab | Ci::Buildkite, _) => "",
            },
        })
    }

    /// The branch's tip in this clone, or what the event knows of it, with words for the latter.
    fn tip(&self, to: &Destination) -> Result<(Commit, String), BaseError> {
        let Destination { branch, seen } = to;
        let mut remotes = self.repository.remotes()?;
        // The usual name first: others may be forks.
        remotes.sort_by_key(|name| name != "origin");
        let remote = remotes.first();
        let tracked = remote.map(|remote| format!("refs/remotes/{remote}/{branch}"));
        let local = format!("refs/heads/{branch}");
        for reference in tracked.into_iter().chain([local]) {
            if let Some(tip) = self.repository.tip(&reference)? {
                return Ok((tip, String::new()));
            }
        }
        if let Some(seen) = seen
            && let Some(tip) = self.repository.tip(seen.commit.as_str())?
        {
            let words = format!(
                " (`{branch}` is not in this clone; {}, {}, stands in for it)",
                seen.commit.short(),
                seen.what
            );
            return Ok((tip, words));
        }
        Err(BaseError::NoBranch {
            says: self.says.clone(),
            branch: branch.clone(),
        })
    }
}
