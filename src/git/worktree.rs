//! Commits checked out beside the user's tree.

use std::path::{Path, PathBuf};

use super::Commit;
use super::error::GitError;
use super::repository::Repository;

/// A folder of its own in which commits of a repository are checked out.
#[derive(Debug)]
pub struct Worktree {
    repository: Repository,
    folder: PathBuf,
}

impl Worktree {
    /// A commit in a new folder; one that is left of an earlier process is taken over, and what git does
    /// not track in it stays.
    pub fn open(repository: &Repository, folder: &Path, commit: &Commit) -> Result<Self, GitError> {
        let worktree = Self {
            repository: repository.clone(),
            folder: folder.to_owned(),
        };
        if folder.join(".git").is_file() {
            worktree.check_out(commit)?;
            return Ok(worktree);
        }
        // One whose folder was deleted would still hold its name.
        let prune = repository.ask("forget worktrees that are gone");
        prune.with(["worktree", "prune"]).out()?;
        let doing = format!("check out {} into `{}`", commit.short(), folder.display());
        repository
            .ask(doing)
            .with(["worktree", "add", "--quiet", "--detach", "--force", "--"])
            .with([folder.as_os_str()])
            .with([commit.as_str()])
            .out()?;
        Ok(worktree)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Another commit in the same folder.
    pub fn check_out(&self, commit: &Commit) -> Result<(), GitError> {
        let doing = format!(
            "check out {} into `{}`",
            commit.short(),
            self.folder.display()
        );
        let here = Repository::find(&self.folder)?;
        let words = ["checkout", "--quiet", "--detach", "--force"];
        here.ask(doing).with(words).with([commit.as_str()]).out()?;
        Ok(())
    }

    /// Takes the folder away.
    pub fn remove(self) -> Result<(), GitError> {
        let doing = format!("remove the worktree `{}`", self.folder.display());
        self.repository
            .ask(doing)
            .with(["worktree", "remove", "--force", "--"])
            .with([self.folder.as_os_str()])
            .out()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn commits_are_checked_out_beside_the_users_tree() {
        let scratch = Scratch::new();
        let old = scratch.commit("old", &[("a", "1")]);
        let new = scratch.commit("new", &[("a", "2")]);
        std::fs::write(scratch.at("a"), "mine").unwrap();
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("step");
        let repository = scratch.repository();
        let read = || std::fs::read_to_string(folder.join("a")).unwrap();
        let worktree = Worktree::open(&repository, &folder, &old).unwrap();
        assert_eq!(read(), "1");
        std::fs::write(folder.join("built"), "x").unwrap();
        worktree.check_out(&new).unwrap();
        assert_eq!(read(), "2");
        // A process that was killed leaves it behind.
        let again = Worktree::open(&repository, &folder, &old).unwrap();
        assert_eq!(read(), "1");
        assert!(folder.join("built").is_file());
        again.remove().unwrap();
        assert!(!folder.exists());
        Worktree::open(&repository, &folder, &new)
            .unwrap()
            .remove()
            .unwrap();
        // One whose folder somebody deleted does not stand in the way.
        Worktree::open(&repository, &folder, &new).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        Worktree::open(&repository, &folder, &old).unwrap();
        assert_eq!(read(), "1");
        assert_eq!(std::fs::read_to_string(scratch.at("a")).unwrap(), "mine");
        assert_eq!(scratch.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    }
}
