//! Headers of every request.

use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};

use crate::access::Access;
use crate::load::endpoint::ClientError;
use crate::spec::Compression;

/// Headers of every request, wherever it goes.
pub(super) fn of(access: &Access) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let agent = concat!("infergate/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    if access.compression == Compression::Gzip {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(key) = &access.key {
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", key.expose()))
            .map_err(|_| ClientError::Key)?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    for (name, value) in &access.headers {
        let header = HeaderName::try_from(name).ok();
        let value = HeaderValue::from_str(value.expose()).ok();
        let (header, mut value) = header.zip(value).ok_or_else(|| ClientError::Setup {
            reason: format!("the header `{name}` cannot be sent"),
        })?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}
