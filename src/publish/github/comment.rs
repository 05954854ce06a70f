//! The comment on the pull request, and the short one when pass becomes regression or back.

use serde::Deserialize;
use serde_json::{Value, json};

use super::author::{Author, User};
use super::client::Client;
use super::fault::{Fault, Permission, Trouble};
use super::patience::TRIES;
use super::place::Place;
use super::{Troubled, body, marker};
use crate::publish::BODY;
use crate::publish::marker::{Kind, Marker};
use crate::publish::post::Post;
use crate::publish::posted::{Channel, Posted};

/// What is read of a comment.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Comment {
    pub(super) id: u64,
    node_id: Option<String>,
    pub(super) body: Option<String>,
    /// Nobody where the account is gone.
    pub(super) user: Option<User>,
    /// Something where it is hidden.
    minimized: Option<Value>,
}

/// What became of the comments.
pub(super) struct Published {
    pub(super) url: Option<String>,
    pub(super) posted: Vec<Posted>,
}

/// Everything that a comment on one pull request takes.
struct Thread<'a> {
    client: &'a Client,
    place: &'a Place,
    number: u64,
    author: Author,
}

/// Puts the report into its comment, and says a change in one of its own.
pub(super) async fn publish(
    client: &Client,
    place: &Place,
    post: &Post<'_>,
    number: u64,
) -> Troubled<Published> {
    let name = place.numbered(number);
    let takes = Permission::WritePulls;
    let author = Author::of(client).await;
    let author = author.map_err(Trouble::of(format!("comment on {name}"), takes))?;
    let thread = Thread {
        client,
        place,
        number,
        author,
    };
    let found = thread
        .ours(|text| Marker::find(text, Kind::Report, &post.key))
        .await;
    let found = found.map_err(Trouble::of(format!("read the comments on {name}"), takes))?;
    let (shown, others) = oldest(found);
    let mut own = marker(place, post, Kind::Report);
    let before = shown.as_ref().map(|(_, marker)| marker.clone());
    if let Some(before) = &before {
        if let (true, Some(later)) = (before.is_after(&own), before.run) {
            let why = format!(
                "the report there is of a later job ({}, attempt {})",
                later.id, later.attempt
            );
            return Ok(Published {
                url: None,
                posted: vec![Posted::left(Channel::Comment, why)],
            });
        }
        own.decided = own.decided.or(before.decided);
    }
    let (id, how) = match &shown {
        Some((comment, _)) => thread.edit(comment.id, &own, post).await?,
        None => (thread.create(&own, post).await?, "created"),
    };
    let url = place.page(&format!("/pull/{number}#issuecomment-{id}"));
    let mut posted = vec![Posted::done(Channel::Comment, how, Some(url.clone()))];
    for other in others {
        thread.hide(&other).await;
    }
    let decided = |marker: &Marker| marker.decided;
    if let (Some(was), Some(is)) = (before.as_ref().and_then(decided), post.ending.decided())
        && was != is
    {
        posted.push(match thread.tell(is, &url, post).await {
            Ok(id) => {
                let url = place.page(&format!("/pull/{number}#issuecomment-{id}"));
                Posted::done(Channel::Change, "created", Some(url))
            }
            Err(trouble) => Posted::failed(Channel::Change, &trouble),
        });
    }
    Ok(Published {
        url: Some(url),
        posted,
    })
}

/// The one to edit, which is the oldest that is not hidden, and those beside it that are seen.
fn oldest(mut found: Vec<(Comment, Marker)>) -> (Option<(Comment, Marker)>, Vec<Comment>) {
    found.sort_by_key(|(comment, _)| (comment.minimized.is_some(), comment.id));
    let mut found = found.into_iter();
    let first = found.next();
    let others = found
        .map(|(comment, _)| comment)
        .filter(|comment| comment.minimized.is_none());
    (first, others.collect())
}

impl Thread<'_> {
    fn path(&self) -> String {
        self.place
            .path(&format!("/issues/{}/comments", self.number))
    }

    /// Comments of ours in which something is found, from all pages.
    async fn ours<T>(&self, find: impl Fn(&str) -> Option<T>) -> Result<Vec<(Comment, T)>, Fault> {
        let path = format!("{}?per_page=100", self.path());
        let all = self.client.list::<Comment>(&path, None).await?;
        let ours = all
            .into_iter()
            .filter(|comment| self.author.wrote(comment.user.as_ref()));
        Ok(ours
            .filter_map(|comment| {
                let found = find(comment.body.as_deref()?)?;
                Some((comment, found))
            })
            .collect())
    }

    /// Edits a comment; one that was deleted meanwhile is made anew.
    async fn edit(&self, id: u64, own: &Marker, post: &Post<'_>) -> Troubled<(u64, &'static str)> {
        let path = self.place.path(&format!("/issues/comments/{id}"));
        let mut limit = BODY;
        loop {
            let text = json!({"body": body(own, post, self.place, limit)});
            match self.client.patch::<Comment>(&path, text).await {
                Ok(_) => return Ok((id, "updated")),
                Err(fault) if fault.is(404) => {
                    return Ok((self.create(own, post).await?, "created anew"));
                }
                Err(fault) if fault.is_too_long() && limit == BODY => limit /= 2,
                Err(fault) => {
                    let doing =
                        format!("update the comment on {}", self.place.numbered(self.number));
                    return Err(Trouble::of(doing, Permission::WritePulls)(fault));
                }
            }
        }
    }

    async fn create(&self, own: &Marker, post: &Post<'_>) -> Troubled<u64> {
        let doing = format!("comment on {}", self.place.numbered(self.number));
        let text = |limit| body(own, post, self.place, limit);
        let created = match self.once(&text(BODY), own).await {
            Err(fault) if fault.is_too_long() => self.once(&text(BODY / 2), own).await,
            created => created,
        };
        created.map_err(Trouble::of(doing, Permission::WritePulls))
    }

    /// Makes a comment, and looks for it before it is sent a second time: a server that failed may have
    /// made it all the same.
    async fn once(&self, text: &str, own: &Marker) -> Result<u64, Fault> {
        let mut tries = 0;
        loop {
            tries += 1;
            let fault = match self
                .client
                .post::<Comment>(&self.path(), json!({"body": text}))
                .await
            {
                Ok(comment) => return Ok(comment.id),
                Err(fault) => fault,
            };
            if !fault.may_be_done() || tries >= TRIES || !self.client.pause(tries).await {
                return Err(fault);
            }
            let same =
                |text: &str| Marker::find(text, own.kind, &own.key).filter(|found| found == own);
            if let Some((comment, _)) = self.ours(same).await?.into_iter().next() {
                return Ok(comment.id);
            }
        }
    }

    /// Hides a comment that another one stands in for. That it can't be hidden is not worth a word.
    async fn hide(&self, comment: &Comment) {
        const HIDE: &str = "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) \
                            { minimizedComment { isMinimized } } }";
        if let Some(id) = &comment.node_id {
            let _ = self.client.graphql::<Value>(HIDE, json!({"id": id})).await;
        }
    }

    /// Says in a comment of its own that pass became regression, or back: editing notifies nobody.
    async fn tell(&self, passes: bool, url: &str, post: &Post<'_>) -> Troubled<u64> {
        let own = marker(self.place, post, Kind::Change);
        let what = if passes {
            "passes again"
        } else {
            "regresses now, and passed before"
        };
        let text = format!(
            "{own}\n<code>{}</code> {what}, at <code>{}</code>: <a href=\"{url}\">the report</a>\n",
            post.key,
            self.place.sha.short()
        );
        let doing = format!("tell the change on {}", self.place.numbered(self.number));
        self.once(&text, &own)
            .await
            .map_err(Trouble::of(doing, Permission::WritePulls))
    }
}
