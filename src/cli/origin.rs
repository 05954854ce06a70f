//! Which state of a repository runs are taken from.

use std::path::Path;

use super::base::{event_of, file_of, folder_of};
use super::context::Context;
use crate::git::Repository;
use crate::summary::SourceStamp;

/// The state of the repository that a spec lies in; `None` outside of one. Never an error: a run without
/// it is a run.
pub(super) fn source_of(path: &Path, context: &Context) -> Option<SourceStamp> {
    let repository = Repository::find(&folder_of(&file_of(path))).ok()?;
    let commit = repository.head().ok()??;
    let event = event_of(context).ok().flatten();
    let head = event.as_ref().and_then(|event| event.head.clone());
    let branch = event.as_ref().and_then(|event| event.branch.clone());
    Some(SourceStamp {
        dirty: repository.is_dirty().unwrap_or(false),
        head: head.filter(|head| *head != commit),
        branch: branch.or_else(|| repository.branch().ok().flatten()),
        pull_request: event.as_ref().and_then(|event| event.pull_request),
        event: event.map(|event| event.name),
        commit,
    })
}
