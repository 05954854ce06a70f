//! Keeping a session: as the baseline, with a reason, or for the noise that it shows.

use super::change::Change;
use super::environment::Environment;
use super::keeper::KeepError;
use super::reference::{
    BaselineError, NoiseSession, Reference, ReferenceSession, read_reference, reference_text,
};
use super::seal::seal;
use super::shelf::Shelf;
use super::standing::accepts;
use crate::archive::{ArchiveError, json_text, run_text};
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

/// Where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promoted {
    /// The environment's folder, from the archive's top: `demo/cpu-vllm-1f3a9c0e`.
    pub folder: String,
    /// Sessions that stand with it.
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
    /// A file could not be made.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The archive does not take it.
    #[error(transparent)]
    Keep(#[from] KeepError),
}

/// What it changes that a session stands from now on, with a reason for whoever reads the archive later.
/// One that was kept for its noise stands instead.
pub fn promote(
    shelf: &Shelf,
    session: MeasuredSession<'_>,
    reason: &str,
) -> Result<(Change, Promoted), PromoteError> {
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(PromoteError::NoReason);
    }
    enter(shelf, session, "promote", reason, |reference, id, runs| {
        reference.noise.retain(|noise| noise.session != id);
        reference.sessions.push(ReferenceSession {
            session: id,
            runs,
            promoted: session.now.to_owned(),
            reason: reason.to_owned(),
        });
    })
}

/// What it changes that a session is kept for the noise that it shows: it tells how much runs scatter, and no
/// candidate is ever compared with it.
pub fn keep_noise(
    shelf: &Shelf,
    session: MeasuredSession<'_>,
) -> Result<(Change, Promoted), PromoteError> {
    enter(
        shelf,
        session,
        "keep",
        "for its noise",
        |reference, id, runs| {
            reference.noise.push(NoiseSession {
                session: id,
                runs,
                kept: session.now.to_owned(),
            });
        },
    )
}

/// Enters a session with its runs. One that stands already is refused, and so is one that is kept for its
/// noise, but for a promotion.
fn enter(
    shelf: &Shelf,
    session: MeasuredSession<'_>,
    doing: &str,
    why: &str,
    add: impl FnOnce(&mut Reference, String, Vec<String>),
) -> Result<(Change, Promoted), PromoteError> {
    let MeasuredSession {
        runs, under_test, ..
    } = session;
    let first = check(session)?;
    let environment = Environment::of(&first.pins, under_test);
    let (name, id) = (&first.spec.name, &first.session);
    let folder = format!("{name}/{}", environment.folder());
    let mut reference = read_reference(shelf, &folder)?.unwrap_or_default();
    let stands = reference
        .sessions
        .iter()
        .any(|stands| stands.session == *id);
    let shows_noise = reference.noise.iter().any(|noise| noise.session == *id);
    if stands || (shows_noise && doing == "keep") {
        return Err(PromoteError::Already {
            session: id.clone(),
        });
    }
    let ids = runs.iter().map(|run| run.id.clone()).collect();
    let stood = reference.sessions.len();
    add(&mut reference, id.clone(), ids);
    if reference.sessions.len() > stood {
        let (all, own) = (accepts(shelf, name)?, environment.folder());
        let here = all.iter().filter(|(_, accept)| accept.environment == own);
        reference.start_epochs(here.map(|(stem, _)| stem.as_str()), session.now);
    }

    let mut change = Change::new(format!("{name}: {doing} session {id}\n\n{why}\n"));
    for run in runs {
        let path = format!("{folder}/runs/{}.json", run.id);
        let text = run_text(&shelf.path_of(&path), run)?;
        reference.digests.insert(run.id.clone(), seal(&text));
        change.write(path, text);
    }
    change.write(format!("{name}/spec.yaml"), &*first.spec.text);
    let path = format!("{folder}/environment.json");
    let text = json_text(&shelf.path_of(&path), &environment)?;
    change.write(path, text);
    let path = format!("{folder}/reference.json");
    let text = reference_text(shelf, &path, &reference)?;
    change.write(path, text);
    let sessions = reference.sessions.len();
    Ok((change, Promoted { folder, sessions }))
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
        } else if !other.is_of_load(first) {
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
        if run.untrusted {
            return Err(unfit(
                "it came from a job that is not trusted; measure what was merged".to_owned(),
            ));
        }
        let request = run.source.as_ref().and_then(|source| source.pull_request);
        if let Some(number) = request {
            return Err(unfit(format!(
                "it was measured in a job of pull request {number}, whose code nobody has accepted yet; \
                 measure what it was merged into"
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
