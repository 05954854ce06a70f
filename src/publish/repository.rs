//! A repository by owner and name.

use std::fmt::{self, Display};
use std::str::FromStr;

/// A repository of GitHub: `acme/engine`. Both parts are plain, so that they can stand in a URL as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    owner: String,
    name: String,
}

/// A text that names no repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no repository: owner and name, as in `acme/engine`", .0.escape_debug())]
pub struct RepositoryError(String);

impl Repository {
    /// Its path below an API: `/repos/acme/engine`.
    pub fn path(&self) -> String {
        format!("/repos/{self}")
    }
}

impl FromStr for Repository {
    type Err = RepositoryError;

    fn from_str(text: &str) -> Result<Self, RepositoryError> {
        let plain = |part: &str| {
            let byte = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            (1..=100).contains(&part.len())
                && part.bytes().all(byte)
                && !part.bytes().all(|byte| byte == b'.')
        };
        match text.split_once('/') {
            Some((owner, name)) if plain(owner) && plain(name) => Ok(Self {
                owner: owner.to_owned(),
                name: name.to_owned(),
            }),
            _ => Err(RepositoryError(text.chars().take(200).collect())),
        }
    }
}

impl Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_leads_out_of_no_path() {
        let repository: Repository = "acme/engine.rs".parse().unwrap();
        assert_eq!(repository.path(), "/repos/acme/engine.rs");
        for text in [
            "acme",
            "acme/",
            "/engine",
            "acme/engine/x",
            "../x",
            "acme/..",
            "acme/a?b",
            "acme/a#b",
            "a%2f/b",
            "",
        ] {
            assert!(text.parse::<Repository>().is_err(), "{text:?}");
        }
    }
}
