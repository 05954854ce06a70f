//! Everything that an environment keeps, void or not: what a gate leaves out, a history shows.

use super::super::failure::Failure;
use crate::archive::parse_run;
use crate::baseline::{Accept, Reference, Shelf, Stored, Voided};
use crate::history::{Acceptance, Kept, KeptSession, Standing};
use crate::summary::Run;

/// What an environment keeps, with its runs.
pub(super) struct Shelved {
    environment: String,
    sessions: Vec<ShelvedSession>,
    accepts: Vec<Acceptance>,
    drift_from: Option<String>,
}

struct ShelvedSession {
    id: String,
    runs: Vec<Run>,
    standing: Standing,
    reason: Option<String>,
    anchor: Option<String>,
    epoch: Option<String>,
}

impl Shelved {
    /// Reads every run file that the reference names; one that is gone or damaged is an error. `accepts`
    /// are those of the spec, by the names of their files.
    ///
    /// Void runs are left out of a session of which others count; a session without any is shown whole,
    /// as void.
    pub(super) fn read(
        shelf: &Shelf,
        stored: &Stored,
        accepts: &[(String, Accept)],
    ) -> Result<Self, Failure> {
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
        for (id, ids, standing, reason) in stands.chain(noise) {
            let mut runs = read_runs(shelf, stored, ids)?;
            let void = |run: &str| !reference.counts(id, run);
            let standing = if runs.iter().all(|run| void(&run.id)) {
                Standing::Void {
                    reason: why_void(reference, id, ids),
                }
            } else {
                runs.retain(|run| !void(&run.id));
                standing
            };
            let anchors = reference.anchors.iter();
            let epoch = reference.epochs.iter().find(|epoch| epoch.from == *id);
            sessions.push(ShelvedSession {
                runs,
                standing,
                reason,
                anchor: anchors
                    .rev()
                    .find(|anchor| anchor.session == *id)
                    .map(|anchor| anchor.label.to_string()),
                epoch: epoch.map(|epoch| {
                    let accept = accepts.iter().find(|(stem, _)| *stem == epoch.accept);
                    accept.map_or_else(|| epoch.accept.clone(), |(_, accept)| accept.reason.clone())
                }),
                id: id.clone(),
            });
        }
        let here = accepts
            .iter()
            .filter(|(_, accept)| accept.environment == stored.environment);
        Ok(Self {
            environment: stored.environment.clone(),
            sessions,
            accepts: here.map(|(_, accept)| acceptance(accept)).collect(),
            drift_from: reference.anchor().map(|anchor| anchor.session.clone()),
        })
    }

    /// As the history takes it.
    pub(super) fn kept(&self) -> Kept<'_> {
        let sessions = self.sessions.iter().map(|session| KeptSession {
            id: session.id.clone(),
            runs: &session.runs,
            standing: session.standing.clone(),
            reason: session.reason.clone(),
            anchor: session.anchor.clone(),
            epoch: session.epoch.clone(),
            commit: commit(&session.runs),
        });
        Kept {
            environment: self.environment.clone(),
            sessions: sessions.collect(),
            accepts: self.accepts.clone(),
            drift_from: self.drift_from.clone(),
        }
    }
}

fn acceptance(accept: &Accept) -> Acceptance {
    let cells = accept
        .cells
        .iter()
        .map(|accepted| accepted.cell.to_string());
    Acceptance {
        made: accept.created.clone(),
        cells: cells.collect(),
        reason: accept.reason.clone(),
        expires: Some(accept.expires),
    }
}

/// Why a session is void: said of it, else of its runs, each reason once.
fn why_void(reference: &Reference, session: &str, runs: &[String]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for void in &reference.voids {
        let is_its = match &void.what {
            Voided::Session(id) => id == session,
            Voided::Run(id) => runs.contains(id),
        };
        if is_its && !reasons.contains(&void.reason.as_str()) {
            reasons.push(&void.reason);
        }
    }
    reasons.join("; ")
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
