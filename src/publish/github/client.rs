//! Requests to GitHub: one after the other, repeated where that does no harm, given up in time.

use std::sync::Mutex;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::fault::Fault;
use super::patience::{self, Repeats};
use super::request::{Answer, Method, Request};
use super::said;
use super::transport::Transport;
use super::unposted::unposted;
use crate::ident::Secret;
use crate::publish::api_url::ApiUrl;
use crate::publish::outbound;

/// Most pages that are asked for: a hundred comments each.
const PAGES: usize = 100;

/// Asks one GitHub.
pub(super) struct Client {
    line: Line,
    api: ApiUrl,
    graphql: String,
    /// Waiting that is left.
    left: Mutex<Duration>,
}

enum Line {
    /// To the server.
    Live(Transport),
    /// Nowhere: keeps what would be sent, and answers as a GitHub on which nothing was posted yet.
    Dry(Mutex<Vec<Request>>),
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The API for GraphQL is at another server, which must not see the token.
    #[error(
        "`GITHUB_GRAPHQL_URL` (`{graphql}`) is not at the server of `GITHUB_API_URL` (`{api}`), so the token can't go \
         there; set both to the same server"
    )]
    Elsewhere {
        /// The one.
        api: String,
        /// The other.
        graphql: String,
    },
    /// It could not be built.
    #[error("cannot set up a client for `{api}`: {why}")]
    Build {
        /// For what.
        api: String,
        /// Why.
        why: String,
    },
}

impl Client {
    /// For an API by a token; an answer may take as long as `timeout`.
    pub(super) fn new(
        api: &ApiUrl,
        graphql: Option<&str>,
        token: Option<Secret>,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let wrong = |why: String| ClientError::Build {
            api: api.to_string(),
            why,
        };
        let line = match token {
            None => Line::Dry(Mutex::default()),
            Some(token) => {
                let http = outbound::client(api, timeout).map_err(wrong)?;
                Line::Live(Transport::new(http, api, token).map_err(wrong)?)
            }
        };
        let graphql = graphql.map_or_else(|| format!("{api}/graphql"), str::to_owned);
        if !api.is_origin_of(&graphql) {
            return Err(ClientError::Elsewhere {
                api: api.to_string(),
                graphql,
            });
        }
        Ok(Self {
            line,
            api: api.clone(),
            graphql,
            left: Mutex::new(patience::ALL),
        })
    }

    /// What would have been sent by a client without a token.
    pub(super) fn sent(&self) -> Vec<Request> {
        match &self.line {
            Line::Live(_) => Vec::new(),
            Line::Dry(sent) => sent.lock().map(|sent| sent.clone()).unwrap_or_default(),
        }
    }

    /// Looks at a path below the API.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        self.send(&self.request(Method::Get, path, None))
            .await?
            .read()
    }

    /// Makes something new; sent again only where it can't have been done.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Value,
    ) -> Result<T, Fault> {
        self.send(&self.request(Method::Post, path, Some(body)))
            .await?
            .read()
    }

    /// The same for what twice is as good as once.
    pub(super) async fn set<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Value,
    ) -> Result<T, Fault> {
        let request = self.request(Method::Post, path, Some(body));
        self.send(&Request {
            repeats: Repeats::Harmless,
            ..request
        })
        .await?
        .read()
    }

    /// Changes what is there.
    pub(super) async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Value,
    ) -> Result<T, Fault> {
        self.send(&self.request(Method::Patch, path, Some(body)))
            .await?
            .read()
    }

    /// The same for what adds to it; sent again only where it can't have been done.
    pub(super) async fn patch_once<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Value,
    ) -> Result<T, Fault> {
        let request = self.request(Method::Patch, path, Some(body));
        self.send(&Request {
            repeats: Repeats::Doubles,
            ..request
        })
        .await?
        .read()
    }

    /// Waits after so many tries; `false` where no waiting is left.
    pub(super) async fn pause(&self, tries: u32) -> bool {
        let again = Fault::Unavailable { status: 0 };
        let wait = patience::wait(&again, Repeats::Harmless, tries, self.left());
        match wait {
            Some(wait) => self.sleep(wait).await,
            None => return false,
        }
        true
    }

    fn left(&self) -> Duration {
        self.left.lock().map_or(Duration::ZERO, |left| *left)
    }

    async fn sleep(&self, wait: Duration) {
        if let Ok(mut left) = self.left.lock() {
            *left = left.saturating_sub(wait);
        }
        tokio::time::sleep(wait).await;
    }

    /// Everything of a list, page by page; `items` is the field that holds it, where it is not all there is.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        path: &str,
        items: Option<&str>,
    ) -> Result<Vec<T>, Fault> {
        let mut found = Vec::new();
        let mut request = self.request(Method::Get, path, None);
        for _ in 0..PAGES {
            let mut answer = self.send(&request).await?;
            let next = answer.next.take();
            if let Some(items) = items {
                answer.body = answer
                    .body
                    .get_mut(items)
                    .map(Value::take)
                    .unwrap_or_default();
            }
            found.extend(answer.read::<Vec<T>>()?);
            match next {
                Some(next) => request.url = next,
                None => return Ok(found),
            }
        }
        Err(Fault::Odd {
            why: format!("a list of over {PAGES} pages"),
        })
    }

    /// Asks by GraphQL. Nothing that is asked so is doubled by being asked twice.
    pub(super) async fn graphql<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: Value,
    ) -> Result<T, Fault> {
        let request = Request {
            method: Method::Post,
            url: self.graphql.clone(),
            body: Some(json!({"query": query, "variables": variables})),
            repeats: Repeats::Harmless,
        };
        let mut body = self.send(&request).await?.body;
        if let Some(errors) = body.get("errors").filter(|errors| !errors.is_null()) {
            let said = errors.pointer("/0/message").and_then(Value::as_str);
            return Err(Fault::Refused {
                status: 200,
                said: said::line(said.unwrap_or("an error of GraphQL")),
            });
        }
        let data = body.get_mut("data").map(Value::take).unwrap_or_default();
        Answer {
            body: data,
            next: None,
        }
        .read()
    }

    fn request(&self, method: Method, path: &str, body: Option<Value>) -> Request {
        let repeats = match method {
            Method::Get | Method::Patch => Repeats::Harmless,
            Method::Post => Repeats::Doubles,
        };
        Request {
            method,
            url: format!("{}{path}", self.api),
            body,
            repeats,
        }
    }

    async fn send(&self, request: &Request) -> Result<Answer, Fault> {
        let transport = match &self.line {
            Line::Live(transport) => transport,
            Line::Dry(sent) => {
                if let Ok(mut sent) = sent.lock() {
                    sent.push(request.clone());
                }
                return Ok(Answer {
                    body: unposted(request),
                    next: None,
                });
            }
        };
        let mut tries = 0;
        loop {
            tries += 1;
            let fault = match transport.send(request).await {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            match patience::wait(&fault, request.repeats, tries, self.left()) {
                Some(wait) => self.sleep(wait).await,
                None => return Err(fault),
            }
        }
    }
}
