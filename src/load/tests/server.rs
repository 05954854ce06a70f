//! A server that says to each request what a test wants, in the pieces that it wants.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// One thing to do while answering.
#[derive(Clone)]
pub(super) enum Do {
    /// Writes bytes at once.
    Write(Vec<u8>),
    /// Waits until the gate is opened.
    Wait(Gate),
    /// Ends the connection.
    Close,
    /// Ends the connection with a reset.
    Reset,
    /// Ends the connection when the next request comes, without a word to it.
    CloseOnNext,
}

/// What a server does for one request.
pub(super) type Reply = Vec<Do>;

/// Opened once, by a test.
#[derive(Clone)]
pub(super) struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    pub(super) fn open(&self) {
        self.0.send_replace(true);
    }

    async fn opened(&self) {
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

/// A listening server; it ends with the test's runtime.
pub(super) struct Server {
    url: String,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicU32,
    requests: watch::Sender<u32>,
    in_flight: AtomicU32,
    most_in_flight: AtomicU32,
    heads: Mutex<Vec<String>>,
    bodies: Mutex<Vec<String>>,
}

impl Server {
    /// Starts; `reply` gets the request's number from 0 on.
    pub(super) async fn start(reply: impl Fn(u32) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Seen::default());
        let reply = Arc::new(reply);
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&shared), Arc::clone(&reply)));
            }
        });
        Self { url, seen }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn connections(&self) -> u32 {
        self.seen.connections.load(Ordering::SeqCst)
    }

    pub(super) fn most_in_flight(&self) -> u32 {
        self.seen.most_in_flight.load(Ordering::SeqCst)
    }

    pub(super) fn bodies(&self) -> Vec<String> {
        self.seen.bodies.lock().unwrap().clone()
    }

    /// The values of a header (lowercase) in the requests that have it.
    pub(super) fn values(&self, header: &str) -> Vec<String> {
        let heads = self.seen.heads.lock().unwrap();
        let lines = heads.iter().flat_map(|head| head.lines());
        lines
            .filter_map(|line| line.strip_prefix(header)?.strip_prefix(": "))
            .map(str::to_owned)
            .collect()
    }

    /// Waits until so many requests have come.
    pub(super) async fn reached(&self, requests: u32) {
        let mut seen = self.seen.requests.subscribe();
        seen.wait_for(|seen| *seen >= requests).await.unwrap();
    }

    /// The same, to wait for elsewhere.
    pub(super) fn reaching(&self, requests: u32) -> impl Future<Output = ()> + Send + use<> {
        let mut seen = self.seen.requests.subscribe();
        async move {
            seen.wait_for(|seen| *seen >= requests).await.unwrap();
        }
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Seen>,
    reply: Arc<impl Fn(u32) -> Reply + Send + Sync + 'static>,
) {
    stream.set_nodelay(true).unwrap();
    while let Some((head, body)) = request(&mut stream).await {
        seen.heads.lock().unwrap().push(head);
        seen.bodies.lock().unwrap().push(body);
        let level = seen.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        seen.most_in_flight.fetch_max(level, Ordering::SeqCst);
        let mut number = 0;
        seen.requests.send_modify(|requests| {
            number = *requests;
            *requests += 1;
        });
        let actions = reply(number);
        let last = actions.len();
        for (at, action) in actions.into_iter().enumerate() {
            if at + 1 == last {
                // A client may be free before this task runs again.
                seen.in_flight.fetch_sub(1, Ordering::SeqCst);
            }
            match action {
                Do::Write(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                Do::Wait(gate) => gate.opened().await,
                Do::Close => return,
                Do::CloseOnNext => {
                    request(&mut stream).await;
                    return;
                }
                Do::Reset => {
                    stream.set_zero_linger().unwrap();
                    return;
                }
            }
        }
    }
}

/// The head (in lowercase) and the body of the next request; `None` when the client is gone.
async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if bytes.len() >= end + 4 + length {
                let body = String::from_utf8(bytes[end + 4..].to_vec()).unwrap();
                return Some((head, body));
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// A response of a status with a body.
pub(super) fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}").into_bytes()
}

/// The head of a chunked event stream.
pub(super) fn head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        .to_vec()
}

/// Events in one chunk of a chunked body.
pub(super) fn events(data: &[&str]) -> Vec<u8> {
    let mut text = String::new();
    for data in data {
        text.push_str("data: ");
        text.push_str(data);
        text.push_str("\n\n");
    }
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

/// The end of a chunked body.
pub(super) fn end() -> Vec<u8> {
    b"0\r\n\r\n".to_vec()
}

pub(super) const ROLE: &str = r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#;
pub(super) const A: &str = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
pub(super) const B: &str = r#"{"choices":[{"delta":{"content":"日"}}]}"#;
pub(super) const LENGTH: &str = r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#;
pub(super) const USAGE: &str =
    r#"{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":2}}"#;
pub(super) const DONE: &str = "[DONE]";

/// A whole good answer of two tokens.
pub(super) fn good() -> Vec<u8> {
    [
        head(),
        events(&[ROLE, A]),
        events(&[B, LENGTH, USAGE, DONE]),
        end(),
    ]
    .concat()
}

/// The same, and the connection's last.
pub(super) fn last_good() -> Vec<u8> {
    let text = String::from_utf8(good()).unwrap();
    text.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1)
        .into_bytes()
}
