//! The issue about the default branch: opened or edited when it regresses, closed when it passes again.

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

/// The label by which such issues are found.
const LABEL: &str = "infergate";

#[derive(Debug, Deserialize)]
struct Issue {
    number: u64,
    body: Option<String>,
    user: Option<User>,
    /// Pull requests are issues too.
    pull_request: Option<Value>,
}

/// Brings the issue to what the default branch is like now.
pub(super) async fn upsert(client: &Client, place: &Place, post: &Post<'_>) -> Troubled<Posted> {
    let doing = format!("keep the issue about `{}`", place.repository);
    upserted(client, place, post)
        .await
        .map_err(Trouble::of(doing, Permission::WriteIssues))
}

async fn upserted(client: &Client, place: &Place, post: &Post<'_>) -> Result<Posted, Fault> {
    let own = marker(place, post, Kind::Branch);
    let author = Author::of(client).await?;
    let open = find(client, place, &own, &author).await?;
    let Some(passes) = post.ending.decided() else {
        return Ok(Posted::left(
            Channel::Issue,
            "it is neither a pass nor a regression",
        ));
    };
    let text = body(&own, post, place, BODY);
    let page = |number: u64| Some(place.page(&format!("/issues/{number}")));
    match open {
        Some((_, there)) if there.is_after(&own) => Ok(Posted::left(
            Channel::Issue,
            "what stands there is of a later job",
        )),
        Some((number, _)) if passes => {
            let body = json!({"body": text, "state": "closed", "state_reason": "completed"});
            patch(client, place, number, body).await?;
            Ok(Posted::done(Channel::Issue, "closed", page(number)))
        }
        Some((number, _)) => {
            patch(client, place, number, json!({"body": text})).await?;
            Ok(Posted::done(Channel::Issue, "updated", page(number)))
        }
        None if passes => Ok(Posted::left(
            Channel::Issue,
            "the branch passes, and none is open",
        )),
        None => {
            let title = format!("{}: the default branch regresses", post.key);
            let number = create(client, place, &title, &text, &own, &author).await?;
            Ok(Posted::done(Channel::Issue, "opened", page(number)))
        }
    }
}

async fn patch(client: &Client, place: &Place, number: u64, body: Value) -> Result<(), Fault> {
    client
        .patch::<Value>(&place.path(&format!("/issues/{number}")), body)
        .await
        .map(drop)
}

/// The oldest open one of ours, of this key.
async fn find(
    client: &Client,
    place: &Place,
    own: &Marker,
    author: &Author,
) -> Result<Option<(u64, Marker)>, Fault> {
    let path = place.path(&format!("/issues?state=open&labels={LABEL}&per_page=100"));
    let issues = client.list::<Issue>(&path, None).await?;
    let ours = issues
        .into_iter()
        .filter(|issue| issue.pull_request.is_none() && author.wrote(issue.user.as_ref()));
    let marked = ours.filter_map(|issue| {
        let marker = Marker::find(issue.body.as_deref()?, own.kind, &own.key)?;
        Some((issue.number, marker))
    });
    Ok(marked.min_by_key(|(number, _)| *number))
}

async fn create(
    client: &Client,
    place: &Place,
    title: &str,
    text: &str,
    own: &Marker,
    author: &Author,
) -> Result<u64, Fault> {
    let mut tries = 0;
    loop {
        tries += 1;
        let body = json!({"title": title, "body": text, "labels": [LABEL]});
        let fault = match client.post::<Issue>(&place.path("/issues"), body).await {
            Ok(issue) => return Ok(issue.number),
            Err(fault) => fault,
        };
        if !fault.may_be_done() || tries >= TRIES || !client.pause(tries).await {
            return Err(fault);
        }
        if let Some((number, _)) = find(client, place, own, author).await? {
            return Ok(number);
        }
    }
}
