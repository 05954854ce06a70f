//! `infergate publish`: a finished report to a pull request, a job's page or another CI.

pub(super) mod announce;
mod destination;
mod reports;
mod root;

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use self::destination::{Destination, JobFiles};
use self::reports::Reports;
use self::root::Root;
use super::context::Context;
use super::failure::Failure;
use super::look::LookArgs;
use crate::exit::Exit;
use crate::publish::actions;
use crate::publish::github::{Begun, Skips};
use crate::publish::{Channel, Key, Outcome, Post, Posted};
use crate::unit::Nanos;

/// Publish a finished report
///
/// Takes the `report.json` of one or several comparisons and puts them, as one report, where people look: on
/// GitHub a comment on the pull request that is edited in place, a check run on the commit (a commit status
/// where the token can't make one), and the job's summary; on GitLab a note on the merge request; on
/// Buildkite an annotation of the build. Where it belongs is read from the job of CI, or
/// named by flags. Nothing is ever said of a commit that is not the head of its pull request any more.
///
/// The token comes from `GITHUB_TOKEN` or `GH_TOKEN`: the job's own, a personal one, or one of a GitHub App.
/// `GITHUB_API_URL` and `GITHUB_GRAPHQL_URL` name another server. GitLab takes `GITLAB_TOKEN`. A post that fails is told and changes
/// neither verdict nor exit code, unless `--require-publish` is given.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate publish infergate-out/chat-8b-20261129T191243Z-1f3a/report.json
  infergate publish */report.json --key nightly --issue
  infergate publish report.json --to github --repo acme/engine --pr 7 --sha \"$SHA\" --dry-run

Exit codes: 0 published, or told why not · 2 wrong files or flags · 4 not published, with --require-publish")]
pub(super) struct PublishArgs {
    /// Report files, or folders with one in it or with several below it
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,

    /// Where to publish; the job of CI says it otherwise
    #[arg(long, value_enum)]
    to: Option<To>,

    /// Print the requests that would be sent, as JSON Lines, and send none; needs no token. Numbers that
    /// only a server can give are 0
    #[arg(long)]
    dry_run: bool,

    /// Print what became of each post as JSON on standard output
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,

    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    look: LookArgs,

    /// Exit 4 where something could not be published
    #[arg(long)]
    require_publish: bool,
}

/// Where something is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum To {
    /// Comment, check run or commit status, and the job's summary
    Github,
    /// A note on the merge request
    Gitlab,
    /// An annotation of the build
    Buildkite,
    /// The job's summary and outputs on GitHub Actions alone
    Summary,
}

/// What is not said by the job of CI, or is to be another.
#[derive(Debug, Clone, Args)]
pub(super) struct PlaceArgs {
    /// The repository
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Option<String>,

    /// The pull request
    #[arg(long, value_name = "NUMBER")]
    pr: Option<u64>,

    /// The commit that was judged
    #[arg(long, value_name = "COMMIT")]
    sha: Option<String>,

    /// What tells the report apart from others of the same pull request [default: the spec's name, or `all`]
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,

    /// What is not to be posted
    #[arg(long, value_enum, value_name = "POST")]
    skip: Vec<Skip>,

    /// Keep an issue open while the default branch regresses
    #[arg(long)]
    issue: bool,

    /// How long one answer may take
    #[arg(long, default_value = "30s", value_name = "TIME")]
    timeout: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Skip {
    /// The comment on the pull request
    Comment,
    /// The check run; a commit status stands in for it
    Check,
    /// The commit status
    Status,
    /// Summary and outputs of the job
    Summary,
}

impl PlaceArgs {
    /// As the job of CI has it.
    pub(super) fn of_the_job(issue: bool) -> Self {
        Self {
            repo: None,
            pr: None,
            sha: None,
            key: None,
            skip: Vec::new(),
            issue,
            timeout: Nanos::from_secs(30),
        }
    }

    fn skips(&self, issue: bool) -> Skips {
        let channel = |skip: &Skip| match skip {
            Skip::Comment => Channel::Comment,
            Skip::Check => Channel::Check,
            Skip::Status => Channel::Status,
            Skip::Summary => Channel::Summary,
        };
        let issue = (!issue).then_some(Channel::Issue);
        Skips(self.skip.iter().map(channel).chain(issue).collect())
    }
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Told<'a> {
    posted: &'a [Posted],
    #[serde(skip_serializing_if = "Option::is_none")]
    comment_url: Option<&'a str>,
}

pub(super) async fn run(args: &PublishArgs, context: &mut Context) -> Result<Exit, Failure> {
    let reports = Reports::read(&args.reports, args.look.find(context)?)?;
    let destination = Destination::find(args.to, &args.place, args.dry_run, context)?;
    reports.warn(context);
    let key = match &args.place.key {
        Some(key) => key.clone(),
        None => reports.key(),
    };
    let render = |limit: usize| reports.render(limit);
    let post = reports.post(key, &render, &Root::of(context));
    if args.dry_run {
        for line in destination.rehearse(&post, &args.place).await {
            context.print(&format!("{line}\n"));
        }
        return Ok(Exit::Pass);
    }
    let files = JobFiles::of(&args.place, reports.files(), context);
    let done = publish(
        &destination,
        &post,
        Begun::default(),
        &args.place,
        &files,
        context,
    )
    .await;
    if args.json {
        let told = Told {
            posted: &done.posted,
            comment_url: done.comment_url.as_deref(),
        };
        let text = serde_json::to_string_pretty(&told);
        let text = text.map_err(|error| Failure::new(Exit::Invalid, error.to_string()))?;
        context.print(&format!("{text}\n"));
    }
    Ok(exit_of(Exit::Pass, &done.posted, args.require_publish))
}

/// What became of everything.
pub(super) struct Done {
    pub(super) posted: Vec<Posted>,
    comment_url: Option<String>,
}

/// Publishes in the order in which least is lost: files, summary, outputs, posts; and tells it.
async fn publish(
    destination: &Destination,
    post: &Post<'_>,
    begun: Begun,
    place: &PlaceArgs,
    files: &JobFiles,
    context: &mut Context,
) -> Done {
    let mut posted = Vec::new();
    posted.extend(files.summary(post));
    let verdict = [("verdict", post.ending.word().to_owned())];
    let values: Vec<_> = verdict.into_iter().chain(files.reports.clone()).collect();
    posted.extend(files.outputs(&values, context));
    for posted in &posted {
        tell(posted, files.are_there(), context);
    }
    let publication = destination.publish(post, begun, place).await;
    for posted in &publication.posted {
        tell(posted, files.are_there(), context);
    }
    posted.extend(publication.posted);
    if let Some(url) = &publication.comment_url {
        let late = files.outputs(&[("comment-url", url.clone())], context);
        posted.extend(late.into_iter().filter(Posted::is_failed));
    }
    if files.are_there() && !publication.annotated {
        let _ = write!(context.err, "{}", actions::remarks(&post.annotations));
    }
    Done {
        posted,
        comment_url: publication.comment_url,
    }
}

/// Says what became of one post; what failed is also shown on the job's page.
fn tell(posted: &Posted, in_actions: bool, context: &mut Context) {
    match &posted.outcome {
        Outcome::Failed { .. } if in_actions => {
            let text = actions::warning("infergate could not publish", &posted.to_string());
            let _ = write!(context.err, "{text}");
        }
        Outcome::Failed { .. } => {
            let _ = writeln!(context.err, "warning: {posted}");
        }
        Outcome::Done { .. } if posted.channel == Channel::Outputs => {}
        Outcome::Done { .. } | Outcome::Left { .. } => context.note(&posted.to_string()),
    }
}

/// A failed post changes the exit code where posts are required, and then never to a regression's.
pub(super) fn exit_of(exit: Exit, posted: &[Posted], required: bool) -> Exit {
    if required && posted.iter().any(Posted::is_failed) {
        exit.worst(Exit::Invalid)
    } else {
        exit
    }
}
