//! GitLab: a note on the merge request, edited in place.

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

/// Most UTF-16 units of a note: the limit is 1,000,000 characters.
const NOTE: usize = 990_000;
/// Most pages of notes: 5,000 are all that a merge request can have, a hundred each.
const PAGES: u32 = 60;
/// How often a request that does no harm twice is sent at most.
const TRIES: u32 = 3;
/// Most characters of GitLab's words that are passed on.
const SAID: usize = 300;

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

/// Why a request brought nothing.
enum Fault {
    Refused { status: u16, said: String },
    Silent { why: String },
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
        let mut tries = 0;
        loop {
            tries += 1;
            let fault = match once(client, token, method, url, body).await {
                Ok(json) => return serde_json::from_value(json).map_err(odd),
                Err(fault) => fault,
            };
            if method == "POST" || !fault.may_be_done() || tries >= TRIES {
                return Err(fault);
            }
            tokio::time::sleep(Duration::from_millis(500) * tries).await;
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
    Err(Fault::Refused {
        status: status.as_u16(),
        said,
    })
}

/// Somebody else's words on one line.
fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).take(SAID).collect()
}

impl Fault {
    const fn may_be_done(&self) -> bool {
        matches!(
            self,
            Self::Silent { .. } | Self::Refused { status: 500.., .. }
        )
    }

    fn says(&self) -> String {
        match self {
            Self::Refused {
                status: status @ (401 | 403),
                said,
            } => format!(
                "the token is not allowed to ({status}, {said}); it takes a project or group access token with the scope \
                 `api` and the role Reporter in `GITLAB_TOKEN` (a job's own `CI_JOB_TOKEN` can't write notes)"
            ),
            Self::Refused { status: 404, said } => format!(
                "it is not there, or the token can't see it (404, {said}); look at `CI_PROJECT_ID` and \
                 `CI_MERGE_REQUEST_IID`"
            ),
            Self::Refused {
                status: status @ 500..,
                ..
            } => {
                format!(
                    "GitLab answers {status}; publish the report later with `infergate publish`"
                )
            }
            Self::Refused { status, said } => format!("GitLab refuses it ({status}, {said})"),
            Self::Silent { why } => {
                format!("no answer ({why}); look at `CI_API_V4_URL`, proxies and `--timeout`")
            }
        }
    }
}
