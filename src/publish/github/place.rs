//! Where on GitHub a report belongs.

use crate::ident::Commit;
use crate::publish::api_url::ApiUrl;
use crate::publish::marker::JobRun;
use crate::publish::repository::Repository;

/// Where on GitHub a report belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whose pages people look at: `https://github.com`.
    pub server: ApiUrl,
    /// The repository.
    pub repository: Repository,
    /// The commit that was judged.
    pub sha: Commit,
    /// Its pull request.
    pub pull: Pull,
    /// The job that publishes.
    pub run: Option<JobRun>,
}

/// The pull request of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pull {
    /// It has none.
    None,
    /// By its number.
    Number(u64),
    /// The open one whose head the commit is, from this repository where that is known.
    OfCommit {
        /// The repository that the commit comes from.
        from: Option<Repository>,
    },
}

impl Place {
    /// A path below the repository's: `/issues/7/comments`.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("{}{rest}", self.repository.path())
    }

    /// A page of the repository for people.
    pub(super) fn page(&self, rest: &str) -> String {
        format!("{}/{}{rest}", self.server, self.repository)
    }

    /// A pull request or issue as people write it: `acme/engine#7`.
    pub(super) fn numbered(&self, number: u64) -> String {
        format!("`{}#{number}`", self.repository)
    }

    /// The page of the job that publishes.
    pub(super) fn job(&self) -> Option<String> {
        let JobRun { id, attempt } = self.run?;
        Some(self.page(&format!("/actions/runs/{id}/attempts/{attempt}")))
    }

    /// The commit, and the job where there is one, as Markdown.
    pub(super) fn says(&self) -> String {
        let commit = self.sha.short();
        match self.job() {
            Some(job) => format!("of <code>{commit}</code>, by <a href=\"{job}\">this job</a>"),
            None => format!("of <code>{commit}</code>"),
        }
    }
}
