//! A second opinion: the same requests and answers through prism, which holds them against the same
//! description by code that is not ours.
//!
//! `tests/github/prism.sh` sets `INFERGATE_PRISM` to prism's binary. What is asked of a stand-in then goes
//! through prism, whose upstream is one router for all of them. GraphQL is in no description and goes
//! straight.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;

/// Names the stand-in that a request is for.
const FOR: &str = "x-stand-in";
/// Says that a request has been through prism.
const SEEN: &str = "x-seen-by-prism";

/// prism, for the life of this process.
pub(super) struct Prism {
    origin: String,
    client: reqwest::Client,
    _child: Child,
}

impl Prism {
    /// It, where it is asked for; started once.
    #[expect(
        clippy::disallowed_methods,
        reason = "a switch of the tests themselves"
    )]
    pub(super) fn asked_for() -> Option<&'static Self> {
        static PRISM: OnceLock<Option<Prism>> = OnceLock::new();
        PRISM
            .get_or_init(|| Some(start(&std::env::var("INFERGATE_PRISM").ok()?)))
            .as_ref()
    }

    /// Whether a request has been through it.
    pub(super) fn has_seen(headers: &HeaderMap) -> bool {
        headers.contains_key(SEEN)
    }

    /// Sends a request through it to the stand-in at `origin`; `Err` is what prism finds wrong.
    pub(super) async fn ask(
        &self,
        origin: &str,
        method: Method,
        path: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response, String> {
        let mut headers = headers.clone();
        headers.insert(FOR, origin.parse().unwrap());
        let answer = forward(&self.client, &self.origin, method, path, headers, body).await;
        let kind = answer
            .headers()
            .get("content-type")
            .map(|kind| kind.to_str().unwrap().to_owned());
        if kind.is_some_and(|kind| kind.starts_with("application/problem+json")) {
            let body = axum::body::to_bytes(answer.into_body(), 1 << 20)
                .await
                .unwrap();
            return Err(String::from_utf8_lossy(&body).into_owned());
        }
        Ok(answer)
    }
}

/// prism in front of a router that knows every stand-in of this process.
#[expect(
    clippy::disallowed_methods,
    reason = "how long another program takes to start"
)]
fn start(program: &str) -> Prism {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = || {
        reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .build()
            .unwrap()
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    let router = client();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let route = move |method: Method, uri: Uri, mut headers: HeaderMap, body: Bytes| {
                let client = router.clone();
                async move {
                    let origin = headers.remove(FOR).unwrap();
                    headers.insert(SEEN, "yes".parse().unwrap());
                    let path = uri.path_and_query().unwrap().as_str().to_owned();
                    forward(
                        &client,
                        origin.to_str().unwrap(),
                        method,
                        &path,
                        headers,
                        body,
                    )
                    .await
                }
            };
            axum::serve(listener, Router::new().fallback(route))
                .await
                .unwrap();
        });
    });
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let description = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/github/api.schema.json"
    );
    // It ends with this process: `read` returns when the pipe closes.
    let script =
        "\"$0\" proxy -h 127.0.0.1 -p \"$1\" --errors \"$2\" \"$3\" >&2 & read -r end; kill $!";
    let mut child = Command::new("sh")
        .args([
            "-c",
            script,
            program,
            &free.port().to_string(),
            description,
            &upstream,
        ])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().flush().unwrap();
    let begun = Instant::now();
    while std::net::TcpStream::connect(free).is_err() {
        assert!(
            begun.elapsed() < Duration::from_mins(2),
            "`{program}` does not listen"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    Prism {
        origin: format!("http://{free}"),
        client: client(),
        _child: child,
    }
}

async fn forward(
    client: &reqwest::Client,
    origin: &str,
    method: Method,
    path: &str,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    for name in ["host", "content-length", "connection", "transfer-encoding"] {
        headers.remove(name);
    }
    let request = client
        .request(method, format!("{origin}{path}"))
        .headers(headers)
        .body(body);
    let answer = request.send().await.unwrap();
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        if !["content-length", "connection", "transfer-encoding"].contains(&name.as_str()) {
            response = response.header(name, value);
        }
    }
    response
        .body(Body::from(answer.bytes().await.unwrap()))
        .unwrap()
}
