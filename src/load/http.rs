//! One request over HTTP: the one place where the load client touches the network, and where each
//! read is given its instant.

mod refusal;

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHORIZATION, USER_AGENT,
};
use hyper::{Method, Request};
use refusal::{is_json, is_loss, no_response, not_opened, refused, words};
use tokio::time::{Sleep, sleep_until, timeout};

use super::clock::Clock;
use super::connection::{Body, Inflate, Outgoing};
use super::cpu;
use super::endpoint::{ClientError, Endpoint, MASK};
use super::lane::{Lane, Lanes};
use super::limits::Limits;
use super::place::Place;
use super::pool::{Opening, Taken};
use crate::sample::Outcome;
use crate::unit::Nanos;
use crate::wire::request::RequestTemplate;
use crate::wire::{Answer, End, Feed};

/// A client of one endpoint; clones share its lanes and their connections.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    lanes: Arc<Lanes>,
}

struct Shared {
    place: Place,
    opening: Opening,
    headers: HeaderMap,
    template: RequestTemplate,
    key: Option<Box<str>>,
    /// Runs as long as the client, by which idle connections age.
    clock: Clock,
    opened: AtomicU64,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("place", &self.shared.place)
            .finish_non_exhaustive()
    }
}

/// What names a request in server logs: vLLM takes it into its own id, proxies pass it on.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Most characters that are kept of a server's or the client stack's words.
const TEXT: usize = 500;

/// A kept connection that was lost so soon after a request was sent on it was lost before the
/// server had the request: llama.cpp closes many connections right after an answer, without saying
/// so in it.
const STALE: Nanos = Nanos::from_secs(1);

/// How long the end of a body may take after `[DONE]`; only with the end read can the connection
/// serve again.
const TAIL: Nanos = Nanos::from_millis(200);

impl Client {
    /// A client with a lane for each core, that keeps as many connections as there are requests in
    /// flight, follows no redirects and sends nothing again but what a server cannot have had (see
    /// `Client::exchange`). `connect` bounds the time until a connection stands.
    ///
    /// A loopback target is never reached through a proxy. A process needs a default TLS provider
    /// before the first client of an encrypted target.
    pub fn new(endpoint: &Endpoint, connect: Nanos) -> Result<Self, ClientError> {
        let http2 = false;
        let mut tls = None;
        let place = Place::new(
            &endpoint.base_url,
            endpoint.api.path(),
            http2,
            connect,
            &mut || tls_config(&mut tls),
        )?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let agent = concat!("infergate/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        if let Some(key) = &endpoint.key {
            let mut bearer =
                HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| ClientError::Key)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        headers.insert(HOST, place.host.clone());
        if let Some(key) = &place.proxy_key {
            headers.insert(PROXY_AUTHORIZATION, key.clone());
        }
        let lanes =
            Lanes::start(cpu::cores().ceil() as usize, 1).map_err(|error| ClientError::Setup {
                reason: error.to_string(),
            })?;
        Ok(Self {
            shared: Arc::new(Shared {
                place,
                opening: Opening {
                    http2,
                    limit: connect,
                },
                headers,
                template: RequestTemplate::new(endpoint.api, &endpoint.model, &endpoint.extra),
                key: endpoint
                    .key
                    .as_deref()
                    .filter(|key| !key.is_empty())
                    .map(Box::from),
                clock: Clock::start(),
                opened: AtomicU64::new(0),
            }),
            lanes: Arc::new(lanes),
        })
    }

    /// What the requests share.
    pub fn template(&self) -> &RequestTemplate {
        &self.shared.template
    }

    /// The threads that send.
    pub(super) fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// Connections opened so far.
    pub(super) fn opened(&self) -> u64 {
        self.shared.opened.load(Ordering::Relaxed)
    }

    /// A text with secrets masked, of at most 500 characters.
    pub(super) fn clean(&self, text: &str) -> String {
        let masked = match &self.shared.key {
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
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.shared.place.request.clone();
        request.headers_mut().clone_from(&self.shared.headers);
        if let Ok(name) = HeaderValue::from_str(name) {
            request.headers_mut().insert(REQUEST_ID, name);
        }
        Ready(request)
    }

    /// Sends a request from a lane and reads its answer into `seen`, until either ends or a limit
    /// passes. Runs on the lane.
    ///
    /// A server may close a kept connection in the moment in which the next request is sent on it.
    /// That is no failure of the request (RFC 9112, section 9.3.1): it is sent again, once, on a
    /// connection of its own, and what that takes counts from the first send on. What fails on a
    /// connection of its own has failed.
    pub(super) async fn exchange(
        &self,
        lane: &Lane,
        Ready(request): Ready,
        limits: Limits,
        clock: Clock,
        seen: &mut Exchange,
    ) -> Ended {
        let sent = clock.now();
        seen.sent = Some(sent);
        let mut timer = pin!(sleep_until(clock.timer(limits.next(sent, &seen.answer).0)));
        let watched = |seen: &Exchange, timer: Pin<&mut Sleep>| {
            limits.passed(sent, &seen.answer, clock, timer)
        };
        let mut request = Some(request);
        let (taken, response) = loop {
            let Some(next) = request.take() else {
                unreachable!("a request that is to be sent again is kept");
            };
            let mut taking = Box::pin(self.take(lane, seen.resent > 0));
            let taken = loop {
                tokio::select! {
                    biased;
                    taken = &mut taking => break taken,
                    () = &mut timer => if let Some(end) = watched(seen, timer.as_mut()) {
                        return Ended::Answer { end, tail: None };
                    }
                }
            };
            let Taken {
                mut connection,
                is_kept,
            } = match taken {
                Ok(taken) => taken,
                Err(error) => return not_opened(error),
            };
            let again = is_kept.then(|| next.clone());
            let attempt = clock.now();
            let result = {
                let mut sending = pin!(connection.send(next));
                loop {
                    tokio::select! {
                        biased;
                        result = &mut sending => break result,
                        () = &mut timer => if let Some(end) = watched(seen, timer.as_mut()) {
                            return Ended::Answer { end, tail: None };
                        }
                    }
                }
            };
            match result {
                Ok(response) => break (connection, response),
                Err(error) => match again {
                    Some(again) if is_loss(error.error()) && clock.now().since(attempt) < STALE => {
                        seen.resent += 1;
                        request = Some(again);
                    }
                    _ => return no_response(error.error()),
                },
            }
        };
        seen.headers = Some(clock.now());
        let (head, incoming) = response.into_parts();
        let inflate = match head
            .headers
            .get(CONTENT_ENCODING)
            .map(HeaderValue::as_bytes)
        {
            None | Some(b"identity") => None,
            Some(b"gzip" | b"x-gzip") => Some(Inflate::new()),
            Some(other) => {
                let text = format!(
                    "the answer is packed by `{}`, which was not asked for",
                    String::from_utf8_lossy(other)
                );
                return Ended::Answer {
                    end: End::Broken(text),
                    tail: None,
                };
            }
        };
        let mut body = Body::new(taken, incoming, inflate);
        if !head.status.is_success() {
            return Box::pin(refused(&head, body, seen)).await;
        }
        if seen.answer.is_stream() && is_json(&head) {
            seen.answer = seen.answer.as_whole();
        }
        loop {
            // The timer stands at the limit that was nearest when it was set. The first token may
            // bring the limit nearer and moves the timer; later ones only move the limit away, and
            // the timer finds out when it fires: so a token costs no timer.
            let end = tokio::select! {
                biased;
                read = body.read() => {
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
                                    return Ended::Answer { end: End::Eof, tail: Some(Box::new(Tail(body))) };
                                }
                                Feed::Failed => End::Eof,
                            }
                        }
                        Ok(None) => return Ended::Answer { end: End::Eof, tail: Some(Box::new(Tail(body))) },
                        Err(error) => End::Broken(words(&error)),
                    }
                }
                () = &mut timer => match watched(seen, timer.as_mut()) {
                    Some(end) => end,
                    None => continue,
                },
            };
            return Ended::Answer { end, tail: None };
        }
    }

    async fn take(&self, lane: &Lane, fresh: bool) -> Result<Taken, super::pool::ConnectError> {
        let Shared {
            place,
            opening,
            clock,
            opened,
            ..
        } = &*self.shared;
        let count = || {
            opened.fetch_add(1, Ordering::Relaxed);
        };
        lane.pool
            .take(0, place, *opening, clock.now(), fresh, count)
            .await
    }

    /// Reads to the end of a body that has said all, so that its connection can serve again.
    pub(super) async fn drain(&self, lane: &Lane, tail: Box<Tail>) {
        let Tail(mut body) = *tail;
        let rest = async { while let Ok(Some(_)) = body.read().await {} };
        if timeout(TAIL.to_duration(), rest).await.is_ok()
            && let Some(connection) = body.into_connection().await
        {
            lane.pool.keep(0, connection, self.shared.clock.now());
        }
    }
}

/// The machine's certificates, read once.
fn tls_config(
    known: &mut Option<Arc<rustls::ClientConfig>>,
) -> Result<Arc<rustls::ClientConfig>, ClientError> {
    use rustls_platform_verifier::ConfigVerifierExt as _;
    if let Some(config) = known {
        return Ok(Arc::clone(config));
    }
    let config =
        rustls::ClientConfig::with_platform_verifier().map_err(|error| ClientError::Setup {
            reason: error.to_string(),
        })?;
    Ok(Arc::clone(known.insert(Arc::new(config))))
}

/// A request that only has to be sent.
#[derive(Debug)]
pub(super) struct Ready(Outgoing);

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
        tail: Option<Box<Tail>>,
    },
    /// No answer came, for the reason in this text.
    Failure { outcome: Outcome, text: String },
}

/// A body that has said all; its end may be still to come.
#[derive(Debug)]
pub(super) struct Tail(Body);

#[cfg(test)]
mod tests;
