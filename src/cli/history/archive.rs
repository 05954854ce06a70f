//! Everything that an environment keeps, void or not: what a gate leaves out, a history shows.

use super::super::failure::Failure;
use crate::archive::parse_run;
use crate::baseline::{Shelf, Stored};
use crate::history::{Kept, KeptSession, Standing};
use crate::summary::Run;

/// What an environment keeps, with its runs.
pub(super) struct Shelved {
    environment: String,
    sessions: Vec<ShelvedSession>,
}

struct ShelvedSession {
    id: String,
    runs: Vec<Run>,
    standing: Standing,
    reason: Option<String>,
}

impl Shelved {
    /// Reads every run file that the reference names; one that is gone or damaged is an error.
    pub(super) fn read(shelf: &Shelf, stored: &Stored) -> Result<Self, Failure> {
        let reference = &stored.reference;
        let stands = reference.sessions.iter().map(|session| {
            let reason = Some(session.reason.clone());
            (&session.session, &session.runs, Standing::Stands, reason)
        });
        let noise = reference
            .noise
            .iter()
            .map(|session| (&session.session, &session.runs, Standing::Noise, None));
        let mut sessions = Vec::new();
        for (id, runs, standing, reason) in stands.chain(noise) {
            sessions.push(ShelvedSession {
                id: id.clone(),
                runs: read_runs(shelf, stored, runs)?,
                standing,
                reason,
            });
        }
        Ok(Self {
            environment: stored.environment.clone(),
            sessions,
        })
    }

    /// As the history takes it.
    pub(super) fn kept(&self) -> Kept<'_> {
        let sessions = self.sessions.iter().map(|session| KeptSession {
            id: session.id.clone(),
            runs: &session.runs,
            standing: session.standing.clone(),
            reason: session.reason.clone(),
            anchor: None,
            epoch: None,
            commit: commit(&session.runs),
        });
        Kept {
            environment: self.environment.clone(),
            sessions: sessions.collect(),
            accepts: Vec::new(),
            drift_from: None,
        }
    }
}

fn read_runs(shelf: &Shelf, stored: &Stored, runs: &[String]) -> Result<Vec<Run>, Failure> {
    let folder = format!("{}/{}", stored.name, stored.environment);
    let path = |run: &String| format!("{folder}/runs/{run}.json");
    let paths: Vec<String> = runs.iter().map(path).collect();
    let texts = shelf.read_all(&paths)?;
    let mut found = Vec::with_capacity(runs.len());
    for path in &paths {
        let place = shelf.describe(path);
        let Some(text) = texts.get(path) else {
            return Err(Failure::usage(format!(
                "cannot read `{place}`: it is not there, and `{folder}/reference.json` names it; restore the file"
            )));
        };
        found.push(parse_run(place.as_ref(), text)?);
    }
    Ok(found)
}

/// The commit that a session measured, where all of its runs say the same.
fn commit(runs: &[Run]) -> Option<String> {
    let mut commits = runs.iter().map(|run| {
        let source = run.source.as_ref()?;
        Some(source.head.as_ref().unwrap_or(&source.commit).as_str())
    });
    let first = commits.next()??;
    commits
        .all(|commit| commit == Some(first))
        .then(|| first.to_owned())
}
