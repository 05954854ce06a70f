//! Where files of the archive are read from: one way for a folder and for a commit.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::io;
use std::path::{Path, PathBuf};

use super::reference::BaselineError;
use crate::archive::ArchiveError;
use crate::git::{Commit, Repository, TreeEntry};

/// Files of an archive, read by their paths from its top, with `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shelf {
    /// A folder, as it lies.
    Folder(PathBuf),
    /// A commit: what it holds never changes.
    Tree {
        /// Whose.
        repository: Repository,
        /// Which.
        commit: Commit,
        /// The archive's folder in it; `""` where the archive is all of it.
        prefix: String,
        /// What the commit is, for people: ``branch `infergate-archive` of `origin` ``.
        label: String,
    },
    /// A place where nothing is yet.
    Empty {
        /// Which, for people.
        label: String,
    },
}

impl Shelf {
    /// A folder as it lies.
    pub fn folder(root: impl Into<PathBuf>) -> Self {
        Self::Folder(root.into())
    }

    /// The text of a file; `None` where there is none.
    pub fn read(&self, path: &str) -> Result<Option<String>, BaselineError> {
        self.refuse_unsafe(path)?;
        match self {
            Self::Folder(root) => read_file(&root.join(path)),
            Self::Tree {
                repository,
                commit,
                prefix,
                ..
            } => Ok(repository.read(commit, &below(prefix, path))?),
            Self::Empty { .. } => Ok(None),
        }
    }

    /// The texts of several files by their paths, those that are there.
    pub fn read_all(&self, paths: &[String]) -> Result<BTreeMap<String, String>, BaselineError> {
        let Self::Tree {
            repository,
            commit,
            prefix,
            ..
        } = self
        else {
            let mut found = BTreeMap::new();
            for path in paths {
                if let Some(text) = self.read(path)? {
                    found.insert(path.clone(), text);
                }
            }
            return Ok(found);
        };
        for path in paths {
            self.refuse_unsafe(path)?;
        }
        let full: Vec<String> = paths.iter().map(|path| below(prefix, path)).collect();
        let asked: Vec<&str> = full.iter().map(String::as_str).collect();
        let mut texts = repository.read_all(commit, &asked)?;
        let found = paths.iter().zip(&full);
        Ok(found
            .filter_map(|(path, full)| Some((path.clone(), texts.remove(full)?)))
            .collect())
    }

    /// What lies in a folder (`""` is the top), sorted by name; nothing where there is no such folder.
    pub fn list(&self, folder: &str) -> Result<Vec<TreeEntry>, BaselineError> {
        if !folder.is_empty() {
            self.refuse_unsafe(folder)?;
        }
        match self {
            Self::Folder(root) => list_folder(&root.join(folder)),
            Self::Tree {
                repository,
                commit,
                prefix,
                ..
            } => Ok(repository.list(commit, &below(prefix, folder))?),
            Self::Empty { .. } => Ok(Vec::new()),
        }
    }

    /// The names of the folders in a folder, sorted; hidden ones belong to other tools.
    pub fn folders(&self, folder: &str) -> Result<Vec<String>, BaselineError> {
        let entries = self.list(folder)?.into_iter();
        Ok(entries
            .filter(|entry| entry.is_folder && !entry.name.starts_with('.'))
            .map(|entry| entry.name)
            .collect())
    }

    /// A path for people: `baselines/demo/spec.yaml`, `infergate-archive:demo/spec.yaml`.
    pub fn describe(&self, path: &str) -> String {
        match self {
            Self::Folder(root) => root.join(path).display().to_string(),
            Self::Tree { commit, prefix, .. } => {
                format!("{}:{}", commit.short(), below(prefix, path))
            }
            Self::Empty { .. } => path.to_owned(),
        }
    }

    /// The same as a path, for errors about the file.
    pub(super) fn path_of(&self, path: &str) -> PathBuf {
        PathBuf::from(self.describe(path))
    }

    /// Names come from files that others write, so none may lead out of the archive.
    fn refuse_unsafe(&self, path: &str) -> Result<(), BaselineError> {
        let safe = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && !part.contains(|c: char| c.is_control() || matches!(c, '\\' | ':'))
        };
        if path.split('/').all(safe) {
            return Ok(());
        }
        Err(BaselineError::Archive(ArchiveError::UnsafeName {
            path: match self {
                Self::Folder(root) => root.clone(),
                Self::Tree { .. } | Self::Empty { .. } => self.to_string().into(),
            },
            what: "path to a file",
            found: path.chars().take(80).collect(),
        }))
    }
}

impl Display for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(root) => write!(f, "`{}`", root.display()),
            Self::Tree { label, .. } | Self::Empty { label } => f.write_str(label),
        }
    }
}

pub(super) fn below(prefix: &str, path: &str) -> String {
    match (prefix, path) {
        ("", path) => path.to_owned(),
        (prefix, "") => prefix.to_owned(),
        (prefix, path) => format!("{prefix}/{path}"),
    }
}

fn read_file(path: &Path) -> Result<Option<String>, BaselineError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_nothing(&error) || path.is_dir() => Ok(None),
        Err(source) => Err(BaselineError::Archive(ArchiveError::Io {
            doing: "read",
            path: path.to_owned(),
            source,
        })),
    }
}

fn list_folder(path: &Path) -> Result<Vec<TreeEntry>, BaselineError> {
    let failed = |source| {
        BaselineError::Archive(ArchiveError::Io {
            doing: "list",
            path: path.to_owned(),
            source,
        })
    };
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if is_nothing(&error) => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        found.push(TreeEntry {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_folder: entry.path().is_dir(),
        });
    }
    found.sort_unstable();
    Ok(found)
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::scratch::Scratch;

    /// The same files as a folder, as a commit, and below a folder of a commit.
    fn shelves(scratch: &Scratch) -> [Shelf; 3] {
        let files = [
            ("demo/env/reference.json", "{}"),
            ("demo/spec.yaml", "x: 1\n"),
        ];
        let at = |prefix: &str| {
            let paths = files.map(|(path, text)| (below(prefix, path), text));
            let files: Vec<(&str, &str)> =
                paths.iter().map(|(path, text)| (&**path, *text)).collect();
            let commit = scratch.commit("files", &files);
            Shelf::Tree {
                repository: scratch.repository(),
                commit,
                prefix: prefix.to_owned(),
                label: "branch `main`".to_owned(),
            }
        };
        [
            at(""),
            at("some/baselines"),
            Shelf::Folder(scratch.path().to_owned()),
        ]
    }

    #[test]
    fn every_shelf_reads_the_same() {
        let scratch = Scratch::new();
        for shelf in shelves(&scratch) {
            let read = |path: &str| shelf.read(path).unwrap();
            assert_eq!(read("demo/spec.yaml").as_deref(), Some("x: 1\n"));
            for nothing in ["demo", "demo/gone", "demo/spec.yaml/x"] {
                assert_eq!(read(nothing), None, "{nothing} of {shelf}");
            }
            let paths = ["demo/gone", "demo/env/reference.json"].map(str::to_owned);
            let found = shelf.read_all(&paths).unwrap();
            assert_eq!(found, BTreeMap::from([(paths[1].clone(), "{}".to_owned())]));
            assert!(shelf.folders("").unwrap().contains(&"demo".to_owned()));
            assert_eq!(shelf.folders("demo").unwrap(), ["env"]);
            assert_eq!(shelf.folders("gone").unwrap(), [""; 0]);
            let names = shelf.list("demo").unwrap();
            let names: Vec<&str> = names.iter().map(|entry| entry.name.as_str()).collect();
            assert_eq!(names, ["env", "spec.yaml"]);
        }
        let empty = Shelf::Empty {
            label: "branch `x`".to_owned(),
        };
        assert_eq!(empty.read("demo/spec.yaml").unwrap(), None);
        assert_eq!(empty.list("").unwrap(), []);
    }

    #[test]
    fn no_name_leads_out_of_the_archive() {
        let scratch = Scratch::new();
        std::fs::write(scratch.at("secret"), "x").unwrap();
        std::fs::create_dir(scratch.at("inner")).unwrap();
        let shelf = Shelf::Folder(scratch.at("inner"));
        for path in [
            "../secret",
            "a/../../secret",
            "/etc/passwd",
            "a//b",
            ".git/config",
            "a\nb",
            "C:x",
            "",
        ] {
            let error = shelf.read(path).unwrap_err().to_string();
            assert!(error.contains("path to a file"), "{path:?}: {error}");
            assert!(shelf.read_all(&[path.to_owned()]).is_err(), "{path:?}");
        }
    }
}
