//! A merge request of GitLab, as its job describes it.

use super::{Destination, PlaceArgs, token};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::event::{Ci, Event};
use crate::ident::Commit;
use crate::publish::ApiUrl;
use crate::publish::github::JobRun;
use crate::publish::gitlab::{GitLab, MergeRequest};

pub(super) fn find(
    place: &PlaceArgs,
    event: Option<&Event>,
    dry: bool,
    context: &Context,
) -> Result<Destination, Failure> {
    let event = event.filter(|event| event.ci == Ci::GitLab);
    let set = |name: &str| context.variable(name).filter(|value| !value.is_empty());
    let need = |name: &str| {
        set(name).ok_or_else(|| {
            Failure::usage(format!(
                "`{name}` is not set, without which no merge request is found"
            ))
        })
    };
    let api = ApiUrl::parse(&need("CI_API_V4_URL")?)
        .map_err(|error| Failure::usage(format!("`CI_API_V4_URL`: {error}")))?;
    let project = need("CI_PROJECT_ID")?;
    let project = project
        .parse()
        .map_err(|_| Failure::usage("`CI_PROJECT_ID` is no number"))?;
    let number = place.pr.or_else(|| event?.pull_request).ok_or_else(|| {
        Failure::usage("this pipeline is of no merge request; name one with `--pr`, or run it for merge requests")
    })?;
    let sha = match &place.sha {
        Some(sha) => Some(
            sha.parse::<Commit>()
                .map_err(|error| Failure::usage(format!("`--sha`: {error}")))?,
        ),
        None => event.and_then(|event| event.head.clone()),
    };
    let sha = sha.ok_or_else(|| {
        Failure::usage("it is not known which commit was judged; name it: `--sha COMMIT`")
    })?;
    let token = token(
        "GITLAB_TOKEN",
        set("GITLAB_TOKEN"),
        dry,
        " to a project access token with the scope `api` and the role Reporter; a job's own `CI_JOB_TOKEN` can't \
         write notes",
    )?;
    let run = set("CI_PIPELINE_ID").and_then(|id| {
        Some(JobRun {
            id: id.parse().ok()?,
            attempt: 1,
        })
    });
    let request = MergeRequest {
        api,
        project,
        number,
        sha,
        run,
    };
    let gitlab = GitLab::new(request, token, place.timeout.to_duration());
    let gitlab = gitlab
        .map_err(|why| Failure::usage(format!("cannot set up a client for GitLab: {why}")))?;
    Ok(Destination::GitLab(Box::new(gitlab)))
}
