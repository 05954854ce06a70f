//! The client for everything that is published: proxies of the environment, one TLS stack, bounded waiting.

use std::time::Duration;

use super::api_url::ApiUrl;
use crate::access::causes;

/// What this program calls itself; GitHub refuses requests without it.
pub(super) const USER_AGENT: &str = concat!("infergate/", env!("CARGO_PKG_VERSION"));

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// A client for one API. Redirects are not followed: a POST would become a GET on its way, and the token
/// would go where nobody sent it.
pub(super) fn client(api: &ApiUrl, timeout: Duration) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT.min(timeout))
        .timeout(timeout)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(USER_AGENT);
    if !api.is_encrypted() {
        // Without TLS no certificates are needed, and slim containers have none to load.
        builder = builder.tls_certs_only([]);
    }
    if api.is_local() {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| causes(&error))
}
