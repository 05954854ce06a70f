//! Buildkite: everything is in the environment.

use super::{Aim, Ci, Destination, Event, EventError, Seen, Variable};

pub(super) fn read(variable: Variable<'_>) -> Result<Event, EventError> {
    let text = |name: &str| variable(name).filter(|value| !value.is_empty());
    let name = text("BUILDKITE_SOURCE").unwrap_or_else(|| "build".to_owned());
    let lacks = |field| EventError::Lacks {
        ci: Ci::Buildkite,
        event: name.clone(),
        field,
    };
    let mut event = Event {
        ci: Ci::Buildkite,
        name: name.clone(),
        // `false` where there is none.
        pull_request: text("BUILDKITE_PULL_REQUEST").and_then(|number| number.parse().ok()),
        fork: false,
        origin: None,
        branch: text("BUILDKITE_BRANCH"),
        // `HEAD` until the first job has fetched it.
        head: text("BUILDKITE_COMMIT").and_then(|commit| commit.parse().ok()),
        aim: Aim::Landed,
    };
    let into = |branch: String, seen: Option<Seen>| Aim::Into(Destination { branch, seen });
    if event.pull_request.is_some() {
        let base = "BUILDKITE_PULL_REQUEST_BASE_BRANCH";
        let repository = |name: &str| text(name).as_deref().and_then(owner_and_name);
        let from = repository("BUILDKITE_PULL_REQUEST_REPO");
        event.fork = from.is_some() && from != repository("BUILDKITE_REPO");
        event.aim = into(text(base).ok_or_else(|| lacks(base))?, None);
        return Ok(event);
    }
    if let Some(base) = text("BUILDKITE_MERGE_QUEUE_BASE_BRANCH") {
        let parent = text("BUILDKITE_MERGE_QUEUE_BASE_COMMIT");
        let seen = parent.and_then(|commit| commit.parse().ok());
        let what = "what the merge group was built upon";
        event.aim = into(base, seen.map(|commit| Seen { commit, what }));
        return Ok(event);
    }
    let default = "BUILDKITE_PIPELINE_DEFAULT_BRANCH";
    let default = text(default).ok_or_else(|| lacks(default))?;
    if event.branch.as_ref() != Some(&default) {
        event.aim = into(default, None);
    }
    Ok(event)
}

/// `acme/serve` of `git@host:acme/serve.git` and of `https://host/acme/serve`: the same repository is
/// spelt in both ways.
fn owner_and_name(url: &str) -> Option<String> {
    let mut parts = url
        .trim_end_matches('/')
        .trim_end_matches(".git")
        .rsplit(['/', ':']);
    let (name, owner) = (parts.next()?, parts.next()?);
    Some(format!("{owner}/{name}").to_ascii_lowercase())
}
