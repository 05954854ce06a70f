//! Entries in a `reference.json` that change what its sessions count for: void, pinned.

use super::anchor::PinError;
use super::change::Change;
use super::keeper::KeepError;
use super::list;
use super::reference::{BaselineError, Reference, reference_text};
use super::shelf::Shelf;
use super::void::VoidError;
use crate::ident::Name;

/// Why an entry was not made.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// Nothing could be made void.
    #[error(transparent)]
    Void(#[from] VoidError),
    /// Nothing could be pinned.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// What is kept could not be read.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// The archive does not take it.
    #[error(transparent)]
    Keep(#[from] KeepError),
}

/// Why, who and when.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// Why.
    pub reason: &'a str,
    /// Who says so.
    pub by: &'a str,
    /// Now, RFC 3339.
    pub now: &'a str,
}

/// What it changes that the run or the session of this id counts no more, with the environment's folder.
pub fn void(shelf: &Shelf, id: &str, said: Said<'_>) -> Result<(Change, String), EditError> {
    let message = format!("void {id}\n\n{}\n", said.reason.trim());
    let edited = edit(shelf, id, &message, |reference| {
        reference.void(id, said.reason, said.by, said.now)
    })?;
    edited.ok_or_else(|| VoidError::Unknown { id: id.to_owned() }.into())
}

/// What it changes that a session is a release from now on, with the environment's folder.
pub fn pin(
    shelf: &Shelf,
    session: &str,
    label: &Name,
    now: &str,
) -> Result<(Change, String), EditError> {
    let message = format!("pin {session} as {label}\n");
    let edited = edit(shelf, session, &message, |reference| {
        reference.pin(session, label.clone(), now)
    })?;
    let session = session.to_owned();
    edited.ok_or_else(|| PinError::Unknown { session }.into())
}

/// Edits the reference that keeps a session or run of this id; `None` where none does.
fn edit<E>(
    shelf: &Shelf,
    id: &str,
    message: &str,
    enter: impl FnOnce(&mut Reference) -> Result<(), E>,
) -> Result<Option<(Change, String)>, EditError>
where
    EditError: From<E>,
{
    let keeps = |reference: &Reference| {
        let mut kept = reference.kept();
        kept.any(|(session, runs)| session == id || runs.iter().any(|run| run == id))
    };
    let Some(stored) = list(shelf)?
        .into_iter()
        .find(|stored| keeps(&stored.reference))
    else {
        return Ok(None);
    };
    let folder = format!("{}/{}", stored.name, stored.environment);
    let mut reference = stored.reference;
    enter(&mut reference)?;
    let path = format!("{folder}/reference.json");
    let mut change = Change::new(format!("{}: {message}", stored.name));
    change.write(&*path, reference_text(shelf, &path, &reference)?);
    Ok(Some((change, folder)))
}
