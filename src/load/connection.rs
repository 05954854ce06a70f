//! One connection to the target, driven by the request that it serves.
//!
//! hyper splits a connection in a half to send on and a half that reads and writes the socket, which
//! is commonly spawned as a task. Here the request's own task drives the second half too: a token then
//! wakes one task instead of two. And as nothing reads between requests, a connection that the server
//! has closed meanwhile is found out right before it would serve again.

use std::future::poll_fn;
use std::io::{self, Write as _};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::write::GzDecoder;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::{TrySendError, http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::TokioExecutor;

use super::place::Stream;
use super::relay::Relay;

/// What is sent.
pub(super) type Outgoing = Request<Full<Bytes>>;

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    link: Link,
}

#[derive(Debug)]
enum Link {
    Http1 {
        sender: http1::SendRequest<Full<Bytes>>,
        /// The half that reads and writes; `None` once it has closed.
        socket: Option<Box<http1::Connection<Stream, Full<Bytes>>>>,
        relay: Relay,
    },
    Http2(Http2Stream),
}

/// A place in an HTTP/2 connection that requests share.
#[derive(Debug)]
struct Http2Stream {
    sender: http2::SendRequest<Full<Bytes>>,
    streams: Arc<AtomicU32>,
}

impl Drop for Http2Stream {
    fn drop(&mut self) {
        self.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An HTTP/2 connection that requests share; a task of its own drives it.
#[derive(Debug)]
pub(super) struct Shared {
    sender: http2::SendRequest<Full<Bytes>>,
    /// Requests on it.
    streams: Arc<AtomicU32>,
    /// How many the server allows, by its latest word.
    most: Arc<AtomicUsize>,
}

impl Shared {
    /// Speaks HTTP/2 over an open stream, on the current runtime.
    pub(super) async fn start(stream: Stream) -> hyper::Result<Self> {
        let (sender, mut connection) = http2::Builder::new(TokioExecutor::new())
            .adaptive_window(true)
            .handshake(stream)
            .await?;
        let most = Arc::new(AtomicUsize::new(connection.current_max_send_streams()));
        let told = Arc::clone(&most);
        tokio::spawn(poll_fn(move |context| {
            // What ends it, each request on it is told.
            let ended = Pin::new(&mut connection).poll(context).map(drop);
            told.store(connection.current_max_send_streams(), Ordering::Relaxed);
            ended
        }));
        Ok(Self {
            sender,
            streams: Arc::default(),
            most,
        })
    }

    /// Whether nothing can be sent on it any more.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// A place in it, unless it has as many streams as the server allows: a further request would
    /// wait inside the client, unseen.
    pub(super) fn stream(&self) -> Option<Connection> {
        let most = self.most.load(Ordering::Relaxed);
        if self.streams.load(Ordering::Relaxed) as usize >= most {
            return None;
        }
        self.streams.fetch_add(1, Ordering::Relaxed);
        Some(Connection {
            link: Link::Http2(Http2Stream {
                sender: self.sender.clone(),
                streams: Arc::clone(&self.streams),
            }),
        })
    }
}

impl Connection {
    /// Speaks HTTP/1.1 over an open stream.
    pub(super) async fn http1(stream: Stream) -> hyper::Result<Self> {
        let (sender, socket) = http1::handshake(stream).await?;
        Ok(Self {
            link: Link::Http1 {
                sender,
                socket: Some(Box::new(socket)),
                relay: Relay::new(),
            },
        })
    }

    /// Whether it may serve one request after another, which a stream of a shared one does not.
    pub(super) const fn is_http1(&self) -> bool {
        matches!(self.link, Link::Http1 { .. })
    }

    /// Sends a request and waits for the head of its answer. A request that was never written comes
    /// back with the error.
    pub(super) async fn send(
        &mut self,
        request: Outgoing,
    ) -> Result<Response<hyper::body::Incoming>, TrySendError<Outgoing>> {
        match &mut self.link {
            Link::Http1 {
                sender,
                socket,
                relay,
            } => {
                let mut answer = pin!(sender.try_send_request(request));
                poll_fn(|context| {
                    relay.poll(context, |context| {
                        turn(socket, context);
                        answer.as_mut().poll(context)
                    })
                })
                .await
            }
            Link::Http2(stream) => stream.sender.try_send_request(request).await,
        }
    }

    /// Whether another request can be sent on it: looks at the socket for a close that has arrived.
    pub(super) async fn is_open(&mut self) -> bool {
        match &mut self.link {
            Link::Http1 {
                sender,
                socket,
                relay,
            } => {
                poll_fn(|context| {
                    relay.poll(context, |context| {
                        turn(socket, context);
                        Poll::Ready(())
                    })
                })
                .await;
                socket.is_some() && sender.is_ready()
            }
            Link::Http2(stream) => !stream.sender.is_closed(),
        }
    }
}

/// Lets the socket's half read and write what it can.
fn turn(
    socket: &mut Option<Box<http1::Connection<Stream, Full<Bytes>>>>,
    context: &mut Context<'_>,
) {
    if let Some(driver) = socket
        // Its error is told to the request too.
        && Pin::new(driver).poll(context).is_ready()
    {
        *socket = None;
    }
}

/// An answer's body, with the connection that it comes over.
#[derive(Debug)]
pub(super) struct Body {
    connection: Connection,
    incoming: hyper::body::Incoming,
    inflate: Option<Inflate>,
}

impl Body {
    /// The body of an answer that has a head.
    pub(super) const fn new(
        connection: Connection,
        incoming: hyper::body::Incoming,
        inflate: Option<Inflate>,
    ) -> Self {
        Self {
            connection,
            incoming,
            inflate,
        }
    }

    /// What comes next, unpacked; `None` at its end. May be dropped and called again.
    pub(super) async fn read(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let Some(frame) = self.frame().await else {
                return Ok(None);
            };
            let Ok(bytes) = frame.map_err(io::Error::other)?.into_data() else {
                continue;
            };
            return match &mut self.inflate {
                None => Ok(Some(bytes)),
                Some(inflate) => inflate.unpack(&bytes).map(Some),
            };
        }
    }

    async fn frame(&mut self) -> Option<hyper::Result<hyper::body::Frame<Bytes>>> {
        let mut frame = self.incoming.frame();
        match &mut self.connection.link {
            Link::Http1 { socket, relay, .. } => {
                poll_fn(|context| {
                    relay.poll(context, |context| {
                        turn(socket, context);
                        Pin::new(&mut frame).poll(context)
                    })
                })
                .await
            }
            Link::Http2(_) => frame.await,
        }
    }

    /// The connection, where the body has ended and it can serve again.
    pub(super) async fn into_connection(self) -> Option<Connection> {
        let Self {
            mut connection,
            incoming,
            ..
        } = self;
        drop(incoming);
        connection.is_open().await.then_some(connection)
    }
}

/// Unpacks a gzip body as it comes.
#[derive(Debug)]
pub(super) struct Inflate(Box<GzDecoder<Vec<u8>>>);

impl Inflate {
    /// Most bytes that are unpacked of a read: deflate packs a thousand to one at most.
    const MOST: usize = 64 << 20;

    pub(super) fn new() -> Self {
        Self(Box::new(GzDecoder::new(Vec::new())))
    }

    fn unpack(&mut self, packed: &[u8]) -> io::Result<Bytes> {
        // By parts, for what one packs is bounded but large.
        for part in packed.chunks(4096) {
            self.0.write_all(part)?;
            self.0.flush()?;
            if self.0.get_ref().len() > Self::MOST {
                return Err(io::Error::other("the body unpacks to more than it may"));
            }
        }
        Ok(std::mem::take(self.0.get_mut()).into())
    }
}
