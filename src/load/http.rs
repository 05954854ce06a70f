//! One request over HTTP: the one place where the load client touches the network, and where each
//! read is given its instant.

mod headers;
mod refusal;

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    CONTENT_ENCODING, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION,
};
use hyper::{Method, Request};
use refusal::{is_json, is_loss, no_response, not_opened, refused};
use tokio::time::{Sleep, sleep_until, timeout};

use super::clock::Clock;
use super::connection::{Body, Inflate, Outgoing};
use super::cpu;
use super::endpoint::{ClientError, Endpoint};
use super::lane::{Lane, Lanes};
use super::limits::Limits;
use super::place::Place;
use super::pool::{Asked, ConnectError, Opening, Taken};
use super::tls;
use crate::access::{Access, causes};
use crate::sample::Outcome;
use crate::spec::HttpVersion;
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
    /// With the headers of requests there.
    places: Vec<(Place, HeaderMap)>,
    opening: Opening,
    template: RequestTemplate,
    access: Access,
    /// Runs as long as the client, by which idle connections age.
    clock: Clock,
    opened: AtomicU64,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field(
                "places",
                &self
                    .shared
                    .places
                    .iter()
                    .map(|(place, _)| place)
                    .collect::<Vec<_>>(),
            )
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
        let access = &endpoint.access;
        let headers = headers::of(access)?;
        let mut config = None;
        let mut tls = || match &config {
            Some(config) => Ok(Arc::clone(config)),
            None => Ok(Arc::clone(config.insert(Arc::new(tls::config(access)?)))),
        };
        let opening = Opening {
            http2: access.http == HttpVersion::Http2,
            limit: connect,
        };
        let places = endpoint
            .base_urls
            .iter()
            .map(|base| {
                let place = Place::new(base, endpoint.api.path(), opening, &mut tls)?;
                let mut headers = headers.clone();
                headers.insert(HOST, place.host.clone());
                if let Some(key) = &place.proxy_key {
                    headers.insert(PROXY_AUTHORIZATION, key.clone());
                }
                Ok((place, headers))
            })
            .collect::<Result<Vec<_>, ClientError>>()?;
        let lanes = Lanes::start(cpu::cores().ceil() as usize, places.len()).map_err(|error| {
            ClientError::Setup {
                reason: error.to_string(),
            }
        })?;
        Ok(Self {
            shared: Arc::new(Shared {
                places,
                opening,
                template: RequestTemplate::new(endpoint.api, &endpoint.model, &endpoint.extra),
                access: access.clone(),
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
        let masked = self.shared.access.mask(text);
        match masked.char_indices().nth(TEXT) {
            Some((end, _)) => masked[..end].to_owned(),
            None => masked,
        }
    }

    /// A request that only has to be sent, and the name by which server logs know it; a name that no
    /// header takes is left out. It goes to the replica whose turn it is at this number.
    pub(super) fn ready(&self, body: Vec<u8>, name: &str, number: u32) -> Ready {
        let place = number as usize % self.shared.places.len();
        let (Place { request: uri, .. }, headers) = &self.shared.places[place];
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri.clone();
        request.headers_mut().clone_from(headers);
        if let Ok(name) = HeaderValue::from_str(name) {
            request.headers_mut().insert(REQUEST_ID, name);
        }
        Ready { place, request }
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
        Ready { place, request }: Ready,
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
            let mut taking = Box::pin(self.take(lane, place, seen.resent > 0));
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
                                    return Ended::Answer { end: End::Eof, tail: Some(Box::new(Tail { body, place })) };
                                }
                                Feed::Failed => End::Eof,
                            }
                        }
                        Ok(None) => return Ended::Answer { end: End::Eof, tail: Some(Box::new(Tail { body, place })) },
                        Err(error) => End::Broken(causes(&error)),
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

    async fn take(&self, lane: &Lane, place: usize, fresh: bool) -> Result<Taken, ConnectError> {
        let Shared {
            places,
            opening,
            clock,
            opened,
            ..
        } = &*self.shared;
        let count = || {
            opened.fetch_add(1, Ordering::Relaxed);
        };
        let asked = Asked {
            index: place,
            place: &places[place].0,
            opening: *opening,
            fresh,
        };
        lane.pool.take(asked, clock.now(), count).await
    }

    /// Reads to the end of a body that has said all, so that its connection can serve again.
    pub(super) async fn drain(&self, lane: &Lane, tail: Box<Tail>) {
        let Tail { mut body, place } = *tail;
        let rest = async { while let Ok(Some(_)) = body.read().await {} };
        if timeout(TAIL.to_duration(), rest).await.is_ok()
            && let Some(connection) = body.into_connection().await
        {
            lane.pool.keep(place, connection, self.shared.clock.now());
        }
    }
}

/// A request that only has to be sent.
#[derive(Debug)]
pub(super) struct Ready {
    /// Which replica it goes to.
    place: usize,
    request: Outgoing,
}

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
pub(super) struct Tail {
    body: Body,
    place: usize,
}

#[cfg(test)]
mod tests;
