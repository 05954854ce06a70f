//! Reading a baseline: which sessions stand, and their runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::anchor::Anchor;
use super::environment::Environment;
use super::epoch::Epoch;
use super::void::Void;
use crate::archive::{ArchiveError, load_run};
use crate::ident::{Digest, Name};
use crate::summary::Run;

/// Format tag of `reference.json`.
pub const REFERENCE_FORMAT: &str = "infergate.reference/1";

/// `reference.json`: the sessions that stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reference {
    /// Its format.
    pub format: String,
    /// In the order of their promotion.
    pub sessions: Vec<ReferenceSession>,
    /// Sessions that show the noise alone, in the order in which they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<NoiseSession>,
    /// Runs and sessions that count no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub voids: Vec<Void>,
    /// Sessions that are pinned as releases; the last one counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
    /// Levels that were accepted, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<Epoch>,
    /// What each run file held when it was kept, by the run's id; none of those kept by earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub digests: BTreeMap<String, Digest>,
}

impl Default for Reference {
    /// Nothing stands.
    fn default() -> Self {
        Self {
            format: REFERENCE_FORMAT.to_owned(),
            sessions: Vec::new(),
            noise: Vec::new(),
            voids: Vec::new(),
            anchors: Vec::new(),
            epochs: Vec::new(),
            digests: BTreeMap::new(),
        }
    }
}

/// A session from which only the noise is learnt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NoiseSession {
    /// The session's id.
    pub session: String,
    /// Its runs' ids.
    pub runs: Vec<String>,
    /// When it was kept, RFC 3339.
    pub kept: String,
}

/// One promoted session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReferenceSession {
    /// The session's id.
    pub session: String,
    /// Its runs' ids.
    pub runs: Vec<String>,
    /// When it was promoted, RFC 3339.
    pub promoted: String,
    /// Why.
    pub reason: String,
}

/// A kept session with its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Its runs, at least one.
    pub runs: Vec<Run>,
}

/// The sessions of one spec in one environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Where they lie.
    pub folder: PathBuf,
    /// In the order of their promotion.
    pub sessions: Vec<Session>,
    /// Those that show the noise alone.
    pub noise: Vec<Session>,
}

impl Baseline {
    /// Leaves out the sessions of which some run is not so.
    pub fn retain(&mut self, is_so: impl Fn(&Run) -> bool) {
        for sessions in [&mut self.sessions, &mut self.noise] {
            sessions.retain(|session| session.runs.iter().all(&is_so));
        }
    }
}

/// Why there is no baseline to read.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Nothing was ever promoted for this spec.
    #[error(
        "no baseline for `{name}` in `{}`; promote a session first: \
         `infergate baseline promote SESSION --reason TEXT`",
        root.display()
    )]
    None {
        /// The spec's name.
        name: Name,
        /// Where it was looked for.
        root: PathBuf,
    },
    /// Something was promoted, but in other environments.
    #[error(
        "no baseline for `{name}` in this environment; the nearest one, `{nearest}`, differs in {differences}; \
         promote sessions that were measured here, or compare with a second live target: `infergate ab SPEC --baseline-url URL`"
    )]
    OtherEnvironment {
        /// The spec's name.
        name: Name,
        /// Folder of the environment that differs least.
        nearest: String,
        /// The pins that differ, with both values.
        differences: String,
    },
    /// A file could not be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// Reads the baseline of a spec in an environment.
pub fn load(
    root: &Path,
    name: &Name,
    environment: &Environment,
) -> Result<Baseline, BaselineError> {
    let of_spec = root.join(name.as_str());
    let folder = of_spec.join(environment.folder());
    if !folder.join("reference.json").is_file() {
        return Err(explain_absence(root, name, &of_spec, environment));
    }
    Ok(read(folder)?)
}

/// Reads what is kept of a spec in every environment, in the order of their folders.
pub fn load_all(root: &Path, name: &Name) -> Result<Vec<Baseline>, ArchiveError> {
    folders(&root.join(name.as_str()))?
        .into_iter()
        .map(|(_, folder)| folder)
        .filter(|folder| folder.join("reference.json").is_file())
        .map(read)
        .collect()
}

fn read(folder: PathBuf) -> Result<Baseline, ArchiveError> {
    let reference = read_reference(&folder)?;
    let session = |id: String, runs: Vec<String>| {
        let path = |run: &String| folder.join("runs").join(format!("{run}.json"));
        let runs: Result<_, ArchiveError> = runs.iter().map(|run| load_run(&path(run))).collect();
        Ok(Session { id, runs: runs? })
    };
    let sessions: Result<_, ArchiveError> = reference
        .sessions
        .into_iter()
        .map(|stands| session(stands.session, stands.runs))
        .collect();
    let noise: Result<_, ArchiveError> = reference
        .noise
        .into_iter()
        .map(|noise| session(noise.session, noise.runs))
        .collect();
    Ok(Baseline {
        sessions: sessions?,
        noise: noise?,
        folder,
    })
}

/// Reads `reference.json` of an environment's folder.
pub(super) fn read_reference(folder: &Path) -> Result<Reference, ArchiveError> {
    let path = folder.join("reference.json");
    let reference: Reference = read_json(&path)?;
    if reference.format == REFERENCE_FORMAT {
        Ok(reference)
    } else {
        Err(ArchiveError::UnknownFormat {
            path,
            found: reference.format,
            known: REFERENCE_FORMAT,
        })
    }
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, ArchiveError> {
    let text = std::fs::read_to_string(path).map_err(|source| ArchiveError::Io {
        doing: "read",
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|source| ArchiveError::NotARun {
        path: path.to_owned(),
        source,
    })
}

/// The environment that differs in the fewest pins, if the spec has any at all.
fn explain_absence(
    root: &Path,
    name: &Name,
    of_spec: &Path,
    environment: &Environment,
) -> BaselineError {
    let folders = std::fs::read_dir(of_spec).into_iter().flatten().flatten();
    let nearest = folders
        .filter_map(|entry| {
            let other: Environment = read_json(&entry.path().join("environment.json")).ok()?;
            let differences: Vec<String> = other
                .differences(environment)
                .map(|(pin, theirs, ours)| {
                    let show = |value: Option<&str>| value.unwrap_or("unknown").to_owned();
                    format!("`{pin}` ({} there, {} here)", show(theirs), show(ours))
                })
                .collect();
            Some((differences.len(), entry.file_name(), differences.join(", ")))
        })
        .min();
    match nearest {
        None => BaselineError::None {
            name: name.clone(),
            root: root.to_owned(),
        },
        Some((_, folder, differences)) => BaselineError::OtherEnvironment {
            name: name.clone(),
            nearest: folder.to_string_lossy().into_owned(),
            differences,
        },
    }
}

/// One environment of one spec, as `list` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stored {
    /// The spec's name.
    pub name: String,
    /// The environment's folder.
    pub environment: String,
    /// What stands there.
    pub reference: Reference,
}

/// Every baseline below a folder, in the order of names; none where the folder does not exist.
pub fn list(root: &Path) -> Result<Vec<Stored>, ArchiveError> {
    let mut found = Vec::new();
    for (name, of_spec) in folders(root)? {
        for (environment, folder) in folders(&of_spec)? {
            if folder.join("reference.json").is_file() {
                let reference = read_reference(&folder)?;
                found.push(Stored {
                    name: name.clone(),
                    environment,
                    reference,
                });
            }
        }
    }
    Ok(found)
}

/// Folders within a folder with their names, sorted.
fn folders(path: &Path) -> Result<Vec<(String, PathBuf)>, ArchiveError> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |source| ArchiveError::Io {
        doing: "list",
        path: path.to_owned(),
        source,
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.path().is_dir() {
            found.push((
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            ));
        }
    }
    found.sort();
    Ok(found)
}
