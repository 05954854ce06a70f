//! Clients that do less than a load client must: they read answers and count lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Bodies that users take one after another.
struct Queue {
    bodies: Vec<Vec<u8>>,
    next: AtomicUsize,
}

impl Queue {
    fn new(bodies: Vec<Vec<u8>>) -> Arc<Self> {
        Arc::new(Self {
            bodies,
            next: AtomicUsize::new(0),
        })
    }

    fn take(&self) -> Option<&[u8]> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.bodies.get(next).map(Vec::as_slice)
    }
}

/// Counts lines that begin with `data:`, over any cut of the bytes.
#[derive(Default)]
struct Lines {
    count: u64,
    /// The last bytes of the reads before: shorter than what is looked for.
    carry: Vec<u8>,
}

impl Lines {
    fn feed(&mut self, bytes: &[u8]) {
        const DATA: &[u8] = b"data:";
        self.carry
            .extend_from_slice(&bytes[..bytes.len().min(DATA.len() - 1)]);
        self.count += memchr::memmem::find_iter(&self.carry, DATA).count() as u64;
        self.count += memchr::memmem::find_iter(bytes, DATA).count() as u64;
        if bytes.len() >= DATA.len() - 1 {
            self.carry.clear();
            self.carry
                .extend_from_slice(&bytes[bytes.len() + 1 - DATA.len()..]);
        } else {
            let surplus = self.carry.len().saturating_sub(DATA.len() - 1);
            self.carry.drain(..surplus);
        }
    }
}

async fn sum(mut users: JoinSet<u64>) -> u64 {
    let mut lines = 0;
    while let Some(user) = users.join_next().await {
        lines += user.unwrap();
    }
    lines
}

/// Users on a kept connection each, which watch for the last chunk of a body and read no HTTP.
pub(crate) async fn socket(address: &str, bodies: Vec<Vec<u8>>, users: u32) -> u64 {
    let queue = Queue::new(bodies);
    let mut tasks = JoinSet::new();
    for _ in 0..users {
        let (queue, address) = (Arc::clone(&queue), address.to_owned());
        tasks.spawn(async move {
            let mut stream = TcpStream::connect(&address).await.unwrap();
            stream.set_nodelay(true).unwrap();
            let mut lines = Lines::default();
            let mut buffer = vec![0; 64 << 10];
            while let Some(body) = queue.take() {
                let mut request = format!(
                    "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\n\
                     content-type: application/json\r\naccept: */*\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                )
                .into_bytes();
                request.extend_from_slice(body);
                stream.write_all(&request).await.unwrap();
                let mut tail = Vec::new();
                while !tail.ends_with(b"\r\n0\r\n\r\n") {
                    let read = stream.read(&mut buffer).await.unwrap();
                    assert!(read > 0, "the engine went away");
                    lines.feed(&buffer[..read]);
                    tail.extend_from_slice(&buffer[read.saturating_sub(7)..read]);
                    let surplus = tail.len().saturating_sub(7);
                    tail.drain(..surplus);
                }
            }
            lines.count
        });
    }
    sum(tasks).await
}

/// Users of one reqwest client, set up as the load client sets up its own.
pub(crate) async fn reqwest(url: &str, bodies: Vec<Vec<u8>>, users: u32) -> u64 {
    let client = reqwest::Client::builder()
        .no_proxy()
        .tcp_nodelay(true)
        .pool_max_idle_per_host(usize::MAX)
        .build()
        .unwrap();
    let queue = Queue::new(bodies);
    let url = format!("{url}/v1/chat/completions");
    let mut tasks = JoinSet::new();
    for _ in 0..users {
        let (queue, client, url) = (Arc::clone(&queue), client.clone(), url.clone());
        tasks.spawn(async move {
            let mut lines = Lines::default();
            while let Some(body) = queue.take() {
                let mut response = client
                    .post(&url)
                    .header("content-type", "application/json")
                    .body(body.to_vec())
                    .send()
                    .await
                    .unwrap();
                while let Some(bytes) = response.chunk().await.unwrap() {
                    lines.feed(&bytes);
                }
            }
            lines.count
        });
    }
    sum(tasks).await
}
