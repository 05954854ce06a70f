//! A GitHub on this machine that remembers what it was told, and refuses what GitHub would not take.
//!
//! Every request and every answer is held against GitHub's own description, and against what the
//! description leaves out. What is wrong is answered with 400 and kept: a test that does not ask for it
//! fails at its end.

mod description;
mod state;
mod strict;

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State as Shared;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use serde_json::{Value, json};

use self::description::Description;
pub(crate) use self::state::{FORK, HEAD, REPOSITORY, State, TOKEN, Viewer};

/// What goes wrong on the way.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// This status, message and these headers, and nothing is done.
    Says(u16, &'static str, Vec<(&'static str, String)>),
    /// It is done, and the answer is this status.
    DoneThen(u16),
    /// No answer comes, and nothing is done.
    Silence,
    /// It is done, and no answer comes.
    DoneThenSilence,
    /// It is done, and the connection ends in the middle of the answer.
    DoneThenCut,
    /// The page of a proxy.
    Page,
    /// The next page is at another server.
    LinkElsewhere,
}

/// A fault at a request whose method and path are these, so many times.
struct Script {
    method: &'static str,
    path: &'static str,
    times: usize,
    fault: Fault,
}

/// Something that happens after a request whose method and path are these.
struct Event {
    method: &'static str,
    path: &'static str,
    change: Box<dyn FnOnce(&mut State) + Send>,
}

/// A request and what it was answered.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Value,
    pub(crate) answer: String,
}

#[derive(Default)]
struct Desk {
    scripts: Vec<Script>,
    events: Vec<Event>,
    exchanges: Vec<Exchange>,
    wrong: Vec<String>,
}

struct Server {
    state: Mutex<State>,
    desk: Mutex<Desk>,
    origin: String,
    /// What stands before each path: `/api/v3` on a server of one's own.
    prefix: &'static str,
}

/// It, until it is dropped.
pub(crate) struct Fake {
    server: Arc<Server>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Fake {
    /// As github.com.
    pub(crate) fn start() -> Self {
        Self::start_at("")
    }

    /// With this before each path, but for GraphQL, which is below `/api` then.
    pub(crate) fn start_at(prefix: &'static str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let server = Arc::new(Server {
            state: Mutex::new(State::new()),
            desk: Mutex::default(),
            origin: format!("http://{}", listener.local_addr().unwrap()),
            prefix,
        });
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let shared = Arc::clone(&server);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let router = Router::new().fallback(answer).with_state(shared);
                tokio::select! {
                    _ = async { axum::serve(listener, router).await } => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            server,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Where its API is.
    pub(crate) fn api(&self) -> String {
        format!("{}{}", self.server.origin, self.server.prefix)
    }

    /// Where its API for GraphQL is.
    pub(crate) fn graphql(&self) -> String {
        let path = if self.server.prefix.is_empty() {
            "/graphql"
        } else {
            "/api/graphql"
        };
        format!("{}{path}", self.server.origin)
    }

    /// What is on it.
    pub(crate) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.server.state.lock().unwrap()
    }

    /// Lets something go wrong, once.
    pub(crate) fn fails(&self, method: &'static str, path: &'static str, fault: Fault) {
        self.fails_times(1, method, path, fault);
    }

    /// The same so many times.
    pub(crate) fn fails_times(
        &self,
        times: usize,
        method: &'static str,
        path: &'static str,
        fault: Fault,
    ) {
        self.server.desk.lock().unwrap().scripts.push(Script {
            method,
            path,
            times,
            fault,
        });
    }

    /// Lets something happen after a request.
    pub(crate) fn after(
        &self,
        method: &'static str,
        path: &'static str,
        change: impl FnOnce(&mut State) + Send + 'static,
    ) {
        let change = Box::new(change);
        self.server.desk.lock().unwrap().events.push(Event {
            method,
            path,
            change,
        });
    }

    /// What it was asked, and what it answered.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.server.desk.lock().unwrap().exchanges.clone()
    }

    /// The requests that change something, as `POST /issues/7/comments → 201`.
    pub(crate) fn writes(&self) -> Vec<String> {
        let exchanges = self.exchanges();
        let writes = exchanges
            .iter()
            .filter(|exchange| exchange.method != "GET" && !exchange.path.ends_with("/graphql"));
        writes.map(Exchange::line).collect()
    }

    /// What was wrong with requests; nothing is, for the test that asked.
    pub(crate) fn wrong(&self) -> Vec<String> {
        std::mem::take(&mut self.server.desk.lock().unwrap().wrong)
    }

    /// The bodies of the comments whose first line is a report's marker.
    pub(crate) fn reports(&self) -> Vec<String> {
        self.bodies("<!-- infergate:report ")
    }

    /// The bodies of the comments on changes.
    pub(crate) fn changes(&self) -> Vec<String> {
        self.bodies("<!-- infergate:change ")
    }

    fn bodies(&self, start: &str) -> Vec<String> {
        let state = self.state();
        let bodies = state
            .comments
            .iter()
            .filter_map(|comment| comment["body"].as_str());
        bodies
            .filter(|body| body.starts_with(start))
            .map(str::to_owned)
            .collect()
    }
}

impl Exchange {
    /// On one line, without what is the same everywhere.
    pub(crate) fn line(&self) -> String {
        let path = self.path.split('?').next().unwrap();
        let path = path
            .replace(&format!("/repos/{REPOSITORY}"), "")
            .replace(HEAD, "HEAD");
        format!("{} {path} → {}", self.method, self.answer)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if !std::thread::panicking() {
            let wrong = self.wrong();
            assert!(
                wrong.is_empty(),
                "GitHub would not take this:\n{}",
                wrong.join("\n")
            );
        }
    }
}

async fn answer(
    Shared(server): Shared<Arc<Server>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let fault = server.fault(&method, uri.path());
    let exchange = |body: &Value, answer: String| Exchange {
        method: method.to_string(),
        path: uri.to_string(),
        body: body.clone(),
        answer,
    };
    let json = serde_json::from_slice::<Value>(&body).unwrap_or_default();
    match &fault {
        Some(Fault::Says(status, message, headers)) => {
            server.note(exchange(&json, status.to_string()));
            return response(*status, &json!({"message": message}), headers);
        }
        Some(Fault::Silence) => {
            server.note(exchange(&json, "nothing".to_owned()));
            return std::future::pending().await;
        }
        Some(Fault::Page) => {
            server.note(exchange(&json, "200, a page".to_owned()));
            return Response::new(Body::from("<html>Sign in to the proxy</html>"));
        }
        _ => {}
    }
    let (given, link) = server.handle(&method, &uri, &headers, &body);
    let (status, mut extra) = (
        given.status,
        vec![("x-ratelimit-remaining", "4999".to_owned())],
    );
    if let Some(link) = link {
        let link = match fault {
            Some(Fault::LinkElsewhere) => "<http://127.0.0.2:9/steal>; rel=\"next\"".to_owned(),
            _ => link,
        };
        extra.push(("link", link));
    }
    match fault {
        Some(Fault::DoneThen(status)) => {
            server.note(exchange(&json, format!("done, then {status}")));
            response(status, &json!({"message": "Server Error"}), &[])
        }
        Some(Fault::DoneThenSilence) => {
            server.note(exchange(&json, "done, then nothing".to_owned()));
            std::future::pending().await
        }
        Some(Fault::DoneThenCut) => {
            server.note(exchange(&json, "done, then cut".to_owned()));
            let text = given.body.to_string();
            let half = Bytes::from(text[..text.len() / 2].to_owned());
            let parts = [Ok(half), Err(std::io::Error::other("cut"))];
            Response::new(Body::from_stream(futures_util::stream::iter(parts)))
        }
        _ => {
            server.note(exchange(&json, status.to_string()));
            response(status, &given.body, &extra)
        }
    }
}

impl Server {
    fn fault(&self, method: &Method, path: &str) -> Option<Fault> {
        let mut desk = self.desk.lock().unwrap();
        let script = desk.scripts.iter_mut().find(|script| {
            script.times > 0 && script.method == method.as_str() && path.contains(script.path)
        })?;
        script.times -= 1;
        Some(script.fault.clone())
    }

    /// Keeps an exchange; what happens after it happens now.
    fn note(&self, exchange: Exchange) {
        let mut desk = self.desk.lock().unwrap();
        let due =
            |event: &Event| exchange.method == event.method && exchange.path.contains(event.path);
        while let Some(index) = desk.events.iter().position(due) {
            let event = desk.events.remove(index);
            (event.change)(&mut self.state.lock().unwrap());
        }
        desk.exchanges.push(exchange);
    }

    /// Checks a request, does it, and checks the answer.
    fn handle(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> (state::Given, Option<String>) {
        let header = |name: &str| {
            let values: Vec<_> = headers.get_all(name).iter().collect();
            match values.as_slice() {
                [one] => one.to_str().ok(),
                _ => None,
            }
        };
        let wrong = strict::wrong_headers(&header);
        if !wrong.is_empty() {
            return (self.refuse(method, uri, &wrong), None);
        }
        let mut state = self.state.lock().unwrap();
        if header("authorization") != Some(&format!("Bearer {TOKEN}")) {
            let body = json!({"message": "Bad credentials"});
            return (
                state::Given {
                    status: 401,
                    body,
                    next: None,
                },
                None,
            );
        }
        let json = match (body.is_empty(), serde_json::from_slice::<Value>(body)) {
            (true, _) => None,
            (false, Ok(json)) => Some(json),
            (false, Err(error)) => {
                return (self.refuse(method, uri, &[error.to_string()]), None);
            }
        };
        let graphql = if self.prefix.is_empty() {
            "/graphql"
        } else {
            "/api/graphql"
        };
        if uri.path() == graphql {
            return (state.graphql(&json.unwrap_or_default()), None);
        }
        let Some(path) = uri.path().strip_prefix(self.prefix) else {
            return (
                self.refuse(method, uri, &["the path is not below the API's".to_owned()]),
                None,
            );
        };
        let github = Description::github();
        let call = match github.call(method.as_str(), path) {
            Ok(call) => call,
            Err(why) => return (self.refuse(method, uri, &[why]), None),
        };
        let query = pairs(uri.query().unwrap_or_default());
        let mut wrong = github.wrong_parameters(&call, &query);
        wrong.extend(github.wrong_body(&call, json.as_ref()));
        if let Some(json) = &json {
            wrong.extend(strict::wrong_body(&call, json));
        }
        if !wrong.is_empty() {
            return (self.refuse(method, uri, &wrong), None);
        }
        let given = state.call(&call, &query, &json.unwrap_or_default());
        if given.status < 300 {
            let wrong = github.wrong_answer(&call, given.status, &given.body);
            // That is a mistake of this fake, and no test may pass by it.
            self.desk.lock().unwrap().wrong.extend(wrong);
        }
        let link = given.next.map(|next| {
            let mut query: Vec<_> = query
                .into_iter()
                .filter(|(name, _)| name != "page")
                .collect();
            query.push(("page".to_owned(), next.to_string()));
            let query: Vec<String> = query
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!(
                "<{}{}?{}>; rel=\"next\"",
                self.origin,
                uri.path(),
                query.join("&")
            )
        });
        (given, link)
    }

    fn refuse(&self, method: &Method, uri: &Uri, wrong: &[String]) -> state::Given {
        let lines = wrong
            .iter()
            .map(|line| format!("{method} {}: {line}", uri.path()));
        self.desk.lock().unwrap().wrong.extend(lines);
        let body = json!({"message": wrong.join("; ")});
        state::Given {
            status: 400,
            body,
            next: None,
        }
    }
}

fn response(status: u16, body: &Value, headers: &[(&'static str, String)]) -> Response {
    let mut response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    response.body(Body::from(body.to_string())).unwrap()
}

/// The names and values of a query.
fn pairs(query: &str) -> Vec<(String, String)> {
    let plain = |text: &str| text.replace("%2F", "/").replace("%2f", "/");
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (plain(name), plain(value))
        })
        .collect()
}
