//! A branch of another repository: fetched, and pushed to without ever forcing.

use std::fmt::{self, Display};
use std::time::Duration;

use super::call::{Answer, without_credentials};
use super::error::GitError;
use super::repository::Repository;
use crate::ident::Commit;

/// Tries where another process of this machine fetches into the same repository.
const TRIES: u32 = 20;
const TRY_EVERY: Duration = Duration::from_millis(50);

/// A connection that stands still for so long is given up.
const PATIENCE: [&str; 4] = ["-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=60"];

/// What a fetch brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The branch's newest commit.
    Tip(Commit),
    /// The remote has no such branch.
    NoBranch,
    /// It could not be reached, in git's words.
    Unreachable(String),
}

/// How a push ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has it.
    Done,
    /// Somebody else was faster.
    Behind,
    /// The remote does not take it.
    Refused(Refusal),
    /// It could not be reached, or went away; whether it has it is not known.
    Unreachable(String),
}

/// Why a remote takes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of a no it is.
    pub kind: RefusalKind,
    /// The remote's words.
    pub said: String,
}

/// What kind of a no a remote gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// Nobody may write there, or not with these credentials.
    ReadOnly,
    /// The branch is protected.
    Protected,
    /// A hook of the remote said no, or its rules for branches.
    Hook,
}

impl RefusalKind {
    /// What to do about it.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::ReadOnly => {
                "grant this job write access to the repository (GitHub Actions: `permissions: {contents: write}`; \
                 GitLab: a token with `write_repository`)"
            }
            Self::Protected => {
                "let this job push to that branch in the rules that protect it, or give the archive a branch of its own"
            }
            Self::Hook => {
                "see what the remote's hook or rules ask for, or give the archive a branch of its own"
            }
        }
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl Repository {
    /// Fetches a branch of a remote (a name, a URL or a path) into a reference of this repository.
    pub fn fetch_branch(
        &self,
        remote: &str,
        branch: &str,
        into: &str,
    ) -> Result<Fetched, GitError> {
        let words = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-prune",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--end-of-options",
            remote,
        ];
        let doing = format!("fetch the branch `{branch}`");
        for _ in 0..TRIES {
            let call = self.ask(&*doing).with(PATIENCE).with(words);
            let answer = call
                .with([format!("+refs/heads/{branch}:{into}")])
                .answer()?;
            if answer.code == Some(0) {
                return self.resolve(into).map(Fetched::Tip);
            }
            if answer.err.contains("couldn't find remote ref") {
                return Ok(Fetched::NoBranch);
            }
            if !answer.somebody_else_writes() {
                return Ok(Fetched::Unreachable(answer.why()));
            }
            std::thread::sleep(TRY_EVERY);
        }
        Ok(Fetched::Unreachable(
            "another process keeps the branch's reference locked".to_owned(),
        ))
    }

    /// Lets a branch of a remote go on to a commit, where that is a step forward.
    pub fn push_branch(
        &self,
        remote: &str,
        branch: &str,
        commit: &Commit,
    ) -> Result<Pushed, GitError> {
        let words = [
            "push",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--no-signed",
            "--recurse-submodules=no",
            "--end-of-options",
            remote,
        ];
        let doing = format!("push to the branch `{branch}`");
        let call = self.ask(doing).with(PATIENCE).with(words);
        let answer = call
            .with([format!("{commit}:refs/heads/{branch}")])
            .answer()?;
        Ok(answer.pushed())
    }
}

impl Answer {
    fn somebody_else_writes(&self) -> bool {
        let busy = [
            "cannot lock ref",
            "Unable to create",
            "unable to update local ref",
        ];
        busy.iter().any(|text| self.err.contains(text)) && !self.is_denied()
    }

    fn is_denied(&self) -> bool {
        let denied = [
            "ermission denied",
            "Permission to",
            "error: 403",
            "Read-only file system",
            "unable to create temporary object directory",
            "insufficient permission",
            "not allowed to push",
            "Write access to repository not granted",
            "read only",
        ];
        denied
            .iter()
            .any(|text| self.err.contains(text) || self.refused_line().contains(text))
    }

    /// `[remote rejected] (pre-receive hook declined)`, as git's own table has it.
    fn refused_line(&self) -> String {
        let out = String::from_utf8_lossy(&self.out);
        let line = out.lines().find_map(|line| line.strip_prefix("!\t"));
        let said = line.and_then(|line| line.split_once('\t'));
        said.map(|(_, said)| without_credentials(said))
            .unwrap_or_default()
    }

    fn pushed(&self) -> Pushed {
        if self.code == Some(0) {
            return Pushed::Done;
        }
        let said = self.refused_line();
        let behind = [
            "[rejected]",
            "cannot lock ref",
            "failed to update ref",
            "incorrect old value",
            "fetch first",
            "non-fast-forward",
            "reference already exists",
        ];
        if !self.is_denied() && behind.iter().any(|text| said.contains(text)) {
            return Pushed::Behind;
        }
        let kind = if said.contains("rotected") || self.err.contains("rotected branch") {
            RefusalKind::Protected
        } else if self.is_denied() {
            RefusalKind::ReadOnly
        } else if said.contains("[remote rejected]") {
            RefusalKind::Hook
        } else {
            return Pushed::Unreachable(self.why());
        };
        Pushed::Refused(Refusal {
            kind,
            said: self.remote_words(&said),
        })
    }

    /// What the remote itself printed, else git's table, else git's error.
    fn remote_words(&self, table: &str) -> String {
        let printed = self
            .err
            .lines()
            .filter_map(|line| line.trim_end().strip_prefix("remote: "));
        let printed: Vec<&str> = printed
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let reason = table
            .split_once('(')
            .map(|(_, reason)| reason.trim_end_matches(')'));
        // Which says less than git's own line about it.
        let reason = reason.filter(|reason| *reason != "unpacker error");
        match (&printed[..], reason) {
            ([], None) => self.why(),
            ([], Some(reason)) => reason.to_owned(),
            (lines, None) => lines.join(" / "),
            (lines, Some(reason)) => format!("{reason}: {}", lines.join(" / ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(out: &str, err: &str) -> Pushed {
        let answer = Answer {
            code: Some(1),
            out: out.as_bytes().to_vec(),
            err: err.to_owned(),
        };
        answer.pushed()
    }

    #[test]
    fn a_refusal_is_of_a_kind_and_in_the_remotes_words() {
        let table = |said: &str| format!("To x\n!\tabc:refs/heads/a\t{said}\nDone\n");
        for (said, err, kind, words) in [
            (
                "[remote rejected] (protected branch hook declined)",
                "remote: error: GH006: Protected branch update failed for refs/heads/a.        \n",
                RefusalKind::Protected,
                "protected branch hook declined: error: GH006: Protected branch update failed for refs/heads/a.",
            ),
            (
                "[remote rejected] (pre-receive hook declined)",
                "remote: GitLab: You are not allowed to push code to protected branches on this project.\n",
                RefusalKind::Protected,
                "pre-receive hook declined: GitLab: You are not allowed to push code to protected branches on this project.",
            ),
            (
                "[remote rejected] (pre-receive hook declined)",
                "remote: no pushes today        \nerror: failed to push some refs to 'x'\n",
                RefusalKind::Hook,
                "pre-receive hook declined: no pushes today",
            ),
            (
                "[remote rejected] (unpacker error)",
                "error: remote unpack failed: unable to create temporary object directory\n",
                RefusalKind::ReadOnly,
                "remote unpack failed: unable to create temporary object directory",
            ),
        ] {
            let Pushed::Refused(refusal) = pushed(&table(said), err) else {
                panic!("{said}");
            };
            assert_eq!((refusal.kind, refusal.said.as_str()), (kind, words));
        }
        let Pushed::Refused(refusal) = pushed(
            "",
            "remote: Permission to a/b.git denied to github-actions[bot].\n\
             fatal: unable to access 'https://github.com/a/b/': The requested URL returned error: 403\n",
        ) else {
            panic!("a token that may only read");
        };
        assert_eq!(refusal.kind, RefusalKind::ReadOnly);
        assert_eq!(
            refusal.said,
            "Permission to a/b.git denied to github-actions[bot]."
        );
    }

    #[test]
    fn who_was_slower_tries_again_and_who_is_cut_off_says_so() {
        for said in [
            "[rejected] (fetch first)",
            "[rejected] (non-fast-forward)",
            "[remote rejected] (cannot lock ref 'refs/heads/a': is at b but expected c)",
            "[remote rejected] (failed to update ref)",
        ] {
            let out = format!("To x\n!\tabc:refs/heads/a\t{said}\nDone\n");
            assert_eq!(pushed(&out, ""), Pushed::Behind, "{said}");
        }
        let cut_off = pushed("", "fatal: the remote end hung up unexpectedly\n");
        let words = "the remote end hung up unexpectedly".to_owned();
        assert_eq!(cut_off, Pushed::Unreachable(words));
    }
}
