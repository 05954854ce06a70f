//! Where a report belongs: as the job of CI says, or as the command line does.

mod gitlab;

use std::path::PathBuf;

use serde_json::json;

use super::{PlaceArgs, Skip, To};
use crate::cli::base::event_of;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::event::{Aim, Ci, Event};
use crate::ident::{Commit, Secret};
use crate::publish::github::{Begun, GitHub, JobRun, Place, Publication, Pull, Reach};
use crate::publish::gitlab::GitLab;
use crate::publish::{ApiUrl, Post, Posted, Repository};
use crate::publish::{actions, buildkite};

/// Where a report belongs.
pub(super) enum Destination {
    /// On GitHub.
    GitHub {
        /// There.
        github: Box<GitHub>,
        /// Whether an issue about the default branch is kept.
        issue: bool,
    },
    /// On a merge request of GitLab.
    GitLab(Box<GitLab>),
    /// On a build of Buildkite.
    Buildkite,
    /// In the job's own files.
    Summary,
}

impl Destination {
    /// Finds it, and what it takes to get there; `dry` takes no token.
    pub(super) fn find(
        to: Option<To>,
        place: &PlaceArgs,
        dry: bool,
        context: &Context,
    ) -> Result<Self, Failure> {
        let event = event_of(context).map_err(|error| Failure::usage(error.to_string()))?;
        let to = match (to, &event) {
            (Some(to), _) => to,
            (None, Some(event)) => match event.ci {
                Ci::GitHub => To::Github,
                Ci::GitLab => To::Gitlab,
                Ci::Buildkite => To::Buildkite,
            },
            (None, _) if place.repo.is_some() => To::Github,
            (None, _) => {
                return Err(Failure::usage(
                    "this is no job of a CI that infergate knows, so it is not known where to publish; name it with \
                     `--to`, and on GitHub what the report is of with `--repo`, `--sha` and `--pr`",
                ));
            }
        };
        match to {
            To::Summary => Ok(Self::Summary),
            To::Buildkite => Ok(Self::Buildkite),
            To::Gitlab => gitlab::find(place, event.as_ref(), dry, context),
            To::Github => {
                let issue = place.issue && lands(event.as_ref(), place)?;
                let reach = reach(place, dry, context)?;
                let place = on_github(place, event.as_ref(), context)?;
                let github =
                    GitHub::new(reach, place).map_err(|error| Failure::usage(error.to_string()))?;
                Ok(Self::GitHub {
                    github: Box::new(github),
                    issue,
                })
            }
        }
    }

    /// Says that a measurement begins.
    pub(super) async fn begin(&self, post: &Post<'_>, place: &PlaceArgs) -> Begun {
        match self {
            Self::GitHub { github, issue } => github.begin(post, &place.skips(*issue)).await,
            Self::GitLab(_) | Self::Buildkite | Self::Summary => Begun::default(),
        }
    }

    /// Publishes a report.
    pub(super) async fn publish(
        &self,
        post: &Post<'_>,
        begun: Begun,
        place: &PlaceArgs,
    ) -> Publication {
        match self {
            Self::GitHub { github, issue } => {
                github.publish(post, begun, &place.skips(*issue)).await
            }
            Self::GitLab(gitlab) => alone(gitlab.publish(post).await),
            Self::Buildkite => alone(buildkite::annotate(post)),
            Self::Summary => Publication::default(),
        }
    }

    /// What would be sent, a line of JSON each.
    pub(super) async fn rehearse(&self, post: &Post<'_>, place: &PlaceArgs) -> Vec<String> {
        match self {
            Self::GitHub { github, issue } => {
                github
                    .publish(post, Begun::default(), &place.skips(*issue))
                    .await;
                github
                    .sent()
                    .iter()
                    .map(|request| json!(request).to_string())
                    .collect()
            }
            Self::GitLab(gitlab) => {
                gitlab.publish(post).await;
                gitlab.sent().iter().map(ToString::to_string).collect()
            }
            Self::Buildkite => {
                let command =
                    [vec!["buildkite-agent".to_owned()], buildkite::command(post)].concat();
                vec![json!({"command": command, "input": buildkite::text(post)}).to_string()]
            }
            Self::Summary => Vec::new(),
        }
    }
}

fn alone(posted: Posted) -> Publication {
    Publication {
        posted: vec![posted],
        ..Publication::default()
    }
}

/// Whether what was judged is on the default branch.
fn lands(event: Option<&Event>, place: &PlaceArgs) -> Result<bool, Failure> {
    match event {
        Some(event) => Ok(event.aim == Aim::Landed && place.pr.is_none()),
        None if place.pr.is_some() => Err(Failure::usage(
            "`--issue` is about the default branch, and `--pr` is not on it; leave one of them out",
        )),
        None => Ok(true),
    }
}

/// The token that a variable holds; none where nothing is sent. `how` ends the sentence for who has none.
fn token(
    name: &str,
    value: Option<String>,
    dry: bool,
    how: &str,
) -> Result<Option<Secret>, Failure> {
    match value {
        _ if dry => Ok(None),
        Some(token) if token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(Some(Secret::new(token)))
        }
        Some(_) => Err(Failure::usage(format!(
            "`{name}` holds spaces or control characters, which no token has; set it anew"
        ))),
        None => Err(Failure::usage(format!(
            "there is no token: set `{name}`{how}"
        ))),
    }
}

fn reach(place: &PlaceArgs, dry: bool, context: &Context) -> Result<Reach, Failure> {
    let set = |name: &str| context.variable(name).filter(|value| !value.is_empty());
    let api = set("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".to_owned());
    let api = ApiUrl::parse(&api)
        .map_err(|error| Failure::usage(format!("`GITHUB_API_URL`: {error}")))?;
    let token = token(
        "GITHUB_TOKEN",
        set("GITHUB_TOKEN").or_else(|| set("GH_TOKEN")),
        dry,
        ", in a workflow by `env: {GITHUB_TOKEN: ${{ github.token }}}`; `--dry-run` needs none",
    )?;
    Ok(Reach {
        api,
        graphql: set("GITHUB_GRAPHQL_URL"),
        token,
        timeout: place.timeout.to_duration(),
    })
}

fn on_github(
    place: &PlaceArgs,
    event: Option<&Event>,
    context: &Context,
) -> Result<Place, Failure> {
    let event = event.filter(|event| event.ci == Ci::GitHub);
    let set = |name: &str| context.variable(name).filter(|value| !value.is_empty());
    let repository = match place.repo.clone().or_else(|| set("GITHUB_REPOSITORY")) {
        Some(name) => name
            .parse::<Repository>()
            .map_err(|error| Failure::usage(error.to_string()))?,
        None => {
            return Err(Failure::usage(
                "it is not known which repository this is; name it: `--repo OWNER/NAME`",
            ));
        }
    };
    let sha = match &place.sha {
        Some(sha) => Some(
            sha.parse::<Commit>()
                .map_err(|error| Failure::usage(format!("`--sha`: {error}")))?,
        ),
        None => event.and_then(|event| event.head.clone()),
    };
    let sha = sha.ok_or_else(|| {
        Failure::usage("it is not known which commit was judged, and nothing is said of another; name it: `--sha COMMIT`")
    })?;
    let server = set("GITHUB_SERVER_URL").unwrap_or_else(|| "https://github.com".to_owned());
    let server = ApiUrl::parse(&server)
        .map_err(|error| Failure::usage(format!("`GITHUB_SERVER_URL`: {error}")))?;
    let pull = match (place.pr, event) {
        (Some(number), _) => Pull::Number(number),
        (None, Some(event)) => pull_of(event),
        (None, None) => Pull::None,
    };
    let number = |name: &str| set(name)?.parse().ok();
    let run = event.and_then(|_| {
        Some(JobRun {
            id: number("GITHUB_RUN_ID")?,
            attempt: number("GITHUB_RUN_ATTEMPT").unwrap_or(1),
        })
    });
    Ok(Place {
        server,
        repository,
        sha,
        pull,
        run,
    })
}

/// A `workflow_run` of a fork names no pull request, so it is found by its head.
fn pull_of(event: &Event) -> Pull {
    match event.pull_request {
        Some(number) => Pull::Number(number),
        None if event.name == "workflow_run" && event.aim != Aim::Landed => Pull::OfCommit {
            from: event.origin.as_deref().and_then(|name| name.parse().ok()),
        },
        None => Pull::None,
    }
}

/// The files that a job of GitHub Actions names.
#[derive(Debug, Default)]
pub(super) struct JobFiles {
    summary: Option<PathBuf>,
    outputs: Option<PathBuf>,
    /// Where the report lies, as outputs.
    pub(super) reports: Vec<(&'static str, String)>,
    in_actions: bool,
}

impl JobFiles {
    /// Those of this job.
    pub(super) fn of(
        place: &PlaceArgs,
        reports: Vec<(&'static str, String)>,
        context: &Context,
    ) -> Self {
        let in_actions = context
            .variable("GITHUB_ACTIONS")
            .is_some_and(|value| value == "true");
        if !in_actions {
            return Self::default();
        }
        let path = |name: &str| {
            let path = context.variable(name).filter(|value| !value.is_empty())?;
            Some(PathBuf::from(path))
        };
        let wanted = !place.skip.contains(&Skip::Summary);
        Self {
            summary: path("GITHUB_STEP_SUMMARY").filter(|_| wanted),
            outputs: path("GITHUB_OUTPUT").filter(|_| wanted),
            reports,
            in_actions,
        }
    }

    /// Whether this is a job of GitHub Actions.
    pub(super) const fn are_there(&self) -> bool {
        self.in_actions
    }

    /// Writes the job's summary.
    pub(super) fn summary(&self, post: &Post<'_>) -> Option<Posted> {
        Some(actions::summary(self.summary.as_deref()?, &|limit| {
            (post.report)(limit)
        }))
    }

    /// Writes outputs of the step.
    pub(super) fn outputs(&self, values: &[(&str, String)], context: &Context) -> Option<Posted> {
        Some(actions::outputs(
            self.outputs.as_deref()?,
            values,
            &context.unique("output"),
        ))
    }
}
