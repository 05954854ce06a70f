//! Reading a baseline: which sessions stand, and their runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::accept::AcceptError;
use super::anchor::Anchor;
use super::environment::Environment;
use super::epoch::Epoch;
use super::seal::seal;
use super::sessions::{Baseline, PinnedRelease, Session};
use super::shelf::Shelf;
use super::standing::standing;
use super::void::Void;
use crate::archive::{ArchiveError, json_text, parse_run};
use crate::git::GitError;
use crate::ident::{Digest, Name};

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
    /// A run file is not what was kept.
    #[error(
        "cannot use `{}`: it is not what was kept, and run files never change; restore it from git's history \
         (`infergate baseline verify` lists all such files)",
        path.display()
    )]
    Tampered {
        /// Which file.
        path: PathBuf,
    },
    /// An accept can't be read.
    #[error("cannot read the accept `{}`: {source}", path.display())]
    Accept {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: Box<AcceptError>,
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
    let run = |id: &String| {
        let path = path(id);
        let shown = shelf.path_of(&path);
        let Some(text) = texts.get(&path) else {
            let reference = shelf.path_of(&format!("{folder}/reference.json"));
            let run = id.clone();
            return Err(BaselineError::NoRun { run, reference });
        };
        if reference
            .digests
            .get(id)
            .is_some_and(|digest| *digest != seal(text))
        {
            return Err(BaselineError::Tampered { path: shown });
        }
        Ok(parse_run(&shown, text)?)
    };
    // Every file that is named is read: a damaged one is no less so for being void.
    let session = |id: &str, ids: &[String]| {
        let mut runs = Vec::with_capacity(ids.len());
        for id_of_run in ids {
            let run = run(id_of_run)?;
            if reference.counts(id, id_of_run) {
                runs.push(run);
            }
        }
        Ok::<_, BaselineError>(Session {
            id: id.to_owned(),
            runs,
        })
    };
    let centre = reference.centre();
    let (mut sessions, mut others, mut release) = (Vec::new(), Vec::new(), None);
    for (at, stands) in reference.sessions.iter().enumerate() {
        let session = session(&stands.session, &stands.runs)?;
        if session.runs.is_empty() {
            continue;
        }
        if let Some(anchor) = reference
            .anchor()
            .filter(|anchor| anchor.session == session.id)
        {
            release = Some(PinnedRelease {
                label: anchor.label.clone(),
                session: session.clone(),
            });
        }
        let of = if centre.contains(&at) {
            &mut sessions
        } else {
            &mut others
        };
        of.push(session);
    }
    let mut noise = Vec::new();
    for kept in &reference.noise {
        noise.push(session(&kept.session, &kept.runs)?);
    }
    noise.retain(|session| !session.runs.is_empty());
    Ok(Some(Baseline {
        place: shelf.describe(&folder),
        environment: environment.to_owned(),
        accepts: standing(shelf, (name, environment), &reference)?,
        sessions,
        others,
        noise,
        release,
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
        Some(other) if other.format != REFERENCE_FORMAT => {
            Err(BaselineError::Archive(ArchiveError::UnknownFormat {
                path: shelf.path_of(&path),
                found: other.format,
                known: REFERENCE_FORMAT,
            }))
        }
        reference => Ok(reference),
    }
}

/// The text of a reference, to be kept at a path.
pub(super) fn reference_text(
    shelf: &Shelf,
    path: &str,
    reference: &Reference,
) -> Result<String, BaselineError> {
    Ok(json_text(&shelf.path_of(path), reference)?)
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
