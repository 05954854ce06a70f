//! What it takes to speak to the target: keys, headers and certificates, read once before a run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::ident::Secret;
use crate::spec::{Compression, HttpVersion, KeySource, TargetConnection};

/// What it takes to speak to a target; nothing of it is ever shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Access {
    /// The API key, which goes out as a bearer token.
    pub key: Option<Secret>,
    /// Further headers, by lowercase name.
    pub headers: Vec<(String, Secret)>,
    /// Certificates (PEM) that are trusted beside the machine's own.
    pub ca: Option<Vec<u8>>,
    /// By what the client proves who it is.
    pub identity: Option<Identity>,
    /// The version of HTTP.
    pub http: HttpVersion,
    /// Whether answers may come packed.
    pub compression: Compression,
}

/// A client's certificate and private key, both PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate and those that it leans on.
    pub cert: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(Secret::MASK)
    }
}

/// What is missing to speak to a target.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The key's variable is not set.
    #[error(
        "the spec's `api_key_env` names the variable `{name}`, which is not set; export it first"
    )]
    NoVariable {
        /// Its name.
        name: String,
    },
    /// A file could not be read.
    #[error("cannot read `{path}`, which the spec's `{field}` names: {source}")]
    File {
        /// The field of `target`.
        field: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The key's file holds no key.
    #[error("`{path}`, which the spec's `api_key_file` names, holds no key")]
    NoKey {
        /// The file.
        path: PathBuf,
    },
}

impl Access {
    /// Reads what a spec names; `variable` gives the values of environment variables.
    pub fn read(
        connection: &TargetConnection,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, AccessError> {
        let key = match &connection.key {
            None => None,
            Some(KeySource::Env(name)) => Some(variable(name).ok_or_else(|| {
                let name = name.clone();
                AccessError::NoVariable { name }
            })?),
            Some(KeySource::File(path)) => Some(key_in(path)?),
        };
        let identity = match &connection.identity {
            None => None,
            Some(files) => Some(Identity {
                cert: read(&files.cert, "tls.cert")?,
                key: read(&files.key, "tls.key")?,
            }),
        };
        let ca = connection.ca.as_deref();
        Ok(Self {
            key: key.filter(|key| !key.is_empty()).map(Secret::new),
            headers: connection.headers.clone(),
            ca: ca.map(|path| read(path, "tls.ca")).transpose()?,
            identity,
            http: connection.http,
            compression: connection.compression,
        })
    }

    /// What may be shown to a server that is not the target: whom we trust, and nothing that proves who
    /// we are.
    #[must_use]
    pub fn without_credentials(&self) -> Self {
        Self {
            ca: self.ca.clone(),
            ..Self::default()
        }
    }

    /// A text that someone else wrote, without secrets.
    pub fn mask(&self, text: &str) -> String {
        /// A shorter value is no secret, and may be a word of the text.
        const LEAST: usize = 6;
        let headers = self.headers.iter().map(|(_, value)| value);
        headers
            .filter(|value| value.expose().len() >= LEAST)
            .chain(&self.key)
            .fold(text.to_owned(), |text, secret| secret.mask(&text))
    }
}

fn key_in(path: &Path) -> Result<String, AccessError> {
    let bytes = read(path, "api_key_file")?;
    let key = String::from_utf8_lossy(&bytes).trim().to_owned();
    if key.is_empty() {
        let path = path.to_owned();
        return Err(AccessError::NoKey { path });
    }
    Ok(key)
}

fn read(path: &Path, field: &'static str) -> Result<Vec<u8>, AccessError> {
    std::fs::read(path).map_err(|source| AccessError::File {
        field,
        path: path.to_owned(),
        source,
    })
}

/// An error with its causes, down to the system's: libraries hide "connection refused" two levels
/// down.
pub fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        // Some layers repeat the words of the layer below.
        if !text.contains(&words) {
            let _ = write!(text, ": {words}");
        }
        cause = error.source();
    }
    text
}

/// Whether a host's name or address is this machine: never reached through a proxy.
pub fn is_loopback(host: &str) -> bool {
    let name = host.trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_from_its_variable_or_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let read = |key| {
            let connection = TargetConnection {
                key: Some(key),
                ..TargetConnection::default()
            };
            Access::read(&connection, |name| {
                (name == "SET").then(|| "sk-1234".to_owned())
            })
        };
        let from_env = read(KeySource::Env("SET".to_owned())).unwrap();
        assert_eq!(from_env.key.as_ref().unwrap().expose(), "sk-1234");
        assert!(!format!("{from_env:?}").contains("sk-1234"));
        let error = read(KeySource::Env("UNSET".to_owned())).unwrap_err();
        assert!(error.to_string().contains("`UNSET`"), "{error}");
        let error = read(KeySource::File(path.clone())).unwrap_err();
        assert!(error.to_string().contains("api_key_file"), "{error}");
        std::fs::write(&path, " \n").unwrap();
        let error = read(KeySource::File(path.clone())).unwrap_err();
        assert!(error.to_string().contains("holds no key"), "{error}");
        std::fs::write(&path, "sk-5678\n").unwrap();
        let from_file = read(KeySource::File(path)).unwrap();
        assert_eq!(from_file.key.unwrap().expose(), "sk-5678");
    }

    #[test]
    fn no_secret_stays_in_a_text() {
        let access = Access {
            key: Some(Secret::new("sk-1234".to_owned())),
            headers: vec![
                ("x-route".to_owned(), Secret::new("blue-green".to_owned())),
                ("x-team".to_owned(), Secret::new("a".to_owned())),
            ],
            ..Access::default()
        };
        assert_eq!(
            access.mask("bad key sk-1234 for blue-green"),
            "bad key [masked] for [masked]"
        );
    }

    #[test]
    fn loopback_is_recognized() {
        for host in ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "LOCALHOST"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["example.org", "10.0.0.1", "[::2]", "127.0.0.1.example.org"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
