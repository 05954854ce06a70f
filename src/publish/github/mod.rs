//! GitHub: a comment that is edited in place, a check run, a commit status, an issue.
//!
//! Everything that is made is found again by a marker of ours and by its author, so that a report is
//! there once however often it is published, and whatever failed on the way.

mod author;
mod check;
mod client;
mod comment;
mod fault;
mod head;
mod issue;
mod patience;
mod place;
mod request;
mod said;
mod status;
mod transport;
mod unposted;

use std::time::Duration;

pub use client::ClientError;
pub use place::{Place, Pull};
pub use request::Request;

use self::client::Client;
use self::fault::Trouble;
use self::head::Head;
use super::api_url::ApiUrl;
use super::marker::{Kind, Marker};
use super::post::{Ending, Post};
use super::posted::{Channel, Posted};
use crate::ident::Secret;
pub use crate::publish::marker::JobRun;

/// One place on GitHub to publish to.
pub struct GitHub {
    client: Client,
    place: Place,
}

/// How a GitHub is reached.
#[derive(Debug, Clone)]
pub struct Reach {
    /// Its API: `https://api.github.com`, `https://ghe.example/api/v3`.
    pub api: ApiUrl,
    /// Its API for GraphQL; `None` is `/graphql` below the other.
    pub graphql: Option<String>,
    /// By what token; `None` sends nothing and keeps what would be sent.
    pub token: Option<Secret>,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// What is not wanted. Where the check run is not, a commit status stands in for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skips(pub Vec<Channel>);

impl Skips {
    fn leave_out(&self, channel: Channel) -> bool {
        self.0.contains(&channel)
    }
}

/// The check that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Begun {
    check: Option<u64>,
    status: bool,
}

/// What became of everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Publication {
    /// One thing after the other.
    pub posted: Vec<Posted>,
    /// Whether the annotations are to be seen on GitHub.
    pub annotated: bool,
    /// Where the comment is.
    pub comment_url: Option<String>,
}

impl GitHub {
    /// A place on a GitHub.
    pub fn new(reach: Reach, place: Place) -> Result<Self, ClientError> {
        let Reach {
            api,
            graphql,
            token,
            timeout,
        } = reach;
        let client = Client::new(&api, graphql.as_deref(), token, timeout)?;
        Ok(Self { client, place })
    }

    /// What would have been sent, where there is no token.
    pub fn sent(&self) -> Vec<Request> {
        self.client.sent()
    }

    /// Says that a measurement begins: a check run in progress, or a pending status. What can't be said now
    /// is said at the end.
    pub async fn begin(&self, post: &Post<'_>, skips: &Skips) -> Begun {
        let check = if skips.leave_out(Channel::Check) {
            None
        } else {
            check::begin(&self.client, &self.place, post).await.ok()
        };
        let status = check.is_none()
            && !skips.leave_out(Channel::Status)
            && status::pending(&self.client, &self.place, post)
                .await
                .is_ok();
        Begun { check, status }
    }

    /// Publishes a report.
    pub async fn publish(&self, post: &Post<'_>, begun: Begun, skips: &Skips) -> Publication {
        let mut done = Publication::default();
        let head = match head::look(&self.client, &self.place).await {
            Ok(head) => head,
            Err(trouble) => {
                done.posted.push(Posted::failed(Channel::Comment, &trouble));
                self.supersede(
                    begun,
                    "it could not be seen whether this commit is still the head",
                )
                .await;
                return done;
            }
        };
        let number = match head {
            Head::Is(number) => number,
            Head::WasNot { why } => {
                self.supersede(begun, &why).await;
                done.posted
                    .push(Posted::left(Channel::Comment, why.clone()));
                done.posted.push(Posted::left(Channel::Check, why));
                return done;
            }
        };
        self.mark(post, begun, skips, &mut done).await;
        match number {
            Some(number) if !skips.leave_out(Channel::Comment) => {
                self.comment(post, number, &mut done).await;
            }
            Some(_) => {}
            None if skips.leave_out(Channel::Comment) => {}
            None => {
                let why = "this event is of no pull request; name one with `--pr`";
                done.posted.push(Posted::left(Channel::Comment, why));
            }
        }
        if !skips.leave_out(Channel::Issue) {
            let posted = match issue::upsert(&self.client, &self.place, post).await {
                Ok(posted) => posted,
                Err(trouble) => Posted::failed(Channel::Issue, &trouble),
            };
            done.posted.push(posted);
        }
        done
    }

    /// The check run, or a commit status where there can't be one.
    async fn mark(&self, post: &Post<'_>, begun: Begun, skips: &Skips, done: &mut Publication) {
        let mut stands_in = skips.leave_out(Channel::Check) || begun.status;
        if !skips.leave_out(Channel::Check) {
            match check::conclude(&self.client, &self.place, post, begun.check).await {
                Ok(posted) => {
                    done.posted.push(posted);
                    done.annotated = true;
                }
                Err(trouble) => {
                    done.posted.push(Posted::failed(Channel::Check, &trouble));
                    stands_in |= matches!(&trouble.fault, fault if fault.is(403) || fault.is(404));
                }
            }
        }
        if stands_in && !skips.leave_out(Channel::Status) {
            done.posted
                .push(match status::set(&self.client, &self.place, post).await {
                    Ok(posted) => posted,
                    Err(trouble) => Posted::failed(Channel::Status, &trouble),
                });
        }
    }

    async fn comment(&self, post: &Post<'_>, number: u64, done: &mut Publication) {
        match comment::publish(&self.client, &self.place, post, number).await {
            Ok(published) => {
                done.comment_url = published.url;
                done.posted.extend(published.posted);
            }
            Err(trouble) => done.posted.push(Posted::failed(Channel::Comment, &trouble)),
        }
    }

    /// Ends what was begun where nothing is said of it any more.
    async fn supersede(&self, begun: Begun, why: &str) {
        if let Some(id) = begun.check {
            // Nothing hangs on it: a check that stays in progress is ended by GitHub after 14 days.
            let _ = check::cancel(&self.client, &self.place, id, why).await;
        }
    }
}

/// What a report of this place says of itself.
fn marker(place: &Place, post: &Post<'_>, kind: Kind) -> Marker {
    Marker {
        kind,
        key: post.key.clone(),
        sha: place.sha.clone(),
        run: place.run,
        decided: post.ending.decided(),
    }
}

/// The whole text of what is edited in place, within what GitHub takes.
fn body(marker: &Marker, post: &Post<'_>, place: &Place, limit: usize) -> String {
    let head = format!("{marker}\n");
    let foot = format!("\n<sub>{}</sub>\n", place.says());
    let units = |text: &str| text.encode_utf16().count();
    let rest = limit.saturating_sub(units(&head) + units(&foot));
    format!("{head}{}{foot}", (post.report)(rest))
}

/// A word on how it ended for a sentence of ours.
const fn ended(ending: Ending) -> &'static str {
    match ending {
        Ending::Pass => "passes",
        Ending::Excused => "is let through by the spec's policy",
        Ending::Regression => "regresses",
        Ending::Undecided => "cannot be decided",
        Ending::Invalid => "has no valid measurement",
    }
}

/// A fault of what was being done here.
type Troubled<T> = Result<T, Trouble>;
