//! Whether the commit that was judged is still what its pull request is about.

use serde::Deserialize;

use super::Troubled;
use super::client::Client;
use super::fault::{Permission, Trouble};
use super::place::{Place, Pull};
use crate::publish::repository::Repository;

/// How a commit stands to its pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Head {
    /// It is the head of the open one of this number; or there is none to ask.
    Is(Option<u64>),
    /// It is not, or the request is closed.
    WasNot {
        /// Why, for people.
        why: String,
    },
}

#[derive(Debug, Deserialize)]
struct PullAnswer {
    number: Option<u64>,
    state: String,
    head: Option<Side>,
    base: Option<Side>,
}

#[derive(Debug, Deserialize)]
struct Side {
    sha: String,
    /// A fork that is gone has none.
    repo: Option<RepositoryAnswer>,
}

#[derive(Debug, Deserialize)]
struct RepositoryAnswer {
    full_name: String,
}

/// Looks how the commit stands now.
pub(super) async fn look(client: &Client, place: &Place) -> Troubled<Head> {
    match &place.pull {
        Pull::None => Ok(Head::Is(None)),
        Pull::Number(number) => by_number(client, place, *number).await,
        Pull::OfCommit { from } => of_commit(client, place, from.as_ref()).await,
    }
}

async fn by_number(client: &Client, place: &Place, number: u64) -> Troubled<Head> {
    let name = place.numbered(number);
    let answer = client
        .get::<PullAnswer>(&place.path(&format!("/pulls/{number}")))
        .await;
    let pull = answer.map_err(Trouble::of(
        format!("look at {name}"),
        Permission::ReadPulls,
    ))?;
    if pull.state != "open" {
        let why = format!(
            "{name} is {} meanwhile",
            if pull.state == "closed" {
                "closed"
            } else {
                "not open"
            }
        );
        return Ok(Head::WasNot { why });
    }
    match pull.head {
        Some(head) if head.sha != place.sha.as_str() => {
            let now = head.sha.get(..12).unwrap_or("another commit");
            let why = format!(
                "{} is not the head of {name} any more, which is {}",
                place.sha.short(),
                if now.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    now
                } else {
                    "another commit"
                }
            );
            Ok(Head::WasNot { why })
        }
        Some(_) | None => Ok(Head::Is(Some(number))),
    }
}

/// A fork's commit is known to the fork first, so it is asked too.
async fn of_commit(client: &Client, place: &Place, from: Option<&Repository>) -> Troubled<Head> {
    let mut found = Vec::new();
    for repository in std::iter::once(&place.repository).chain(from) {
        let path = format!(
            "{}/commits/{}/pulls?per_page=100",
            repository.path(),
            place.sha.as_str()
        );
        let answer = client.list::<PullAnswer>(&path, None).await;
        let doing = format!(
            "find the pull request of {} in `{repository}`",
            place.sha.short()
        );
        let pulls = answer.map_err(Trouble::of(doing, Permission::ReadPulls))?;
        found.extend(
            pulls
                .into_iter()
                .filter(|pull| is_of(pull, place, from))
                .filter_map(|pull| pull.number),
        );
    }
    found.sort_unstable();
    found.dedup();
    let short = place.sha.short();
    match found.as_slice() {
        [number] => Ok(Head::Is(Some(*number))),
        [] => Ok(Head::WasNot {
            why: format!(
                "no open pull request has {short} as its head; it may be closed or pushed to meanwhile, or be named \
                 with `--pr`"
            ),
        }),
        [first, second, ..] => Ok(Head::WasNot {
            why: format!(
                "{} and {} both have {short} as their head; name one with `--pr`",
                place.numbered(*first),
                place.numbered(*second)
            ),
        }),
    }
}

/// Whether a pull request is open, into this repository, and has the commit as its head.
fn is_of(pull: &PullAnswer, place: &Place, from: Option<&Repository>) -> bool {
    let name = |side: &Option<Side>| Some(side.as_ref()?.repo.as_ref()?.full_name.clone());
    let same = |name: Option<String>, repository: &Repository| {
        name.is_some_and(|name| name.eq_ignore_ascii_case(&repository.to_string()))
    };
    pull.state == "open"
        && pull
            .head
            .as_ref()
            .is_some_and(|head| head.sha == place.sha.as_str())
        && same(name(&pull.base), &place.repository)
        && from.is_none_or(|from| same(name(&pull.head), from))
}
