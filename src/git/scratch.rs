//! Real repositories for tests, in folders that go away with them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Commit, Repository};

/// A repository with nothing in it, on `main`.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    /// A new one.
    pub(crate) fn new() -> Self {
        let scratch = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        scratch.git(&["init", "--quiet", "-b", "main"]);
        scratch.git(&["config", "user.name", "Tester"]);
        scratch.git(&["config", "user.email", "tester@example.org"]);
        scratch
    }

    /// A bare one, to push to.
    pub(crate) fn bare() -> Self {
        let scratch = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        scratch.git(&["init", "--quiet", "--bare", "-b", "main"]);
        scratch
    }

    /// Its folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A path in it.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    /// As the code sees it.
    pub(crate) fn repository(&self) -> Repository {
        Repository::find(self.path()).unwrap()
    }

    /// What git answers, as one line.
    #[track_caller]
    pub(crate) fn git(&self, words: &[&str]) -> String {
        git(self.path(), words)
    }

    /// Writes these files and commits them.
    #[track_caller]
    pub(crate) fn commit(&self, subject: &str, files: &[(&str, &str)]) -> Commit {
        for (path, text) in files {
            let path = self.at(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.git(&["rev-parse", "HEAD"]).parse().unwrap()
    }
}

/// What git answers in a folder, as one line.
#[track_caller]
pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args([
            "-c",
            "commit.gpgSign=false",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}
