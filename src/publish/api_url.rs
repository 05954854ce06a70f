//! Where a server's API is.

use std::fmt::{self, Display};

use crate::access::is_loopback;

/// The base URL of an API, without a slash at its end. Only what is encrypted or on this machine is one, for
/// a token goes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiUrl {
    url: reqwest::Url,
    text: String,
}

/// A text that is no base URL of an API.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiUrlError {
    /// It is no URL.
    #[error("`{}` is no URL of an API: `https://`, a host and perhaps a path", .0.escape_debug())]
    NoUrl(String),
    /// It is one over which anybody could read the token.
    #[error("`{}` is not encrypted, and a token would go there: use `https://`", .0.escape_debug())]
    Readable(String),
}

impl ApiUrl {
    /// Reads a base URL.
    pub fn parse(text: &str) -> Result<Self, ApiUrlError> {
        let none = || ApiUrlError::NoUrl(text.chars().take(200).collect());
        let url = reqwest::Url::parse(text).map_err(|_| none())?;
        let host = url.host_str().ok_or_else(none)?;
        let extra = url.query().is_some() || url.fragment().is_some();
        if extra || !url.username().is_empty() || url.password().is_some() {
            return Err(none());
        }
        match url.scheme() {
            "https" => {}
            "http" if is_loopback(host) => {}
            "http" => return Err(ApiUrlError::Readable(text.chars().take(200).collect())),
            _ => return Err(none()),
        }
        let text = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { url, text })
    }

    /// Whether a whole URL is of the same scheme, host and port.
    pub fn is_origin_of(&self, url: &str) -> bool {
        reqwest::Url::parse(url).is_ok_and(|url| url.origin() == self.url.origin())
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Whether it is on this machine, where no proxy stands between.
    pub fn is_local(&self) -> bool {
        self.url.host_str().is_some_and(is_loopback)
    }

    /// Whether it is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }
}

impl Display for ApiUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_nowhere_unencrypted_but_on_this_machine() {
        for (text, shown) in [
            ("https://api.github.com", "https://api.github.com"),
            ("https://ghe.example/api/v3/", "https://ghe.example/api/v3"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ] {
            assert_eq!(ApiUrl::parse(text).unwrap().to_string(), shown);
        }
        let error = ApiUrl::parse("http://ghe.example").unwrap_err();
        assert!(matches!(error, ApiUrlError::Readable(_)), "{error}");
        for text in [
            "",
            "api.github.com",
            "ftp://x",
            "https://u:p@x",
            "https://x?y",
            "https://x#y",
        ] {
            assert!(ApiUrl::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn another_port_is_another_origin() {
        let api = ApiUrl::parse("https://ghe.example/api/v3").unwrap();
        assert!(api.is_origin_of("https://ghe.example/api/graphql"));
        assert!(api.is_origin_of("https://ghe.example:443/"));
        for url in [
            "https://ghe.example:8443/",
            "http://ghe.example/",
            "https://ghe.example.org/",
            "/api/v3",
        ] {
            assert!(!api.is_origin_of(url), "{url}");
        }
    }
}
