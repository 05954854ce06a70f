//! A small HTTP front on 127.0.0.1 that adds what gateways add: delay, buffering, clumps, refusals and
//! queues of its own.
//!
//! A body's pieces leave in order, each a delay after it came; timers, no loops that wait.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::stream::unfold;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};

/// What a front adds; nothing by default.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    /// To each request before it is handed on, and to each piece of its answer on the way back.
    pub(crate) delay: Duration,
    /// In which pieces answers come.
    pub(crate) pieces: Pieces,
    /// Every so many-th request that posts something is answered 503 instead.
    pub(crate) refuse_every: Option<u64>,
    /// Requests handed on at once; others wait here.
    pub(crate) at_once: Option<usize>,
}

/// In which pieces a front hands answers on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Pieces {
    /// As the server cut them.
    #[default]
    AsTheyCome,
    /// So many of them together.
    Clumps(usize),
    /// Cut again, into at most so many bytes.
    Cut(usize),
    /// All together, when the answer has ended.
    Whole,
}

/// A front that ends with the test.
pub(crate) struct Proxy {
    /// `127.0.0.1:PORT`.
    pub(crate) address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Proxy {
    /// In front of the server at this `host:port`, on a free port.
    pub(crate) fn start(to: &str, manner: Manner) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, stopped) = oneshot::channel();
        let front = Arc::new(Front {
            to: to.parse().unwrap(),
            manner,
            posts: AtomicU64::new(0),
            lanes: manner.at_once.map(|lanes| Arc::new(Semaphore::new(lanes))),
        });
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = front.accept(listener) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

struct Front {
    to: SocketAddr,
    manner: Manner,
    posts: AtomicU64,
    lanes: Option<Arc<Semaphore>>,
}

impl Front {
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            client.set_nodelay(true).unwrap();
            let front = Arc::clone(&self);
            tokio::spawn(async move {
                let serve = service_fn(move |request| {
                    let front = Arc::clone(&front);
                    async move { Ok::<_, Infallible>(front.answer(request).await) }
                });
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(client), serve)
                    .await;
            });
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let posts = request.method() == Method::POST;
        let (head, body) = request.into_parts();
        let Ok(body) = body.collect().await else {
            return plain(StatusCode::BAD_REQUEST, "the request broke off");
        };
        if posts && let Some(every) = self.manner.refuse_every {
            let number = self.posts.fetch_add(1, Ordering::Relaxed) + 1;
            if number.is_multiple_of(every) {
                return plain(StatusCode::SERVICE_UNAVAILABLE, "the front has no room");
            }
        }
        let lane = match (&self.lanes, posts) {
            (Some(lanes), true) => Arc::clone(lanes).acquire_owned().await.ok(),
            _ => None,
        };
        sleep(self.manner.delay).await;
        match self
            .hand_on(Request::from_parts(head, Full::new(body.to_bytes())))
            .await
        {
            Some(answer) => self.hand_back(answer, lane).await,
            None => plain(
                StatusCode::BAD_GATEWAY,
                "the server behind this front is gone",
            ),
        }
    }

    /// Over a connection of its own.
    async fn hand_on(&self, request: Request<Full<Bytes>>) -> Option<Response<Incoming>> {
        let server = TcpStream::connect(self.to).await.ok()?;
        server.set_nodelay(true).ok()?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(server))
            .await
            .ok()?;
        tokio::spawn(connection);
        sender.send_request(request).await.ok()
    }

    async fn hand_back(
        &self,
        answer: Response<Incoming>,
        lane: Option<OwnedSemaphorePermit>,
    ) -> Answer {
        let (mut head, mut body) = answer.into_parts();
        for name in [CONNECTION, TRANSFER_ENCODING, CONTENT_LENGTH] {
            head.headers.remove(name);
        }
        let manner = self.manner;
        let (pieces, due) = mpsc::unbounded_channel::<(Instant, Bytes)>();
        tokio::spawn(async move {
            let mut held = Held::of(manner.pieces);
            while let Some(Ok(frame)) = body.frame().await {
                let Ok(bytes) = frame.into_data() else {
                    continue;
                };
                let at = Instant::now() + manner.delay;
                if held
                    .take(&bytes)
                    .any(|piece| pieces.send((at, piece)).is_err())
                {
                    return;
                }
            }
            drop(lane);
            let rest = held.rest();
            if !rest.is_empty() {
                let _ = pieces.send((Instant::now() + manner.delay, rest));
            }
        });
        let mut due = due;
        // The head leaves with the first piece.
        let Some((at, first)) = due.recv().await else {
            return Response::from_parts(head, Full::default().boxed_unsync());
        };
        sleep_until(at).await;
        let pieces = unfold((Some(first), due), |(first, mut due)| async move {
            let piece = if let Some(piece) = first {
                piece
            } else {
                let (at, piece) = due.recv().await?;
                sleep_until(at).await;
                piece
            };
            Some((Ok(Frame::data(piece)), (None, due)))
        });
        Response::from_parts(head, StreamBody::new(pieces).boxed_unsync())
    }
}

/// What of an answer is held back until more has come.
struct Held {
    pieces: Pieces,
    bytes: BytesMut,
    came: usize,
}

impl Held {
    fn of(pieces: Pieces) -> Self {
        Self {
            pieces,
            bytes: BytesMut::new(),
            came: 0,
        }
    }

    /// Takes what came; what can leave now.
    fn take(&mut self, bytes: &[u8]) -> impl Iterator<Item = Bytes> + use<> {
        self.bytes.extend_from_slice(bytes);
        self.came += 1;
        let mut leave = Vec::new();
        match self.pieces {
            Pieces::AsTheyCome => leave.push(self.rest()),
            Pieces::Clumps(size) if self.came.is_multiple_of(size) => leave.push(self.rest()),
            Pieces::Cut(size) => {
                while !self.bytes.is_empty() {
                    let end = size.min(self.bytes.len());
                    leave.push(self.bytes.split_to(end).freeze());
                }
            }
            Pieces::Clumps(_) | Pieces::Whole => {}
        }
        leave.into_iter()
    }

    fn rest(&mut self) -> Bytes {
        self.bytes.split().freeze()
    }
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::from(text).boxed_unsync());
    *answer.status_mut() = status;
    answer
}
