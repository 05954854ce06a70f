//! The commit status: one line on the commit, for tokens that can't make check runs.

use serde_json::{Value, json};

use super::check::{cut, name};
use super::client::Client;
use super::fault::{Permission, Trouble};
use super::place::Place;
use super::{Troubled, ended};
use crate::publish::post::{Ending, Post};
use crate::publish::posted::{Channel, Posted};

/// Most characters of its line.
const LINE: usize = 140;

const fn state(ending: Ending) -> &'static str {
    match ending {
        Ending::Pass | Ending::Excused => "success",
        Ending::Regression => "failure",
        Ending::Undecided | Ending::Invalid => "error",
    }
}

/// Says how it ended.
pub(super) async fn set(client: &Client, place: &Place, post: &Post<'_>) -> Troubled<Posted> {
    let state = state(post.ending);
    send(client, place, post, state).await?;
    Ok(Posted::done(
        Channel::Status,
        format!("set to `{state}`: {}", ended(post.ending)),
        None,
    ))
}

/// Says that a measurement runs.
pub(super) async fn pending(client: &Client, place: &Place, post: &Post<'_>) -> Troubled<()> {
    send(client, place, post, "pending").await
}

async fn send(client: &Client, place: &Place, post: &Post<'_>, state: &str) -> Troubled<()> {
    let mut body = json!({
        "state": state,
        "context": name(post),
        "description": cut(&post.title, LINE),
    });
    if let Some(job) = place.job() {
        body["target_url"] = json!(job);
    }
    let path = place.path(&format!("/statuses/{}", place.sha.as_str()));
    let sent = client.set::<Value>(&path, body).await;
    let doing = format!("set the commit status of {}", place.sha.short());
    sent.map(drop)
        .map_err(Trouble::of(doing, Permission::WriteStatuses))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_undecided_is_a_success() {
        assert_eq!(state(Ending::Pass), "success");
        assert_eq!(state(Ending::Excused), "success");
        assert_eq!(state(Ending::Regression), "failure");
        assert_eq!(state(Ending::Undecided), "error");
        assert_eq!(state(Ending::Invalid), "error");
    }
}
