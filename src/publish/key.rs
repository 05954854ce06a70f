//! What tells the reports of one pull request apart.

use std::fmt::{self, Display};
use std::str::FromStr;

/// A report's name on a pull request: a later report of the same key takes its place. One to 64 letters,
/// digits, `.`, `_`, `-` of ASCII, so that it can stand in a marker and in a check's name as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no key: one to 64 letters, digits, `.`, `_` or `-`", .0.escape_debug())]
pub struct KeyError(String);

impl Key {
    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(KeyError(text.chars().take(80).collect()))
        }
    }
}

impl Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_can_end_no_marker() {
        for key in ["chat-8b", "a", "A.b_c-1"] {
            assert_eq!(key.parse::<Key>().unwrap().as_str(), key);
        }
        let long = "k".repeat(65);
        for text in ["", "a b", "-->", "schlüssel", "a\nb", long.as_str()] {
            assert!(text.parse::<Key>().is_err(), "{text:?}");
        }
    }
}
