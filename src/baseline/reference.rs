//! Reading a baseline: which sessions stand, and their runs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::shelf::Shelf;
use crate::archive::{ArchiveError, parse_run};
use crate::git::GitError;
use crate::ident::Name;
use crate::summary::Run;

/// Format tag of `reference.json`.
pub(super) const FORMAT: &str = "infergate.reference/1";

/// `reference.json`: the sessions that stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Its format.
    pub format: String,
    /// In the order of their promotion.
    pub sessions: Vec<ReferenceSession>,
    /// Sessions that show the noise alone, in the order in which they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<NoiseSession>,
}

/// A session from which only the noise is learnt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoiseSession {
    /// The session's id.
    pub session: String,
    /// Its runs' ids.
    pub runs: Vec<String>,
    /// When it was kept, RFC 3339.
    pub kept: String,
}

/// One promoted session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Where they lie, for people: `baselines/demo/cpu-vllm-1f3a9c0e`.
    pub place: String,
    /// The environment's folder, without its path.
    pub environment: String,
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
        "no baseline for `{name}` in {place}; promote a session first: \
         `infergate baseline promote SESSION --reason TEXT`"
    )]
    None {
        /// The spec's name.
        name: Name,
        /// Where it was looked for, in words.
        place: String,
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
    /// A run that a reference names is not there.
    #[error("run `{run}` is missing: `{}` names it; restore its file", reference.display())]
    NoRun {
        /// Its id.
        run: String,
        /// What names it.
        reference: PathBuf,
    },
    /// The remote that has the archive can't be reached, and nothing of it was fetched before.
    #[error(
        "{place} cannot be reached, and nothing of it was fetched before: {why}; \
         see that the remote is there and that this machine may read it"
    )]
    Unreachable {
        /// Which branch, in words.
        place: String,
        /// In git's words.
        why: String,
    },
    /// A file could not be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Git could not read one.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Reads the baseline of a spec in an environment.
pub fn load(
    shelf: &Shelf,
    name: &Name,
    environment: &Environment,
) -> Result<Baseline, BaselineError> {
    match read(shelf, name.as_str(), &environment.folder())? {
        Some(baseline) => Ok(baseline),
        None => Err(explain_absence(shelf, name, environment)?),
    }
}

/// Reads what is kept of a spec in every environment, in the order of their folders.
pub fn load_all(shelf: &Shelf, name: &Name) -> Result<Vec<Baseline>, BaselineError> {
    let mut found = Vec::new();
    for environment in shelf.folders(name.as_str())? {
        found.extend(read(shelf, name.as_str(), &environment)?);
    }
    Ok(found)
}

fn read(shelf: &Shelf, name: &str, environment: &str) -> Result<Option<Baseline>, BaselineError> {
    let folder = format!("{name}/{environment}");
    let Some(reference) = read_reference(shelf, &folder)? else {
        return Ok(None);
    };
    let path = |run: &String| format!("{folder}/runs/{run}.json");
    let stands = reference.sessions.iter().flat_map(|session| &session.runs);
    let noise = reference.noise.iter().flat_map(|session| &session.runs);
    let paths: Vec<String> = stands.chain(noise).map(path).collect();
    let texts = shelf.read_all(&paths)?;
    let session = |id: String, ids: Vec<String>| {
        let mut runs = Vec::with_capacity(ids.len());
        for run in ids {
            let path = path(&run);
            let Some(text) = texts.get(&path) else {
                let reference = shelf.path_of(&format!("{folder}/reference.json"));
                return Err(BaselineError::NoRun { run, reference });
            };
            runs.push(parse_run(&shelf.path_of(&path), text)?);
        }
        Ok(Session { id, runs })
    };
    let sessions: Result<_, BaselineError> = reference
        .sessions
        .into_iter()
        .map(|stands| session(stands.session, stands.runs))
        .collect();
    let noise: Result<_, BaselineError> = reference
        .noise
        .into_iter()
        .map(|noise| session(noise.session, noise.runs))
        .collect();
    Ok(Some(Baseline {
        place: shelf.describe(&folder),
        environment: environment.to_owned(),
        sessions: sessions?,
        noise: noise?,
    }))
}

/// Reads `reference.json` of an environment's folder; `None` where nothing was ever kept there.
pub(super) fn read_reference(
    shelf: &Shelf,
    folder: &str,
) -> Result<Option<Reference>, BaselineError> {
    let path = format!("{folder}/reference.json");
    let reference: Option<Reference> = read_json(shelf, &path)?;
    match reference {
        Some(other) if other.format != FORMAT => {
            Err(BaselineError::Archive(ArchiveError::UnknownFormat {
                path: shelf.path_of(&path),
                found: other.format,
                known: FORMAT,
            }))
        }
        reference => Ok(reference),
    }
}

fn read_json<T: for<'de> Deserialize<'de>>(
    shelf: &Shelf,
    path: &str,
) -> Result<Option<T>, BaselineError> {
    let Some(text) = shelf.read(path)? else {
        return Ok(None);
    };
    let value = serde_json::from_str(&text).map_err(|source| ArchiveError::NotARun {
        path: shelf.path_of(path),
        source,
    })?;
    Ok(Some(value))
}

/// The environment that differs in the fewest pins, if the spec has any at all.
fn explain_absence(
    shelf: &Shelf,
    name: &Name,
    environment: &Environment,
) -> Result<BaselineError, BaselineError> {
    let nearest = (shelf.folders(name.as_str())?.into_iter())
        .filter_map(|folder| {
            let path = format!("{name}/{folder}/environment.json");
            let other: Environment = read_json(shelf, &path).ok()??;
            let differences: Vec<String> = other
                .differences(environment)
                .map(|(pin, theirs, ours)| {
                    let show = |value: Option<&str>| value.unwrap_or("unknown").to_owned();
                    format!("`{pin}` ({} there, {} here)", show(theirs), show(ours))
                })
                .collect();
            Some((differences.len(), folder, differences.join(", ")))
        })
        .min();
    Ok(match nearest {
        None => BaselineError::None {
            name: name.clone(),
            place: shelf.to_string(),
        },
        Some((_, nearest, differences)) => BaselineError::OtherEnvironment {
            name: name.clone(),
            nearest,
            differences,
        },
    })
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

/// Every baseline on a shelf, in the order of names.
pub fn list(shelf: &Shelf) -> Result<Vec<Stored>, BaselineError> {
    let mut found = Vec::new();
    for name in shelf.folders("")? {
        for environment in shelf.folders(&name)? {
            let folder = format!("{name}/{environment}");
            if let Some(reference) = read_reference(shelf, &folder)? {
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
