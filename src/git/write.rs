//! Commits made without a working tree: neither it nor its index is touched.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::error::GitError;
use super::repository::Repository;
use crate::archive::FolderLock;
use crate::ident::Commit;

/// Who writes where git knows of nobody.
const NOBODY: (&str, &str) = ("infergate", "infergate@localhost");

/// What becomes of files, by their paths from the top: a new text, or nothing.
pub type FileEdits<'a> = BTreeMap<String, Option<&'a str>>;

impl Repository {
    /// Makes a commit of a parent's files with some of them changed. Nothing refers to it yet. `None`
    /// where it would change nothing.
    ///
    /// Without a parent it is the first one of a history of its own.
    pub fn commit_files(
        &self,
        parent: Option<&Commit>,
        edits: &FileEdits<'_>,
        message: &str,
    ) -> Result<Option<Commit>, GitError> {
        let tree = self.tree_of(parent, edits)?;
        if let Some(parent) = parent {
            let doing = "read the tree of a commit";
            let words = [format!("{parent}^{{tree}}")];
            let call = self.ask(doing).with(["rev-parse", "--verify", "--quiet"]);
            if call.with(words).line()? == tree {
                return Ok(None);
            }
        }
        let doing = "make a commit";
        let mut call = self.ask(doing).with(["commit-tree", &tree, "-F", "-"]);
        if let Some(parent) = parent {
            call = call.with(["-p", parent.as_str()]);
        }
        for role in ["AUTHOR", "COMMITTER"] {
            if !self.knows(role)? {
                call = call.env(&format!("GIT_{role}_NAME"), NOBODY.0);
                call = call.env(&format!("GIT_{role}_EMAIL"), NOBODY.1);
            }
        }
        let commit = call.input(message).line()?;
        self.commit(doing.to_owned(), &commit).map(Some)
    }

    /// Whether git was told who the author or committer is; a guess of the machine's name is none.
    fn knows(&self, role: &str) -> Result<bool, GitError> {
        let words = ["-c", "user.useConfigOnly=true", "var"];
        let asked = self.ask("ask who commits").with(words);
        let answer = asked.with([format!("GIT_{role}_IDENT")]).answer()?;
        Ok(answer.code == Some(0))
    }

    /// The name of a tree of a parent's files with some of them changed, made in an index of its own.
    fn tree_of(&self, parent: Option<&Commit>, edits: &FileEdits<'_>) -> Result<String, GitError> {
        let mut lines = Vec::new();
        let nothing = "0".repeat(40);
        for (path, text) in edits {
            let line = match text {
                Some(text) => format!("100644 {}\t{path}\0", self.blob(text)?),
                None => format!("0 {nothing}\t{path}\0"),
            };
            lines.extend_from_slice(line.as_bytes());
        }
        let index = self.own_index()?;
        let asked = |doing: &'static str| self.ask(doing).env("GIT_INDEX_FILE", &index.file);
        if let Some(parent) = parent {
            asked("read a commit's files")
                .with(["read-tree", parent.as_str()])
                .out()?;
        }
        let words = ["update-index", "-z", "--add", "--replace", "--index-info"];
        asked("change files of a commit")
            .with(words)
            .input(lines)
            .out()?;
        asked("write a tree").with(["write-tree"]).line()
    }

    fn blob(&self, text: &str) -> Result<String, GitError> {
        let words = ["hash-object", "-w", "-t", "blob", "--stdin", "--no-filters"];
        self.ask("store a file").with(words).input(text).line()
    }

    /// An empty index beside the user's own, for one writer at a time.
    fn own_index(&self) -> Result<OwnIndex, GitError> {
        let doing = "find the folder of an index";
        let path = self
            .ask(doing)
            .with(["rev-parse", "--git-path", "infergate"])
            .line()?;
        let folder = self.folder().join(path);
        let lock = FolderLock::take(&folder)?;
        let file = folder.join("index");
        // What a writer left that was ended in the middle.
        let _ = std::fs::remove_file(&file);
        let _ = std::fs::remove_file(folder.join("index.lock"));
        Ok(OwnIndex { file, _lock: lock })
    }

    /// Lets a branch of this repository go from one commit to another; `false` where it is elsewhere
    /// already, because somebody else was faster.
    pub fn move_branch(
        &self,
        branch: &str,
        old: Option<&Commit>,
        new: &Commit,
    ) -> Result<bool, GitError> {
        let name = format!("refs/heads/{branch}");
        let zero = "0".repeat(new.as_str().len());
        let old = old.map_or(&*zero, Commit::as_str);
        let doing = format!("move the branch `{branch}`");
        let words = ["update-ref", "-m", "infergate", &name, new.as_str(), old];
        let answer = self.ask(&*doing).with(words).answer()?;
        match answer.code {
            Some(0) => Ok(true),
            _ if answer.err.contains("cannot lock ref") || answer.err.contains(".lock'") => {
                Ok(false)
            }
            _ => Err(answer.failed(doing, self.folder())),
        }
    }

    /// The working tree in which a branch is checked out, if it is in any.
    pub fn checked_out_in(&self, branch: &str) -> Result<Option<PathBuf>, GitError> {
        let name = format!("refs/heads/{branch}");
        let words = ["for-each-ref", "--format=%(worktreepath)", &name];
        let found = self
            .ask("ask which branches are checked out")
            .with(words)
            .line()?;
        let path = found.lines().next().unwrap_or_default();
        Ok((!path.is_empty()).then(|| PathBuf::from(path)))
    }
}

/// An index that goes away.
#[derive(Debug)]
struct OwnIndex {
    file: PathBuf,
    _lock: FolderLock,
}

impl Drop for OwnIndex {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
