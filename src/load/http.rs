//! One request over HTTP: the one place where the load client touches the network, and where each
//! read is given its instant.

mod refusal;

use std::fmt;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use refusal::{is_json, is_loss, no_response, refused, words};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, Url};
use tokio::time::{sleep_until, timeout};

use super::clock::Clock;
use super::connection::{InUse, OneInUse, Watch, watched};
use super::endpoint::{ClientError, Endpoint, MASK};
use super::limits::Limits;
use crate::sample::Outcome;
use crate::unit::Nanos;
use crate::wire::request::RequestTemplate;
use crate::wire::{Answer, End, Feed};

/// A client of one endpoint; clones share their connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    template: Arc<RequestTemplate>,
    key: Option<Arc<str>>,
    in_use: InUse,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

/// What names a request in server logs: vLLM takes it into its own id, proxies pass it on.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Most characters that are kept of a server's or the client stack's words.
const TEXT: usize = 500;

/// Idle connections are dropped before servers do it: uvicorn and llama-server close after 5 s,
/// and a request sent into that moment would fail by no fault of the target.
const IDLE: Nanos = Nanos::from_secs(4);

/// A kept connection that was lost so soon after a request was sent on it was lost before the
/// server had the request: llama.cpp closes many connections right after an answer, without saying
/// so in it.
const STALE: Nanos = Nanos::from_secs(1);

/// How long the end of a body may take after `[DONE]`; only with the end read can the connection
/// serve again.
const TAIL: Nanos = Nanos::from_millis(200);

impl Client {
    /// A client that keeps as many connections as there are requests in flight, follows no
    /// redirects and sends nothing again but what a server cannot have had (see
    /// `Client::exchange`). `connect` bounds the time until a connection stands.
    ///
    /// Speaks HTTP/1.1 only: over HTTP/2 all requests would share one connection, and those above
    /// the server's limit of streams would wait inside the client unseen.
    ///
    /// A loopback target is never reached through a proxy. A process needs a default TLS provider
    /// before the first client.
    pub fn new(endpoint: &Endpoint, connect: Nanos) -> Result<Self, ClientError> {
        let url_error = || ClientError::Url {
            url: endpoint.base_url.clone(),
        };
        let base = endpoint.base_url.trim_end_matches('/');
        // Parsed by itself first, or else a missing host would be found in the path.
        let url = Url::parse(base)
            .and_then(|_| Url::parse(&format!("{base}{}", endpoint.api.path())))
            .map_err(|_| url_error())?;
        let host = url.host_str().ok_or_else(url_error)?;
        let plain = match url.scheme() {
            "http" => true,
            "https" => false,
            _ => return Err(url_error()),
        };
        let loopback = is_loopback(host);
        let builder = || {
            let builder = reqwest::Client::builder()
                .user_agent(concat!("infergate/", env!("CARGO_PKG_VERSION")))
                .redirect(reqwest::redirect::Policy::none())
                .referer(false)
                .retry(reqwest::retry::never())
                .http1_only()
                .tcp_nodelay(true)
                .pool_max_idle_per_host(usize::MAX)
                .pool_idle_timeout(IDLE.to_duration())
                .connector_layer(Watch)
                .connect_timeout(connect.to_duration());
            if loopback {
                builder.no_proxy()
            } else {
                builder
            }
        };
        let http = match builder().build() {
            // A machine without CA certificates can still measure over plain HTTP.
            Err(_) if plain => builder().tls_certs_only([]).build(),
            result => result,
        }
        .map_err(|error| ClientError::Setup {
            reason: words(error),
        })?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &endpoint.key {
            let mut bearer =
                HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| ClientError::Key)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        Ok(Self {
            http,
            url,
            headers,
            template: Arc::new(RequestTemplate::new(
                endpoint.api,
                &endpoint.model,
                &endpoint.extra,
            )),
            key: endpoint
                .key
                .as_deref()
                .filter(|key| !key.is_empty())
                .map(Arc::from),
            in_use: InUse::default(),
        })
    }

    /// What the requests share.
    pub fn template(&self) -> &RequestTemplate {
        &self.template
    }

    /// A text with secrets masked, of at most 500 characters.
    pub(super) fn clean(&self, text: &str) -> String {
        let masked = match &self.key {
            Some(key) => text.replace(&**key, MASK),
            None => text.to_owned(),
        };
        match masked.char_indices().nth(TEXT) {
            Some((end, _)) => masked[..end].to_owned(),
            None => masked,
        }
    }

    /// A request that only has to be sent, and the name by which server logs know it; a name that no
    /// header takes is left out.
    pub(super) fn ready(&self, body: Vec<u8>, name: &str) -> Ready {
        let mut request = reqwest::Request::new(Method::POST, self.url.clone());
        request.headers_mut().clone_from(&self.headers);
        if let Ok(name) = HeaderValue::from_str(name) {
            request.headers_mut().insert(REQUEST_ID, name);
        }
        *request.body_mut() = Some(body.into());
        Ready(request)
    }

    /// Sends a request and reads its answer into `seen`, until either ends or a limit passes.
    ///
    /// A server may close a kept connection in the moment in which the next request is sent on it.
    /// That is no failure of the request (RFC 9112, section 9.3.1): it is sent again on another
    /// connection, and what that takes counts from the first send on. What fails on a connection of
    /// its own has failed. Where one was opened and another fell idle meanwhile, nobody can tell which
    /// of the two the request took: that is excused once.
    pub(super) async fn exchange(
        &self,
        Ready(request): Ready,
        limits: Limits,
        clock: Clock,
        seen: &mut Exchange,
    ) -> Ended {
        let in_use = self.in_use.one_more();
        let sent = clock.now();
        seen.sent = Some(sent);
        let mut timer = pin!(sleep_until(clock.timer(limits.next(sent, &seen.answer).0)));
        let mut request = request;
        let mut excused = false;
        let mut response = 'sending: loop {
            let attempt = clock.now();
            let again = request.try_clone();
            let others = self.in_use.several();
            let mut sending = pin!(watched(self.http.execute(request)));
            request = loop {
                tokio::select! {
                    biased;
                    (result, opened) = &mut sending => match (result, again) {
                        (Ok(response), _) => break 'sending response,
                        (Err(error), Some(again))
                            if (!opened || (others && !excused))
                                && is_loss(&error)
                                && clock.now().since(attempt) < STALE =>
                        {
                            excused |= opened;
                            seen.resent += 1;
                            break again;
                        }
                        (Err(error), _) => return no_response(error),
                    },
                    () = &mut timer => {
                        if let Some(end) = limits.passed(sent, &seen.answer, clock, timer.as_mut()) {
                            return Ended::Answer { end, tail: None };
                        }
                    }
                }
            };
        };
        seen.headers = Some(clock.now());
        if !response.status().is_success() {
            return refused(response, seen).await;
        }
        if seen.answer.is_stream() && is_json(&response) {
            seen.answer = seen.answer.as_whole();
        }
        loop {
            // The timer stands at the limit that was nearest when it was set. The first token may
            // bring the limit nearer and moves the timer; later ones only move the limit away, and
            // the timer finds out when it fires: so a token costs no timer.
            let end = tokio::select! {
                biased;
                read = response.chunk() => {
                    let at = clock.now();
                    match read {
                        Ok(Some(bytes)) => {
                            let waited = seen.answer.last_token().is_none();
                            match seen.answer.feed(at, &bytes) {
                                Feed::More => {
                                    if waited && seen.answer.last_token().is_some() {
                                        let (due, _) = limits.next(sent, &seen.answer);
                                        timer.as_mut().reset(clock.timer(due));
                                    }
                                    continue;
                                }
                                Feed::Done => {
                                    let tail = Some(Tail { response, in_use });
                                    return Ended::Answer { end: End::Eof, tail };
                                }
                                Feed::Failed => End::Eof,
                            }
                        }
                        Ok(None) => End::Eof,
                        Err(error) => End::Broken(words(error)),
                    }
                }
                () = &mut timer => match limits.passed(sent, &seen.answer, clock, timer.as_mut()) {
                    Some(end) => end,
                    None => continue,
                },
            };
            return Ended::Answer { end, tail: None };
        }
    }
}

/// A request that only has to be sent.
#[derive(Debug)]
pub(super) struct Ready(reqwest::Request);

/// What was seen of a request so far.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) sent: Option<Nanos>,
    pub(super) headers: Option<Nanos>,
    pub(super) answer: Answer,
    /// Bytes of a body that is no answer.
    pub(super) error_bytes: u64,
    /// How often it was sent again.
    pub(super) resent: u32,
}

/// How an exchange ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// An answer came, or nothing in time.
    Answer {
        end: End,
        /// The rest of a body that has already said all.
        tail: Option<Tail>,
    },
    /// No answer came, for the reason in this text.
    Failure { outcome: Outcome, text: String },
}

/// The rest of a body behind `[DONE]`.
#[derive(Debug)]
pub(super) struct Tail {
    response: Response,
    in_use: OneInUse,
}

impl Tail {
    /// Reads to the body's end, so that the connection can serve again.
    pub(super) async fn drain(self) {
        let Self {
            mut response,
            in_use,
        } = self;
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = timeout(TAIL.to_duration(), rest).await;
        // The client stack puts the connection back in a task of its own: let it go first.
        tokio::task::yield_now().await;
        drop(in_use);
    }
}

fn is_loopback(host: &str) -> bool {
    let name = host.trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
