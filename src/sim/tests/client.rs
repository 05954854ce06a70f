//! A client that knows only bytes.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One response, read to the connection's end.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: String,
    pub(super) body: String,
    /// Whether the body ended as HTTP says it must.
    pub(super) complete: bool,
}

impl Reply {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of each event.
    pub(super) fn events(&self) -> Vec<String> {
        self.body
            .split_terminator("\n\n")
            .map(|event| event.strip_prefix("data: ").unwrap().to_owned())
            .collect()
    }

    /// The events that are chunks.
    pub(super) fn chunks(&self) -> Vec<Value> {
        self.events()
            .iter()
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}

pub(super) fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: sim\r\nconnection: close\r\ncontent-length: {}\r\n\
         content-type: application/json\r\n{headers}\r\n{body}",
        body.len()
    )
}

pub(super) async fn send(addr: SocketAddr, request: String) -> Reply {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let closed = stream.read_to_end(&mut bytes).await.is_ok();
    let text = String::from_utf8(bytes).unwrap();
    let (headers, raw) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = headers.split(' ').nth(1).map_or(0, |s| s.parse().unwrap());
    let (body, complete) = if headers.contains("transfer-encoding: chunked") {
        unchunk(raw)
    } else {
        (raw.to_owned(), true)
    };
    Reply {
        status,
        headers: headers.to_owned(),
        body,
        complete: complete && closed && status > 0,
    }
}

fn unchunk(mut raw: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, rest)) = raw.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.push_str(&rest[..size]);
        raw = &rest[size + 2..];
    }
    (body, false)
}
