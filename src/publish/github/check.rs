//! The check run on the commit: in progress, then concluded, with remarks at the spec's lines.

use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Client;
use super::fault::{Fault, Permission, Trouble};
use super::patience::TRIES;
use super::place::Place;
use super::{Troubled, ended};
use crate::publish::BODY;
use crate::publish::post::{Annotation, Ending, Post};
use crate::publish::posted::{Channel, Posted};

/// Most remarks that GitHub takes at once.
const BATCH: usize = 50;
/// Most characters of a title.
const TITLE: usize = 255;
/// Most characters of a remark: 64 KB, at up to 4 bytes each.
const MESSAGE: usize = 16_000;

#[derive(Debug, Deserialize)]
struct CheckRun {
    id: u64,
    external_id: Option<String>,
    output: Option<OutputAnswer>,
}

#[derive(Debug, Deserialize)]
struct OutputAnswer {
    annotations_count: Option<usize>,
}

/// What GitHub is told that a check came to. `neutral` opens a protected branch as a pass does, so
/// it is for what the spec's policy lets through, and for nothing else.
const fn conclusion(ending: Ending) -> &'static str {
    match ending {
        Ending::Pass => "success",
        Ending::Excused => "neutral",
        Ending::Undecided => "action_required",
        Ending::Regression | Ending::Invalid => "failure",
    }
}

/// What the check is called; branch protection knows it by that.
pub(super) fn name(post: &Post<'_>) -> String {
    format!("infergate/{}", post.key)
}

/// What tells this job's check from that of another job.
fn external_id(place: &Place, post: &Post<'_>) -> String {
    match place.run {
        Some(run) => format!("infergate:{}:{}:{}", post.key, run.id, run.attempt),
        None => format!("infergate:{}", post.key),
    }
}

/// Begins one, and gives its number.
pub(super) async fn begin(client: &Client, place: &Place, post: &Post<'_>) -> Troubled<u64> {
    let body = json!({
        "name": name(post),
        "head_sha": place.sha.as_str(),
        "status": "in_progress",
        "external_id": external_id(place, post),
        "output": {"title": cut(&post.title, TITLE), "summary": "The measurement is running."},
    });
    let begun = create(client, place, post, with_job(body, place)).await;
    let doing = format!("begin a check run on {}", place.sha.short());
    Ok(begun
        .map_err(Trouble::of(doing, Permission::WriteChecks))?
        .id)
}

/// Concludes the one that was begun, or makes one that is.
pub(super) async fn conclude(
    client: &Client,
    place: &Place,
    post: &Post<'_>,
    begun: Option<u64>,
) -> Troubled<Posted> {
    let doing = format!("conclude the check run on {}", place.sha.short());
    let concluded = concluded(client, place, post, begun).await;
    let id = concluded.map_err(Trouble::of(doing, Permission::WriteChecks))?;
    let how = format!("concluded: {}", ended(post.ending));
    Ok(Posted::done(
        Channel::Check,
        how,
        Some(place.page(&format!("/runs/{id}"))),
    ))
}

async fn concluded(
    client: &Client,
    place: &Place,
    post: &Post<'_>,
    begun: Option<u64>,
) -> Result<u64, Fault> {
    let first = &post.annotations[..post.annotations.len().min(BATCH)];
    let mut body = json!({
        "status": "completed",
        "conclusion": conclusion(post.ending),
        "output": output(post, first),
    });
    let id = if let Some(id) = begun {
        let path = place.path(&format!("/check-runs/{id}"));
        append(client, &path, &body, first.len()).await?;
        id
    } else {
        body["name"] = json!(name(post));
        body["head_sha"] = json!(place.sha.as_str());
        body["external_id"] = json!(external_id(place, post));
        create(client, place, post, with_job(body, place)).await?.id
    };
    let path = place.path(&format!("/check-runs/{id}"));
    let mut there = first.len();
    for batch in post.annotations[first.len()..].chunks(BATCH) {
        there += batch.len();
        append(
            client,
            &path,
            &json!({"output": output(post, batch)}),
            there,
        )
        .await?;
    }
    Ok(id)
}

/// Ends one of which nothing is said.
pub(super) async fn cancel(
    client: &Client,
    place: &Place,
    id: u64,
    why: &str,
) -> Result<(), Fault> {
    let body = json!({
        "status": "completed",
        "conclusion": "cancelled",
        "output": {"title": "nothing is said of this commit", "summary": why},
    });
    client
        .patch::<Value>(&place.path(&format!("/check-runs/{id}")), body)
        .await
        .map(drop)
}

/// Makes one, and looks for it before it is sent a second time.
async fn create(
    client: &Client,
    place: &Place,
    post: &Post<'_>,
    body: Value,
) -> Result<CheckRun, Fault> {
    let mut tries = 0;
    loop {
        tries += 1;
        let fault = match client
            .post::<CheckRun>(&place.path("/check-runs"), body.clone())
            .await
        {
            Ok(run) => return Ok(run),
            Err(fault) => fault,
        };
        if !fault.may_be_done() || tries >= TRIES || !client.pause(tries).await {
            return Err(fault);
        }
        let path = place.path(&format!(
            "/commits/{}/check-runs?check_name={}&per_page=100",
            place.sha.as_str(),
            name(post).replace('/', "%2F")
        ));
        let own = external_id(place, post);
        let runs = client.list::<CheckRun>(&path, Some("check_runs")).await?;
        if let Some(run) = runs
            .into_iter()
            .find(|run| run.external_id.as_ref() == Some(&own))
        {
            return Ok(run);
        }
    }
}

/// Changes one. Remarks are added by every change, so it is looked how many there are before it is sent a
/// second time.
async fn append(client: &Client, path: &str, body: &Value, total: usize) -> Result<(), Fault> {
    let mut tries = 0;
    loop {
        tries += 1;
        let Err(fault) = client.patch_once::<Value>(path, body.clone()).await else {
            return Ok(());
        };
        if !fault.may_be_done() || tries >= TRIES || !client.pause(tries).await {
            return Err(fault);
        }
        let run = client.get::<CheckRun>(path).await?;
        let count = run.output.and_then(|output| output.annotations_count);
        if total > 0 && count == Some(total) {
            return Ok(());
        }
    }
}

fn output(post: &Post<'_>, batch: &[Annotation]) -> Value {
    json!({
        "title": cut(&post.title, TITLE),
        "summary": (post.report)(BODY),
        "annotations": batch.iter().map(annotation).collect::<Vec<_>>(),
    })
}

fn annotation(annotation: &Annotation) -> Value {
    json!({
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": if annotation.broken { "failure" } else { "warning" },
        "title": cut(&annotation.title, TITLE),
        "message": cut(&annotation.message, MESSAGE),
    })
}

fn with_job(mut body: Value, place: &Place) -> Value {
    if let Some(job) = place.job() {
        body["details_url"] = json!(job);
    }
    body
}

/// At most so many characters, with a mark where some are missing.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept = text.chars().take(most.saturating_sub(1));
    kept.chain(std::iter::once('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_policy_lets_through_is_neutral() {
        assert_eq!(conclusion(Ending::Pass), "success");
        assert_eq!(conclusion(Ending::Excused), "neutral");
        for ending in [Ending::Regression, Ending::Undecided, Ending::Invalid] {
            assert!(!["success", "neutral", "skipped"].contains(&conclusion(ending)));
        }
    }

    #[test]
    fn a_cut_is_seen() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("übermut", 5), "über…");
    }
}
