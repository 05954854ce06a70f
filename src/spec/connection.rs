//! How the target is spoken to: HTTP, headers, certificates, keys.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::ident::Secret;

/// How the target is spoken to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TargetConnection {
    /// Where the API key is; never the key.
    pub key: Option<KeySource>,
    /// Headers of every request beside ours, by lowercase name.
    pub headers: Vec<(String, Secret)>,
    /// A file of certificates (PEM) that are trusted beside the machine's own.
    pub ca: Option<PathBuf>,
    /// By what the client proves who it is.
    pub identity: Option<IdentityFiles>,
    /// The version of HTTP.
    pub http: HttpVersion,
    /// Whether answers may come packed.
    pub compression: Compression,
    /// How answers come.
    pub answers: Answers,
}

/// How answers come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answers {
    /// Token by token.
    #[default]
    Streamed,
    /// At once, when all is written.
    Whole,
}

/// Where the API key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In the environment variable of this name.
    Env(String),
    /// In this file, whose text it is, without white space around it.
    File(PathBuf),
}

/// A certificate and its key, for mutual TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityFiles {
    /// The certificate and those that it leans on, PEM.
    pub cert: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
}

/// The version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum HttpVersion {
    /// 1.1: a connection for each request in flight.
    #[default]
    #[serde(rename = "1.1")]
    Http1,
    /// 2: requests share connections, as many as the server allows on one.
    #[serde(rename = "2")]
    Http2,
}

/// Whether answers may come packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// Not asked for; what comes packed by gzip all the same is read.
    #[default]
    None,
    /// By gzip, where the server likes.
    Gzip,
}

/// What of a connection shows in latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Wire {
    http: HttpVersion,
    compression: Compression,
    answers: Answers,
}

impl Wire {
    /// HTTP/1.1, streamed and not packed.
    pub const PLAIN: Self = Self {
        http: HttpVersion::Http1,
        compression: Compression::None,
        answers: Answers::Streamed,
    };
}

impl TargetConnection {
    /// What of it shows in latencies.
    pub const fn wire(&self) -> Wire {
        Wire {
            http: self.http,
            compression: self.compression,
            answers: self.answers,
        }
    }

    /// With its files found from this folder, the spec's.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        let identity = self.identity.as_mut();
        let identity = identity.map(|files| [&mut files.cert, &mut files.key]);
        let key = match &mut self.key {
            Some(KeySource::File(path)) => Some(path),
            Some(KeySource::Env(_)) | None => None,
        };
        for path in identity
            .into_iter()
            .flatten()
            .chain(key)
            .chain(&mut self.ca)
        {
            *path = folder.join(&*path);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_beside_the_spec_unless_they_are_absolute() {
        let connection = TargetConnection {
            key: Some(KeySource::File("key.txt".into())),
            ca: Some("/etc/ca.pem".into()),
            identity: Some(IdentityFiles {
                cert: "tls/cert.pem".into(),
                key: "../key.pem".into(),
            }),
            ..TargetConnection::default()
        };
        let found = connection.in_folder(Path::new("specs"));
        assert_eq!(found.key, Some(KeySource::File("specs/key.txt".into())));
        assert_eq!(found.ca, Some("/etc/ca.pem".into()));
        let identity = found.identity.unwrap();
        assert_eq!(identity.cert, Path::new("specs/tls/cert.pem"));
        assert_eq!(identity.key, Path::new("specs/../key.pem"));
    }
}
