//! Where requests go.

use std::collections::BTreeMap;

use crate::access::Access;
use crate::spec::Api;

/// Where requests go, and what they all share.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// URLs like `http://host:8000`, without the API's path: at least one; requests go to each in
    /// turn.
    pub base_urls: Vec<String>,
    /// Which API is spoken.
    pub api: Api,
    /// The model's name in requests.
    pub model: String,
    /// Keys, headers and certificates.
    pub access: Access,
    /// Extra fields of every request's body.
    pub extra: BTreeMap<String, serde_json::Value>,
}

/// Why there is no client for an endpoint.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL is none, or not of HTTP.
    #[error("cannot use `{url}` as the target's URL: write it like `http://host:8000`")]
    Url {
        /// As given.
        url: String,
    },
    /// The key has characters that no header takes.
    #[error("cannot send the API key: it has characters that a header does not take")]
    Key,
    /// A certificate or key file holds none, or one that is not understood.
    #[error("cannot use the spec's `tls.{field}`: {reason}; it takes PEM files")]
    Tls {
        /// The field of `target.tls`.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The environment names a proxy that is not spoken to.
    #[error(
        "cannot reach the target through the proxy that the environment names: `{scheme}` proxies are \
         not supported; name one of `http://`, or add the target's host to NO_PROXY"
    )]
    Proxy {
        /// The proxy's scheme.
        scheme: String,
    },
    /// The client stack refused.
    #[error("cannot set up the HTTP client: {reason}")]
    Setup {
        /// Its words.
        reason: String,
    },
}
