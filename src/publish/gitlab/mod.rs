//! GitLab: a note on the merge request, edited in place.
//!
//! No commit status: the job of the pipeline is one already, and a second would stand beside it.

mod fault;

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::api_url::ApiUrl;
use super::marker::{JobRun, Kind, Marker};
use super::outbound;
use super::post::Post;
use super::posted::{Channel, Posted};
use crate::access::causes;
use crate::ident::{Commit, Secret};
use fault::{Fault, Patience, plain};

/// Most UTF-16 units of a note: the limit is 1,000,000 characters.
const NOTE: usize = 990_000;
/// Most pages of notes: 5,000 are all that a merge request can have, a hundred each.
const PAGES: u32 = 60;

/// A merge request on a GitLab.
pub struct GitLab {
    line: Option<(reqwest::Client, Secret)>,
    request: MergeRequest,
    sent: std::sync::Mutex<Vec<Value>>,
}

/// Which merge request, and what was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeRequest {
    /// The API: `https://gitlab.example/api/v4`.
    pub api: ApiUrl,
    /// The project, by its number.
    pub project: u64,
    /// The merge request, by its number in the project.
    pub number: u64,
    /// The commit that was judged.
    pub sha: Commit,
    /// The job that publishes.
    pub run: Option<JobRun>,
}

#[derive(Debug, Deserialize)]
struct Note {
    id: u64,
    body: String,
    author: Person,
}

#[derive(Debug, Deserialize)]
struct Person {
    id: u64,
}

#[derive(Debug, Deserialize)]
struct RequestAnswer {
    state: Option<String>,
    sha: Option<String>,
}

impl GitLab {
    /// A merge request by a token; without one, nothing is sent and it is kept what would be.
    pub fn new(
        request: MergeRequest,
        token: Option<Secret>,
        timeout: Duration,
    ) -> Result<Self, String> {
        let line = match token {
            Some(token) => Some((outbound::client(&request.api, timeout)?, token)),
            None => None,
        };
        Ok(Self {
            line,
            request,
            sent: std::sync::Mutex::default(),
        })
    }

    /// What would have been sent, where there is no token.
    pub fn sent(&self) -> Vec<Value> {
        self.sent
            .lock()
            .map(|sent| sent.clone())
            .unwrap_or_default()
    }

    /// Puts the report into its note.
    pub async fn publish(&self, post: &Post<'_>) -> Posted {
        match self.published(post).await {
            Ok(posted) => posted,
            Err(fault) => {
                let MergeRequest {
                    number, project, ..
                } = self.request;
                let doing =
                    format!("cannot comment on merge request {number} of project {project}");
                Posted::failed(Channel::Note, &format!("{doing}: {}", fault.says()))
            }
        }
    }

    async fn published(&self, post: &Post<'_>) -> Result<Posted, Fault> {
        let request: RequestAnswer = self.ask("GET", "", None).await?;
        if let Some(state) = request.state.filter(|state| state != "opened") {
            return Ok(Posted::left(
                Channel::Note,
                format!("the merge request is {}", plain(&state)),
            ));
        }
        if request
            .sha
            .is_some_and(|sha| sha != self.request.sha.as_str())
        {
            let short = self.request.sha.short();
            return Ok(Posted::left(
                Channel::Note,
                format!("{short} is not its head any more"),
            ));
        }
        let own = Marker {
            kind: Kind::Report,
            key: post.key.clone(),
            sha: self.request.sha.clone(),
            run: self.request.run,
            decided: post.ending.decided(),
        };
        let found = self.find(&own).await?;
        if let Some((_, there)) = &found
            && there.is_after(&own)
        {
            return Ok(Posted::left(
                Channel::Note,
                "the report there is of a later job",
            ));
        }
        let head = format!("{own}\n");
        let body = json!({"body": format!("{head}{}", (post.report)(NOTE - head.len()))});
        if let Some((id, _)) = found {
            self.ask::<Value>("PUT", &format!("/notes/{id}"), Some(&body))
                .await?;
            return Ok(Posted::done(Channel::Note, "updated", None));
        }
        match self.ask::<Value>("POST", "/notes", Some(&body)).await {
            Ok(_) => Ok(Posted::done(Channel::Note, "created", None)),
            // It may be there all the same, and a second one would stay.
            Err(fault) if fault.may_be_done() && self.find(&own).await?.is_some() => {
                Ok(Posted::done(Channel::Note, "created", None))
            }
            Err(fault) => Err(fault),
        }
    }

    /// The oldest note of ours of this key.
    async fn find(&self, own: &Marker) -> Result<Option<(u64, Marker)>, Fault> {
        if self.line.is_none() {
            self.ask::<Value>("GET", "/notes?per_page=100&page=1", None)
                .await?;
            return Ok(None);
        }
        let us: Person = self
            .ask_at("GET", &format!("{}/user", self.request.api), None)
            .await?;
        let mut oldest: Option<(u64, Marker)> = None;
        for page in 1..=PAGES {
            let notes: Vec<Note> = self
                .ask("GET", &format!("/notes?per_page=100&page={page}"), None)
                .await?;
            let last = notes.len() < 100;
            let ours = notes.into_iter().filter(|note| note.author.id == us.id);
            let marked = ours
                .filter_map(|note| Some((note.id, Marker::find(&note.body, own.kind, &own.key)?)));
            oldest = oldest.into_iter().chain(marked).min_by_key(|(id, _)| *id);
            if last {
                break;
            }
        }
        Ok(oldest)
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        rest: &str,
        body: Option<&Value>,
    ) -> Result<T, Fault> {
        let MergeRequest {
            api,
            project,
            number,
            ..
        } = &self.request;
        self.ask_at(
            method,
            &format!("{api}/projects/{project}/merge_requests/{number}{rest}"),
            body,
        )
        .await
    }

    async fn ask_at<T: DeserializeOwned>(
        &self,
        method: &str,
        url: &str,
        body: Option<&Value>,
    ) -> Result<T, Fault> {
        let odd = |error: serde_json::Error| Fault::Refused {
            status: 200,
            said: format!("no answer of GitLab's: {error}"),
        };
        let Some((client, token)) = &self.line else {
            if let Ok(mut sent) = self.sent.lock() {
                let mut request = json!({"method": method, "url": url});
                if let Some(body) = body {
                    request["body"] = body.clone();
                }
                sent.push(request);
            }
            return serde_json::from_value(json!({})).map_err(odd);
        };
        let mut patience = Patience::default();
        loop {
            let fault = match once(client, token, method, url, body).await {
                Ok(json) => return serde_json::from_value(json).map_err(odd),
                Err(fault) => fault,
            };
            match patience.wait(&fault, method == "POST") {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(fault),
            }
        }
    }
}

async fn once(
    client: &reqwest::Client,
    token: &Secret,
    method: &str,
    url: &str,
    body: Option<&Value>,
) -> Result<Value, Fault> {
    let silent = |error: reqwest::Error| Fault::Silent {
        why: token.mask(&causes(&error)),
    };
    let request = match method {
        "POST" => client.post(url),
        "PUT" => client.put(url),
        _ => client.get(url),
    };
    let request = request.header("private-token", token.expose());
    let request = match body {
        Some(body) => request.json(body),
        None => request,
    };
    let answer = request.send().await.map_err(silent)?;
    let status = answer.status();
    let after = answer.headers().get(http::header::RETRY_AFTER);
    let after = after.and_then(|value| value.to_str().ok()?.parse().ok());
    let json = answer.json::<Value>().await;
    if status.is_success() {
        return json.map_err(silent);
    }
    let said = json.ok().and_then(|json| {
        json.get("message")
            .or(json.get("error"))
            .map(Value::to_string)
    });
    let said = plain(&token.mask(&said.unwrap_or_else(|| "without a word".to_owned())));
    if status == http::StatusCode::TOO_MANY_REQUESTS {
        return Err(Fault::Limited {
            wait: after.map(Duration::from_secs),
        });
    }
    Err(Fault::Refused {
        status: status.as_u16(),
        said,
    })
}
