//! Where promoted sessions are kept, where the spec says: a branch instead of the folder `baselines/`.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A branch that holds the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archive {
    /// Its name.
    pub branch: BranchName,
    /// Whose it is.
    pub place: ArchivePlace,
    /// The archive's folder in it, with `/` and no dots; `""` is all of it.
    pub folder: String,
}

/// Whose branch the archive is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArchivePlace {
    /// `origin`'s, or that of the only remote; where there is none, the repository's own.
    Unsaid,
    /// That of the remote of this name.
    Remote(String),
    /// That of another repository, by its URL or its path from where the command runs.
    Repository(String),
}

/// A name that git takes for a branch, whatever the shell or the file system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

/// Why a text is no branch's name; completes the sentence "`a b` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "is not a branch's name: use letters, digits, `-`, `_`, `.` and `/`, without a dot or dash at a part's start"
)]
pub struct BranchNameError;

impl BranchName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BranchName {
    type Err = BranchNameError;

    fn from_str(text: &str) -> Result<Self, BranchNameError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && part.chars().all(allowed)
                && !part.contains("..")
                && !part.ends_with('.')
                && !part.ends_with(".lock")
        };
        if text.len() <= 200 && text != "HEAD" && text.split('/').all(part) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BranchNameError)
        }
    }
}

impl TryFrom<String> for BranchName {
    type Error = BranchNameError;

    fn try_from(text: String) -> Result<Self, BranchNameError> {
        text.parse()
    }
}

impl From<BranchName> for String {
    fn from(name: BranchName) -> Self {
        name.0
    }
}

impl Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_takes_is_a_branch() {
        for good in ["infergate-archive", "perf/archive.2", "_x"] {
            assert!(good.parse::<BranchName>().is_ok(), "{good}");
        }
        for wrong in [
            "", "HEAD", "-d", "a b", "a..b", "a//b", "/a", "a/", ".a", "a/.b", "a.lock", "a.",
            "a~1", "a:b", "a@{1}", "ä",
        ] {
            assert!(wrong.parse::<BranchName>().is_err(), "{wrong}");
        }
    }
}
