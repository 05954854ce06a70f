//! Run files that a job left which is not trusted: looked at within limits, read as data alone.
//!
//! A pull request from a fork runs its own code, so what it uploads can be anything: files of any size,
//! links out of the folder, names that lead elsewhere, figures that nobody measured. What can be held
//! against it is held here; that figures are true can't be known, so the runs are marked.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::store::{ArchiveError, at, parse_run};
use crate::summary::Run;

/// Bytes of a run file at most; one of the design's example has 132,000.
const MOST_BYTES: u64 = 4 << 20;
/// Run files at most: both sides of the most pairs that a spec may ask for, twice.
const MOST_RUNS: usize = 256;
/// Entries that are looked at at most.
const MOST_ENTRIES: usize = 10_000;

/// What such a job left.
#[derive(Debug, Clone, PartialEq)]
pub struct Upload {
    /// Its runs, marked as untrusted, in the order of their ids.
    pub runs: Vec<Run>,
    /// What was not looked at, and why.
    pub ignored: Vec<(PathBuf, &'static str)>,
}

/// Why an upload is refused.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// A file is not what it has to be, or could not be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A file is too large.
    #[error(
        "refused `{}`: it has {} MiB, more than the {} MiB that a run file of an untrusted job may have",
        path.display(), bytes >> 20, MOST_BYTES >> 20
    )]
    Large {
        /// Which file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// There are too many files.
    #[error("refused `{}`: it holds more than {most} {what}", path.display())]
    Many {
        /// The folder that was named.
        path: PathBuf,
        /// The limit.
        most: usize,
        /// Of what.
        what: &'static str,
    },
    /// Two sessions: nothing says which one is meant.
    #[error(
        "refused `{}`: it holds runs of the sessions `{first}` and `{other}`; upload the folder of one",
        path.display()
    )]
    Sessions {
        /// The folder that was named.
        path: PathBuf,
        /// A session.
        first: String,
        /// Another.
        other: String,
    },
    /// A run is there twice.
    #[error("refused `{}`: two of its files say that they are run `{id}`", path.display())]
    Twice {
        /// The folder that was named.
        path: PathBuf,
        /// The run's id.
        id: String,
    },
}

/// Reads the runs of an upload: files `*.json` of the folder, of its folder `runs`, and of `runs` in the
/// folder of a session. All must be of one session. Links are never followed; records, reports and what
/// the job says that its baseline was are left alone.
pub fn load_upload(folder: &Path) -> Result<Upload, UploadError> {
    let mut search = Search {
        top: folder,
        entries: 0,
        files: Vec::new(),
        ignored: Vec::new(),
    };
    search.upload()?;
    search.files.sort();
    search.ignored.sort();
    let mut upload = Upload {
        runs: Vec::new(),
        ignored: search.ignored,
    };
    for path in search.files {
        match parse_run(&path, &text_of(&path)?) {
            Ok(run) => upload.runs.push(Run {
                untrusted: true,
                ..run
            }),
            Err(ArchiveError::UnknownFormat { found, .. })
                if !found.starts_with("infergate.run/") =>
            {
                upload.ignored.push((path, "it is no run file"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    upload.runs.sort_by(|a, b| a.id.cmp(&b.id));
    one_session(folder, &upload.runs)?;
    Ok(upload)
}

struct Search<'a> {
    top: &'a Path,
    entries: usize,
    files: Vec<PathBuf>,
    ignored: Vec<(PathBuf, &'static str)>,
}

/// What an entry of a folder is by itself; what a link leads to is not asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Other,
}

impl Search<'_> {
    fn upload(&mut self) -> Result<(), UploadError> {
        for (path, kind) in self.list(self.top)? {
            match kind {
                Kind::Folder if is_runs(&path) => self.runs(&path)?,
                Kind::Folder => self.session(&path)?,
                Kind::File | Kind::Other => self.take(path, kind)?,
            }
        }
        Ok(())
    }

    fn session(&mut self, folder: &Path) -> Result<(), UploadError> {
        for (path, kind) in self.list(folder)? {
            if kind == Kind::Folder && is_runs(&path) {
                self.runs(&path)?;
            }
        }
        Ok(())
    }

    fn runs(&mut self, folder: &Path) -> Result<(), UploadError> {
        for (path, kind) in self.list(folder)? {
            self.take(path, kind)?;
        }
        Ok(())
    }

    fn take(&mut self, path: PathBuf, kind: Kind) -> Result<(), UploadError> {
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        match kind {
            Kind::File if is_json && self.files.len() == MOST_RUNS => {
                return Err(self.many(MOST_RUNS, "run files"));
            }
            Kind::File if is_json => self.files.push(path),
            Kind::File => {}
            Kind::Folder | Kind::Other => self.ignored.push((path, "it is no plain file")),
        }
        Ok(())
    }

    fn list(&mut self, folder: &Path) -> Result<Vec<(PathBuf, Kind)>, UploadError> {
        let mut list = Vec::new();
        for entry in fs::read_dir(folder).map_err(at("list", folder))? {
            if self.entries == MOST_ENTRIES {
                return Err(self.many(MOST_ENTRIES, "entries"));
            }
            self.entries += 1;
            let entry = entry.map_err(at("list", folder))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(at("look at", &path))?;
            let kind = match (kind.is_file(), kind.is_dir()) {
                (true, _) => Kind::File,
                (_, true) => Kind::Folder,
                _ => Kind::Other,
            };
            list.push((path, kind));
        }
        Ok(list)
    }

    fn many(&self, most: usize, what: &'static str) -> UploadError {
        UploadError::Many {
            path: self.top.to_owned(),
            most,
            what,
        }
    }
}

fn is_runs(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "runs")
}

/// A file's text, no more of it than a run file may have.
fn text_of(path: &Path) -> Result<String, UploadError> {
    let file = fs::File::open(path).map_err(at("read", path))?;
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    if read.map_err(at("read", path))? as u64 > MOST_BYTES {
        let bytes = fs::metadata(path).map_err(at("read", path))?.len();
        return Err(UploadError::Large {
            path: path.to_owned(),
            bytes,
        });
    }
    Ok(text)
}

fn one_session(folder: &Path, runs: &[Run]) -> Result<(), UploadError> {
    let path = || folder.to_owned();
    let Some(first) = runs.first() else {
        return Err(ArchiveError::NoRuns { path: path() }.into());
    };
    if let Some(other) = runs.iter().find(|run| run.session != first.session) {
        return Err(UploadError::Sessions {
            path: path(),
            first: first.session.clone(),
            other: other.session.clone(),
        });
    }
    match runs.windows(2).find(|two| two[0].id == two[1].id) {
        Some(two) => Err(UploadError::Twice {
            path: path(),
            id: two[0].id.clone(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{save_run, save_text};
    use super::*;
    use crate::compare::synthetic::run;

    fn told(folder: &Path) -> String {
        load_upload(folder).unwrap_err().to_string()
    }

    #[test]
    fn a_session_is_found_in_its_folder_and_marked() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("demo-1");
        let of = |minute| run("demo-1", minute);
        save_run(&session.join("runs"), &of(2)).unwrap();
        save_run(&session.join("runs"), &of(1)).unwrap();
        // What a job says of its baseline and of its verdict is its own tale.
        save_run(&session.join("baseline"), &run("forged", 1)).unwrap();
        save_text(
            &session.join("report.json"),
            r#"{"format": "infergate.report/1"}"#,
        )
        .unwrap();
        save_text(&session.join("runs/index.json"), r#"{"format": "other/1"}"#).unwrap();
        for place in [folder.path(), &session, &session.join("runs")] {
            let upload = load_upload(place).unwrap();
            let ids: Vec<&str> = upload.runs.iter().map(|run| run.id.as_str()).collect();
            assert_eq!(ids, ["demo-1-1", "demo-1-2"], "{}", place.display());
            assert!(upload.runs.iter().all(|run| run.untrusted));
            assert!(!upload.ignored.is_empty());
        }
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused_and_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        let file = fs::File::create(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        let text = told(folder.path());
        assert!(text.contains("1048576 MiB, more than the 4 MiB"), "{text}");
    }

    #[test]
    fn too_many_files_are_refused_before_they_are_read() {
        let folder = tempfile::tempdir().unwrap();
        for index in 0..=MOST_RUNS {
            save_text(&folder.path().join(format!("{index}.json")), "no JSON").unwrap();
        }
        assert!(told(folder.path()).contains("more than 256 run files"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        save_run(elsewhere.path(), &run("demo-2", 7)).unwrap();
        let link = |name: &str, to: &Path| {
            std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
        };
        link("secret.json", &elsewhere.path().join("demo-2-7.json"));
        link("runs", elsewhere.path());
        assert!(told(folder.path()).contains("no run files"));
        save_run(folder.path(), &run("demo-1", 1)).unwrap();
        let upload = load_upload(folder.path()).unwrap();
        assert_eq!((upload.runs.len(), upload.ignored.len()), (1, 2));
    }

    #[test]
    fn two_sessions_and_a_run_twice_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        save_run(folder.path(), &run("demo-1", 1)).unwrap();
        save_text(
            &folder.path().join("again.json"),
            &fs::read_to_string(folder.path().join("demo-1-1.json")).unwrap(),
        )
        .unwrap();
        assert!(told(folder.path()).contains("say that they are run `demo-1-1`"));
        save_run(&folder.path().join("b/runs"), &run("demo-2", 1)).unwrap();
        assert!(told(folder.path()).contains("sessions `demo-1` and `demo-2`"));
    }

    #[test]
    fn a_damaged_run_file_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        save_text(
            &folder.path().join("x.json"),
            r#"{"format": "infergate.run/1"}"#,
        )
        .unwrap();
        assert!(told(folder.path()).contains("x.json"));
        assert!(told(&folder.path().join("gone")).contains("gone"));
    }
}
