//! One request over HTTP: the one place where the load client touches the network, and where each
//! read is given its instant.

mod exchange;
mod headers;
mod refusal;

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
pub(super) use exchange::{Ended, Exchange, Ready, Tail};
use http_body_util::Full;
use hyper::header::{
    CONTENT_ENCODING, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION,
};
use hyper::{Method, Request};
use refusal::{is_json, is_loss, no_response, not_opened, refused};
use tokio::time::{Sleep, sleep_until, timeout};

use super::clock::Clock;
use super::connection::{Body, Inflate};
use super::cpu;
use super::endpoint::{ClientError, Endpoint};
use super::lane::{Lane, Lanes};
use super::limits::Limits;
use super::place::Place;
use super::pool::{Asked, ConnectError, Opening, Taken};
use super::tls;
use super::trust::Trust;
use crate::access::{Access, causes};
use crate::spec::HttpVersion;
use crate::unit::Nanos;
use crate::wire::request::RequestTemplate;
use crate::wire::{End, Feed};

/// A client of one endpoint; clones share its lanes and their connections.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    lanes: Arc<Lanes>,
}

struct Shared {
    places: Vec<Replica>,
    opening: Opening,
    template: RequestTemplate,
    access: Access,
    /// Runs as long as the client, by which idle connections age.
    clock: Clock,
    opened: AtomicU64,
}

/// One base URL of the target.
struct Replica {
    place: Place,
    /// Of requests there.
    headers: HeaderMap,
    trust: Trust,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("replicas", &self.shared.places.len())
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
                Ok(Replica {
                    place,
                    headers,
                    trust: Trust::default(),
                })
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
        let Replica {
            place: Place { request: uri, .. },
            headers,
            ..
        } = &self.shared.places[place];
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
        // Apart and boxed, for it is over before the first token, and large.
        let sending = Box::pin(async {
            let mut request = Some(request);
            while let Some(next) = request.take() {
                let mut taking = pin!(self.take(lane, place, seen.resent > 0));
                let taken = loop {
                    tokio::select! {
                        biased;
                        taken = &mut taking => break taken,
                        () = &mut timer => if let Some(end) = watched(seen, timer.as_mut()) {
                            return Err(Ended::Answer { end, tail: None });
                        }
                    }
                };
                let Taken {
                    mut connection,
                    is_kept,
                } = taken.map_err(not_opened)?;
                let trust = &self.shared.places[place].trust;
                let again = is_kept.then(|| next.clone());
                if is_kept {
                    trust.used();
                }
                let attempt = clock.now();
                let result = {
                    let mut sending = pin!(connection.send(next));
                    loop {
                        tokio::select! {
                            biased;
                            result = &mut sending => break result,
                            () = &mut timer => if let Some(end) = watched(seen, timer.as_mut()) {
                                return Err(Ended::Answer { end, tail: None });
                            }
                        }
                    }
                };
                match result {
                    Ok(response) => return Ok((connection, response)),
                    Err(error) => {
                        let early = clock.now().since(attempt) < STALE;
                        request = again.filter(|_| early && is_loss(error.error()));
                        if request.is_none() {
                            return Err(no_response(error.error()));
                        }
                        trust.lost();
                        seen.resent += 1;
                    }
                }
            }
            unreachable!("a request is sent, or sent again")
        });
        let (taken, response) = match sending.await {
            Ok(answered) => answered,
            Err(ended) => return ended,
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
            // A refusal counts as one, whatever its page is packed by.
            Some(_) if !head.status.is_success() => None,
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
            place: &places[place].place,
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
            && self.shared.places[place].trust.holds()
            && let Some(connection) = body.into_connection().await
        {
            lane.pool.keep(place, connection, self.shared.clock.now());
        }
    }
}

#[cfg(test)]
mod tests;
