//! What is kept of a run while it is taken, so that one that is cut off, by whatever, can go on.
//!
//! A file of JSON lines, each on the disk before the next is begun: what the run is, then each stage that has
//! ended, and each whole window of a soak. A line is written once the records before it are on the disk too.
//! With the run's own file the journal goes away.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use super::store::{ArchiveError, at};
use crate::sample::SoakMark;
use crate::summary::{Run, SkippedStage, StageSummary};

/// Format tag of a journal, in its first line.
const FORMAT: &str = "infergate.journal/1";

/// The folder of a session that they are in.
const FOLDER: &str = "journal";

/// A journal that is written.
#[derive(Debug, Clone)]
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
}

/// What a journal says.
#[derive(Debug, Clone, PartialEq)]
pub struct Journalled {
    /// What the run was when it began, without stages.
    pub begun: Begun,
    /// Stages that have ended.
    pub stages: Vec<StageSummary>,
    /// Steps of sweeps that were passed over.
    pub skipped: Vec<SkippedStage>,
    /// How far a soak has come that has not ended.
    pub mark: Option<SoakMark>,
}

/// A run that begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    format: String,
    /// The run.
    pub run: Run,
    /// When this process began to measure it, RFC 3339: later than the run where that was gone on with.
    pub started: String,
    /// Whether stages without gated cells are run too.
    pub all: bool,
}

impl Begun {
    /// Of this run.
    pub fn new(run: Run, started: String, all: bool) -> Self {
        let format = FORMAT.to_owned();
        Self {
            format,
            run,
            started,
            all,
        }
    }
}

/// A line of a journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, written or taken apart at once"
)]
enum Line<'a> {
    Begun(Cow<'a, Begun>),
    Ended(Cow<'a, StageSummary>),
    Skipped(Vec<SkippedStage>),
    Mark(Cow<'a, SoakMark>),
}

/// Where the journal of a run is.
pub fn journal_path(session: &Path, run: &str) -> PathBuf {
    session.join(FOLDER).join(format!("{run}.jsonl"))
}

impl Journal {
    /// Begins one in the folder of a session.
    pub fn create(session: &Path, begun: &Begun) -> Result<Self, ArchiveError> {
        let path = journal_path(session, &begun.run.id);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(at("create", folder))?;
        }
        let file = File::create(&path).map_err(at("create", &path))?;
        let journal = Self {
            file: Arc::new(file),
            path,
        };
        journal.line(&Line::Begun(Cow::Borrowed(begun)))?;
        Ok(journal)
    }

    /// A stage has ended, and these steps are passed over by now.
    pub fn ended(
        &self,
        stage: &StageSummary,
        skipped: &[SkippedStage],
    ) -> Result<(), ArchiveError> {
        if !skipped.is_empty() {
            self.line(&Line::Skipped(skipped.to_vec()))?;
        }
        self.line(&Line::Ended(Cow::Borrowed(stage)))
    }

    /// A soak has come so far.
    pub fn mark(&self, mark: &SoakMark) -> Result<(), ArchiveError> {
        self.line(&Line::Mark(Cow::Borrowed(mark)))
    }

    /// Removes it: the run's own file is there.
    pub fn close(self) -> Result<(), ArchiveError> {
        std::fs::remove_file(&self.path).map_err(at("remove", &self.path))?;
        if let Some(folder) = self.path.parent() {
            // Other runs may have theirs in it.
            let _ = std::fs::remove_dir(folder);
        }
        Ok(())
    }

    fn line(&self, line: &Line<'_>) -> Result<(), ArchiveError> {
        let write = || {
            let mut text = serde_json::to_string(line)?;
            text.push('\n');
            (&*self.file).write_all(text.as_bytes())?;
            self.file.sync_data()
        };
        write().map_err(at("write", &self.path))
    }
}

/// The journals of a session, of runs that did not end.
pub fn journals(session: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    let folder = session.join(FOLDER);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at("read", &folder)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(at("read", &folder))?.path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads a journal; a last line that is not whole was being written when all ended, and is passed over.
pub fn read_journal(path: &Path) -> Result<Journalled, ArchiveError> {
    let bytes = std::fs::read(path).map_err(at("read", path))?;
    let text = String::from_utf8_lossy(&bytes);
    let not_one = |source| ArchiveError::NotARun {
        path: path.to_owned(),
        source,
    };
    let mut out: Option<Journalled> = None;
    for line in text.split_inclusive('\n') {
        let read = match serde_json::from_str(line) {
            Ok(read) => read,
            Err(_) if !line.ends_with('\n') && out.is_some() => break,
            Err(error) => return Err(not_one(error)),
        };
        match (read, &mut out) {
            (Line::Begun(begun), None) => {
                let begun = begun.into_owned();
                if begun.format != FORMAT {
                    return Err(ArchiveError::UnknownFormat {
                        path: path.to_owned(),
                        found: begun.format,
                        known: FORMAT,
                    });
                }
                out = Some(Journalled {
                    begun,
                    stages: Vec::new(),
                    skipped: Vec::new(),
                    mark: None,
                });
            }
            (Line::Ended(stage), Some(out)) => {
                out.stages.push(stage.into_owned());
                out.mark = None;
            }
            (Line::Skipped(skipped), Some(out)) => out.skipped = skipped,
            (Line::Mark(mark), Some(out)) => {
                let mark = mark.into_owned();
                out.mark = Some(match out.mark.take() {
                    Some(before) => before.then(mark),
                    None => mark,
                });
            }
            (Line::Begun(_), Some(_)) | (_, None) => {
                return Err(not_one(serde_json::Error::custom(
                    "its lines are in no order that a journal has",
                )));
            }
        }
    }
    out.ok_or_else(|| not_one(serde_json::Error::custom("it is empty")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic;
    use crate::unit::Nanos;

    fn mark(windows: u64) -> SoakMark {
        SoakMark {
            stage: 1,
            window_start: Nanos::ZERO,
            window: Nanos::from_secs(1),
            windows,
            records: 10 * windows,
            at_s: windows as f64,
            in_flight_max: 3,
            pulses: Vec::new(),
            looks: vec![crate::sample::WindowLook::default()],
            engines: Vec::new(),
            pauses: Vec::new(),
        }
    }

    #[test]
    fn a_journal_reads_back_up_to_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let run = synthetic::run("x", 1);
        let stage = run.stages[0].clone();
        let begun = Begun::new(run, "2026-11-30T12:00:00Z".to_owned(), true);
        let journal = Journal::create(folder.path(), &begun).unwrap();
        journal.ended(&stage, &[]).unwrap();
        journal.mark(&mark(1)).unwrap();
        journal.mark(&mark(2)).unwrap();
        let found = journals(folder.path()).unwrap();
        assert_eq!(found, [journal_path(folder.path(), &begun.run.id)]);
        let read = read_journal(&found[0]).unwrap();
        assert_eq!((&read.begun, &read.stages), (&begun, &vec![stage]));
        assert_eq!(read.mark, Some(mark(1).then(mark(2))));
        let whole = std::fs::read(&found[0]).unwrap();
        let last = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n');
        for cut in [last.unwrap() + 2, whole.len() - 1] {
            std::fs::write(&found[0], &whole[..cut]).unwrap();
            let read = read_journal(&found[0]).unwrap();
            let windows = read.mark.unwrap().windows;
            assert!(windows == 1 || cut == whole.len() - 1, "cut at {cut}");
        }
        // Cut within its first line, or damaged in the middle, it is none.
        std::fs::write(&found[0], &whole[..40]).unwrap();
        assert!(read_journal(&found[0]).is_err());
        let mut damaged = whole;
        damaged[last.unwrap() - 5] = b'{';
        std::fs::write(&found[0], &damaged).unwrap();
        assert!(read_journal(&found[0]).is_err());
        journal.close().unwrap();
        assert_eq!(journals(folder.path()).unwrap(), Vec::<PathBuf>::new());
    }
}
