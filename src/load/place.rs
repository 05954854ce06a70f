//! Where connections go: a base URL, how it is reached, and how requests to it are addressed.

use std::fmt;
use std::sync::Arc;

use hyper::Uri;
use hyper::header::HeaderValue;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower_service::Service;

use super::endpoint::ClientError;
use super::pool::Opening;
use crate::access::is_loopback;

/// A connected socket, encrypted or not.
pub(super) type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// One base URL of the target.
#[derive(Clone)]
pub(super) struct Place {
    /// What is connected to: the target, or the proxy that requests are handed to.
    connect: Uri,
    route: Route,
    /// What stands in the request line.
    pub(super) request: Uri,
    /// The `Host` header.
    pub(super) host: HeaderValue,
    /// What the proxy that requests are handed to wants to know.
    pub(super) proxy_key: Option<HeaderValue>,
}

/// How a place is reached.
#[derive(Clone)]
enum Route {
    Plain(HttpConnector),
    Tls(HttpsConnector<HttpConnector>),
    /// Through a proxy, which sees nothing of it.
    Tunnel(HttpsConnector<Tunnel<HttpConnector>>),
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

impl Place {
    /// A place by its base URL and the path of its API.
    ///
    /// Where the environment names a proxy for it, a plain request is handed to that, and an encrypted
    /// one goes through a tunnel. A loopback target is never reached through a proxy.
    pub(super) fn new(
        base: &str,
        path: &str,
        Opening { http2, limit }: Opening,
        tls: &mut impl FnMut() -> Result<Arc<ClientConfig>, ClientError>,
    ) -> Result<Self, ClientError> {
        let wrong = || ClientError::Url {
            url: base.to_owned(),
        };
        let base = base.trim_end_matches('/');
        // Parsed by itself first, or else a missing host would be found in the path.
        let origin: Uri = base.parse().map_err(|_| wrong())?;
        let request: Uri = format!("{base}{path}").parse().map_err(|_| wrong())?;
        let authority = origin.authority().ok_or_else(wrong)?;
        let encrypted = match origin.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong()),
        };
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| wrong())?;
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(limit.to_duration()));
        let proxy = if is_loopback(authority.host()) {
            None
        } else {
            Matcher::from_system().intercept(&origin)
        };
        let path_only = || {
            let path = request.path_and_query().cloned();
            path.map(Uri::from).ok_or_else(wrong)
        };
        let (connect, route, request, proxy_key) = match proxy {
            None if encrypted => {
                let request = if http2 { request } else { path_only()? };
                (origin, Route::Tls((tcp, tls()?).into()), request, None)
            }
            None => {
                let request = if http2 { request } else { path_only()? };
                (origin, Route::Plain(tcp), request, None)
            }
            Some(proxy) => {
                if proxy.uri().scheme_str() != Some("http") {
                    return Err(ClientError::Proxy {
                        scheme: proxy.uri().scheme_str().unwrap_or_default().to_owned(),
                    });
                }
                if encrypted {
                    let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
                    if let Some(key) = proxy.basic_auth() {
                        tunnel = tunnel.with_auth(key.clone());
                    }
                    let request = if http2 { request } else { path_only()? };
                    (
                        origin,
                        Route::Tunnel((tunnel, tls()?).into()),
                        request,
                        None,
                    )
                } else {
                    let key = proxy.basic_auth().cloned();
                    (proxy.uri().clone(), Route::Plain(tcp), request, key)
                }
            }
        };
        Ok(Self {
            connect,
            route,
            request,
            host,
            proxy_key,
        })
    }

    /// Opens a connection.
    pub(super) async fn connect(&self) -> Result<Stream, Box<dyn std::error::Error + Send + Sync>> {
        let to = self.connect.clone();
        match &self.route {
            Route::Plain(tcp) => Ok(MaybeHttpsStream::Http(tcp.clone().call(to).await?)),
            Route::Tls(tls) => tls.clone().call(to).await,
            Route::Tunnel(tunnel) => tunnel.clone().call(to).await,
        }
    }
}
