//! The full name of a commit.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A commit by its full name: 40 hex digits, or 64 in repositories of SHA-256. Not all of them zeros, by
/// which events of CI say that there is none.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Commit(String);

/// A text that names no commit in full.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no full name of a commit (40 or 64 hex digits)", .0.escape_debug())]
pub struct NotACommit(String);

impl Commit {
    /// Its name in full.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first twelve digits, for people.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

impl FromStr for Commit {
    type Err = NotACommit;

    fn from_str(text: &str) -> Result<Self, NotACommit> {
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let some = text.bytes().any(|byte| byte != b'0');
        if matches!(text.len(), 40 | 64) && text.bytes().all(hex) && some {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotACommit(text.chars().take(80).collect()))
        }
    }
}

impl TryFrom<String> for Commit {
    type Error = NotACommit;

    fn try_from(text: String) -> Result<Self, NotACommit> {
        text.parse()
    }
}

impl From<Commit> for String {
    fn from(commit: Commit) -> Self {
        commit.0
    }
}

impl Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_names_are_commits() {
        let full = "0123456789abcdef0123456789abcdef01234567";
        let commit: Commit = full.parse().unwrap();
        assert_eq!(commit.short(), "0123456789ab");
        assert_eq!(
            serde_json::to_string(&commit).unwrap(),
            format!("\"{full}\"")
        );
        assert!(format!("{full}{}", &full[..24]).parse::<Commit>().is_ok());
        let none = "0".repeat(40);
        for wrong in ["", "HEAD", "--all", &full[1..], &full.to_uppercase(), &none] {
            assert!(wrong.parse::<Commit>().is_err(), "{wrong}");
        }
        assert!(serde_json::from_str::<Commit>("\"HEAD\"").is_err());
    }
}
