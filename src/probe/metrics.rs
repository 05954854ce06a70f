//! Where the engine's metrics are, and one look at them.

use std::sync::{Arc, OnceLock};

use super::client::ProbeClient;
use super::engine::Reply;
use super::error::ProbeError;
use crate::spec::MetricsPlace;
use crate::wire::engine_metrics::{EngineReading, NoReading, read};

/// Where a replica's metrics are.
#[derive(Debug, Clone)]
pub struct MetricsSource(Option<Pages>);

/// Pages that may be metrics.
#[derive(Debug, Clone)]
struct Pages {
    client: ProbeClient,
    /// Paths below the client's base URL, in the order in which they are tried.
    paths: Vec<String>,
    /// The one of them that had metrics, which alone is asked from then on.
    found: Arc<OnceLock<usize>>,
}

/// Why a look at metrics brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMetrics {
    /// The reason.
    pub why: String,
    /// Whether another look may bring something: what answers, but no metrics, will not have any later.
    pub may_pass: bool,
}

impl MetricsSource {
    /// Those of the replica that this client asks, where the spec says. What is of another origin than
    /// the replica is asked without its key, headers and certificate.
    ///
    /// # Errors
    ///
    /// As [`ProbeClient::new`].
    pub fn of(client: &ProbeClient, place: &MetricsPlace) -> Result<Self, ProbeError> {
        let usual = || MetricsPlace::PATHS.map(str::to_owned).to_vec();
        let (client, paths) = match place {
            MetricsPlace::Off => return Ok(Self(None)),
            MetricsPlace::Usual => (client.clone(), usual()),
            MetricsPlace::Path(path) => (client.clone(), vec![path.clone()]),
            MetricsPlace::Urls(urls) => match urls.get(client.base()) {
                Some(url) => {
                    let (origin, path) = split(url);
                    (client.elsewhere(origin)?, vec![path.to_owned()])
                }
                None => (client.clone(), usual()),
            },
        };
        Ok(Self(Some(Pages {
            client,
            paths,
            found: Arc::default(),
        })))
    }

    /// The same, to be asked on another runtime: connections belong to the one that they were opened on.
    ///
    /// # Errors
    ///
    /// As [`ProbeClient::new`].
    pub fn anew(&self) -> Result<Self, ProbeError> {
        let anew = |pages: &Pages| {
            Ok(Pages {
                client: pages.client.anew()?,
                ..pages.clone()
            })
        };
        Ok(Self(self.0.as_ref().map(anew).transpose()?))
    }

    /// The URL; empty where they are off.
    pub fn url(&self) -> String {
        let url = |pages: &Pages| format!("{}{}", pages.client.base(), pages.path());
        self.0.as_ref().map(url).unwrap_or_default()
    }

    /// What the page says, for pins; `None` where metrics are off.
    pub(super) async fn page(&self) -> Option<Reply> {
        let pages = self.0.as_ref()?;
        let first = Box::pin(async {
            let mut answer = Err(ProbeError::NotJson {
                path: String::new(),
            });
            for path in &pages.paths {
                answer = pages.client.text(path).await;
                if !matches!(answer, Err(ProbeError::Status { status: 404, .. })) {
                    break;
                }
            }
            answer
        });
        Some(Reply::briefly(first).await)
    }

    /// Asks for the metrics.
    ///
    /// # Errors
    ///
    /// [`NoMetrics`] where there is no answer, or one that says nothing that is known.
    pub async fn read(&self) -> Result<EngineReading, NoMetrics> {
        let Some(pages) = &self.0 else {
            return Err(NoMetrics {
                why: MetricsPlace::OFF.to_owned(),
                may_pass: false,
            });
        };
        if pages.found.get().is_some() {
            return pages.at(pages.path()).await.map_err(|miss| miss.none);
        }
        let mut first = None;
        for (index, path) in pages.paths.iter().enumerate() {
            match pages.at(path).await {
                Ok(reading) => {
                    let _ = pages.found.set(index);
                    return Ok(reading);
                }
                Err(miss) => {
                    let goes_on = miss.elsewhere;
                    // The usual place tells most.
                    first.get_or_insert(miss.none);
                    if !goes_on {
                        break;
                    }
                }
            }
        }
        Err(first.unwrap_or_else(|| NoMetrics {
            why: "no path was asked".to_owned(),
            may_pass: false,
        }))
    }
}

/// A page that was no metrics.
struct Miss {
    none: NoMetrics,
    /// Whether they may be on another page of the same server.
    elsewhere: bool,
}

impl Pages {
    /// The path that had metrics, else the first.
    fn path(&self) -> &str {
        let index = self.found.get().copied().unwrap_or(0);
        self.paths.get(index).map_or("", String::as_str)
    }

    async fn at(&self, path: &str) -> Result<EngineReading, Miss> {
        let text = self.client.text(path).await.map_err(|error| {
            let may_pass = matches!(
                error,
                ProbeError::Unreachable { .. } | ProbeError::Status { status: 500.., .. }
            );
            let elsewhere = matches!(error, ProbeError::Status { status: 404, .. });
            let why = match error {
                ProbeError::Status { status, .. } => format!("{path} answers {status}"),
                other => other.to_string(),
            };
            Miss {
                none: NoMetrics { why, may_pass },
                elsewhere,
            }
        })?;
        read(&text).map_err(|error| Miss {
            none: NoMetrics {
                why: format!("{path}: {error}"),
                may_pass: false,
            },
            // trtllm-serve has JSON at the usual path.
            elsewhere: error == NoReading::NotPrometheus,
        })
    }
}

/// `http://h:9090` and `/metrics` of `http://h:9090/metrics`; a URL without a path has `/`.
fn split(url: &str) -> (&str, &str) {
    let host = url.find("://").map_or(0, |scheme| scheme + 3);
    match url[host..].find('/') {
        Some(path) => url.split_at(host + path),
        None => (url, "/"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio::net::TcpListener;

    use super::*;
    use crate::access::Access;
    use crate::ident::Secret;

    /// A server that has a page for each path, and 404 for every other; with the heads of what was asked.
    async fn server(
        pages: &'static [(&'static str, &'static str)],
    ) -> (String, Arc<Mutex<Vec<String>>>) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let mut socket = BufReader::new(socket);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    assert!(socket.read_line(&mut head).await.unwrap() > 0);
                }
                let asked = head.split(' ').nth(1).unwrap();
                let page = pages.iter().find(|(path, _)| *path == asked);
                let (status, body) = page.map_or((404, ""), |(_, body)| (200, *body));
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                seen.lock().unwrap().push(head);
                let _ = socket.get_mut().write_all(answer.as_bytes()).await;
            }
        });
        (base, heads)
    }

    fn lines(heads: &Mutex<Vec<String>>) -> Vec<String> {
        let heads = heads.lock().unwrap();
        let line = |head: &String| head.split("\r\n").next().unwrap().to_owned();
        heads.iter().map(line).collect()
    }

    fn known(base: &str, place: &MetricsPlace) -> MetricsSource {
        let access = Access {
            key: Some(Secret::new("sk-123456".to_owned())),
            headers: vec![("x-team".to_owned(), Secret::new("blue".to_owned()))],
            ..Access::default()
        };
        MetricsSource::of(&ProbeClient::new(base, &access).unwrap(), place).unwrap()
    }

    const ENGINE: &str = "trtllm_num_requests_running 0\n";

    #[tokio::test]
    async fn trtllm_serve_has_them_at_another_path_which_is_asked_alone_once_it_is_known() {
        let (base, heads) = server(&[("/prometheus/metrics", ENGINE)]).await;
        let source = known(&base, &MetricsPlace::Usual);
        source.read().await.unwrap();
        source.read().await.unwrap();
        let usual = "GET /metrics HTTP/1.1";
        let other = "GET /prometheus/metrics HTTP/1.1";
        assert_eq!(lines(&heads), [usual, other, other]);
        assert_eq!(source.url(), format!("{base}/prometheus/metrics"));
        // Its JSON of iterations, where that is on, is no metrics either.
        let (base, _) = server(&[("/metrics", "[]"), ("/prometheus/metrics", ENGINE)]).await;
        known(&base, &MetricsPlace::Usual).read().await.unwrap();
    }

    #[tokio::test]
    async fn a_path_of_the_spec_is_the_only_one() {
        let (base, heads) = server(&[("/prometheus/metrics", ENGINE)]).await;
        let path = MetricsPlace::Path("/metrics".to_owned());
        let none = known(&base, &path).read().await.unwrap_err();
        assert_eq!(none.why, "/metrics answers 404");
        assert_eq!(heads.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn only_the_targets_own_origin_is_shown_key_and_headers() {
        let (target, own) = server(&[("/m", ENGINE)]).await;
        let (other, others) = server(&[("/m", ENGINE)]).await;
        for url in [&target, &other] {
            let urls = [(target.clone(), format!("{url}/m"))];
            let place = MetricsPlace::Urls(urls.into());
            known(&target, &place).read().await.unwrap();
        }
        let own = own.lock().unwrap()[0].to_lowercase();
        assert!(own.contains("authorization: bearer sk-123456") && own.contains("x-team: blue"));
        let others = others.lock().unwrap()[0].to_lowercase();
        assert!(
            !others.contains("authorization") && !others.contains("x-team"),
            "{others}"
        );
    }

    #[tokio::test]
    async fn urls_are_those_of_the_specs_own_replicas() {
        let (target, _) = server(&[]).await;
        let (side, heads) = server(&[("/metrics", ENGINE)]).await;
        let urls = [(target, "http://127.0.0.1:9/m".to_owned())];
        let place = MetricsPlace::Urls(urls.into());
        known(&side, &place).read().await.unwrap();
        assert_eq!(lines(&heads), ["GET /metrics HTTP/1.1"]);
    }

    #[test]
    fn a_url_is_an_origin_and_a_path() {
        assert_eq!(split("http://h:1/a/b"), ("http://h:1", "/a/b"));
        assert_eq!(split("https://[::1]:1"), ("https://[::1]:1", "/"));
    }
}
