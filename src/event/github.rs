//! GitHub Actions: the event's name is in the environment, what happened in a file of JSON.

use super::payload::Payload;
use super::{Aim, Ci, Destination, Event, EventError, FileText, Seen, Variable, branch_of};
use crate::ident::Commit;

/// Where GitHub's merge queue keeps its groups: `gh-readonly-queue/main/pr-7-<sha>`.
const QUEUE: &str = "gh-readonly-queue/";

pub(super) fn read(variable: Variable<'_>, file: FileText<'_>) -> Result<Event, EventError> {
    let name = variable("GITHUB_EVENT_NAME").unwrap_or_default();
    let path = variable("GITHUB_EVENT_PATH").unwrap_or_default();
    let wrong = |why: String| EventError::File {
        ci: Ci::GitHub,
        event: name.clone(),
        path: path.clone(),
        why,
    };
    let text = if path.is_empty() {
        Err("`GITHUB_EVENT_PATH` is not set".to_owned())
    } else {
        file(&path)
    };
    let value = text.and_then(|text| serde_json::from_str(&text).map_err(|e| e.to_string()));
    let payload = Payload {
        event: &name,
        value: value.map_err(wrong)?,
    };
    match name.as_str() {
        "pull_request" | "pull_request_target" | "pull_request_review" => pull_request(&payload),
        "merge_group" => merge_group(&payload),
        "push" => push(&payload),
        "workflow_run" => workflow_run(&payload),
        // It runs on the default branch alone.
        "schedule" => Ok(landed(
            &payload,
            checked_out(variable),
            default_branch(&payload),
        )),
        _ => other(&payload, variable),
    }
}

/// An event of this payload that judges whatever is checked out.
fn event(payload: &Payload<'_>, aim: Aim) -> Event {
    Event {
        ci: Ci::GitHub,
        name: payload.event.to_owned(),
        pull_request: None,
        fork: false,
        origin: None,
        branch: None,
        head: None,
        aim,
    }
}

fn landed(payload: &Payload<'_>, head: Option<Commit>, branch: Option<&str>) -> Event {
    Event {
        head,
        branch: branch.map(str::to_owned),
        ..event(payload, Aim::Landed)
    }
}

fn into(branch: &str, seen: Option<Seen>) -> Aim {
    Aim::Into(Destination {
        branch: branch.to_owned(),
        seen,
    })
}

fn default_branch<'a>(payload: &'a Payload<'_>) -> Option<&'a str> {
    payload.text("/repository/default_branch")
}

fn pull_request(payload: &Payload<'_>) -> Result<Event, EventError> {
    let seen = payload.commit("/pull_request/base/sha").map(|commit| Seen {
        commit,
        what: "its tip when the pull request was last pushed to",
    });
    // A fork that is gone has no repository.
    let from = payload.number("/pull_request/head/repo/id");
    Ok(Event {
        pull_request: payload
            .number("/pull_request/number")
            .or_else(|| payload.number("/number")),
        fork: from != payload.number("/pull_request/base/repo/id"),
        origin: payload
            .text("/pull_request/head/repo/full_name")
            .map(str::to_owned),
        branch: payload.text("/pull_request/head/ref").map(str::to_owned),
        head: Some(payload.need_commit("/pull_request/head/sha")?),
        ..event(payload, into(payload.need("/pull_request/base/ref")?, seen))
    })
}

fn merge_group(payload: &Payload<'_>) -> Result<Event, EventError> {
    let reference = payload.need("/merge_group/base_ref")?;
    let seen = payload.commit("/merge_group/base_sha").map(|commit| Seen {
        commit,
        what: "what the merge group was built upon",
    });
    let group = payload.text("/merge_group/head_ref").and_then(branch_of);
    Ok(Event {
        branch: group.map(str::to_owned),
        head: Some(payload.need_commit("/merge_group/head_sha")?),
        ..event(
            payload,
            into(branch_of(reference).unwrap_or(reference), seen),
        )
    })
}

/// `before` is never asked: it is zeros for a new branch, and gone after a forced push.
fn push(payload: &Payload<'_>) -> Result<Event, EventError> {
    if payload.is_true("/deleted") {
        return Err(EventError::Deleted {
            ci: Ci::GitHub,
            event: payload.event.to_owned(),
        });
    }
    let head = payload.need_commit("/after")?;
    // That of a tag that was signed is the tag's, not a commit's.
    let head = payload.commit("/head_commit/id").unwrap_or(head);
    let branch = branch_of(payload.need("/ref")?);
    of_branch(payload, Some(head), branch)
}

/// A commit on a branch of this repository, without a pull request.
fn of_branch(
    payload: &Payload<'_>,
    head: Option<Commit>,
    branch: Option<&str>,
) -> Result<Event, EventError> {
    let default = payload.need("/repository/default_branch")?;
    if branch == Some(default) {
        return Ok(landed(payload, head, branch));
    }
    let queued = branch.and_then(|branch| branch.strip_prefix(QUEUE)?.rsplit_once("/pr-"));
    let to = queued.map_or(default, |(to, _)| to);
    Ok(Event {
        head,
        branch: branch.map(str::to_owned),
        ..event(payload, into(to, None))
    })
}

/// It runs on the default branch, and judges what the run before it ran on.
fn workflow_run(payload: &Payload<'_>) -> Result<Event, EventError> {
    let head = payload.need_commit("/workflow_run/head_sha")?;
    let branch = payload.text("/workflow_run/head_branch");
    let from = payload.number("/workflow_run/head_repository/id");
    let fork = from.is_some() && from != payload.number("/repository/id");
    let of_pull_request = payload
        .text("/workflow_run/event")
        .is_some_and(|event| event.starts_with("pull_request"));
    if !fork && !of_pull_request {
        return of_branch(payload, Some(head), branch);
    }
    // Of a fork's pull request it names none.
    let to = payload
        .text("/workflow_run/pull_requests/0/base/ref")
        .map_or_else(|| payload.need("/repository/default_branch"), Ok)?;
    Ok(Event {
        pull_request: payload.number("/workflow_run/pull_requests/0/number"),
        fork,
        origin: payload
            .text("/workflow_run/head_repository/full_name")
            .map(str::to_owned),
        branch: branch.map(str::to_owned),
        head: Some(head),
        ..event(payload, into(to, None))
    })
}

/// `workflow_dispatch` and all others: they name no commit, but the job has one, and a reference.
fn other(payload: &Payload<'_>, variable: Variable<'_>) -> Result<Event, EventError> {
    let reference = payload
        .text("/ref")
        .map(str::to_owned)
        .or_else(|| variable("GITHUB_REF"));
    let branch = reference.as_deref().and_then(branch_of);
    of_branch(payload, checked_out(variable), branch)
}

/// The commit that the job checks out unless it is told otherwise.
fn checked_out(variable: Variable<'_>) -> Option<Commit> {
    variable("GITHUB_SHA")?.parse().ok()
}
