//! GitLab: everything is in the environment.

use super::{Aim, Ci, Destination, Event, EventError, Seen, Variable};

pub(super) fn read(variable: Variable<'_>) -> Result<Event, EventError> {
    let text = |name: &str| variable(name).filter(|value| !value.is_empty());
    let name = text("CI_PIPELINE_SOURCE").unwrap_or_else(|| "pipeline".to_owned());
    let lacks = |field| EventError::Lacks {
        ci: Ci::GitLab,
        event: name.clone(),
        field,
    };
    let commit = |name: &str| text(name).and_then(|value| value.parse().ok());
    let mut event = Event {
        ci: Ci::GitLab,
        name: name.clone(),
        pull_request: None,
        fork: false,
        origin: None,
        branch: text("CI_COMMIT_BRANCH"),
        head: Some(commit("CI_COMMIT_SHA").ok_or_else(|| lacks("CI_COMMIT_SHA"))?),
        aim: Aim::Landed,
    };
    if let Some(number) = text("CI_MERGE_REQUEST_IID") {
        let target = "CI_MERGE_REQUEST_TARGET_BRANCH_NAME";
        let source = text("CI_MERGE_REQUEST_SOURCE_PROJECT_ID");
        event.pull_request = number.parse().ok();
        event.fork = source.is_some() && source != text("CI_MERGE_REQUEST_PROJECT_ID");
        event.branch = text("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME");
        // In a pipeline of merged results the commit is the merge; the source's is named apart.
        event.head = commit("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").or(event.head);
        event.aim = Aim::Into(Destination {
            branch: text(target).ok_or_else(|| lacks(target))?,
            seen: commit("CI_MERGE_REQUEST_DIFF_BASE_SHA").map(|commit| Seen {
                commit,
                what: "the base of the merge request's difference",
            }),
        });
        return Ok(event);
    }
    let default = text("CI_DEFAULT_BRANCH").ok_or_else(|| lacks("CI_DEFAULT_BRANCH"))?;
    if event.branch.as_ref() != Some(&default) {
        event.aim = Aim::Into(Destination {
            branch: default,
            seen: None,
        });
    }
    Ok(event)
}
