//! Small JSON requests to the target, apart from the load client.

mod call;

use std::time::Duration;

use reqwest::{Certificate, Identity};
use serde_json::Value;

use super::engine::Reply;
use super::error::ProbeError;
use crate::access::{Access, causes, is_loopback};
use crate::spec::HttpVersion;

/// Longest answer that is read: far above any model list or chat template.
pub(super) const LONGEST: usize = 8 << 20;

/// How long a question on the side may take.
pub(super) const BRIEFLY: Duration = Duration::from_secs(5);
/// As good as for ever: whoever waits for an answer in parts has a limit of its own.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Asks one target.
#[derive(Debug, Clone)]
pub struct ProbeClient {
    http: reqwest::Client,
    base: String,
    access: Access,
}

impl ProbeClient {
    /// For a base URL without a trailing slash.
    pub fn new(base: &str, access: &Access) -> Result<Self, ProbeError> {
        let wrong = |reason: String| ProbeError::Client {
            base: base.to_owned(),
            reason,
        };
        let builder = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(5))
            .timeout(Duration::from_secs(30))
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("infergate/", env!("CARGO_PKG_VERSION")));
        // Without TLS no certificates are needed, and slim containers have none to load.
        let mut builder = if base.starts_with("http://") {
            builder.tls_certs_only([])
        } else {
            builder.tls_info(true)
        };
        if let Some(pem) = &access.ca {
            let certificates = Certificate::from_pem_bundle(pem)
                .map_err(|error| wrong(format!("`tls.ca`: {}", causes(&error))))?;
            builder = builder.tls_certs_merge(certificates);
        }
        if let Some(identity) = &access.identity {
            let pem = [&identity.cert[..], b"\n", &identity.key].concat();
            let identity = Identity::from_pem(&pem)
                .map_err(|error| wrong(format!("`tls.cert` and `tls.key`: {}", causes(&error))))?;
            builder = builder.identity(identity);
        }
        if access.http == HttpVersion::Http2 {
            builder = builder.http2_prior_knowledge();
        }
        if is_local(base) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| wrong(causes(&error)))?;
        Ok(Self {
            http,
            base: base.to_owned(),
            access: access.clone(),
        })
    }

    /// Another that asks the same target, with connections of its own.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn anew(&self) -> Result<Self, ProbeError> {
        Self::new(&self.base, &self.access)
    }

    /// One for what is at another URL beside the target. Of the same origin (scheme, host and port) it is
    /// asked as the target is; to any other goes nothing that proves who we are.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub(super) fn elsewhere(&self, base: &str) -> Result<Self, ProbeError> {
        let origin = |url: &str| reqwest::Url::parse(url).ok().map(|url| url.origin());
        let here = origin(&self.base);
        if here.is_some() && here == origin(base) {
            return Self::new(base, &self.access);
        }
        Self::new(base, &self.access.without_credentials())
    }

    /// The base URL.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Whether anything takes connections there, whatever it answers.
    pub async fn is_listening(&self) -> bool {
        let ask = self.http.get(&self.base).timeout(Duration::from_secs(6));
        match ask.send().await {
            Ok(_) => true,
            Err(error) => !error.is_connect(),
        }
    }

    /// The status of the answer to a GET.
    pub async fn status(&self, path: &str) -> Result<u16, ProbeError> {
        let request = self.authorized(self.http.get(format!("{}{path}", self.base)));
        let response = request.send().await;
        Ok(response
            .map_err(|error| self.unreachable(error))?
            .status()
            .as_u16())
    }

    /// Host and port of the base URL.
    pub(super) fn authority(&self) -> Option<(String, u16)> {
        let url = reqwest::Url::parse(&self.base).ok()?;
        let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
        Some((host, url.port_or_known_default()?))
    }

    /// What `clock` shows when the headers of an answer to a GET are there, whatever they say; the
    /// body is read, so that the connection serves again.
    pub(super) async fn time_to_headers<T>(
        &self,
        path: &str,
        clock: impl FnOnce() -> T,
    ) -> Option<T> {
        let request = self.authorized(self.http.get(format!("{}{path}", self.base)));
        let mut response = request.send().await.ok()?;
        let shown = clock();
        while response.chunk().await.ok()?.is_some() {}
        Some(shown)
    }

    /// A text that the target wrote, without secrets.
    pub fn mask(&self, text: &str) -> String {
        self.access.mask(text)
    }

    /// The `Date` header of an answer, whatever else it says.
    pub async fn date(&self, path: &str) -> Option<String> {
        let answer = self.http.get(format!("{}{path}", self.base)).send().await;
        let date = answer
            .ok()?
            .headers()
            .get("date")?
            .to_str()
            .ok()?
            .to_owned();
        Some(date)
    }

    /// The certificate (DER) that an encrypted target shows, whatever it answers.
    pub(super) async fn certificate(&self, path: &str) -> Option<Vec<u8>> {
        let request = self.authorized(self.http.get(format!("{}{path}", self.base)));
        let answer = tokio::time::timeout(BRIEFLY, request.send())
            .await
            .ok()?
            .ok()?;
        let shown = answer.extensions().get::<reqwest::tls::TlsInfo>()?;
        shown.peer_certificate().map(<[u8]>::to_vec)
    }

    /// The JSON answer to a GET.
    pub async fn get(&self, path: &str) -> Result<Value, ProbeError> {
        self.ask(path, self.http.get(format!("{}{path}", self.base)))
            .await
    }

    /// The answer to a GET as text, such as metrics.
    pub async fn text(&self, path: &str) -> Result<String, ProbeError> {
        let body = self
            .send(path, self.http.get(format!("{}{path}", self.base)))
            .await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// The JSON answer to a POST of JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, ProbeError> {
        self.ask(
            path,
            self.http.post(format!("{}{path}", self.base)).json(body),
        )
        .await
    }

    /// What becomes of a question that is asked on the side, by GET or with JSON by POST: a silent path
    /// costs some seconds, not a whole time-out.
    pub(super) async fn ask_briefly(&self, path: &str, body: Option<&Value>) -> Reply {
        let url = format!("{}{path}", self.base);
        let request = match body {
            None => self.http.get(url),
            Some(body) => self.http.post(url).json(body),
        };
        Reply::briefly(async {
            let body = self.send(path, request).await?;
            Ok(String::from_utf8_lossy(&body).into_owned())
        })
        .await
    }

    /// Those of these headers that an answer has, whatever else it says.
    pub(super) async fn headers(
        &self,
        path: &str,
        names: &[&'static str],
    ) -> Vec<(&'static str, String)> {
        let request = self.authorized(self.http.get(format!("{}{path}", self.base)));
        let Ok(Ok(answer)) = tokio::time::timeout(BRIEFLY, request.send()).await else {
            return Vec::new();
        };
        let value = |name: &'static str| {
            let value = answer.headers().get(name)?.to_str().ok()?;
            Some((name, value.to_owned()))
        };
        names.iter().copied().filter_map(value).collect()
    }

    /// Gives each part of the answer to a POST of JSON as it comes, however long that takes.
    pub(super) async fn feed(
        &self,
        path: &str,
        body: &Value,
        each: impl FnMut(&[u8]),
    ) -> Result<(), ProbeError> {
        let request = self.http.post(format!("{}{path}", self.base)).json(body);
        // llama.cpp closes after a streamed answer, unannounced: the next request must not meet that.
        let request = request.header("connection", "close");
        self.read(path, request.timeout(LONGEST_WAIT), each).await
    }

    fn authorized(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        let headers = self.access.headers.iter();
        let request = headers.fold(request, |request, (name, value)| {
            request.header(name, value.expose())
        });
        match &self.access.key {
            Some(key) => request.bearer_auth(key.expose()),
            None => request,
        }
    }

    fn unreachable(&self, error: reqwest::Error) -> ProbeError {
        ProbeError::Unreachable {
            base: self.base.clone(),
            reason: causes(&error.without_url()),
        }
    }

    async fn ask(&self, path: &str, request: reqwest::RequestBuilder) -> Result<Value, ProbeError> {
        let body = self.send(path, request).await?;
        serde_json::from_slice(&body).map_err(|_| ProbeError::NotJson {
            path: path.to_owned(),
        })
    }

    async fn send(
        &self,
        path: &str,
        request: reqwest::RequestBuilder,
    ) -> Result<Vec<u8>, ProbeError> {
        let mut body = Vec::new();
        self.read(path, request, |part| body.extend_from_slice(part))
            .await?;
        Ok(body)
    }

    /// Gives each part of an answer as it comes.
    async fn read(
        &self,
        path: &str,
        request: reqwest::RequestBuilder,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), ProbeError> {
        let unreachable = |error| self.unreachable(error);
        let mut response = self.authorized(request).send().await.map_err(unreachable)?;
        let status = response.status().as_u16();
        let (mut length, mut refusal) = (0, Vec::new());
        while let Some(part) = response.chunk().await.map_err(unreachable)? {
            length += part.len();
            if length > LONGEST {
                return Err(ProbeError::TooLong {
                    path: path.to_owned(),
                });
            }
            if status >= 400 {
                refusal.extend_from_slice(&part);
            } else {
                each(&part);
            }
        }
        if status < 400 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&refusal)
            .chars()
            .take(200)
            // Whatever a server says must not command the terminal.
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect::<String>()
            .trim()
            .to_owned();
        let text = self.access.mask(&text);
        Err(ProbeError::Status {
            path: path.to_owned(),
            status,
            text,
        })
    }
}

/// Whether a base URL is on this machine.
fn is_local(base: &str) -> bool {
    let url = reqwest::Url::parse(base);
    url.is_ok_and(|url| url.host_str().is_some_and(is_loopback))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_from_other_hosts() {
        for base in [
            "http://127.0.0.1:80",
            "http://localhost:8000",
            "http://[::1]:80",
        ] {
            assert!(is_local(base), "{base}");
        }
        assert!(!is_local("http://10.0.0.1:8000"));
        assert!(!is_local("https://example.com"));
    }

    #[tokio::test]
    async fn an_endless_answer_is_not_read_to_its_end() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let _ = socket.read(&mut [0; 4096]).await;
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n[").await;
            let digits = vec![b'1'; 65536];
            while socket.write_all(&digits).await.is_ok() {}
        });
        let client = ProbeClient::new(&base, &Access::default()).unwrap();
        let error = client.get("/v1/models").await.unwrap_err();
        assert!(matches!(error, ProbeError::TooLong { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_refused_connection_says_so() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Bound and dropped: nothing listens there.
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let client =
            ProbeClient::new(&format!("http://127.0.0.1:{port}"), &Access::default()).unwrap();
        let error = client.get("/v1/models").await.unwrap_err().to_string();
        assert!(
            error.contains("refused") && error.contains("is the server running"),
            "{error}"
        );
    }
}
