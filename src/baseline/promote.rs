//! Keeping a session: as the baseline, with a reason, or for the noise that it shows.

use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::reference::{BaselineError, NoiseSession, Reference, ReferenceSession, read_reference};
use super::seal::seal;
use super::shelf::Shelf;
use super::standing::accepts;
use crate::archive::{ArchiveError, json_text, save_json, save_text};
use crate::provenance::UnderTest;
use crate::summary::{Run, RunEnd};

/// Runs that a session needs to show its own noise.
const LEAST_RUNS: usize = 2;

/// A session that is to be kept.
#[derive(Clone, Copy)]
pub struct MeasuredSession<'a> {
    /// The runs of one session and one side.
    pub runs: &'a [Run],
    /// Whether a stage's cells are gated: an invalid one forbids the promotion.
    pub is_gated: &'a dyn Fn(&str) -> bool,
    /// Pins that are under test and so make no environment.
    pub under_test: &'a UnderTest,
    /// Now, RFC 3339.
    pub now: &'a str,
}

/// Where it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promoted {
    /// The environment's folder.
    pub folder: PathBuf,
    /// Sessions that now stand.
    pub sessions: usize,
}

/// Why a session cannot be a baseline.
#[derive(Debug, thiserror::Error)]
pub enum PromoteError {
    /// Too few runs.
    #[error(
        "cannot promote {found} run{}: a session needs at least {LEAST_RUNS} to show its own noise; \
         measure again with `infergate run SPEC --repeats {LEAST_RUNS}`",
        if *found == 1 { "" } else { "s" }
    )]
    TooFew {
        /// Runs given.
        found: usize,
    },
    /// Runs of several sessions, specs or environments.
    #[error("cannot promote runs that differ in their {what}: `{first}` and `{other}`")]
    Mixed {
        /// What differs.
        what: &'static str,
        /// A run's id.
        first: String,
        /// Another's.
        other: String,
    },
    /// A run that may not be judged.
    #[error("cannot promote run `{run}`: {why}")]
    Unfit {
        /// Its id.
        run: String,
        /// Why, in words.
        why: String,
    },
    /// The session stands already.
    #[error("session `{session}` is promoted already")]
    Already {
        /// Its id.
        session: String,
    },
    /// No reason was given.
    #[error("a promotion needs a reason: `--reason \"vLLM 0.32 accepted, see #41\"`")]
    NoReason,
    /// What is kept already could not be read.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// A file could not be written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// Copies a session below `root` and lets it stand, with a reason for whoever reads the archive later.
/// One that was kept for its noise stands from now on.
pub fn promote(
    root: &Path,
    session: MeasuredSession<'_>,
    reason: &str,
) -> Result<Promoted, PromoteError> {
    if reason.trim().is_empty() {
        return Err(PromoteError::NoReason);
    }
    let mut sessions = 0;
    let folder = keep(root, session, |reference, id, runs| {
        if reference.sessions.iter().any(|stands| stands.session == id) {
            return Err(PromoteError::Already { session: id });
        }
        reference.noise.retain(|noise| noise.session != id);
        reference.sessions.push(ReferenceSession {
            session: id,
            runs,
            promoted: session.now.to_owned(),
            reason: reason.trim().to_owned(),
        });
        sessions = reference.sessions.len();
        Ok(())
    })?;
    Ok(Promoted { folder, sessions })
}

/// Copies a session below `root` for the noise that it shows: it tells how much runs scatter, and no
/// candidate is ever compared with it. Returns the environment's folder.
pub fn keep_noise(root: &Path, session: MeasuredSession<'_>) -> Result<PathBuf, PromoteError> {
    keep(root, session, |reference, id, runs| {
        let kept = reference.noise.iter().any(|noise| noise.session == id);
        if kept || reference.sessions.iter().any(|stands| stands.session == id) {
            return Err(PromoteError::Already { session: id });
        }
        reference.noise.push(NoiseSession {
            session: id,
            runs,
            kept: session.now.to_owned(),
        });
        Ok(())
    })
}

/// Copies a session's runs and enters it. The reference file is written last, so a failure half-way
/// leaves runs that nothing refers to, and no damage.
fn keep(
    root: &Path,
    session: MeasuredSession<'_>,
    enter: impl FnOnce(&mut Reference, String, Vec<String>) -> Result<(), PromoteError>,
) -> Result<PathBuf, PromoteError> {
    let MeasuredSession {
        runs, under_test, ..
    } = session;
    let first = check(session)?;
    let environment = Environment::of(&first.pins, under_test);
    let of_spec = root.join(&first.spec.name);
    let folder = of_spec.join(environment.folder());
    let shelf = Shelf::folder(root);
    let below_root = format!("{}/{}", first.spec.name, environment.folder());
    let mut reference = read_reference(&shelf, &below_root)?.unwrap_or_default();
    let ids = runs.iter().map(|run| run.id.clone()).collect();
    let stood = reference.sessions.len();
    enter(&mut reference, first.session.clone(), ids)?;
    if reference.sessions.len() > stood {
        let all = accepts(&shelf, &first.spec.name)?;
        let own = environment.folder();
        let here = all.iter().filter(|(_, accept)| accept.environment == own);
        reference.start_epochs(here.map(|(stem, _)| stem.as_str()), session.now);
    }
    for run in runs {
        let path = folder.join("runs").join(format!("{}.json", run.id));
        let text = json_text(&path, run)?;
        reference.digests.insert(run.id.clone(), seal(&text));
        save_text(&path, &text)?;
    }
    save_text(&of_spec.join("spec.yaml"), &first.spec.text)?;
    save_json(&folder.join("environment.json"), &environment)?;
    save_json(&folder.join("reference.json"), &reference)?;
    Ok(folder)
}

/// The session's first run, where all of it can be kept.
fn check(session: MeasuredSession<'_>) -> Result<&Run, PromoteError> {
    let MeasuredSession {
        runs,
        is_gated,
        under_test,
        ..
    } = session;
    let [first, others @ ..] = runs else {
        return Err(PromoteError::TooFew { found: 0 });
    };
    if runs.len() < LEAST_RUNS {
        return Err(PromoteError::TooFew { found: runs.len() });
    }
    for other in others {
        let what = if other.session != first.session {
            "session"
        } else if other.spec.workload_digest != first.spec.workload_digest
            || other.trace_digest != first.trace_digest
        {
            "workload"
        } else if Environment::of(&other.pins, under_test)
            != Environment::of(&first.pins, under_test)
        {
            "environment"
        } else {
            continue;
        };
        return Err(PromoteError::Mixed {
            what,
            first: first.id.clone(),
            other: other.id.clone(),
        });
    }
    for run in runs {
        let unfit = |why: String| PromoteError::Unfit {
            run: run.id.clone(),
            why,
        };
        if let Some(shard) = &run.shard {
            return Err(unfit(format!(
                "it is shard {} of {}; put all of them together with `infergate merge`",
                shard.index, shard.count
            )));
        }
        match &run.end {
            RunEnd::Complete => {}
            RunEnd::Interrupted => return Err(unfit("it was interrupted".to_owned())),
            RunEnd::TargetLost { error } => {
                return Err(unfit(format!("its target was lost ({error})")));
            }
        }
        let spoilt = run
            .stages
            .iter()
            .find(|stage| is_gated(&stage.name) && !stage.invalid.is_empty());
        if let Some(stage) = spoilt {
            return Err(unfit(format!(
                "its gated stage `{}` is invalid; `infergate report` of the run says why",
                stage.name
            )));
        }
        let dead = run
            .stages
            .iter()
            .find(|stage| is_gated(&stage.name) && stage.pooled.ended_well() == 0);
        if let Some(stage) = dead {
            return Err(unfit(format!(
                "no request of its gated stage `{}` completed; `infergate report` of the run says how they ended",
                stage.name
            )));
        }
    }
    Ok(first)
}
