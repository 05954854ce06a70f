//! Where requests go.

use std::collections::BTreeMap;
use std::fmt;

use crate::spec::Api;

/// Where requests go, and what they all share.
#[derive(Clone)]
pub struct Endpoint {
    /// `http://host:8000`, without the API's path.
    pub base_url: String,
    /// Which API is spoken.
    pub api: Api,
    /// The model's name in requests.
    pub model: String,
    /// The API key, sent as a bearer token.
    pub key: Option<String>,
    /// Extra fields of every request's body.
    pub extra: BTreeMap<String, serde_json::Value>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_url", &self.base_url)
            .field("api", &self.api)
            .field("model", &self.model)
            .field("key", &self.key.as_ref().map(|_| MASK))
            .field("extra", &self.extra)
            .finish()
    }
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

/// What stands for a secret in texts.
pub(super) const MASK: &str = "[masked]";
