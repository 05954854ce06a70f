//! Who a commit comes from, and whether what is checked out is still it.

use super::Commit;
use super::error::GitError;
use super::repository::Repository;

impl Repository {
    /// The commits that a commit was made from: one, two of a merge, none of the first.
    pub fn parents(&self, commit: &Commit) -> Result<Vec<Commit>, GitError> {
        let doing = format!("read the parents of {}", commit.short());
        let words = ["rev-list", "--parents", "--max-count=1", commit.as_str()];
        let line = self.ask(&*doing).with(words).line()?;
        let parents = line.split(' ').skip(1);
        parents
            .map(|parent| self.commit(doing.clone(), parent))
            .collect()
    }

    /// The commits after `good` up to `bad`, oldest first, `bad` the last: by first parents, so that what
    /// a merge brought counts as that merge. Nothing where `bad` is in the past of `good`.
    pub fn commits_between(&self, good: &Commit, bad: &Commit) -> Result<Vec<Commit>, GitError> {
        let doing = format!("list the commits from {} to {}", good.short(), bad.short());
        let not_good = format!("^{good}");
        let words = [
            "rev-list",
            "--first-parent",
            "--reverse",
            bad.as_str(),
            &not_good,
        ];
        let lines = self.ask(&*doing).with(words).line()?;
        let commits = lines.lines();
        commits
            .map(|commit| self.commit(doing.clone(), commit))
            .collect()
    }

    /// Whether a tracked file differs from the commit that is checked out.
    pub fn is_dirty(&self) -> Result<bool, GitError> {
        let words = ["status", "--porcelain", "--untracked-files=no"];
        let said = self.ask("look for local changes").with(words).line()?;
        Ok(!said.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;

    #[test]
    fn parents_and_what_lies_between() {
        let scratch = Scratch::new();
        let first = scratch.commit("first", &[("a", "1")]);
        scratch.git(&["checkout", "--quiet", "-b", "side"]);
        let side = scratch.commit("side", &[("b", "1")]);
        scratch.git(&["checkout", "--quiet", "main"]);
        let main = scratch.commit("main", &[("a", "2")]);
        scratch.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
        let repository = scratch.repository();
        let merge = repository.head().unwrap().unwrap();
        assert_eq!(repository.parents(&first).unwrap(), []);
        assert_eq!(
            repository.parents(&merge).unwrap(),
            [main.clone(), side.clone()]
        );
        let between = |good, bad| repository.commits_between(good, bad).unwrap();
        assert_eq!(between(&first, &merge), [main, merge.clone()]);
        assert_eq!(between(&merge, &side), []);
    }

    #[test]
    fn only_tracked_files_make_it_dirty() {
        let scratch = Scratch::new();
        scratch.commit("first", &[("a", "1")]);
        let repository = scratch.repository();
        std::fs::write(scratch.at("new"), "x").unwrap();
        assert!(!repository.is_dirty().unwrap());
        std::fs::write(scratch.at("a"), "2").unwrap();
        assert!(repository.is_dirty().unwrap());
    }
}
